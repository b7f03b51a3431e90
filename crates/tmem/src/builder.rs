//! [`Builder`]: services of your own instead of those that the settings name.

use std::sync::Arc;

use tmem_embed::{Encoder, Reranker};
use tmem_llm::ChatModel;

use crate::error::TmemError;
use crate::services::Injected;
use crate::tmem::{Options, Tmem};

/// Opens a memory with models of your own; what is not given comes from the settings.
///
/// Numbers are settings and belong into [`Options::config`].
#[must_use]
pub struct Builder {
    options: Options,
    injected: Injected,
}

impl Builder {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            options,
            injected: Injected::default(),
        }
    }

    /// Asks this language model, for every stage. Its calls go through the call log all the same.
    pub fn chat(mut self, model: impl ChatModel + 'static) -> Self {
        self.injected.chat = Some(Arc::new(model));
        self
    }

    /// Makes vectors with this encoder.
    pub fn encoder(mut self, encoder: impl Encoder + 'static) -> Self {
        self.injected.encoder = Some(Arc::new(encoder));
        self
    }

    /// Orders evidence with this reranker.
    pub fn reranker(mut self, reranker: impl Reranker + 'static) -> Self {
        self.injected.reranker = Some(Arc::new(reranker));
        self
    }

    /// Opens the memory.
    ///
    /// # Errors
    /// As [`Tmem::open`].
    pub fn open(self) -> Result<Tmem, TmemError> {
        Tmem::assemble(self.options, self.injected)
    }
}
