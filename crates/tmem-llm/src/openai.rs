//! Any OpenAI-compatible chat endpoint.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tmem_http::{Client, HttpError};

use crate::{
    chat::{ChatModel, Reply, Request, Verdict},
    dialect::{Dialect, Structure},
    error::LlmError,
    json::Fault,
    wire,
};

/// Most changes of dialect within one call: two steps of structure, bounds, temperature and cap, and
/// one that another call made meanwhile.
const CHANGES: usize = 6;

/// One model behind one endpoint, with what it was found to understand.
///
/// Share it (in an `Arc`) among all that use the same model: what one call learns of the endpoint,
/// the others then know.
#[derive(Debug)]
pub struct OpenAiModel {
    client: Client,
    model: String,
    context_window: Option<usize>,
    reasoning_fallback: bool,
    dialect: Mutex<Dialect>,
}

impl OpenAiModel {
    /// The model of that name at the endpoint of `client`.
    pub fn new(client: Client, model: impl Into<String>) -> Self {
        Self {
            client,
            model: model.into(),
            context_window: None,
            reasoning_fallback: false,
            dialect: Mutex::default(),
        }
    }

    /// With a known window: tokens of prompt and reply together.
    pub fn with_context_window(mut self, tokens: Option<usize>) -> Self {
        self.context_window = tokens;
        self
    }

    /// With the option to take a value from `reasoning_content` when the content is empty, provided
    /// that it fits the schema of the request.
    pub fn with_reasoning_fallback(mut self, allowed: bool) -> Self {
        self.reasoning_fallback = allowed;
        self
    }

    /// With a dialect to begin with, for endpoints whose ways are known.
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Mutex::new(dialect);
        self
    }

    /// What the endpoint was found to understand so far.
    pub fn dialect(&self) -> Dialect {
        *self.known()
    }

    fn known(&self) -> MutexGuard<'_, Dialect> {
        self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from a refusal of a request that was written in `used`. Says whether to write it anew.
    fn learn(&self, used: Dialect, request: &Request, error: &HttpError) -> bool {
        let Some(answer) = error
            .answer()
            .filter(|answer| matches!(answer.status, 400 | 415 | 422))
        else {
            return false;
        };
        let (shaped, tempered) = (
            request.schema.is_some(),
            request.params.temperature.is_some(),
        );
        let Some(next) = used.after(&answer.body, shaped, tempered) else {
            return false;
        };
        let mut known = self.known();
        if *known == used {
            tracing::info!(
                model = self.model,
                ?next,
                refusal = answer.excerpt,
                "the endpoint wants another form"
            );
            *known = next;
        }
        true
    }

    fn failed(&self, request: &Request, error: HttpError) -> LlmError {
        let (prompt, model) = (request.prompt.name.clone(), self.model.clone());
        if error.is_too_large() {
            return LlmError::TooLarge {
                prompt,
                model,
                message: error.to_string(),
            };
        }
        LlmError::Endpoint {
            prompt,
            model,
            hint: error.hint(),
            outage: error.is_outage(),
            source: Box::new(error),
        }
    }
}

#[async_trait]
impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.model
    }

    fn context_window(&self) -> Option<usize> {
        self.context_window
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        let mut changes = 0;
        loop {
            let used = self.dialect();
            let body = wire::body(&self.model, request, used);
            let answer = match self.client.post_json("chat/completions", &body).await {
                Ok(answer) => answer,
                Err(error) if error.is_too_large() => return Err(self.failed(request, error)),
                Err(error) if changes < CHANGES && self.learn(used, request, &error) => {
                    changes += 1;
                    continue;
                }
                Err(error) => return Err(self.failed(request, error)),
            };
            let reply = wire::reply(&answer, request, self.reasoning_fallback);
            return reply.ok_or_else(|| LlmError::NoChoice {
                prompt: request.prompt.name.clone(),
                model: self.model.clone(),
                usage: wire::usage(&answer),
            });
        }
    }

    /// A server that enforces schemas never sends anything else: one that did does not, and gets the
    /// schema in the prompt from now on.
    fn judged(&self, _request: &Request, verdict: &Verdict) {
        let Verdict::Unusable(Fault::NotJson { .. } | Fault::Missing { .. }) = verdict else {
            return;
        };
        let mut known = self.known();
        if known.structure == Structure::JsonSchema
            && let Some(plainer) = known.plainer()
        {
            tracing::info!(model = self.model, "the endpoint does not enforce schemas");
            *known = plainer;
        }
    }
}
