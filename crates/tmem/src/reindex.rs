//! Whose vectors these are, and making them anew.

use std::collections::BTreeSet;

use tmem_index::rows;

use crate::build::Listener;
use crate::error::TmemError;
use crate::tmem::Tmem;
use crate::vectors::hash;

/// What making vectors anew came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Reindexed {
    /// Vectors that serve now.
    pub vectors: usize,
    /// Vectors of other encoders that went.
    pub dropped: usize,
}

impl Tmem {
    /// Refuses to go on with an encoder that did not make the stored vectors, before anything is
    /// spent.
    pub(crate) async fn check_encoder(&self) -> Result<(), TmemError> {
        let Some(spec) = self.services.encoder_spec() else {
            return Ok(());
        };
        match self.shelf.encoder()? {
            Some(stored) if stored != spec.identity() => Err(TmemError::EncoderMismatch {
                stored,
                configured: spec.identity(),
            }),
            _ => Ok(()),
        }
    }

    /// Makes all vectors of all spaces of the folder with the configured encoder. The old ones
    /// serve until all new ones are there; stopped half-way, nothing has changed, and what was made
    /// is not made again.
    ///
    /// # Errors
    /// [`TmemError::NoEncoder`], [`TmemError::Embed`] or [`TmemError::Store`].
    pub async fn reindex(&self, listener: Listener<'_>) -> Result<Reindexed, TmemError> {
        let encoder = self
            .services
            .encoder()
            .await
            .map_err(TmemError::NoEncoder)?;
        let rows: Vec<_> = self.shelf.memories()?.iter().flat_map(rows).collect();
        let known = self.vectors_of(&*encoder, &rows, listener).await?;
        let dropped = self.shelf.swap_encoder(&encoder.spec().identity())?;
        self.indices.clear().await;
        Ok(Reindexed {
            vectors: known.len(),
            dropped,
        })
    }

    /// Removes the vectors of texts that no space of the folder holds.
    pub(crate) fn drop_unused_vectors(&self) -> Result<usize, TmemError> {
        let used = self.used_texts()?;
        self.shelf.retain_vectors(|_, hash| used.contains(hash))
    }

    /// How many vectors are of texts that no space of the folder holds.
    pub(crate) fn unused_vectors(&self) -> Result<usize, TmemError> {
        let used = self.used_texts()?;
        let Some(spec) = self.services.encoder_spec() else {
            return Ok(0);
        };
        let kept = self.shelf.vectors(&spec.identity(), used.iter())?.len();
        Ok(self
            .shelf
            .count_vectors(&spec.identity())?
            .saturating_sub(kept))
    }

    fn used_texts(&self) -> Result<BTreeSet<String>, TmemError> {
        let rows: Vec<_> = self.shelf.memories()?.iter().flat_map(rows).collect();
        Ok(rows.iter().map(|row| hash(&row.text)).collect())
    }
}
