//! Text files into conversations; the format is told by the content.
//!
//! Read are LoCoMo JSON, OpenAI chat JSON and JSON Lines, turns as JSON Lines (`speaker`, `text`,
//! and optionally `id`, `at`, `image`, `session`, `conversation`), and transcripts of `Name: text`
//! lines. What is left out is counted in notes; what is wrong is named with its place and key.
//!
//! A turn without an id gets one by session and position in the file, counting what is left out
//! too: the same file read again gives the same ids, with whatever skip list.

mod chat;
mod decode;
mod draft;
mod error;
mod json;
mod locomo;
mod transcript;

pub use decode::decode;
pub use error::IngestError;

use jiff::civil::DateTime;

/// Stands for the caption of an image that comes without one.
pub const NO_CAPTION: &str = "no caption";

/// A conversation as a file gives it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// Its name, if the file has one.
    pub name: Option<String>,
    /// Its turns, in order; may be empty when everything was left out.
    pub turns: Vec<RawTurn>,
    /// What was left out, mended or odd, a sentence each.
    pub notes: Vec<String>,
}

/// A turn as a file gives it: cleaned, with a valid id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawTurn {
    /// Its id, unique in the conversation.
    pub id: String,
    /// Whether the id was made from session and position, and so means nothing outside the file.
    pub numbered: bool,
    /// Who said it.
    pub speaker: String,
    /// What was said; blank only beside an image.
    pub text: String,
    /// Civil time, in no zone.
    pub at: Option<DateTime>,
    /// Caption of a shared image.
    pub image: Option<String>,
}

/// Choices of the reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Turns whose text contains one of these (case ignored) are left out and counted.
    pub skip: Vec<String>,
}

/// Reads the conversations of a file, in any known format.
///
/// Several nameless conversations come in the order of the file.
///
/// # Errors
/// [`IngestError`] naming line, key and value, and the way out.
pub fn parse(text: &str, options: &Options) -> Result<Vec<Conversation>, IngestError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(IngestError::Empty);
    }
    decode::refuse_binary(text)?;
    let json = text.trim_start().starts_with(['{', '[']) && !transcript::is_header(text);
    let conversations = if json {
        json::parse(text, options)
    } else {
        transcript::parse(text, options)
    }?;
    if conversations
        .iter()
        .all(|c| c.turns.is_empty() && c.notes.is_empty())
    {
        return Err(IngestError::Empty);
    }
    Ok(conversations)
}
