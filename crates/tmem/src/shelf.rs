//! What is kept, and where: the store of an opened space, or a copy that keeps nothing. Where the
//! store can only be read, new vectors and calls are kept as long as it is open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tmem_build::Jobs;
use tmem_llm::{Call, CallKey, CallLog, Finish};
use tmem_model::{Change, Memory, TriggerId, text};
use tmem_store::{CallRow, SpaceName, Store, TriggerCounts};

use crate::error::{TmemError, chain};
use crate::tmem::{Access, Options};
use crate::vectors::Known;

/// Under which key the folder remembers whose vectors it holds.
const ENCODER: &str = "encoder";

/// Under which key, with the space's name behind it, it remembers up to which generation all texts
/// have vectors, and whose.
const EMBEDDED: &str = "embedded/";

/// Letters of a text that are enough to find it by: prompts may hold no more of it.
const MARK: usize = 32;

/// The names of the spaces of a data folder, sorted; none if there is nothing there yet.
///
/// # Errors
/// [`TmemError::Store`] if the store cannot be read.
pub fn spaces(data: &Path) -> Result<Vec<String>, TmemError> {
    if !data.join(tmem_store::FILE).is_file() {
        return Ok(Vec::new());
    }
    let spaces = Store::open_existing(data)?.spaces()?;
    Ok(spaces.iter().map(ToString::to_string).collect())
}

/// The durable side of one opened space.
#[derive(Debug)]
pub(crate) struct Shelf {
    store: Option<Store>,
    space: SpaceName,
    access: Access,
    /// Generation, calls and vectors that are not kept.
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    generation: AtomicU64,
    calls: Mutex<BTreeMap<CallKey, Call>>,
    vectors: Mutex<Known>,
}

impl Shelf {
    pub(crate) fn open(options: &Options) -> Result<Self, TmemError> {
        let space: SpaceName = options.space.parse()?;
        let data = &options.data;
        let store = match options.access {
            Access::Write => Some(Store::open(data)?),
            Access::Scratch if !data.join(tmem_store::FILE).is_file() => None,
            _ => Some(Store::open_existing(data)?),
        };
        let scratch = Scratch::default();
        let shelf = Self {
            store,
            space,
            access: options.access,
            scratch,
        };
        shelf.check_space(data)?;
        if matches!(options.access, Access::Write | Access::Change) {
            shelf.store()?.lock_for_writing()?;
        }
        Ok(shelf)
    }

    fn check_space(&self, data: &Path) -> Result<(), TmemError> {
        if !matches!(self.access, Access::Read | Access::Change) {
            return Ok(());
        }
        let known = self.store()?.spaces()?;
        if known.contains(&self.space) {
            return Ok(());
        }
        Err(TmemError::UnknownSpace {
            space: self.space.to_string(),
            data: data.to_owned(),
            known: known.iter().map(ToString::to_string).collect(),
        })
    }

    fn store(&self) -> Result<&Store, TmemError> {
        self.store.as_ref().ok_or(TmemError::ReadOnly)
    }

    /// The store, if what is written is to be kept.
    fn kept(&self) -> Option<&Store> {
        self.store
            .as_ref()
            .filter(|store| self.access != Access::Scratch && !store.is_read_only())
    }

    pub(crate) fn load(&self) -> Result<(Memory, Jobs, u64), TmemError> {
        let Some(store) = &self.store else {
            return Ok(Default::default());
        };
        let saved = store.load(&self.space)?;
        self.scratch
            .generation
            .store(saved.generation, Ordering::Relaxed);
        let jobs = Jobs::of(&saved.memory, saved.jobs);
        Ok((saved.memory, jobs, saved.generation))
    }

    pub(crate) fn commit(&self, change: &Change) -> Result<u64, TmemError> {
        match self.access {
            Access::Read => Err(TmemError::ReadOnly),
            Access::Scratch => Ok(self.scratch.generation.fetch_add(1, Ordering::Relaxed) + 1),
            Access::Write | Access::Change => Ok(self.store()?.commit(&self.space, change)?),
        }
    }

    /// Adds to the counts of triggers; a copy that keeps nothing counts nothing.
    pub(crate) fn count_triggers(
        &self,
        counts: &[(TriggerId, TriggerCounts)],
    ) -> Result<(), TmemError> {
        match self.kept() {
            Some(store) => Ok(store.count_triggers(&self.space, counts)?),
            None => Ok(()),
        }
    }

