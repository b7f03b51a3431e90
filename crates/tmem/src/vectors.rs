//! Vectors of the memory's texts: from the store where it has them, else made and kept.

use std::collections::{BTreeMap, BTreeSet};

use tmem_build::Vectors;
use tmem_embed::{Encoder, TextRole, text_hash};
use tmem_index::{Host, Row, Vector, affected, rows, rows_of};
use tmem_model::TurnId;

use crate::build::Listener;
use crate::error::{TmemError, chain};
use crate::progress::Event;
use crate::tmem::{Tmem, Unembedded};

/// Texts that are encoded between two commits.
const CHUNK: usize = 64;

/// Vectors by the hash of their text.
pub(crate) type Known = BTreeMap<String, Vec<f32>>;

impl Tmem {
    /// Makes the vectors that are missing and keeps them. Without an encoder it says so in a note.
    ///
    /// # Errors
    /// [`TmemError`] if the stored vectors are another encoder's, or the store fails.
    pub async fn embed(&self, listener: Listener<'_>) -> Result<Vec<String>, TmemError> {
        self.check_encoder().await?;
        let encoder = match self.services.encoder().await {
            Ok(encoder) => encoder,
            Err(why) => return Ok(vec![format!("no vectors were made: {why}")]),
        };
        match self.embed_missing(&*encoder, listener).await {
            Ok(()) => Ok(Vec::new()),
            Err(TmemError::Embed(error)) => {
                Ok(vec![format!("vectors are missing: {}", chain(&error))])
            }
            Err(error) => Err(error),
        }
    }

    /// Makes what is missing without reading what is there.
    async fn embed_missing(
        &self,
        encoder: &dyn Encoder,
        listener: Listener<'_>,
    ) -> Result<(), TmemError> {
        let identity = encoder.spec().identity();
        let (memory, generation, lacking) = self.unembedded();
        let rows = match lacking {
            Unembedded::Since(encoder, changed) if encoder == identity => {
                rows_of(&memory, &affected(&memory, changed))
            }
            _ => rows(&memory),
        };
        let mut texts = by_hash(&rows);
        let missing = self.shelf.without_vector(&identity, texts.keys())?;
        texts.retain(|hash, _| missing.contains(hash));
        self.make(encoder, &texts, &mut |_| (), listener).await?;
        self.embedded(identity, generation)
    }

    /// The vector of each row, made if it is not there yet.
    pub(crate) async fn vectors_of(
        &self,
        encoder: &dyn Encoder,
        rows: &[Row],
        listener: Listener<'_>,
    ) -> Result<Known, TmemError> {
        let mut texts = by_hash(rows);
        let mut known = self
            .shelf
            .vectors(&encoder.spec().identity(), texts.keys())?;
        texts.retain(|hash, _| !known.contains_key(hash));
        let mut take = |made| known.extend(made);
        self.make(encoder, &texts, &mut take, listener).await?;
        Ok(known)
    }

    /// Encodes texts and keeps their vectors, some at a time.
    async fn make(
        &self,
        encoder: &dyn Encoder,
        texts: &BTreeMap<String, &str>,
        take: &mut (dyn FnMut(Vec<(String, Vec<f32>)>) + Send),
        listener: Listener<'_>,
    ) -> Result<(), TmemError> {
        let identity = encoder.spec().identity();
        let missing: Vec<(&String, &str)> =
            texts.iter().map(|(hash, text)| (hash, *text)).collect();
        for (done, chunk) in missing.chunks(CHUNK).enumerate() {
            let made = encoded(encoder, chunk).await?;
            self.shelf.put_vectors(&identity, &made)?;
            take(made);
            let done = (done * CHUNK + chunk.len()).min(missing.len());
            listener(&Event::Embedded {
                done,
                total: missing.len(),
            });
        }
        Ok(())
    }

    /// Vectors of some turns; none if there is no encoder.
    pub(crate) async fn turn_vectors(
        &self,
        turns: &BTreeSet<TurnId>,
    ) -> Result<Vectors, TmemError> {
        if turns.is_empty() {
            return Ok(Vectors::new());
        }
        let Ok(encoder) = self.services.encoder().await else {
            return Ok(Vectors::new());
        };
        let hosts: Vec<Host> = turns.iter().cloned().map(Host::Turn).collect();
        let wanted = rows_of(&self.memory(), &hosts);
        let known = self.vectors_of(&*encoder, &wanted, &|_| ()).await?;
        let pair = |row: &Row| Some((turn_of(row)?.clone(), known.get(&hash(&row.text))?.clone()));
        Ok(wanted.iter().filter_map(pair).collect())
    }
}

fn by_hash(rows: &[Row]) -> BTreeMap<String, &str> {
    rows.iter()
        .map(|row| (hash(&row.text), row.text.as_str()))
        .collect()
}

/// Each row with its vector, if it is known and sound.
pub(crate) fn joined(rows: Vec<Row>, known: &Known) -> Vec<(Row, Option<Vector>)> {
    let vector = |row: &Row| Vector::try_from(known.get(&hash(&row.text))?.clone()).ok();
    rows.into_iter()
        .map(|row| (vector(&row), row))
        .map(|(vector, row)| (row, vector))
        .collect()
}

pub(crate) fn hash(text: &str) -> String {
    text_hash(TextRole::Passage, text)
}

async fn encoded(
    encoder: &dyn Encoder,
    chunk: &[(&String, &str)],
) -> Result<Vec<(String, Vec<f32>)>, TmemError> {
    let texts: Vec<String> = chunk.iter().map(|(_, text)| (*text).to_owned()).collect();
    let vectors = encoder.encode(TextRole::Passage, &texts).await?;
    let hashes = chunk.iter().map(|(hash, _)| (*hash).clone());
    Ok(hashes.zip(vectors).collect())
}

fn turn_of(row: &Row) -> Option<&TurnId> {
    match &row.host {
        Host::Turn(turn) => Some(turn),
        _ => None,
    }
}
