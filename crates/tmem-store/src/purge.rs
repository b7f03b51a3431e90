//! Drives what was deleted out of the file.

use crate::Store;
use crate::error::{Doing, StoreError};

impl Store {
    /// Rewrites the file without free pages and empties the log beside it, so that nothing deleted
    /// is left in the folder. Takes as long as copying the file.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes, [`StoreError::Busy`] if one keeps reading.
    pub fn purge(&self) -> Result<(), StoreError> {
        let mut inner = self.inner();
        inner.lock(&self.folder)?;
        inner.connection.flush_prepared_statement_cache();
        let connection = &inner.connection;
        connection
            .execute_batch("VACUUM")
            .doing("rewriting the store")?;
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: i64 = connection.query_row(checkpoint, [], |row| row.get(0))?;
        if busy == 0 {
            Ok(())
        } else {
            Err(StoreError::Busy)
        }
    }
}