    /// The counts of all triggers that ever fired.
    pub(crate) fn trigger_counts(&self) -> Result<Vec<(TriggerId, TriggerCounts)>, TmemError> {
        match &self.store {
            Some(store) => Ok(store.trigger_counts(&self.space)?),
            None => Ok(Vec::new()),
        }
    }

    /// Vectors by hash, of the texts that have one.
    pub(crate) fn vectors<'a>(
        &self,
        encoder: &str,
        hashes: impl Iterator<Item = &'a String>,
    ) -> Result<Known, TmemError> {
        let hashes: Vec<String> = hashes.cloned().collect();
        let mut known = self.scratch.vectors().clone();
        if let Some(store) = &self.store {
            let found = store.vectors(encoder, &hashes)?;
            known.extend(
                hashes
                    .into_iter()
                    .zip(found)
                    .filter_map(|(hash, v)| Some((hash, v?))),
            );
        }
        Ok(known)
    }

    /// Hashes of those texts that have no vector of that encoder.
    pub(crate) fn without_vector<'a>(
        &self,
        encoder: &str,
        hashes: impl Iterator<Item = &'a String>,
    ) -> Result<BTreeSet<String>, TmemError> {
        let scratch = self.scratch.vectors();
        let hashes = hashes.filter(|hash| !scratch.contains_key(*hash)).cloned();
        match &self.store {
            Some(store) => Ok(store.without_vector(encoder, hashes)?.into_iter().collect()),
            None => Ok(hashes.collect()),
        }
    }

    /// Keeps vectors; the first ones decide whose vectors the folder holds.
    pub(crate) fn put_vectors(
        &self,
        encoder: &str,
        vectors: &[(String, Vec<f32>)],
    ) -> Result<(), TmemError> {
        let Some(store) = self.kept() else {
            self.scratch.vectors().extend(vectors.iter().cloned());
            return Ok(());
        };
        store.put_vectors(encoder, vectors)?;
        if store.get_meta(ENCODER)?.is_none() {
            store.set_meta(ENCODER, encoder)?;
        }
        Ok(())
    }

    /// Whose vectors the folder holds; `None` while it holds none.
    pub(crate) fn encoder(&self) -> Result<Option<String>, TmemError> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        Ok(store.get_meta(ENCODER)?)
    }

    /// Whose vectors all texts of the space had, and at which generation.
    pub(crate) fn embedded(&self) -> Result<Option<(String, u64)>, TmemError> {
        let Some(store) = self.kept() else {
            return Ok(None);
        };
        let noted = store.get_meta(&format!("{EMBEDDED}{}", self.space))?;
        Ok(noted.and_then(|noted| {
            let (generation, encoder) = noted.split_once(' ')?;
            Some((encoder.to_owned(), generation.parse().ok()?))
        }))
    }

    /// Notes that all texts of that generation have vectors of that encoder.
    pub(crate) fn note_embedded(&self, encoder: &str, generation: u64) -> Result<(), TmemError> {
        let Some(store) = self.kept() else {
            return Ok(());
        };
        let noted = format!("{generation} {encoder}");
        let key = format!("{EMBEDDED}{}", self.space);
        if store.get_meta(&key)?.as_ref() != Some(&noted) {
            store.set_meta(&key, &noted)?;
        }
        Ok(())
    }

    /// From now on the folder's vectors are this encoder's; those of others go.
    pub(crate) fn swap_encoder(&self, identity: &str) -> Result<usize, TmemError> {
        let store = self.store()?;
        store.set_meta(ENCODER, identity)?;
        Ok(store.retain_vectors(|encoder, _| encoder == identity)?)
    }

    /// How many vectors of that encoder the folder holds.
    pub(crate) fn count_vectors(&self, identity: &str) -> Result<usize, TmemError> {
        let encoders = self.store()?.encoders()?;
        let of = encoders
            .into_iter()
            .find(|(encoder, _)| encoder == identity);
        Ok(of.map_or(0, |(_, count)| count))
    }

    /// Memories of all spaces of the folder.
    pub(crate) fn memories(&self) -> Result<Vec<Memory>, TmemError> {
        let store = self.store()?;
        let load = |space: &SpaceName| Ok(store.load(space)?.memory);
        store.spaces()?.iter().map(load).collect()
    }

    pub(crate) fn remove_vectors(
        &self,
        encoder: &str,
        hashes: &BTreeSet<String>,
    ) -> Result<(), TmemError> {
        Ok(self.store()?.remove_vectors(encoder, hashes.iter())?)
    }

    pub(crate) fn retain_vectors(
        &self,
        keep: impl Fn(&str, &str) -> bool,
    ) -> Result<usize, TmemError> {
        Ok(self.store()?.retain_vectors(keep)?)
    }

    /// Every logged call, in the order in which they came.
    pub(crate) fn calls(&self) -> Result<Vec<Call>, TmemError> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        store
            .list_calls(None)?
            .iter()
            .map(|row| parsed(row).map_err(log_error))
            .collect()
    }

    /// Empties the calls that mention any of `texts`, and says how many. What they cost stays.
    pub(crate) fn redact_calls(&self, texts: &[String]) -> Result<usize, TmemError> {
        let marks: Vec<String> = texts.iter().filter_map(|text| mark(text)).collect();
        let calls = self.calls()?;
        let telling = calls.into_iter().filter(|call| tells(call, &marks));
        let mut count = 0;
        for call in telling {
            self.record(&emptied(call)).map_err(log_error)?;
            count += 1;
        }
        Ok(count)
    }

    /// Drives what was deleted out of the files.
    pub(crate) fn purge(&self) -> Result<(), TmemError> {
        Ok(self.store()?.purge()?)
    }
}

