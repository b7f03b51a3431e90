//! The call log: every call is content-addressed and kept before its reply is used.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::chat::{Finish, Reply, Request};

/// Hex SHA-256 over model, parameters, prompt, rendered messages and schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub struct CallKey(pub String);

impl CallKey {
    /// The key of `request` when it goes to `model`. Times and attempts do not enter it.
    pub fn of(model: &str, request: &Request) -> Self {
        let content = serde_json::to_vec(&("tmem-call/1", model, request));
        let digest = Sha256::digest(content.expect("a request has only string keys"));
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl std::fmt::Display for CallKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One logged call: what was asked last under its key, what came of it, and all it has cost.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Call {
    /// Its key.
    pub key: CallKey,
    /// The model's name.
    pub model: String,
    /// The request.
    pub request: Request,
    /// The reply, or `None` while it waits or when it failed.
    pub reply: Option<Reply>,
    /// What went wrong; with a reply beside it, the reply was of no use and must not be reused.
    pub error: Option<String>,
    /// Civil UTC time at which it was answered; never part of a key or prompt.
    pub at: String,
    /// Everything spent under this key, failed attempts included.
    #[serde(default)]
    pub spent: Spent,
}

/// What the calls of one key, or of many, have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Spent {
    /// Calls that went to the model.
    pub calls: u64,
    /// Questions answered from the log instead.
    pub cached: u64,
    /// Of `calls`: those that failed or brought nothing usable.
    pub failed: u64,
    /// Of `calls`: those that were refused.
    pub refused: u64,
    /// Of `calls`: those that were answered without saying what they used.
    pub unknown_usage: u64,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
}

impl Call {
    /// A call that nobody has answered yet.
    pub fn waiting(model: &str, request: &Request) -> Self {
        Self {
            key: CallKey::of(model, request),
            model: model.to_owned(),
            request: request.clone(),
            reply: None,
            error: None,
            at: String::new(),
            spent: Spent::default(),
        }
    }

    /// Whether it waits for an answer from elsewhere.
    pub fn is_waiting(&self) -> bool {
        self.reply.is_none() && self.error.is_none()
    }

    /// The reply, if it may be used again: errors, refusals and replies given up never are.
    pub fn answer(&self) -> Option<&Reply> {
        let reply = self.reply.as_ref().filter(|_| self.error.is_none())?;
        (!matches!(reply.finish, Finish::Refused(_))).then_some(reply)
    }

    /// Takes a reply in and counts what it cost.
    pub fn answered(&mut self, reply: Reply, at: String) {
        self.spent.count(&reply);
        (self.reply, self.error, self.at) = (Some(reply), None, at);
    }

    /// Notes that the call failed before a reply came.
    pub fn failed(&mut self, error: String, at: String) {
        self.spent.calls += 1;
        self.spent.failed += 1;
        (self.reply, self.error, self.at) = (None, Some(error), at);
    }
}

impl Spent {
    /// Counts one reply that was paid for.
    pub fn count(&mut self, reply: &Reply) {
        self.calls += 1;
        self.refused += u64::from(matches!(reply.finish, Finish::Refused(_)));
        match reply.usage {
            Some(usage) => self.use_tokens(usage),
            None => self.unknown_usage += 1,
        }
    }

    /// Adds tokens.
    pub fn use_tokens(&mut self, usage: crate::chat::Usage) {
        self.prompt_tokens += usage.prompt_tokens;
        self.completion_tokens += usage.completion_tokens;
    }

    /// Notes that the last reply was of no use; the same reply seen again is not counted twice.
    pub fn count_unusable(&mut self) {
        self.failed += u64::from(self.failed + self.refused < self.calls);
    }

    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.cached += other.cached;
        self.failed += other.failed;
        self.refused += other.refused;
        self.unknown_usage += other.unknown_usage;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
    }
}

/// Where calls are kept. Implementations are durable when `record` returns.
pub trait CallLog: Send + Sync {
    /// The call of that key, answered, failed or waiting.
    ///
    /// # Errors
    /// A message if the log cannot be read.
    fn find(&self, key: &CallKey) -> Result<Option<Call>, String>;

    /// Adds or replaces a call.
    ///
    /// # Errors
    /// A message if the log cannot be written.
    fn record(&self, call: &Call) -> Result<(), String>;

    /// The calls that wait for an answer ([`Call::is_waiting`]), in the order in which they came.
    ///
    /// # Errors
    /// A message if the log cannot be read.
    fn waiting(&self) -> Result<Vec<Call>, String>;

    /// Notes that the call was answered from the log once more (`spent.cached`).
    ///
    /// # Errors
    /// A message if the log cannot be written.
    fn hit(&self, key: &CallKey) -> Result<(), String> {
        let Some(mut call) = self.find(key)? else {
            return Ok(());
        };
        call.spent.cached += 1;
        self.record(&call)
    }
}
