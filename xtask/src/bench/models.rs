//! Answering and judging models behind a log of calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow};
use async_trait::async_trait;
use tmem::config::LlmConfig;
use tmem::llm::{
    CallLog, ChatModel, Dialect, FileLog, LlmError, LoggedModel, MemoryLog, Mode, Nameplate, Reply,
    Request, batch,
};

use super::args::Shared;

/// Models by role.
pub(super) struct Roles {
    /// Writes answers.
    pub(super) answer: Box<dyn ChatModel>,
    /// Gives verdicts.
    pub(super) judge: Box<dyn ChatModel>,
    log: Arc<dyn CallLog>,
    unrecorded: Unrecorded,
}

/// Prompts that a recording lacks.
type Unrecorded = Arc<Mutex<Vec<String>>>;

/// The models that flags or settings name; `None` for retrieval alone.
pub(super) async fn open(shared: &Shared) -> Result<Option<Roles>> {
    let Some((answer, judge)) = shared.roles()? else {
        return Ok(None);
    };
    let log = log(shared)?;
    if let Some(path) = &shared.batch_import {
        import(path, log.as_ref())?;
    }
    let unrecorded = Unrecorded::default();
    let bare = bare(shared, &answer).await?;
    let judging = match judge == answer {
        true => Arc::clone(&bare),
        false => self::bare(shared, &judge).await?,
    };
    let behind = |model| -> Box<dyn ChatModel> {
        Box::new(Watched {
            model: LoggedModel::new(model, log.clone(), mode(shared)),
            unrecorded: Arc::clone(&unrecorded),
        })
    };
    Ok(Some(Roles {
        answer: behind(bare),
        judge: behind(judging),
        unrecorded: Arc::clone(&unrecorded),
        log,
    }))
}

fn import(path: &Path, log: &dyn CallLog) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let found = batch::import(&text, log).map_err(|message| anyhow!(message))?;
    eprintln!(
        "{}: {} answered, {} failed, {} missing, {} of other runs",
        path.display(),
        found.answered,
        found.failed.len(),
        found.missing,
        found.foreign
    );
    Ok(())
}

fn log(shared: &Shared) -> Result<Arc<dyn CallLog>> {
    if let Some(path) = &shared.replay {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let log = MemoryLog::from_jsonl(&text).map_err(|message| anyhow!(message));
        return Ok(Arc::new(log.with_context(|| path.display().to_string())?));
    }
    match &shared.log {
        Some(path) => {
            let log = FileLog::open(path);
            Ok(Arc::new(log.with_context(|| path.display().to_string())?))
        }
        None => Ok(Arc::new(MemoryLog::default())),
    }
}

fn mode(shared: &Shared) -> Mode {
    match (&shared.replay, &shared.batch_export) {
        (Some(_), _) => Mode::Replay,
        (None, Some(_)) => Mode::Batch,
        (None, None) => Mode::Live,
    }
}

/// The model itself; its name alone where it is not to be asked.
async fn bare(shared: &Shared, config: &LlmConfig) -> Result<Arc<dyn ChatModel>> {
    if mode(shared) != Mode::Live {
        return Ok(Arc::new(Nameplate(config.model.clone())));
    }
    let models = shared
        .models
        .clone()
        .unwrap_or_else(|| PathBuf::from("models"));
    Ok(Arc::new(Called {
        name: config.model.clone(),
        model: tmem::language_model(config.clone(), models).await?,
    }))
}

/// A model under the name that its flag or setting gives, which is all that a replay or a batch knows.
struct Called {
    name: String,
    model: Arc<dyn ChatModel>,
}

#[async_trait]
impl ChatModel for Called {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_window(&self) -> Option<usize> {
        self.model.context_window()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        self.model.complete(request).await
    }
}

impl Roles {
    /// Names by role, for the manifest.
    pub(super) fn names(&self) -> BTreeMap<String, String> {
        let answer = ("answer".to_owned(), self.answer.name().to_owned());
        [answer, ("judge".to_owned(), self.judge.name().to_owned())].into()
    }

    /// The calls that wait for answers from elsewhere, in the OpenAI Batch format, and their number.
    pub(super) fn waiting(&self) -> Result<(String, usize)> {
        let waiting = self.log.waiting().map_err(|message| anyhow!(message))?;
        Ok((batch::export(&waiting, Dialect::default()), waiting.len()))
    }

    /// Prompts that the recording lacks.
    pub(super) fn unrecorded(&self) -> Vec<String> {
        let held = self.unrecorded.lock();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A model that keeps what its recording lacks, to be shown when the run is over.
struct Watched<M> {
    model: M,
    unrecorded: Unrecorded,
}

#[async_trait]
impl<M: ChatModel> ChatModel for Watched<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn context_window(&self) -> Option<usize> {
        self.model.context_window()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        let reply = self.model.complete(request).await;
        if let Err(error @ LlmError::NotRecorded { .. }) = &reply {
            let mut held = self
                .unrecorded
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            held.push(error.to_string());
        }
        reply
    }
}
