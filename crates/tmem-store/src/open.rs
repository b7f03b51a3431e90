//! Opening the file: its folder, its settings, its schema.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::StoreError;
use crate::{Inner, Store, schema};

/// Name of the file within the data folder.
pub const FILE: &str = "tmem.sqlite3";

/// How long a statement waits for another process to finish its own.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

impl Store {
    /// Opens the store of a data folder; makes both where they are missing.
    ///
    /// # Errors
    /// [`StoreError`] if the folder or the file cannot be used, the file is damaged or newer.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        std::fs::create_dir_all(folder).map_err(|source| StoreError::Folder {
            path: folder.to_owned(),
            source,
        })?;
        Self::open_file(folder)
    }

    /// Opens the store of a data folder, if there is one.
    ///
    /// # Errors
    /// [`StoreError::Absent`] if there is none, else as [`Store::open`].
    pub fn open_existing(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        if !folder.join(FILE).is_file() {
            return Err(StoreError::Absent {
                path: folder.to_owned(),
            });
        }
        Self::open_file(folder)
    }

    fn open_file(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        let explain = |source| explain(&path, source);
        let mut connection = Connection::open_with_flags(&path, flags()).map_err(explain)?;
        let found = set_up(&connection).map_err(explain)?;
        if found > schema::SCHEMA {
            return Err(StoreError::Newer {
                path,
                found,
                known: schema::SCHEMA,
            });
        }
        if found < schema::SCHEMA {
            schema::create(&mut connection).map_err(explain)?;
        }
        let inner = Inner {
            connection,
            lock: None,
            seen: HashMap::new(),
        };
        Ok(Self {
            folder: folder.to_owned(),
            inner: Mutex::new(inner),
        })
    }
}

fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Settings of the connection; yields the schema version.
fn set_up(connection: &Connection) -> rusqlite::Result<u32> {
    connection.busy_timeout(PATIENCE)?;
    let version = schema::version(connection)?;
    if version > schema::SCHEMA {
        return Ok(version);
    }
    // A commit is on disk when it returns, and what is deleted is overwritten.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.query_row("PRAGMA secure_delete = ON", [], |_| Ok(()))?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(version)
}

fn explain(path: &Path, source: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::Damaged { path, source }
        }
        _ => StoreError::Open { path, source },
    }
}
