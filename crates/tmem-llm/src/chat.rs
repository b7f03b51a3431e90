//! The least a language model must do.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A language model: local, remote, scripted or replayed.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// The model's name as it enters call keys and the ledger.
    fn name(&self) -> &str;

    /// Tokens of context, prompt and reply together, if known.
    fn context_window(&self) -> Option<usize> {
        None
    }

    /// One call. Implementations do not retry: the HTTP layer does, once, below.
    ///
    /// # Errors
    /// [`LlmError`] says what failed; a cut, refused or empty reply is an `Ok` with its [`Finish`].
    async fn complete(&self, request: &Request) -> Result<Reply, LlmError>;
}

/// Which prompt a request was made from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub struct Prompt {
    /// File name without extension, as in `prompts/segment.md`.
    pub name: String,
    /// Its version line.
    pub version: u32,
}

/// Everything that decides a reply; all of it enters the call key.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Request {
    /// The prompt it was made from; also the stage in the ledger.
    pub prompt: Prompt,
    /// The rendered messages, constant part first.
    pub messages: Vec<Message>,
    /// The shape the reply must have; `None` for free text.
    pub schema: Option<ReplySchema>,
    /// Sampling and limits.
    pub params: Params,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// Who speaks in a [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// Input.
    User,
    /// Earlier output.
    Assistant,
}

/// A JSON Schema made strict, with the name that goes on the wire.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ReplySchema {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

/// Sampling and limits of one call.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Params {
    /// Most tokens of the reply.
    pub max_tokens: u32,
    /// 0 for the most probable reply; `None` leaves it to the model.
    pub temperature: Option<f32>,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Reply {
    /// The text; may be empty.
    pub text: String,
    /// Why it ended; looked at before the text is.
    pub finish: Finish,
    /// Tokens used; `None` if the server did not say.
    pub usage: Option<Usage>,
}

/// Why a reply ended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was complete.
    Stop,
    /// The token cap cut it.
    Length,
    /// The model or a filter refused, with the reason given.
    Refused(String),
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written, reasoning included.
    pub completion_tokens: u64,
}

/// Why a call or its reply is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// The call waits for an answer from elsewhere (a batch): not a failure.
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
    /// Anything else: see the concrete variants added by the implementation.
    #[error("{prompt}: {message}")]
    Failed {
        /// The prompt.
        prompt: String,
        /// What happened.
        message: String,
    },
}
