//! What can go wrong with a store.

use std::path::PathBuf;

use tmem_model::ModelError;

use crate::space::SpaceName;

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The data folder cannot be made or used.
    #[error("cannot use the data folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no store at that place.
    #[error("there is no memory in {}: add something first, or name another folder", path.display())]
    Absent {
        /// The folder.
        path: PathBuf,
    },
    /// The file is damaged or was never a store.
    #[error(
        "{} is not a tmem store or is damaged; put a backup in its place or move it away",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The file cannot be opened.
    #[error(
        "cannot open {}; check that the file can be read and its folder can be written to",
        path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Nothing can be written where the store lies.
    #[error("the memory in {} can only be read; copy it to where it can be written", path.display())]
    ReadOnly {
        /// The data folder.
        path: PathBuf,
    },
    /// The store cannot be written, and the file is not all there is of it.
    #[error(
        "{} cannot be read as it is, for changes wait in a log beside it, as after a crash; \
         open it once where it can be written",
        path.display()
    )]
    Unsettled {
        /// The file.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error(
        "{} has schema {found}, and this version of tmem knows {known} at most; use a newer tmem",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest that this version reads.
        known: u32,
    },
    /// Another process is writing.
    #[error(
        "process {} is writing to {}; wait for it or end it",
        pid.map_or("another".to_owned(), |pid| pid.to_string()), path.display()
    )]
    Locked {
        /// The data folder.
        path: PathBuf,
        /// The process, if it left its number.
        pid: Option<u32>,
    },
    /// Another process wrote to the space since it was loaded.
    #[error("space {space} was changed by another process; load it again")]
    Stale {
        /// The space.
        space: SpaceName,
    },
    /// A stored name that no longer is one.
    #[error("a stored space has no valid name")]
    Space(#[source] SpaceNameError),
    /// A row that cannot be read back.
    #[error("row {id} of the stored {table} cannot be read")]
    Row {
        /// Its table.
        table: &'static str,
        /// Its id.
        id: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The stored nodes do not make a memory.
    #[error("the stored memory of space {space} does not hold together")]
    Memory {
        /// The space.
        space: SpaceName,
        /// What is broken.
        source: Box<ModelError>,
    },
    /// A vector that cannot be compared with others.
    #[error("the vector of text {hash} is empty or holds a number that is not finite")]
    Vector {
        /// Hash of its text.
        hash: String,
    },
    /// Readers kept the file open, so that deleted content could not be driven out of it.
    #[error("other processes are reading; deleted content stays in the file until a later purge")]
    Busy,
    /// SQLite failed.
    #[error("{doing} failed{}", way_out(source))]
    Sql {
        /// At what.
        doing: &'static str,
        /// Why.
        source: rusqlite::Error,
    },
}

/// What to do about a file that turns out to be damaged.
fn way_out(source: &rusqlite::Error) -> &'static str {
    match source.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
            ", for the file is damaged; put a backup in its place or move it away"
        }
        _ => "",
    }
}

/// Why a name cannot be that of a space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceNameError {
    /// Nothing but blanks.
    #[error("the name of the space is blank")]
    Blank,
    /// Longer than a name should be.
    #[error("the name of the space has more than 64 characters")]
    TooLong,
    /// A character that names do not have.
    #[error("space {name:?}: {found:?} is not allowed; use letters, digits, `-`, `_` and `.`")]
    Character {
        /// The name.
        name: String,
        /// The character.
        found: char,
    },
}

impl From<rusqlite::Error> for StoreError {
    fn from(source: rusqlite::Error) -> Self {
        Self::Sql {
            doing: "reading the store",
            source,
        }
    }
}

/// Says what was being done when SQLite failed.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Sql { doing, source })
    }
}
