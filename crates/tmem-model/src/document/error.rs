//! What is wrong with a document, and where.

use crate::id::{ConversationId, TurnId};
use crate::memory::ModelError;

/// Why a document was refused. The caller adds the name of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// No JSON; the source names line and column.
    #[error("it is no JSON")]
    Json(#[source] serde_json::Error),
    /// Another format or none.
    #[error(
        "format: {found} is not supported, this version reads \"tmem-memory/1\"; what people said \
         is read with `tmem add`"
    )]
    Format {
        /// What stands there instead, as JSON.
        found: String,
    },
    /// A field that is missing or holds something else than it should.
    #[error("{path}{}: {reason}", owner(.id))]
    Field {
        /// Where, as in `scenes[3].turns[0]`.
        path: String,
        /// Id of the node it is in, once known.
        id: Option<String>,
        /// Why.
        reason: String,
    },
    /// A breach of the rules that bind nodes together.
    #[error("{path} breaks a rule")]
    Breach {
        /// Where, as in `scenes[3].turns[0]`.
        path: String,
        /// Which rule, with both ends.
        source: Box<ModelError>,
    },
    /// A turn in no scene, and not listed as open.
    #[error("turns[{at}].id: turn {turn} is in no scene and not listed under `open`")]
    Loose {
        /// Its place.
        at: usize,
        /// The turn.
        turn: TurnId,
    },
    /// A turn whose id is taken by another one.
    #[error("turns[{at}].id: turn {turn} is already there with another content")]
    Differs {
        /// Its place.
        at: usize,
        /// The turn.
        turn: TurnId,
    },
    /// The document leaves the turns to the conversation, which has none.
    #[error("turns: absent, and conversation {conversation} holds no turns that they could be")]
    NoTurns {
        /// The conversation.
        conversation: ConversationId,
    },
    /// A list without a document.
    #[error("the list is empty")]
    NoDocument,
    /// A document of a list.
    #[error("document {number} of the list")]
    Listed {
        /// Its place, from 1.
        number: usize,
        /// What is wrong with it.
        source: Box<DocumentError>,
    },
}

impl DocumentError {
    /// The same of the document in that place of a list, from 1.
    #[must_use]
    pub fn listed(self, number: usize) -> Self {
        Self::Listed {
            number,
            source: Box::new(self),
        }
    }
}

fn owner(id: &Option<String>) -> String {
    id.as_ref()
        .map_or_else(String::new, |id| format!(" (in {id})"))
}
