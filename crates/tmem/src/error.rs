//! What can go wrong at the facade. Whoever prints it prints the causes too.

use std::path::PathBuf;

use tmem_model::{ConversationId, TurnId};

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TmemError {
    /// The settings.
    #[error(transparent)]
    Config(#[from] crate::ConfigError),
    /// The name of a space.
    #[error(transparent)]
    SpaceName(#[from] tmem_store::SpaceNameError),
    /// A space that is not there, which is not the same as a space without hits.
    #[error("there is no space {space:?} in {data}{}", listed(.known))]
    UnknownSpace {
        /// As given.
        space: String,
        /// The data folder.
        data: PathBuf,
        /// Those that are there.
        known: Vec<String>,
    },
    /// A conversation that is not there.
    #[error("there is no conversation {0} in this space")]
    UnknownConversation(ConversationId),
    /// Nothing to forget.
    #[error("there is no {what} in this space")]
    NothingToForget {
        /// What was named.
        what: String,
    },
    /// The memory was opened for reading.
    #[error("the memory was opened for reading only")]
    ReadOnly,
    /// A question without a visible character.
    #[error("the question is blank")]
    BlankQuery,
    /// Turns that the memory will not take.
    #[error("turn {turn} is stored already and reads differently now")]
    Conflict {
        /// The turn.
        turn: TurnId,
    },
    /// A conversation without turns.
    #[error("there is no turn in {0}")]
    NoTurns(ConversationId),
    /// A turn's id.
    #[error("the id {id:?} of a turn cannot be used")]
    TurnName {
        /// As given.
        id: String,
        /// Why.
        source: tmem_model::id::IdError,
    },
    /// There is no language model to ask.
    #[error("there is no language model: {0}")]
    NoModel(String),
    /// The stored vectors are another encoder's.
    #[error(
        "the vectors of this space were made by {stored}, but the encoder is {configured} now; \
         nothing was changed"
    )]
    EncoderMismatch {
        /// Identity of the encoder that made the stored vectors.
        stored: String,
        /// Identity of the configured one.
        configured: String,
    },
    /// Vectors were needed and could not be made.
    #[error("there is no text encoder: {0}")]
    NoEncoder(String),
    /// A reranker is named and cannot be had.
    #[error("there is no reranker: {0}")]
    NoReranker(String),
    /// The call log.
    #[error("the call log failed: {message}")]
    Log {
        /// What happened.
        message: String,
    },
    /// The encoder or reranker.
    #[error(transparent)]
    Embed(#[from] tmem_embed::EmbedError),
    /// The language model.
    #[error(transparent)]
    Llm(#[from] tmem_llm::LlmError),
    /// The store.
    #[error(transparent)]
    Store(#[from] tmem_store::StoreError),
    /// The memory refused a change.
    #[error(transparent)]
    Model(#[from] tmem_model::ModelError),
    /// A document.
    #[error(transparent)]
    Document(#[from] tmem_model::document::DocumentError),
    /// The prompts.
    #[error(transparent)]
    Prompts(#[from] tmem_build::BuildError),
    /// The indices.
    #[error(transparent)]
    Index(#[from] tmem_index::IndexError),
    /// A recording.
    #[error("the recording {path} cannot be used: {message}")]
    Recording {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

impl TmemError {
    /// Whether it is the input that was refused, with nothing changed: other input may do.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Conflict { .. }
                | Self::NoTurns(_)
                | Self::TurnName { .. }
                | Self::Model(_)
                | Self::Document(_)
        )
    }
}

fn listed(names: &[String]) -> String {
    match names.is_empty() {
        true => String::new(),
        false => format!("; there are: {}", names.join(", ")),
    }
}

/// The error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
