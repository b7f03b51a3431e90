//! [`Tmem`]: one opened space, its state and its services.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tmem_build::{Inputs, Jobs, Prompts, Vectors};
use tmem_index::Host;
use tmem_llm::ChatModel;
use tmem_model::{Change, ConversationId, Memory};

use crate::build::Snapshot;
use crate::config::Config;
use crate::error::TmemError;
use crate::indexed::IndexCell;
use crate::services::{Injected, Services};
use crate::shelf::Shelf;

/// What a memory is opened for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// To read it. The space must exist; another process may be writing to it.
    #[default]
    Read,
    /// To change it. The space must exist; one process at a time.
    Change,
    /// To change it. The space is made if need be; one process at a time.
    Write,
    /// To try something out: starts as a copy of what is there, keeps nothing.
    Scratch,
}

/// Where a memory is and how it is used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Folder of the memory.
    pub data: PathBuf,
    /// Space within it.
    pub space: String,
    /// What for.
    pub access: Access,
    /// The settings.
    pub config: Config,
    /// A recording that answers every model call; a missing one is an error.
    pub replay: Option<PathBuf>,
    /// Folder of the weights; nothing for `TMEM_MODELS` or else `models` in the data folder.
    pub models: Option<PathBuf>,
    /// A folder of prompts to use instead of the built-in ones.
    pub prompts: Option<PathBuf>,
    /// Whether calls are left to be answered elsewhere.
    pub batch: bool,
}

impl Options {
    /// The space `default` of the memory in `data`, for reading, with default settings.
    #[must_use]
    pub fn new(data: impl AsRef<Path>) -> Self {
        Self {
            data: data.as_ref().to_owned(),
            space: "default".to_owned(),
            access: Access::default(),
            config: Config::default(),
            replay: None,
            models: None,
            prompts: None,
            batch: false,
        }
    }

    pub(crate) fn models_folder(&self) -> PathBuf {
        let named = || std::env::var_os("TMEM_MODELS").filter(|name| !name.is_empty());
        let given = self.models.clone().or_else(|| named().map(PathBuf::from));
        given.unwrap_or_else(|| self.data.join("models"))
    }
}

/// One opened space: a memory with what it takes to build, ask and keep it.
///
/// All methods take `&self`; several may run at once. What is read is a state that was committed.
pub struct Tmem {
    config: Config,
    prompts: Prompts,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) services: Services,
    state: RwLock<State>,
    pub(crate) indices: IndexCell,
}

struct State {
    memory: Arc<Memory>,
    jobs: Arc<Jobs>,
    generation: u64,
    /// Nodes that came, changed or went since the indices were last asked for.
    unindexed: BTreeSet<Host>,
    unembedded: Unembedded,
}

/// Nodes whose texts may lack vectors.
pub(crate) enum Unembedded {
    /// Any.
    All,
    /// These, for all others have vectors of the encoder of that name.
    Since(String, BTreeSet<Host>),
}

impl Tmem {
    /// Opens a memory with the services that its settings name. Models are loaded when first used.
    ///
    /// # Errors
    /// [`TmemError`] if the space does not exist (unless it is to be written), another process
    /// writes to it, or the store, the prompts or the recording cannot be read.
    pub fn open(options: Options) -> Result<Self, TmemError> {
        Self::assemble(options, Injected::default())
    }

    /// Opens a memory with models of your own.
    pub fn builder(options: Options) -> crate::Builder {
        crate::Builder::new(options)
    }

