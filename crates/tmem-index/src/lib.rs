//! Lexical and vector indices over a memory's nodes and trigger views (section 3.3 of the paper).
//!
//! [`rows`] names every text that wants a vector; [`Indices::build`] takes them back with their
//! vectors and makes one table per view, one lexical index per kind of node, and the background
//! statistics that trigger views are corrected by. All of it lives in memory and is derived: when
//! the memory changes, [`Indices::update`] brings them to what they would be if made anew, so nothing
//! that was deleted can be found. Without vectors the lexical half still answers.
//!
//! Encoding is left to `tmem-embed`, fusing the lists to `tmem-retrieve`, keeping vectors to
//! `tmem-store`. Features: `bm25` for tantivy (otherwise postings of our own), `hnsw` for graphs.

pub mod background;
pub mod dense;
mod hosts;
pub mod indices;
pub mod key;
pub mod lexical;
pub mod links;
pub mod row;
mod table;
pub mod vector;

pub use background::{Background, BackgroundConfig, sample};
pub use dense::{VectorBackend, VectorIndex};
pub use indices::{IndexConfig, Indices, Match};
pub use key::{Hit, Key, KeySet};
pub use lexical::{LexicalBackend, LexicalIndex};
pub use links::Links;
pub use row::{Host, Kind, Row, View, affected, rows, rows_of};
pub use vector::{Vector, VectorError};

/// Why an index could not be made or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A vector of another encoder.
    #[error("a vector of {found} dimensions does not fit an index of {expected}")]
    Dimensions {
        /// What the index holds.
        expected: usize,
        /// What came.
        found: usize,
    },
    /// This build has no such backend.
    #[error("this build has no {backend} index; it needs the feature {feature}")]
    NotBuilt {
        /// The backend.
        backend: &'static str,
        /// The cargo feature that brings it.
        feature: &'static str,
    },
    /// The lexical engine failed.
    #[error("the lexical index failed: {message}")]
    Lexical {
        /// What it said.
        message: String,
    },
}
