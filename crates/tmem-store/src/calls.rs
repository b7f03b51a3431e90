//! The call log's rows, kept as they are given.

use rusqlite::{OptionalExtension, Row, params};

use crate::Store;
use crate::error::{Doing, StoreError};

/// A model call as the store sees it: a key, what to find it by, and a body it does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// Hash of everything that makes the call.
    pub key: String,
    /// Name of its prompt.
    pub prompt: String,
    /// Name of its model.
    pub model: String,
    /// Its state, in the words of whoever writes it.
    pub state: String,
    /// The call as JSON.
    pub body: String,
}

const COLUMNS: &str = "SELECT key, prompt, model, state, body FROM calls";

impl Store {
    /// The call of a key.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn find_call(&self, key: &str) -> Result<Option<CallRow>, StoreError> {
        let inner = self.inner();
        let mut find = inner
            .connection
            .prepare_cached(&format!("{COLUMNS} WHERE key = ?1"))?;
        find.query_row([key], call)
            .optional()
            .doing("finding a call")
    }

    /// Adds a call, or replaces that of the same key in its place; on disk when this returns.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn record_call(&self, row: &CallRow) -> Result<(), StoreError> {
        let upsert = "INSERT INTO calls (key, prompt, model, state, body)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (key) DO UPDATE SET prompt = excluded.prompt, model = excluded.model,
                 state = excluded.state, body = excluded.body";
        let inner = self.inner();
        let mut statement = inner.connection.prepare_cached(upsert)?;
        let columns = params![row.key, row.prompt, row.model, row.state, row.body];
        statement
            .execute(columns)
            .map(drop)
            .doing("recording a call")
    }

    /// All calls, or those of one state, in the order in which they first came.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn list_calls(&self, state: Option<&str>) -> Result<Vec<CallRow>, StoreError> {
        let inner = self.inner();
        let list = format!("{COLUMNS} WHERE ?1 IS NULL OR state = ?1 ORDER BY seq");
        let mut statement = inner.connection.prepare_cached(&list)?;
        let rows = statement.query_map([state], call)?;
        rows.collect::<Result<_, _>>().doing("reading the calls")
    }

    /// Removes the calls that `matches`, and yields how many there were.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn remove_calls_matching(
        &self,
        matches: impl Fn(&CallRow) -> bool,
    ) -> Result<usize, StoreError> {
        let doomed: Vec<_> = self.list_calls(None)?.into_iter().filter(matches).collect();
        let mut inner = self.inner();
        let transaction = inner.connection.transaction().doing("removing calls")?;
        for row in &doomed {
            let delete = "DELETE FROM calls WHERE key = ?1";
            transaction
                .execute(delete, [&row.key])
                .doing("removing calls")?;
        }
        transaction.commit().doing("removing calls")?;
        Ok(doomed.len())
    }
}

fn call(row: &Row<'_>) -> rusqlite::Result<CallRow> {
    Ok(CallRow {
        key: row.get(0)?,
        prompt: row.get(1)?,
        model: row.get(2)?,
        state: row.get(3)?,
        body: row.get(4)?,
    })
}
