//! Answering and judging models behind a log of calls.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use tmem::http::{Client, Endpoint, Secret};
use tmem::llm::{
    CallLog, ChatModel, Dialect, FileLog, LoggedModel, MemoryLog, Mode, Nameplate, OpenAiModel,
    batch,
};

use super::args::Shared;

/// Models by role.
pub(super) struct Roles {
    /// Writes answers.
    pub(super) answer: Box<dyn ChatModel>,
    /// Gives verdicts.
    pub(super) judge: Box<dyn ChatModel>,
    log: Arc<dyn CallLog>,
}

/// The models that the flags name; `None` for retrieval alone.
pub(super) fn open(shared: &Shared) -> Result<Option<Roles>> {
    let Some((answer, judge)) = shared
        .answer_model
        .as_ref()
        .zip(shared.judge_model.as_ref())
    else {
        return Ok(None);
    };
    let log = log(shared)?;
    if let Some(path) = &shared.batch_import {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let found = batch::import(&text, log.as_ref()).map_err(|message| anyhow!(message))?;
        eprintln!(
            "{}: {} answered, {} failed, {} missing, {} of other runs",
            path.display(),
            found.answered,
            found.failed.len(),
            found.missing,
            found.foreign
        );
    }
    let judge_url = shared.judge_base_url.as_ref().unwrap_or(&shared.base_url);
    Ok(Some(Roles {
        answer: model(shared, answer, &shared.base_url, &log)?,
        judge: model(shared, judge, judge_url, &log)?,
        log,
    }))
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

fn model(
    shared: &Shared,
    name: &str,
    base_url: &str,
    log: &Arc<dyn CallLog>,
) -> Result<Box<dyn ChatModel>> {
    let mode = match (&shared.replay, &shared.batch_export) {
        (Some(_), _) => Mode::Replay,
        (None, Some(_)) => Mode::Batch,
        (None, None) => Mode::Live,
    };
    if mode != Mode::Live {
        return Ok(Box::new(LoggedModel::new(
            Nameplate(name.to_owned()),
            log.clone(),
            mode,
        )));
    }
    let mut endpoint = Endpoint::new(base_url);
    endpoint.key_setting = shared.api_key_env.clone();
    endpoint.api_key = std::env::var(&shared.api_key_env).ok().map(Secret::new);
    endpoint.max_concurrency = shared.concurrency;
    let model = OpenAiModel::new(Client::new(endpoint)?, name);
    Ok(Box::new(LoggedModel::new(model, log.clone(), mode)))
}

impl Roles {
    /// Names by role, for the manifest.
    pub(super) fn names(&self) -> BTreeMap<String, String> {
        let answer = ("answer".to_owned(), self.answer.name().to_owned());
        [answer, ("judge".to_owned(), self.judge.name().to_owned())].into()
    }

    /// Writes the calls that wait, if that was asked for.
    pub(super) fn report(&self, shared: &Shared) -> Result<()> {
        let Some(path) = &shared.batch_export else {
            return Ok(());
        };
        let waiting = self.log.waiting().map_err(|message| anyhow!(message))?;
        fs::write(path, batch::export(&waiting, Dialect::default()))
            .with_context(|| path.display().to_string())?;
        eprintln!(
            "{}: {} calls wait for answers",
            path.display(),
            waiting.len()
        );
        Ok(())
    }
}
