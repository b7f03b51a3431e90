//! BM25 behind one trait: tantivy (`bm25`), or postings of our own, which are also its yardstick.
//!
//! Both are fed with the terms of `tmem_model::text::terms`, documents and queries alike, so words
//! are never read as operators or fields.

pub mod postings;
#[cfg(feature = "bm25")]
pub mod tantivy;

#[cfg(test)]
mod contract;

use serde::{Deserialize, Serialize};

use crate::IndexError;
use crate::key::{Hit, Key, KeySet};

/// Saturation of term frequency.
pub const K1: f32 = 1.2;
/// Weight of document length.
pub const B: f32 = 0.75;

/// A document: its terms, with repeats. A field of weight 2 stands in it twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LexicalDocument {
    /// Where it leads.
    pub key: Key,
    /// Its terms.
    pub terms: Vec<String>,
}

/// One corpus of one kind of node. Nothing has a default body: a backend that cannot remove is none.
pub trait LexicalIndex: std::fmt::Debug + Send + Sync {
    /// Puts `documents` in the place of those with the same keys, as one commit.
    ///
    /// # Errors
    /// [`IndexError::Lexical`] if the engine fails.
    fn upsert(&mut self, documents: Vec<LexicalDocument>) -> Result<(), IndexError>;

    /// Takes `keys` out as one commit, with effect on the next search, document frequencies and
    /// lengths included; keys that are not there are passed over.
    ///
    /// # Errors
    /// [`IndexError::Lexical`] if the engine fails.
    fn remove(&mut self, keys: &[Key]) -> Result<(), IndexError>;

    /// How many documents can be found.
    fn len(&self) -> usize;

    /// Whether nothing can be found.
    fn is_empty(&self) -> bool;

    /// The `k` best documents among `allowed` (all, if `None`) that hold at least one of `terms`,
    /// best first, ties by key. The filter comes before the cut. A repeated term counts once.
    ///
    /// # Errors
    /// [`IndexError::Lexical`] if the engine fails.
    fn search(
        &self,
        terms: &[String],
        k: usize,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Hit>, IndexError>;
}

/// Which backend holds the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LexicalBackend {
    /// Postings of our own: small and exact.
    Postings,
    /// Needs the feature `bm25`.
    Tantivy,
}

impl Default for LexicalBackend {
    /// Tantivy where it is built in.
    fn default() -> Self {
        if cfg!(feature = "bm25") {
            Self::Tantivy
        } else {
            Self::Postings
        }
    }
}

impl LexicalBackend {
    /// An empty index.
    ///
    /// # Errors
    /// [`IndexError::NotBuilt`] if this build lacks the backend, [`IndexError::Lexical`] if it does
    /// not start.
    pub fn create(self) -> Result<Box<dyn LexicalIndex>, IndexError> {
        match self {
            Self::Postings => Ok(Box::new(postings::Postings::default())),
            #[cfg(feature = "bm25")]
            Self::Tantivy => Ok(Box::new(tantivy::TantivyIndex::new()?)),
            #[cfg(not(feature = "bm25"))]
            Self::Tantivy => Err(IndexError::NotBuilt {
                backend: "tantivy",
                feature: "bm25",
            }),
        }
    }
}

/// Robertson's inverse document frequency, never negative.
fn idf(documents: usize, holding: usize) -> f32 {
    let (n, df) = (documents as f32, holding as f32);
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
}

/// The weight of a term that a document of `length` terms holds `tf` times.
fn saturation(tf: f32, length: f32, average: f32) -> f32 {
    tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / average))
}

/// Each term once, in order.
fn distinct(terms: &[String]) -> Vec<&str> {
    let mut terms: Vec<&str> = terms.iter().map(String::as_str).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}