    pub(crate) fn assemble(options: Options, injected: Injected) -> Result<Self, TmemError> {
        let prompts = match &options.prompts {
            Some(folder) => Prompts::load(folder)?,
            None => Prompts::default(),
        };
        let shelf = Arc::new(Shelf::open(&options)?);
        let services = Services::new(&options, injected, &shelf)?;
        let state = State::load(&shelf)?;
        Ok(Self {
            config: options.config,
            prompts,
            shelf,
            services,
            state: RwLock::new(state),
            indices: IndexCell::default(),
        })
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The memory as it is now.
    #[must_use]
    pub fn memory(&self) -> Arc<Memory> {
        self.snapshot().0
    }

    /// The jobs of construction as they are now.
    #[must_use]
    pub fn jobs(&self) -> Arc<Jobs> {
        self.snapshot().1
    }

    pub(crate) fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    pub(crate) fn conversations(&self) -> Vec<ConversationId> {
        self.memory().conversations().cloned().collect()
    }

    pub(crate) fn concurrency(&self) -> usize {
        self.config.llm.concurrency.get()
    }

    pub(crate) async fn chat(&self) -> Result<Arc<dyn ChatModel>, TmemError> {
        self.services.chat().await
    }

    pub(crate) fn is_budget_spent(&self) -> bool {
        self.services.budget.reached().is_some()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&state.memory), Arc::clone(&state.jobs))
    }

    /// The memory with its generation, which grows with every commit, and what changed in it since
    /// this was last called.
    pub(crate) fn unindexed(&self) -> (Arc<Memory>, u64, BTreeSet<Host>) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let changed = std::mem::take(&mut state.unindexed);
        (Arc::clone(&state.memory), state.generation, changed)
    }

    /// The memory with its generation, and what of it may lack vectors; the caller sees to these and
    /// says so by [`embedded`](Self::embedded).
    pub(crate) fn unembedded(&self) -> (Arc<Memory>, u64, Unembedded) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let lacking = std::mem::replace(&mut state.unembedded, Unembedded::All);
        (Arc::clone(&state.memory), state.generation, lacking)
    }

    /// Notes that all texts of a generation have vectors of an encoder.
    pub(crate) fn embedded(&self, encoder: String, generation: u64) -> Result<(), TmemError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.generation == generation {
            self.shelf.note_embedded(&encoder, generation)?;
            state.unembedded = Unembedded::Since(encoder, BTreeSet::new());
        }
        Ok(())
    }

    /// Looks at the state as construction sees it.
    pub(crate) fn with_inputs<T>(
        &self,
        vectors: &Vectors,
        look: impl FnOnce(Inputs<'_>) -> T,
    ) -> T {
        let (memory, jobs) = self.snapshot();
        look(Inputs {
            memory: &memory,
            jobs: &jobs,
            vectors,
        })
    }

    /// Makes a change durable, then visible. An empty one is none.
    pub(crate) fn commit(&self, change: &Change) -> Result<(), TmemError> {
        if change.is_empty() {
            return Ok(());
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        state.memory.check(change)?;
        state.generation = self.shelf.commit(change)?;
        state.note(change);
        let memory = Arc::make_mut(&mut state.memory);
        let applied = tmem_build::apply(memory, Arc::make_mut(&mut state.jobs), change);
        applied.expect("what was checked is not refused");
        Ok(())
    }
}

impl State {
    fn load(shelf: &Shelf) -> Result<Self, TmemError> {
        let (memory, jobs, generation) = shelf.load()?;
        let embedded = shelf.embedded()?.filter(|(_, upto)| *upto == generation);
        let unembedded = embedded.map_or(Unembedded::All, |(encoder, _)| {
            Unembedded::Since(encoder, BTreeSet::new())
        });
        Ok(Self {
            memory: Arc::new(memory),
            jobs: Arc::new(jobs),
            generation,
            unindexed: BTreeSet::new(),
            unembedded,
        })
    }

    /// Notes what a change, not yet applied, touches.
    fn note(&mut self, change: &Change) {
        let removed = &change.removed;
        let members = removed.conversations.iter();
        let members = members.flat_map(|id| self.memory.members(id));
        let named = change.written().chain(removed.nodes()).chain(members);
        let hosts: Vec<Host> = named.filter_map(Host::of).collect();
        if let Unembedded::Since(_, lacking) = &mut self.unembedded {
            lacking.extend(hosts.iter().cloned());
        }
        self.unindexed.extend(hosts);
    }
}
