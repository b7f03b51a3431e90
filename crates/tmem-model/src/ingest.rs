//! Text files into conversations; the format is told by the content.

use jiff::civil::DateTime;

/// A conversation as a file gives it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// Its name, if the file has one.
    pub name: Option<String>,
    /// Its turns, in order.
    pub turns: Vec<RawTurn>,
    /// What was left out or mended.
    pub notes: Vec<String>,
}

/// A turn as a file gives it: cleaned, with an id of its own or one by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawTurn {
    /// Its id; made from session and position when the file has none.
    pub id: String,
    /// Who said it.
    pub speaker: String,
    /// What was said.
    pub text: String,
    /// Civil time, in no zone.
    pub at: Option<DateTime>,
    /// Caption of a shared image.
    pub image: Option<String>,
}

/// Choices of the reader.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Turns whose text contains one of these (case ignored) are left out and counted.
    pub skip: Vec<String>,
}

/// What is wrong with a file, where, and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// Nothing to read.
    #[error("there is no turn in it")]
    Empty,
}

/// Reads conversations of any known format.
///
/// # Errors
/// [`IngestError`] naming line, key and value.
pub fn parse(text: &str, options: &Options) -> Result<Vec<Conversation>, IngestError> {
    let _ = (text, options);
    Err(IngestError::Empty)
}