impl Scratch {
    fn calls(&self) -> std::sync::MutexGuard<'_, BTreeMap<CallKey, Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn vectors(&self) -> std::sync::MutexGuard<'_, Known> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallLog for Shelf {
    fn find(&self, key: &CallKey) -> Result<Option<Call>, String> {
        if let Some(call) = self.scratch.calls().get(key) {
            return Ok(Some(call.clone()));
        }
        let Some(store) = &self.store else {
            return Ok(None);
        };
        let row = store.find_call(&key.0).map_err(|error| chain(&error))?;
        row.map(|row| parsed(&row)).transpose()
    }

    fn record(&self, call: &Call) -> Result<(), String> {
        let Some(store) = self.kept() else {
            self.scratch.calls().insert(call.key.clone(), call.clone());
            return Ok(());
        };
        let row = CallRow {
            key: call.key.0.clone(),
            prompt: call.request.prompt.name.clone(),
            model: call.model.clone(),
            state: state(call).to_owned(),
            body: serde_json::to_string(call).map_err(|error| error.to_string())?,
        };
        store.record_call(&row).map_err(|error| chain(&error))
    }

    fn waiting(&self) -> Result<Vec<Call>, String> {
        let mut calls: Vec<Call> = self
            .scratch
            .calls()
            .values()
            .filter(|call| call.is_waiting())
            .cloned()
            .collect();
        if let Some(store) = &self.store {
            let rows = store
                .list_calls(Some("waiting"))
                .map_err(|error| chain(&error))?;
            calls.extend(rows.iter().map(parsed).collect::<Result<Vec<_>, _>>()?);
        }
        Ok(calls)
    }
}

fn state(call: &Call) -> &'static str {
    match (call.is_waiting(), call.answer()) {
        (true, _) => "waiting",
        (false, Some(_)) => "answered",
        (false, None) => "failed",
    }
}

fn parsed(row: &CallRow) -> Result<Call, String> {
    serde_json::from_str(&row.body).map_err(|error| format!("call {}: {error}", row.key))
}

fn log_error(message: String) -> TmemError {
    TmemError::Log { message }
}

/// What of a text is looked for; nothing if it has no word of its own.
fn mark(text: &str) -> Option<String> {
    let wordless = text::terms(text).is_empty();
    (!wordless).then(|| squeezed(text).chars().take(MARK).collect())
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tells(call: &Call, marks: &[String]) -> bool {
    let asked = call
        .request
        .messages
        .iter()
        .map(|message| squeezed(&message.content));
    let replied = call.reply.iter().map(|reply| squeezed(&reply.text));
    let failed = call.error.iter().map(|error| squeezed(error));
    let mut said = asked.chain(replied).chain(failed);
    said.any(|text| marks.iter().any(|mark| text.contains(mark)))
}

/// The call without a word of what was asked and replied; it never answers again.
fn emptied(mut call: Call) -> Call {
    call.request.messages.clear();
    call.request.schema = None;
    if let Some(reply) = &mut call.reply {
        reply.text.clear();
        reply.finish = Finish::Stop;
    }
    call.error = Some("forgotten".to_owned());
    call
}
