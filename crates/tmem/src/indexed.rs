//! The indices of a memory, built when first asked for and again when it has changed.

use std::sync::Arc;

use tmem_index::{IndexConfig, Indices, rows};
use tmem_model::Memory;
use tmem_model::text::counted;
use tokio::sync::Mutex;

use crate::error::{TmemError, chain};
use crate::tmem::Tmem;
use crate::vectors::{Known, joined};

/// A memory with indices over exactly it.
#[derive(Debug)]
pub(crate) struct Indexed {
    generation: u64,
    pub(crate) memory: Arc<Memory>,
    pub(crate) indices: Indices,
    /// What is missing.
    pub(crate) notes: Vec<String>,
}

#[derive(Default)]
pub(crate) struct IndexCell(Mutex<Option<Arc<Indexed>>>);

impl IndexCell {
    pub(crate) async fn clear(&self) {
        *self.0.lock().await = None;
    }
}

impl Tmem {
    /// Indices over the memory as it is now.
    pub(crate) async fn indexed(&self) -> Result<Arc<Indexed>, TmemError> {
        let mut cell = self.indices.0.lock().await;
        let (memory, generation) = self.generation();
        match &*cell {
            Some(indexed) if indexed.generation == generation => Ok(Arc::clone(indexed)),
            _ => {
                let indexed = Arc::new(self.index(memory, generation).await?);
                *cell = Some(Arc::clone(&indexed));
                Ok(indexed)
            }
        }
    }

    async fn index(&self, memory: Arc<Memory>, generation: u64) -> Result<Indexed, TmemError> {
        let rows = rows(&memory);
        let mut notes = Vec::new();
        let known = match self.services.encoder().await {
            Ok(encoder) => match self.vectors_of(&*encoder, &rows, &|_| ()).await {
                Ok(known) => known,
                Err(TmemError::Embed(error)) => {
                    let why = chain(&error);
                    notes.push(format!("searched by words alone: {why}"));
                    Known::new()
                }
                Err(error) => return Err(error),
            },
            Err(why) => {
                notes.push(format!("searched by words alone: {why}"));
                Known::new()
            }
        };
        let config = self.index_config().await;
        let build = move || {
            let indices = Indices::build(&memory, joined(rows, &known), &config)?;
            if indices.left_out() > 0 {
                let left_out = counted(indices.left_out(), "vector");
                notes.push(format!("left out, being of another length: {left_out}"));
            }
            Ok(Indexed {
                generation,
                memory,
                indices,
                notes,
            })
        };
        tokio::task::spawn_blocking(build)
            .await
            .expect("building indices does not panic")
    }

    /// The settings, with what belongs to the encoder filled in.
    async fn index_config(&self) -> IndexConfig {
        let mut config = self.config().index.clone();
        if let Ok(encoder) = self.services.encoder().await {
            config.dimensions = config.dimensions.or(Some(encoder.spec().dimensions));
            config.gate = config.gate.or(encoder.spec().gate);
        }
        config
    }
}
