//! What is wrong with a file, where, and the way out.

/// Why a file was refused. The caller adds its name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// No turn in it.
    #[error("there is nothing in it to read: no line of text and no turn")]
    Empty,
    /// Bytes that are no text.
    #[error("it is no text: {0}; save it as UTF-8")]
    Binary(String),
    /// JSON that does not parse; the source names line and column of where it went wrong.
    #[error("{place}: what begins here is no JSON; JSON Lines take one object a line")]
    Json {
        /// Where it begins.
        place: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// JSON in no known format.
    #[error(
        "{place}: {found}; known are LoCoMo samples, OpenAI chats (`messages`, or `role` and \
         `content`) and turns (`speaker` and `text`)"
    )]
    Unknown {
        /// Where.
        place: String,
        /// What stands there.
        found: String,
    },
    /// A document of the exchange format.
    #[error("it is a memory document; read it with `tmem import`")]
    Memory,
    /// A field that is missing or holds something else than it should.
    #[error("{place}: `{key}` {reason}")]
    Field {
        /// Where.
        place: String,
        /// The key.
        key: String,
        /// Why.
        reason: String,
    },
    /// A time in no known form.
    #[error(
        "{place}: `{key}` is {value:?}, which is no known time; write 2024-05-10T20:00 or \
         8:00 pm on 10 May, 2024, or leave it out"
    )]
    Time {
        /// Where.
        place: String,
        /// The key.
        key: String,
        /// What stands there.
        value: String,
    },
    /// A line before the first that names its speaker.
    #[error(
        "line {line}: {text:?} does not begin with `Name:`, and there is no turn before it to \
         continue; write `Name: text` or give JSON"
    )]
    Line {
        /// Which, from 1.
        line: usize,
        /// How it begins.
        text: String,
    },
    /// Two turns of one id and different content.
    #[error("{place}: another turn of this conversation has the id {id:?} already")]
    Duplicate {
        /// Where the second stands.
        place: String,
        /// The id.
        id: String,
    },
}
