//! Vectors by encoder and hash of their text: derived data that is dear to make again.

use rusqlite::{OptionalExtension, params};

use crate::Store;
use crate::error::{Doing, StoreError};

impl Store {
    /// The vectors of texts, in the order of `hashes`; `None` where there is none.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn vectors(
        &self,
        encoder: &str,
        hashes: &[String],
    ) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        let inner = self.inner();
        let query = "SELECT vector FROM vectors WHERE encoder = ?1 AND hash = ?2";
        let mut find = inner.connection.prepare_cached(query)?;
        let mut vector = |hash: &String| {
            let blob = find
                .query_row([encoder, hash], |row| row.get::<_, Vec<u8>>(0))
                .optional();
            Ok(blob.doing("reading a vector")?.map(|blob| from_blob(&blob)))
        };
        hashes.iter().map(&mut vector).collect()
    }

    /// Hashes of those texts that have no vector of that encoder, in the order given.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn without_vector(
        &self,
        encoder: &str,
        hashes: impl Iterator<Item = String>,
    ) -> Result<Vec<String>, StoreError> {
        let inner = self.inner();
        let query = "SELECT 1 FROM vectors WHERE encoder = ?1 AND hash = ?2";
        let mut find = inner.connection.prepare_cached(query)?;
        let mut lacking = Vec::new();
        for hash in hashes {
            let has = find.exists([encoder, &hash]).doing("finding a vector")?;
            lacking.extend((!has).then_some(hash));
        }
        Ok(lacking)
    }

    /// Stores vectors, each with the hash of its text, all or none.
    ///
    /// # Errors
    /// [`StoreError::Vector`] for one that is empty or not finite, else if the file cannot be
    /// written.
    pub fn put_vectors(
        &self,
        encoder: &str,
        vectors: &[(String, Vec<f32>)],
    ) -> Result<(), StoreError> {
        let odd = |vector: &[f32]| vector.is_empty() || vector.iter().any(|x| !x.is_finite());
        if let Some((hash, _)) = vectors.iter().find(|(_, vector)| odd(vector)) {
            return Err(StoreError::Vector { hash: hash.clone() });
        }
        let mut inner = self.inner();
        let transaction = inner.connection.transaction().doing("storing vectors")?;
        for (hash, vector) in vectors {
            let put = "INSERT OR REPLACE INTO vectors (encoder, hash, vector) VALUES (?1, ?2, ?3)";
            let mut put = transaction.prepare_cached(put)?;
            put.execute(params![encoder, hash, to_blob(vector)])
                .doing("storing vectors")?;
        }
        transaction.commit().doing("storing vectors")
    }

    /// Encoders that have vectors here, sorted, each with how many.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn encoders(&self) -> Result<Vec<(String, usize)>, StoreError> {
        let inner = self.inner();
        let count = "SELECT encoder, count(*) FROM vectors GROUP BY encoder ORDER BY encoder";
        let mut statement = inner.connection.prepare_cached(count)?;
        let rows = statement.query_map([], |row| {
            Ok((
                row.get(0)?,
                usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0),
            ))
        })?;
        rows.collect::<Result<_, _>>().doing("counting vectors")
    }

    /// Removes the vectors of texts, as far as that encoder has made some.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn remove_vectors<'a>(
        &self,
        encoder: &str,
        hashes: impl Iterator<Item = &'a String>,
    ) -> Result<(), StoreError> {
        let mut inner = self.inner();
        let transaction = inner.connection.transaction().doing("removing vectors")?;
        for hash in hashes {
            let delete = "DELETE FROM vectors WHERE encoder = ?1 AND hash = ?2";
            let mut delete = transaction.prepare_cached(delete)?;
            delete.execute([encoder, hash]).doing("removing vectors")?;
        }
        transaction.commit().doing("removing vectors")
    }

    /// Removes all vectors for which `keep`, given encoder and hash, is false; yields how many.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn retain_vectors(&self, keep: impl Fn(&str, &str) -> bool) -> Result<usize, StoreError> {
        let mut inner = self.inner();
        let transaction = inner.connection.transaction().doing("removing vectors")?;
        let mut statement = transaction.prepare("SELECT encoder, hash FROM vectors")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rows: Vec<(String, String)> =
            rows.collect::<Result<_, _>>().doing("removing vectors")?;
        drop(statement);
        let doomed: Vec<_> = rows
            .iter()
            .filter(|(encoder, hash)| !keep(encoder, hash))
            .collect();
        for (encoder, hash) in &doomed {
            let delete = "DELETE FROM vectors WHERE encoder = ?1 AND hash = ?2";
            transaction
                .execute(delete, [encoder, hash])
                .doing("removing vectors")?;
        }
        transaction.commit().doing("removing vectors")?;
        Ok(doomed.len())
    }
}

fn to_blob(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn from_blob(blob: &[u8]) -> Vec<f32> {
    let numbers = blob.chunks_exact(4);
    numbers
        .map(|n| f32::from_le_bytes([n[0], n[1], n[2], n[3]]))
        .collect()
}
