//! [`Query`]: what is asked, already embedded, and what may answer it.

use std::collections::BTreeMap;

use tmem_index::{Host, Vector};
use tmem_model::{ConversationId, DateTime, SceneId};

/// A question or utterance. All filters come before every cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Its words; blank finds nothing.
    pub text: String,
    /// Its vector; `None` leaves the words alone to search, without associations.
    pub vector: Option<Vector>,
    /// Who asks or is asked about: whose persona is shown; `None` shows all of the conversation.
    pub speaker: Option<String>,
    /// Only what was said by then; turns without a date pass.
    pub at: Option<DateTime>,
    /// Only this conversation.
    pub conversation: Option<ConversationId>,
    /// Scenes that were shown as associations before and shall not come up unasked again.
    pub shown: Vec<SceneId>,
    /// Scores of a reranker for scenes and items; higher is better. Those that have one come
    /// first, in its order; the others keep theirs.
    pub rerank: BTreeMap<Host, f32>,
}

impl Query {
    /// `text` with its vector, without filters.
    #[must_use]
    pub fn new(text: impl Into<String>, vector: Option<Vector>) -> Self {
        Self {
            text: text.into(),
            vector,
            ..Self::default()
        }
    }
}
