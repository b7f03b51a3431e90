//! What can go wrong with an embedded model, each with the way out.

use std::path::PathBuf;

use tmem_llm::LlmError;

/// Why a model file cannot be used or a call cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// There is no such file.
    #[error("no model at {path}: `tmem models pull` fetches one, or name another GGUF file")]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file cannot be opened or read.
    #[error("the model at {path} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is of another kind.
    #[error("{path} is not a GGUF file: `tmem models pull` fetches one that works")]
    NotGguf {
        /// The file.
        path: PathBuf,
    },
    /// The file ends too early or holds nonsense.
    #[error("{path} is damaged or cut short ({message}): delete it and run `tmem models pull`")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        message: String,
    },
    /// The model is of a family the decoder does not know.
    #[error(
        "{path} holds a model of architecture {found:?}; supported are {}: `tmem models pull` fetches one that works",
        crate::gguf::ARCHITECTURES.join(", ")
    )]
    Architecture {
        /// The file.
        path: PathBuf,
        /// What its metadata say.
        found: String,
    },
    /// The model is of a known family, but this file uses something the decoder cannot read.
    #[error(
        "{path} cannot be run ({message}): choose a Q4_K_M or Q8_0 file, or run `tmem models pull`"
    )]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it was.
        message: String,
    },
    /// The prompt leaves no room for a reply.
    #[error(
        "the prompt has {tokens} tokens and a reply needs room too, but the context holds {context}"
    )]
    TooLong {
        /// Tokens of the prompt.
        tokens: usize,
        /// Tokens of prompt and reply together.
        context: usize,
    },
    /// The schema cannot be turned into a grammar.
    #[error("the reply schema {name:?} cannot be enforced: {message}")]
    Schema {
        /// Its name.
        name: String,
        /// What the compiler said.
        message: String,
    },
    /// The engine failed while computing.
    #[error("the embedded model failed: {0}")]
    Compute(String),
}

impl LocalError {
    /// The error as the seam to language models knows it.
    pub(crate) fn of_call(&self, prompt: &str, model: &str) -> LlmError {
        let (prompt, message) = (prompt.to_owned(), self.to_string());
        match self {
            Self::TooLong { .. } => LlmError::TooLarge {
                prompt,
                model: model.to_owned(),
                message,
            },
            _ => LlmError::Failed { prompt, message },
        }
    }
}

impl From<candle_core::Error> for LocalError {
    fn from(error: candle_core::Error) -> Self {
        Self::Compute(first_line(&error))
    }
}

/// What an error of a dependency says; some add a backtrace or their whole state below.
pub(crate) fn first_line(error: &impl std::fmt::Display) -> String {
    error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}
