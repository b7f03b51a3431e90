//! Nearest vectors by cosine behind one trait: an exact scan, or a graph (`hnsw`).
//!
//! The exact scan is the yardstick; every other backend passes the same contract (`contract.rs`).

pub mod exact;
#[cfg(feature = "hnsw")]
pub mod hnsw;

#[cfg(test)]
mod contract;

use serde::{Deserialize, Serialize};

use crate::key::{Hit, Key, KeySet};
use crate::{IndexError, Vector};

/// One table of vectors. Nothing has a default body: a backend that cannot remove is none.
pub trait VectorIndex: std::fmt::Debug + Send + Sync {
    /// Puts `vector` at `key`, in the place of what was there.
    ///
    /// # Errors
    /// [`IndexError::Dimensions`] if it does not fit the vectors that are there.
    fn upsert(&mut self, key: Key, vector: &Vector) -> Result<(), IndexError>;

    /// Takes `key` out, with effect on the next search; false if it was not there.
    fn remove(&mut self, key: Key) -> bool;

    /// The numbers at `key`.
    fn get(&self, key: Key) -> Option<&[f32]>;

    /// How many keys can be found.
    fn len(&self) -> usize;

    /// Whether nothing can be found.
    fn is_empty(&self) -> bool;

    /// The `k` keys nearest to `query` among `allowed` (all, if `None`), with their cosines, best
    /// first, ties by key. The filter comes before the cut: `k` hits unless fewer are allowed.
    ///
    /// # Errors
    /// [`IndexError::Dimensions`] if `query` does not fit.
    fn search(
        &self,
        query: &Vector,
        k: usize,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Hit>, IndexError>;
}

/// Which backend holds the vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorBackend {
    /// Looks at every allowed row; right for up to some 100,000 rows a view.
    #[default]
    Exact,
    /// A graph per view; needs the feature `hnsw`.
    Hnsw,
}

impl VectorBackend {
    /// An empty index.
    ///
    /// # Errors
    /// [`IndexError::NotBuilt`] if this build lacks the backend.
    pub fn create(self) -> Result<Box<dyn VectorIndex>, IndexError> {
        match self {
            Self::Exact => Ok(Box::new(exact::ExactIndex::default())),
            #[cfg(feature = "hnsw")]
            Self::Hnsw => Ok(Box::new(hnsw::HnswIndex::default())),
            #[cfg(not(feature = "hnsw"))]
            Self::Hnsw => Err(IndexError::NotBuilt {
                backend: "hnsw",
                feature: "hnsw",
            }),
        }
    }
}

/// Holds the dimensions of the first vector against `found`.
fn check_dimensions(expected: Option<usize>, found: usize) -> Result<(), IndexError> {
    match expected {
        Some(expected) if expected != found => Err(IndexError::Dimensions { expected, found }),
        _ => Ok(()),
    }
}
