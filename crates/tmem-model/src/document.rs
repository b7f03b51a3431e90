//! The exchange format `tmem-memory/1`: one conversation's memory as a JSON document.

use crate::id::ConversationId;
use crate::memory::{Change, Memory};

/// A document of the exchange format.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    change: Change,
    conversation: ConversationId,
}

/// What is wrong with a document, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// A field holds something else than it should.
    #[error("{path}: {reason}")]
    Field {
        /// Where, as in `scenes[3].turns[0]`.
        path: String,
        /// Why.
        reason: String,
    },
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// [`DocumentError`] naming id and field.
    pub fn parse(json: &str) -> Result<Self, DocumentError> {
        Err(DocumentError::Field {
            path: String::new(),
            reason: json.len().to_string(),
        })
    }

    /// The conversation it is about.
    #[must_use]
    pub fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// The same document about a conversation of another name.
    ///
    /// # Errors
    /// [`DocumentError`] if an id does not fit.
    pub fn renamed(self, conversation: &ConversationId) -> Result<Self, DocumentError> {
        Ok(Self {
            conversation: conversation.clone(),
            ..self
        })
    }

    /// What to apply to `memory` so that it holds this document.
    ///
    /// # Errors
    /// [`DocumentError`] naming id and field for every breach of the format's rules.
    pub fn into_change(self, memory: &Memory) -> Result<Change, DocumentError> {
        let _ = memory;
        Ok(self.change)
    }

    /// The document of one conversation; `None` if the memory does not know it.
    #[must_use]
    pub fn of(memory: &Memory, conversation: &ConversationId) -> Option<Self> {
        memory.heading(conversation)?;
        Some(Self {
            change: Change::default(),
            conversation: conversation.clone(),
        })
    }

    /// JSON in canonical order, indented by one blank, without a trailing line feed.
    #[must_use]
    pub fn to_json(&self) -> String {
        String::new()
    }
}
