//! The call log: every call is content-addressed and kept before its reply is used.

use serde::{Deserialize, Serialize};

use crate::chat::{Reply, Request};

/// Hex SHA-256 over model, parameters, prompt, rendered messages and schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub struct CallKey(pub String);

/// One logged call.
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
    /// What went wrong.
    pub error: Option<String>,
    /// Civil UTC time at which it was answered; never part of a key or prompt.
    pub at: String,
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
}
