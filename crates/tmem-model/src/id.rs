//! Identifiers: `conversation/local`, one type per kind, so that a scene cannot pass for an item.
//!
//! Ids order naturally (`D2:1` before `D10:1`), so a list sorted by id is in the order a person
//! expects, and session 2 comes before session 10.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Longest id or conversation name (bytes).
pub const MAX_ID_LEN: usize = 256;

/// Why a name cannot serve as an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// Nothing but white space.
    #[error("an id is empty")]
    Empty,
    /// Longer than [`MAX_ID_LEN`].
    #[error("id {0:?} is longer than 256 bytes")]
    TooLong(String),
    /// A control character, blank end, or (in a conversation) a slash or backslash.
    #[error("id {0:?} holds a character that ids may not hold")]
    Character(String),
    /// `conversation/local` was expected.
    #[error("id {0:?} does not name its conversation, as in `conversation/id`")]
    Unqualified(String),
}

fn checked(name: &str) -> Result<Arc<str>, IdError> {
    if name.trim().is_empty() {
        Err(IdError::Empty)
    } else if name.len() > MAX_ID_LEN {
        Err(IdError::TooLong(name.chars().take(40).collect()))
    } else if name.trim() != name || name.chars().any(char::is_control) {
        Err(IdError::Character(name.to_owned()))
    } else {
        Ok(name.into())
    }
}

/// Compares text with runs of digits read as numbers; equal numbers fall back to the plain order.
fn natural(a: &str, b: &str) -> Ordering {
    let start = parting(a, b);
    let (mut x, mut y) = (&a[start..], &b[start..]);
    while let (Some(p), Some(q)) = (x.chars().next(), y.chars().next()) {
        let order = if p.is_ascii_digit() && q.is_ascii_digit() {
            let (m, rest_x) = digits(x);
            let (n, rest_y) = digits(y);
            (x, y) = (rest_x, rest_y);
            m.len().cmp(&n.len()).then_with(|| m.cmp(n))
        } else {
            (x, y) = (&x[p.len_utf8()..], &y[q.len_utf8()..]);
            p.cmp(&q)
        };
        if order.is_ne() {
            return order;
        }
    }
    x.len().cmp(&y.len()).then_with(|| a.cmp(b))
}

/// Where two texts part: the byte at which the character, or the run of digits, begins that is the
/// first to differ.
fn parting(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let digits = a.as_bytes()[..same].iter().rev();
    let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
    a.floor_char_boundary(same - digits)
}

/// Splits off a leading run of digits, without its leading zeros.
fn digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (run, rest) = text.split_at(end);
    (run.trim_start_matches('0'), rest)
}

/// Name of a conversation within a space: not empty, no slash, no control character.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ConversationId(Arc<str>);

impl ConversationId {
    /// Checks `name`.
    ///
    /// # Errors
    /// [`IdError`] if the name is blank, too long, padded, or holds a slash or control character.
    pub fn new(name: &str) -> Result<Self, IdError> {
        if name.contains(['/', '\\']) {
            return Err(IdError::Character(name.to_owned()));
        }
        checked(name).map(Self)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialOrd for ConversationId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ConversationId {
    fn cmp(&self, other: &Self) -> Ordering {
        natural(&self.0, &other.0)
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ConversationId {
    type Error = IdError;

    fn try_from(name: String) -> Result<Self, IdError> {
        Self::new(&name)
    }
}

impl From<ConversationId> for String {
    fn from(id: ConversationId) -> Self {
        id.0.as_ref().to_owned()
    }
}

macro_rules! node_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name {
            conversation: ConversationId,
            local: Arc<str>,
        }

        impl $name {
            /// The id `local` within `conversation`.
            ///
            /// # Errors
            /// [`IdError`] if `local` is blank, too long, padded or holds a control character.
            pub fn new(conversation: &ConversationId, local: &str) -> Result<Self, IdError> {
                Ok(Self { conversation: conversation.clone(), local: checked(local)? })
            }

            /// The conversation it belongs to.
            #[must_use]
            pub fn conversation(&self) -> &ConversationId {
                &self.conversation
            }

            /// Its name within the conversation, as the exchange format writes it.
            #[must_use]
            pub fn local(&self) -> &str {
                &self.local
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                let conversations = self.conversation.cmp(&other.conversation);
                conversations.then_with(|| natural(&self.local, &other.local))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/{}", self.conversation, self.local)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let parts = text.split_once('/');
                let (conversation, local) =
                    parts.ok_or_else(|| IdError::Unqualified(text.to_owned()))?;
                Self::new(&ConversationId::new(conversation)?, local)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    };
}

node_id!(
    /// Id of a [`Turn`](crate::Turn).
    TurnId
);
node_id!(
    /// Id of a [`Scene`](crate::Scene).
    SceneId
);
node_id!(
    /// Id of a [`Topic`](crate::Topic).
    TopicId
);
node_id!(
    /// Id of an [`Item`](crate::Item).
    ItemId
);
