//! Why a call or its reply is of no use. Every variant names the prompt, so that a stage can say
//! which of its questions went wrong.

use crate::{
    chat::{Finish, Usage},
    json::Fault,
};

/// Why a call or its reply is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// The call waits for an answer from elsewhere (a batch): not a failure. Carries its key.
    #[error("the call {0} waits for its answer")]
    Pending(String),
    /// The model or a filter refused.
    #[error("{prompt}: the model refused: {reason}")]
    Refused {
        /// The prompt.
        prompt: String,
        /// The reason given.
        reason: String,
    },
    /// Anything that no other variant names.
    #[error("{prompt}: {message}")]
    Failed {
        /// The prompt.
        prompt: String,
        /// What happened.
        message: String,
    },
    /// The request is larger than the model or its server takes: the caller has to split it.
    #[error("{prompt}: the request is too large for {model}: {message}")]
    TooLarge {
        /// The prompt.
        prompt: String,
        /// The model.
        model: String,
        /// What the server said.
        message: String,
    },
    /// The reply did not fit into its token cap, though the cap was raised as far as allowed.
    #[error("{prompt}: the reply of {model} was cut at {cap} tokens (finish reason length)")]
    CutOff {
        /// The prompt.
        prompt: String,
        /// The model.
        model: String,
        /// The largest cap that was tried.
        cap: u32,
    },
    /// A reply without text where a value was wanted.
    #[error("{prompt}: {model} gave an empty reply (finish reason {finish})")]
    Empty {
        /// The prompt.
        prompt: String,
        /// The model.
        model: String,
        /// Why the reply ended.
        finish: Finish,
    },
    /// No attempt brought a reply of the wanted shape.
    #[error("{prompt}: no usable reply from {model} in {attempts} attempts (finish reason stop)")]
    Unusable {
        /// The prompt.
        prompt: String,
        /// The model.
        model: String,
        /// Calls made.
        attempts: u32,
        /// What was wrong with the last one.
        source: Fault,
    },
    /// The server answered with an empty list of choices.
    #[error("{prompt}: the answer of {model} holds no choice")]
    NoChoice {
        /// The prompt.
        prompt: String,
        /// The model.
        model: String,
        /// What it cost all the same.
        usage: Option<Usage>,
    },
    /// The endpoint could not be reached or answered with an error.
    #[error("{prompt}: the call of {model} failed")]
    Endpoint {
        /// The prompt.
        prompt: String,
        /// The model.
        model: String,
        /// What the user can look at.
        hint: Option<String>,
        /// Whether any other call would fail in the same way just now.
        outage: bool,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A limit set by the user was reached; nothing was paid for this call.
    #[error("{prompt}: the budget of {limit} is used up")]
    Budget {
        /// The prompt.
        prompt: String,
        /// The limit, as in `200 calls`.
        limit: String,
    },
    /// Replay only: the recording lacks this call.
    #[error("{prompt} (version {version}): this call was not recorded; its prompt is\n{text}")]
    NotRecorded {
        /// The prompt.
        prompt: String,
        /// Its version.
        version: u32,
        /// The rendered messages.
        text: String,
    },
    /// The call log could not be read or written.
    #[error("{prompt}: the call log failed: {message}")]
    Log {
        /// The prompt.
        prompt: String,
        /// What the log said.
        message: String,
    },
    /// The reply type cannot be described by a strict schema: a mistake in the program.
    #[error("{prompt}: the reply type has no strict schema")]
    Schema {
        /// The prompt.
        prompt: String,
        /// Where and why.
        source: crate::schema::SchemaError,
    },
}

impl LlmError {
    /// What the user can look at, if that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            LlmError::Endpoint { hint, .. } => hint.as_deref(),
            LlmError::CutOff { .. } => {
                Some("raise max_tokens of this stage or make its batches smaller")
            }
            LlmError::Budget { .. } => {
                Some("raise the budget and run again; what is done stays done")
            }
            _ => None,
        }
    }
}
