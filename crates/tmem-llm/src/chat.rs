//! The least a language model must do.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{error::LlmError, json::Fault};

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

    /// Hears what became of the reply to `request`; decorators pass it on. A log marks the call, an
    /// endpoint learns that its schema is not enforced. Nothing by default.
    fn judged(&self, _request: &Request, _verdict: &Verdict) {}
}

#[async_trait]
impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn context_window(&self) -> Option<usize> {
        (**self).context_window()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        (**self).complete(request).await
    }

    fn judged(&self, request: &Request, verdict: &Verdict) {
        (**self).judged(request, verdict);
    }
}

/// What the reader of a reply made of it, when it was no good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The reply could not be used, but the question goes on with another call.
    Unusable(Fault),
    /// The question was given up: its replies must not answer it again.
    GivenUp(String),
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
    /// Beginnings of words, in lower case, that its texts do without. Who decodes himself obeys; a
    /// server is not told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
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

impl Message {
    /// Instructions.
    pub fn system(content: impl Into<String>) -> Self {
        Self {
            role: Role::System,
            content: content.into(),
        }
    }

    /// Input.
    pub fn user(content: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
        }
    }

    /// Earlier output.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
        }
    }
}

impl Reply {
    /// A complete reply of that text, usage unknown.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            finish: Finish::Stop,
            usage: None,
        }
    }
}

impl Usage {
    /// Tokens read and written.
    pub fn total(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
    }
}

impl std::fmt::Display for Finish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Finish::Stop => f.write_str("stop"),
            Finish::Length => f.write_str("length"),
            Finish::Refused(reason) => write!(f, "refused: {reason}"),
        }
    }
}
