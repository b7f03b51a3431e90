//! Models and encoders from settings, made when first needed.

mod chat;
mod encoder;
#[cfg(feature = "http")]
mod endpoint;
mod rerank;
mod router;

use std::path::PathBuf;
use std::sync::Arc;

use tmem_embed::{Encoder, EncoderSpec, Reranker};
use tmem_llm::ChatModel;
use tokio::sync::OnceCell;

use crate::budget::Budget;
use crate::config::Config;
use crate::error::TmemError;
use crate::shelf::Shelf;
use crate::tmem::Options;

pub use chat::language_model;
pub(crate) use chat::weights_of;
pub(crate) use encoder::spec as encoder_spec;

/// Services that were handed in instead of being named by settings.
#[derive(Clone, Default)]
pub(crate) struct Injected {
    pub(crate) chat: Option<Arc<dyn ChatModel>>,
    pub(crate) encoder: Option<Arc<dyn Encoder>>,
    pub(crate) reranker: Option<Arc<dyn Reranker>>,
}

/// What models are made from: weights in a folder, clients of servers.
struct Sources {
    /// Folder of the weights.
    models: PathBuf,
    #[cfg(feature = "http")]
    clients: endpoint::Clients,
}

impl Sources {
    fn new(models: PathBuf) -> Self {
        Self {
            models,
            #[cfg(feature = "http")]
            clients: endpoint::Clients::default(),
        }
    }
}

/// The services of one opened space.
pub(crate) struct Services {
    config: Config,
    injected: Injected,
    plan: chat::Plan,
    shelf: Arc<Shelf>,
    sources: Sources,
    pub(crate) budget: Arc<Budget>,
    chat: OnceCell<Arc<dyn ChatModel>>,
    encoder: OnceCell<Result<Arc<dyn Encoder>, String>>,
    reranker: OnceCell<Option<Arc<dyn Reranker>>>,
}

impl Services {
    pub(crate) fn new(
        options: &Options,
        mut injected: Injected,
        shelf: &Arc<Shelf>,
    ) -> Result<Self, TmemError> {
        if let (None, Some(recording)) = (&injected.encoder, &options.replay) {
            injected.encoder = encoder::recorded(recording)?;
        }
        let limits = options.config.budget.clone();
        let before = match limits.day_tokens {
            Some(_) => crate::cost::spent_today(&shelf.calls()?),
            None => 0,
        };
        Ok(Self {
            config: options.config.clone(),
            injected,
            plan: chat::Plan::new(options)?,
            shelf: Arc::clone(shelf),
            sources: Sources::new(options.models_folder()),
            budget: Arc::new(Budget::new(limits, before)),
            chat: OnceCell::new(),
            encoder: OnceCell::new(),
            reranker: OnceCell::new(),
        })
    }

    /// The language model behind its log, its budget and its stages.
    pub(crate) async fn chat(&self) -> Result<Arc<dyn ChatModel>, TmemError> {
        self.chat
            .get_or_try_init(|| chat::assemble(self))
            .await
            .cloned()
    }

    /// Tokens of prompt and reply together, as far as that is known without loading the model.
    pub(crate) fn window(&self) -> Option<usize> {
        let injected = self
            .injected
            .chat
            .as_ref()
            .and_then(|model| model.context_window());
        injected.or(self.config.llm.context_window)
    }

    /// The encoder, or why there is none.
    pub(crate) async fn encoder(&self) -> Result<Arc<dyn Encoder>, String> {
        let make = || async {
            match &self.injected.encoder {
                Some(encoder) => Ok(Arc::clone(encoder)),
                None => encoder::load(self).await,
            }
        };
        self.encoder.get_or_init(make).await.clone()
    }

    /// What the encoder is, known without loading it; `None` if there is to be none.
    pub(crate) fn encoder_spec(&self) -> Option<EncoderSpec> {
        match &self.injected.encoder {
            Some(encoder) => Some(encoder.spec().clone()),
            None => encoder::spec(&self.config.embed),
        }
    }

    /// The reranker, if there is to be one.
    pub(crate) async fn reranker(&self) -> Result<Option<Arc<dyn Reranker>>, TmemError> {
        let make = || async {
            match &self.injected.reranker {
                Some(reranker) => Ok(Some(Arc::clone(reranker))),
                None => rerank::load(self).await,
            }
        };
        self.reranker.get_or_try_init(make).await.cloned()
    }
}
