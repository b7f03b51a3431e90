//! [`HttpReranker`]: any `/v1/rerank` as Cohere, Jina, vLLM, llama.cpp or TEI speak it.

use async_trait::async_trait;
use serde_json::{Value, json};
use tmem_http::Client;

use super::{
    failed,
    limit::cut,
    reply::{entries, in_order, number},
};
use crate::{
    EmbedError, Reranker,
    check::{bad, no_blank},
};

/// A cross-encoder behind an endpoint.
#[derive(Clone)]
pub struct HttpReranker {
    client: Client,
    model: String,
    max_tokens: usize,
}

impl HttpReranker {
    /// Asks the endpoint of `client` for scores of `model`; query and text share its window of
    /// `max_tokens`, a quarter of it for the query.
    pub fn new(client: Client, model: impl Into<String>, max_tokens: usize) -> Self {
        Self {
            client,
            model: model.into(),
            max_tokens,
        }
    }

    fn read(&self, reply: &Value, count: usize) -> Result<Vec<f32>, EmbedError> {
        let entries = entries(&self.model, reply, &["results", "data"])?;
        let ordered = in_order(&self.model, entries, count)?;
        ordered
            .into_iter()
            .map(|entry| self.score_of(entry))
            .collect()
    }

    fn score_of(&self, entry: &Value) -> Result<f32, EmbedError> {
        let score = entry.get("relevance_score").or_else(|| entry.get("score"));
        let score = score.ok_or_else(|| bad(&self.model, "an entry without a score"))?;
        number(&self.model, score, "a score")
    }
}

#[async_trait]
impl Reranker for HttpReranker {
    async fn score(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        no_blank(texts)?;
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let for_query = self.max_tokens / 4;
        let for_text = self.max_tokens - for_query;
        let documents: Vec<&str> = texts.iter().map(|text| cut(text, for_text)).collect();
        let query = cut(query, for_query);
        let body = json!({"model": self.model, "query": query, "documents": documents});
        let reply = self.client.post_json("rerank", &body).await;
        self.read(&reply.map_err(|e| failed(&self.model, e))?, texts.len())
    }
}
