//! The indices of a memory: built when first asked for, brought up to date when it has changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use tmem_index::{Host, IndexConfig, IndexError, Indices, Row, Vector, affected, rows, rows_of};
use tmem_model::Memory;
use tmem_model::text::counted;
use tokio::sync::Mutex;

use crate::error::{TmemError, chain};
use crate::tmem::Tmem;
use crate::vectors::{Known, joined};

/// A memory with indices over exactly it.
pub(crate) struct Indexed {
    pub(crate) memory: Arc<Memory>,
    pub(crate) search: Arc<Search>,
}

/// Indices over the memory of one generation.
#[derive(Debug)]
pub(crate) struct Search {
    generation: u64,
    pub(crate) indices: Indices,
    /// Why vectors are missing, if they are.
    wordy: Option<String>,
}

impl Search {
    /// What is missing.
    pub(crate) fn notes(&self) -> Vec<String> {
        let words = self.wordy.iter();
        let words = words.map(|why| format!("searched by words alone: {why}"));
        let left_out = Some(self.indices.left_out()).filter(|count| *count > 0);
        let left_out = left_out.map(|count| counted(count, "vector"));
        let left_out = left_out.map(|count| format!("left out, being of another length: {count}"));
        words.chain(left_out).collect()
    }
}

#[derive(Default)]
pub(crate) struct IndexCell(Mutex<Option<Arc<Search>>>);

impl IndexCell {
    pub(crate) async fn clear(&self) {
        *self.0.lock().await = None;
    }
}

/// A row with its vector, if it has one.
type Placed = (Row, Option<Vector>);

impl Tmem {
    /// Indices over the memory as it is now.
    pub(crate) async fn indexed(&self) -> Result<Indexed, TmemError> {
        let mut cell = self.indices.0.lock().await;
        let (memory, generation, changed) = self.unindexed();
        let search = match cell.take() {
            Some(search) if search.generation == generation => search,
            Some(search) => self.renewed(search, &memory, generation, changed).await?,
            None => self.made(&memory, generation).await?,
        };
        *cell = Some(Arc::clone(&search));
        Ok(Indexed { memory, search })
    }

    async fn made(&self, memory: &Arc<Memory>, generation: u64) -> Result<Arc<Search>, TmemError> {
        let make = |memory: &Memory, rows, config: &_| Indices::build(memory, rows, config);
        self.search(memory, generation, rows(memory), make).await
    }

    /// Looks at what changed alone, unless vectors were missing or a recall still reads the indices.
    async fn renewed(
        &self,
        search: Arc<Search>,
        memory: &Arc<Memory>,
        generation: u64,
        changed: BTreeSet<Host>,
    ) -> Result<Arc<Search>, TmemError> {
        let whole = Some(search).filter(|search| search.wordy.is_none());
        let Some(Search { mut indices, .. }) = whole.and_then(Arc::into_inner) else {
            return self.made(memory, generation).await;
        };
        let touched = affected(memory, changed);
        let rows = rows_of(memory, &touched);
        let renew = move |memory: &Memory, rows, _: &_| {
            indices.update(memory, &touched, rows)?;
            Ok(indices)
        };
        self.search(memory, generation, rows, renew).await
    }

    /// Finds the vectors of rows and makes indices of them.
    async fn search(
        &self,
        memory: &Arc<Memory>,
        generation: u64,
        rows: Vec<Row>,
        make: impl FnOnce(&Memory, Vec<Placed>, &IndexConfig) -> Result<Indices, IndexError>
        + Send
        + 'static,
    ) -> Result<Arc<Search>, TmemError> {
        let (known, wordy) = match self.services.encoder().await {
            Ok(encoder) => match self.vectors_of(&*encoder, &rows, &|_| ()).await {
                Ok(known) => (known, None),
                Err(TmemError::Embed(error)) => (Known::new(), Some(chain(&error))),
                Err(error) => return Err(error),
            },
            Err(why) => (Known::new(), Some(why)),
        };
        let (memory, config) = (Arc::clone(memory), self.index_config().await);
        let make = move || make(&memory, joined(rows, &known), &config);
        let made = tokio::task::spawn_blocking(make).await;
        Ok(Arc::new(Search {
            generation,
            indices: made.expect("making indices does not panic")?,
            wordy,
        }))
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
