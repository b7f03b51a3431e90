//! [`HttpEncoder`]: any OpenAI-compatible `/v1/embeddings`.

use std::{
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tmem_http::{Client, HttpError};

use super::{
    failed,
    limit::{cut, half},
    reply::{entries, in_order, vector},
};
use crate::{
    EmbedError, Encoder, EncoderSpec, TextRole,
    check::{no_blank, unit},
};

/// How often a text that an endpoint finds too long is halved.
const HALVINGS: usize = 6;

/// How an endpoint is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpOptions {
    /// Most texts of one request. Less is sent once the endpoint has refused as many.
    pub batch: NonZero<usize>,
    /// Whether to ask for vectors of the configured length, for models that offer several.
    pub send_dimensions: bool,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            batch: NonZero::new(64).expect("64 is not 0"),
            send_dimensions: false,
        }
    }
}

/// An encoder behind an endpoint. Pooling is the endpoint's own; length limit and prefixes are
/// those of the spec. Clones share what was learned about the endpoint.
#[derive(Clone)]
pub struct HttpEncoder {
    client: Client,
    spec: EncoderSpec,
    options: HttpOptions,
    batch: Arc<AtomicUsize>,
}

impl HttpEncoder {
    /// Asks the endpoint of `client` for vectors of `spec.model`.
    pub fn new(client: Client, spec: EncoderSpec) -> Self {
        Self::with_options(client, spec, HttpOptions::default())
    }

    /// [`HttpEncoder::new`] with options.
    pub fn with_options(client: Client, spec: EncoderSpec, options: HttpOptions) -> Self {
        Self {
            client,
            spec,
            options,
            batch: Arc::new(AtomicUsize::new(options.batch.get())),
        }
    }

    fn batch(&self) -> usize {
        self.batch.load(Ordering::Relaxed)
    }

    fn prepared(&self, role: TextRole, text: &str) -> String {
        let text = format!("{}{text}", self.spec.prefix(role));
        let kept = cut(&text, self.spec.max_tokens);
        if kept.len() < text.len() {
            let (kept, of) = (kept.len(), text.len());
            tracing::warn!(
                model = self.spec.model,
                kept,
                of,
                "text cut to the encoder's window"
            );
        }
        kept.to_owned()
    }

    /// Batch after batch, smaller ones where the endpoint wants them.
    async fn all(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let before = self.batch();
        let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        let mut size = before;
        while vectors.len() < texts.len() {
            let rest = &texts[vectors.len()..];
            let batch = &rest[..size.min(rest.len())];
            match self.ask(batch).await {
                Ok(reply) => {
                    vectors.extend(self.read(&reply, batch.len())?);
                    size = (size * 2).min(self.batch());
                }
                Err(error) if batch.len() > 1 && wants_less(&error) => {
                    size = batch.len() / 2;
                    if !about_length(&error) {
                        self.batch.fetch_min(size, Ordering::Relaxed);
                    }
                }
                Err(error) if about_length(&error) => {
                    vectors.push(self.shortened(&batch[0], error).await?);
                }
                Err(error) => {
                    // It was not the number of texts after all.
                    self.batch.store(before, Ordering::Relaxed);
                    return Err(failed(&self.spec.model, error));
                }
            }
        }
        Ok(vectors)
    }

    /// The vector of as much of the text as the endpoint takes.
    async fn shortened(&self, text: &str, mut error: HttpError) -> Result<Vec<f32>, EmbedError> {
        let mut text = text;
        for _ in 0..HALVINGS {
            text = half(text);
            tracing::warn!(
                model = self.spec.model,
                kept = text.len(),
                "text halved: too long"
            );
            match self.ask(&[text.to_owned()]).await {
                Ok(reply) => return Ok(self.read(&reply, 1)?.remove(0)),
                Err(again) if about_length(&again) => error = again,
                Err(other) => return Err(failed(&self.spec.model, other)),
            }
        }
        Err(failed(&self.spec.model, error))
    }

    async fn ask(&self, batch: &[String]) -> Result<serde_json::Value, HttpError> {
        let mut body = json!({"model": self.spec.model, "input": batch});
        if self.options.send_dimensions {
            body["dimensions"] = json!(self.spec.dimensions);
        }
        self.client.post_json("embeddings", &body).await
    }

    fn read(&self, reply: &serde_json::Value, count: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = &self.spec.model;
        let entries = in_order(model, entries(model, reply, &["data"])?, count)?;
        let read = |(text, entry)| unit(model, self.spec.dimensions, vector(model, entry, text)?);
        entries.into_iter().enumerate().map(read).collect()
    }
}

#[async_trait]
impl Encoder for HttpEncoder {
    fn spec(&self) -> &EncoderSpec {
        &self.spec
    }

    async fn encode(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        no_blank(texts)?;
        let texts: Vec<String> = texts.iter().map(|text| self.prepared(role, text)).collect();
        self.all(&texts).await
    }
}

/// Whether fewer texts may be taken where these were not.
fn wants_less(error: &HttpError) -> bool {
    matches!(error.status(), Some(400 | 413 | 422)) || error.is_too_large()
}

/// Whether the endpoint complains of tokens rather than of the number of texts.
fn about_length(error: &HttpError) -> bool {
    error.is_too_large() && error.status() != Some(413)
}
