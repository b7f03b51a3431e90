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

/// One thread at a time uses a connection.
const COMMON: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX;

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

    /// Opens the store of a data folder, if there is one. Where nothing can be written, the store is
    /// read as it is.
    ///
    /// # Errors
    /// [`StoreError::Absent`] if there is none, [`StoreError::Unsettled`] if it cannot be read without
    /// writing, else as [`Store::open`].
    pub fn open_existing(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        if !folder.join(FILE).is_file() {
            return Err(StoreError::Absent {
                path: folder.to_owned(),
            });
        }
        match Self::open_file(folder) {
            Err(StoreError::Open { .. }) => Self::open_as_it_is(folder),
            opened => opened,
        }
    }

    fn open_file(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags(&path, flags | COMMON);
        Self::opened(folder, connection.map_err(|source| explain(&path, source))?)
    }

    /// Opens a file beside which none can be made, as on a medium that is read only.
    fn open_as_it_is(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        let log = std::fs::metadata(folder.join(format!("{FILE}-wal")));
        if log.is_ok_and(|log| log.len() > 0) {
            return Err(StoreError::Unsettled { path });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(immutable(&path), flags | COMMON);
        Self::opened(folder, connection.map_err(|source| explain(&path, source))?)
    }

    fn opened(folder: &Path, mut connection: Connection) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        let explain = |source| explain(&path, source);
        let read_only = connection.is_readonly(rusqlite::MAIN_DB).map_err(explain)?;
        let found = set_up(&connection, read_only).map_err(explain)?;
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
            read_only,
            lock: None,
            seen: HashMap::new(),
        };
        Ok(Self {
            folder: folder.to_owned(),
            inner: Mutex::new(inner),
        })
    }
}

/// The address by which SQLite reads a file without locks and without looking for its log.
fn immutable(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address + "?immutable=1"
}

/// Settings of the connection; yields the schema version.
fn set_up(connection: &Connection, read_only: bool) -> rusqlite::Result<u32> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    let version = schema::version(connection)?;
    if version > schema::SCHEMA || read_only {
        return Ok(version);
    }
    // A commit is on disk when it returns, and what is deleted is overwritten.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.query_row("PRAGMA secure_delete = ON", [], |_| Ok(()))?;
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
