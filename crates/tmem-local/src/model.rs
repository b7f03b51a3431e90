//! The embedded model behind [`ChatModel`].

use std::path::Path;
use std::sync::mpsc::{Sender, channel};

use async_trait::async_trait;
use tmem_llm::{ChatModel, LlmError, Reply, Request};
use tokio::sync::oneshot;

use crate::config::{LocalConfig, ProgressFn};
use crate::decoder::Decoder;
use crate::engine::{Engine, Job};
use crate::error::LocalError;
use crate::gguf::Gguf;
use crate::grammar::Grammars;
use crate::prefixes::Prefixes;
use crate::template::Family;
use crate::vocab::Vocab;

/// A language model that runs in this process, on a thread of its own.
///
/// Calls may be made side by side: up to [`LocalConfig::parallel`] of them are decoded together,
/// which is faster than one after the other. A reply depends on its request alone. Dropping the
/// future of a call cancels it.
pub struct LocalModel {
    name: String,
    context: usize,
    jobs: Sender<Job>,
    listener: Option<ProgressFn>,
}

impl LocalModel {
    /// Loads the GGUF file at `path`: seconds, and two to four times the memory of the
    /// file, because the kernels keep the weights in an order of their own.
    ///
    /// # Errors
    /// [`LocalError`] if the file is missing, damaged or of an unsupported kind.
    pub fn load(path: &Path, config: &LocalConfig) -> Result<Self, LocalError> {
        let mut gguf = Gguf::open(path)?;
        let shape = gguf.shape()?;
        let context = config.context.min(shape.context);
        let vocab = Vocab::of(&gguf, shape.vocab)?;
        let engine = Engine {
            family: Family::of(&gguf, &vocab)?,
            grammars: Grammars::new(&vocab)?,
            decoder: Decoder::load(&mut gguf, shape, context)?,
            vocab,
            context,
            prefixes: Prefixes::new(config.kept_prefixes),
            config: config.clone(),
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: format!("local/{stem}"),
            context,
            jobs: start(engine)?,
            listener: None,
        })
    }

    /// Goes by another name in call keys and the ledger than `local/` and the name of its file.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// Reports every step of every later call to `listener`.
    #[must_use]
    pub fn with_progress(self, listener: ProgressFn) -> Self {
        Self {
            listener: Some(listener),
            ..self
        }
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
        let (reply, answer) = oneshot::channel();
        let job = Job {
            request: request.clone(),
            model: self.name.clone(),
            reply,
            listener: self.listener.clone(),
        };
        let gone = || {
            LocalError::Compute("its thread has ended".to_owned())
                .of_call(&request.prompt.name, &self.name)
        };
        self.jobs.send(job).map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

fn start(engine: Engine) -> Result<Sender<Job>, LocalError> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new().name("tmem-local".to_owned());
    let started = thread.spawn(move || engine.run(&receiver));
    started.map_err(|error| LocalError::Compute(format!("no thread for it: {error}")))?;
    Ok(sender)
}
