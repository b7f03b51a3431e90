//! The one reader of model replies: finds the JSON value that was asked for in what came back.
//!
//! Reasoning blocks, code fences and chatter around the value are passed over; a value that is
//! broken is never repaired, neither here nor by a second call.

mod scan;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use scan::{find, find_last};
pub(crate) use scan::{readable, without_reasoning};

/// What is wrong with a reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing is in it.
    #[error("the reply is empty")]
    Empty,
    /// No JSON value is in it.
    #[error("the reply holds no JSON: {excerpt:?}")]
    NotJson {
        /// Its beginning.
        excerpt: String,
    },
    /// Its JSON value begins and never ends.
    #[error("the JSON of the reply breaks off: {excerpt:?}")]
    Unfinished {
        /// Its end.
        excerpt: String,
    },
    /// A part of the wanted shape is not there.
    #[error("`{path}` is missing")]
    Missing {
        /// Where it was wanted, as in `items[2].text`.
        path: String,
    },
    /// A part has another shape than wanted.
    #[error("`{path}` does not fit: {reason}")]
    OffSchema {
        /// Which part; `.` is the whole value.
        path: String,
        /// Why.
        reason: String,
    },
    /// The shape is right and the content is not, as the caller's own check says.
    #[error("{0}")]
    Rejected(String),
}

/// Reads the first complete JSON object in `text` that is a `T`.
///
/// # Errors
/// [`Fault`]; when values were found but none fits, the fault of the first.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    find(text, fit)
}

/// Turns a value into a `T`, naming the part that does not fit.
///
/// # Errors
/// [`Fault::Missing`] or [`Fault::OffSchema`].
pub fn fit<T: DeserializeOwned>(value: Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(value).map_err(|error| misfit(&error))
}

fn misfit(error: &serde_path_to_error::Error<serde_json::Error>) -> Fault {
    let path = error.path().to_string();
    let reason = error.inner().to_string();
    match missing_field(&reason) {
        Some(field) if path == "." => Fault::Missing {
            path: field.to_owned(),
        },
        Some(field) => Fault::Missing {
            path: format!("{path}.{field}"),
        },
        None => Fault::OffSchema {
            path,
            reason: excerpt(&reason),
        },
    }
}

fn missing_field(reason: &str) -> Option<&str> {
    reason.strip_prefix("missing field `")?.strip_suffix('`')
}

/// The beginning of a text for a message: at most 200 characters.
pub(crate) fn excerpt(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The end of a text for a message: at most 80 characters.
pub(crate) fn tail(text: &str) -> String {
    let text = text.trim_end();
    match text.char_indices().rev().nth(79) {
        Some((start, _)) if start > 0 => format!("…{}", &text[start..]),
        _ => text.to_owned(),
    }
}
