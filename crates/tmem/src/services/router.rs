//! One model in front of several: which one answers is decided by the prompt.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use tmem_llm::{ChatModel, LlmError, Reply, Request, Verdict};

/// Passes each request on to the model of its prompt.
pub(super) struct Router {
    pub(super) usual: Arc<dyn ChatModel>,
    pub(super) by_prompt: BTreeMap<String, Arc<dyn ChatModel>>,
}

impl Router {
    /// The short form of a prompt has the model of the long one, if it has none of its own.
    fn of(&self, prompt: &str) -> &Arc<dyn ChatModel> {
        let long = prompt.strip_prefix("short-").unwrap_or(prompt);
        let own = self
            .by_prompt
            .get(prompt)
            .or_else(|| self.by_prompt.get(long));
        own.unwrap_or(&self.usual)
    }
}

#[async_trait]
impl ChatModel for Router {
    fn name(&self) -> &str {
        self.usual.name()
    }

    fn context_window(&self) -> Option<usize> {
        self.usual.context_window()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        self.of(&request.prompt.name).complete(request).await
    }

    fn judged(&self, request: &Request, verdict: &Verdict) {
        self.of(&request.prompt.name).judged(request, verdict);
    }
}
