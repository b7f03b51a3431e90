//! The embedded model behind [`ChatModel`].

use std::path::Path;

use async_trait::async_trait;
use tmem_llm::{ChatModel, LlmError, Reply, Request};

use crate::config::{LocalConfig, ProgressFn};
use crate::error::LocalError;

/// A language model that runs in this process.
pub struct LocalModel {
    name: String,
    context: usize,
}

impl LocalModel {
    /// Loads the GGUF file at `path`.
    ///
    /// # Errors
    /// [`LocalError`] if the file is missing, damaged or of an unsupported kind.
    pub fn load(path: &Path, config: &LocalConfig) -> Result<Self, LocalError> {
        let _ = config;
        Err(LocalError::Missing { path: path.to_owned() })
    }

    /// Reports every step of every later call to `listener`.
    #[must_use]
    pub fn with_progress(self, listener: ProgressFn) -> Self {
        let _ = listener;
        self
    }
}

#[async_trait]
impl ChatModel for LocalModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_window(&self) -> Option<usize> {
        Some(self.context)
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        Err(LocalError::Compute("not built yet".to_owned()).of_call(&request.prompt.name))
    }
}
