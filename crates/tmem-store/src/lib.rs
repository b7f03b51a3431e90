//! Durable spaces on SQLite: turns, memory, jobs, calls and vectors in one file of a data folder.
//!
//! A [`Store`] may be shared between threads. Readers of other processes work beside it; writing to
//! a space takes the folder's writer lock, which one process holds at a time and which dies with
//! it. What a commit, a recorded call or a stored vector returns from is on disk.
//!
//! The store keeps what it is given: invariants are the business of `tmem-model`, searching that of
//! `tmem-index`.

mod calls;
mod commit;
mod counters;
mod error;
mod load;
mod lock;
mod open;
mod purge;
mod schema;
mod space;
mod vectors;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use rusqlite::{Connection, OptionalExtension};

pub use calls::CallRow;
pub use counters::TriggerCounts;
pub use error::{SpaceNameError, StoreError};
pub use load::Saved;
pub use open::FILE;
pub use space::SpaceName;

use error::Doing;
use lock::WriterLock;

/// The store of one data folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    connection: Connection,
    read_only: bool,
    lock: Option<WriterLock>,
    /// The generation of each space that this store has last read or written.
    seen: HashMap<SpaceName, u64>,
}

impl Store {
    /// The data folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it can only be read, for nothing can be written where it lies.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.inner().read_only
    }

    /// Names of all spaces that were ever written to, sorted.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn spaces(&self) -> Result<Vec<SpaceName>, StoreError> {
        let inner = self.inner();
        let mut rows = inner
            .connection
            .prepare_cached("SELECT name FROM spaces ORDER BY name")?;
        let names = rows.query_map([], |row| row.get::<_, String>(0))?;
        let names = names
            .collect::<Result<Vec<_>, _>>()
            .doing("reading the spaces")?;
        names
            .iter()
            .map(|name| name.parse().map_err(StoreError::Space))
            .collect()
    }

    /// A setting of the folder, such as which encoder made its vectors.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn get_meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let inner = self.inner();
        let query = "SELECT value FROM meta WHERE key = ?1";
        let value = inner
            .connection
            .query_row(query, [key], |row| row.get(0))
            .optional();
        value.doing("reading a setting")
    }

    /// Writes a setting of the folder.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        let write = "INSERT INTO meta (key, value) VALUES (?1, ?2)
                     ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        let done = self.inner().connection.execute(write, [key, value]);
        done.map(drop).doing("writing a setting")
    }

    /// Forgets a setting of the folder.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn remove_meta(&self, key: &str) -> Result<(), StoreError> {
        let done = self
            .inner()
            .connection
            .execute("DELETE FROM meta WHERE key = ?1", [key]);
        done.map(drop).doing("removing a setting")
    }

    /// Takes the writer lock now, before anything is paid for; kept until the store is dropped.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`]; [`StoreError::Locked`], naming the process that holds it.
    pub fn lock_for_writing(&self) -> Result<(), StoreError> {
        self.inner().lock(&self.folder)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere leaves the connection whole: an open transaction rolls back on drop.
        self.inner
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Inner {
    fn lock(&mut self, folder: &Path) -> Result<(), StoreError> {
        if self.read_only {
            return Err(StoreError::ReadOnly {
                path: folder.to_owned(),
            });
        }
        if self.lock.is_none() {
            self.lock = Some(WriterLock::take(folder)?);
        }
        Ok(())
    }
}
