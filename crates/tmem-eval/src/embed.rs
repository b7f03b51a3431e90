//! Vectors of every text of a run, encoded once and looked up ever after.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use tmem_index::Vector;

use crate::error::EvalError;
use crate::progress::Progress;

/// Whether a text is asked or stored; some encoders treat the two differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextKind {
    /// Asked.
    Query,
    /// Stored.
    Passage,
}

/// Where vectors come from: an encoder, behind a cache if the caller has one.
#[async_trait]
pub trait Embed: Send + Sync {
    /// What decides the vectors, for the manifest.
    fn identity(&self) -> String;

    /// The fixed trigger gate of this encoder, if it has one.
    fn gate(&self) -> Option<f32> {
        None
    }

    /// One vector per text, in order.
    ///
    /// # Errors
    /// [`EvalError::Encoder`] if the model cannot be run.
    async fn embed(&self, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, EvalError>;
}

/// Texts handed to [`Embed`] at once.
const BATCH: usize = 64;

/// Vectors by kind and text.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    known: HashMap<(TextKind, String), Vector>,
}

impl Vectors {
    /// Encodes those of `texts` that are not there yet, in batches of texts of like length.
    ///
    /// # Errors
    /// [`EvalError::Encoder`] if the encoder fails or gives something that is no vector.
    pub async fn fill(
        &mut self,
        embed: &dyn Embed,
        kind: TextKind,
        texts: impl IntoIterator<Item = String>,
        progress: &dyn Progress,
    ) -> Result<(), EvalError> {
        let texts: BTreeSet<String> = texts.into_iter().filter(|t| !t.trim().is_empty()).collect();
        let known = |text: &String| self.known.contains_key(&(kind, text.clone()));
        let mut texts: Vec<String> = texts.into_iter().filter(|text| !known(text)).collect();
        texts.sort_by_key(String::len);
        progress.begin("embeddings", texts.len());
        for batch in texts.chunks(BATCH) {
            let vectors = embed.embed(kind, batch).await?;
            if vectors.len() != batch.len() {
                return Err(EvalError::Encoder(
                    "it gave another number of vectors".into(),
                ));
            }
            for (text, vector) in batch.iter().zip(vectors) {
                let vector =
                    Vector::try_from(vector).map_err(|e| EvalError::Encoder(e.to_string()))?;
                self.known.insert((kind, text.clone()), vector);
            }
            progress.advance(batch.len());
        }
        progress.end();
        Ok(())
    }

    /// The vector of `text`; `None` if it is blank.
    ///
    /// # Errors
    /// [`EvalError::NoVector`] if it was never encoded.
    pub fn get(&self, kind: TextKind, text: &str) -> Result<Option<Vector>, EvalError> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let found = self.known.get(&(kind, text.to_owned())).cloned();
        let missing = || EvalError::NoVector {
            text: text.chars().take(60).collect(),
        };
        found.ok_or_else(missing).map(Some)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}
