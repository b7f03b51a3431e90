//! What can go wrong before a score can be given.

use std::path::PathBuf;

/// Why a data set, a memory or a run is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A file cannot be read or written.
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what its name says.
    #[error("{file}: {message}")]
    Format {
        /// The file, or the kind of file where the text came without one.
        file: String,
        /// What is wrong, with the place: conversation, question, field.
        message: String,
    },
    /// A text needed a vector and has none.
    #[error("no vector for {text:?}: it was not among the texts to embed")]
    NoVector {
        /// Its beginning.
        text: String,
    },
    /// The encoder failed.
    #[error("the encoder failed: {0}")]
    Encoder(String),
    /// The index could not be built.
    #[error("no index of {what}: {message}")]
    Index {
        /// The conversation or pool.
        what: String,
        /// Why.
        message: String,
    },
    /// A setting that means nothing.
    #[error("{0}")]
    Setting(String),
    /// A call to a model that ends the run.
    #[error(transparent)]
    Model(#[from] tmem_llm::LlmError),
}

impl EvalError {
    /// A [`EvalError::Format`].
    pub fn format(file: &str, message: impl Into<String>) -> Self {
        Self::Format {
            file: file.to_owned(),
            message: message.into(),
        }
    }
}
