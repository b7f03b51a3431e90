//! A model behind its call log: find, else call, record, and only then answer.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    call::{Call, CallKey, CallLog},
    chat::{ChatModel, Reply, Request, Verdict},
    error::LlmError,
};

/// What happens to a call that the log cannot answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The model is asked.
    #[default]
    Live,
    /// It fails with the prompt; the log is not written.
    Replay,
    /// It is recorded as waiting, to be exported and answered elsewhere.
    Batch,
}

/// A model whose every call goes through a log: no call that was answered is paid for again.
///
/// Errors, refusals and replies that were given up never answer a later call. Identical calls made
/// at the same time are paid for once.
pub struct LoggedModel<M> {
    model: M,
    log: Arc<dyn CallLog>,
    mode: Mode,
    busy: Busy,
}

impl<M: ChatModel> LoggedModel<M> {
    /// `model` behind `log`. In [`Mode::Replay`] and [`Mode::Batch`] only its name is used, so
    /// [`Nameplate`] will do.
    pub fn new(model: M, log: Arc<dyn CallLog>, mode: Mode) -> Self {
        Self {
            model,
            log,
            mode,
            busy: Busy::default(),
        }
    }

    async fn asked(&self, request: &Request, key: &CallKey) -> Result<Reply, LlmError> {
        let found = self
            .log
            .find(key)
            .map_err(|message| log_error(request, message))?;
        if let Some(reply) = found.as_ref().and_then(Call::answer) {
            self.note_hit(key);
            return Ok(reply.clone());
        }
        match self.mode {
            Mode::Live => self.pay(request, found).await,
            Mode::Replay => Err(not_recorded(request)),
            Mode::Batch => Err(self.wait(request, found)),
        }
    }

    async fn pay(&self, request: &Request, found: Option<Call>) -> Result<Reply, LlmError> {
        let mut call = found.unwrap_or_else(|| Call::waiting(self.model.name(), request));
        let outcome = self.model.complete(request).await;
        match &outcome {
            Ok(reply) => call.answered(reply.clone(), now()),
            Err(LlmError::Budget { .. } | LlmError::Pending(_)) => return outcome,
            Err(error) => fail(&mut call, error),
        }
        self.record(request, &call)?;
        outcome
    }

    fn wait(&self, request: &Request, found: Option<Call>) -> LlmError {
        if let Some(error) = found.as_ref().and_then(|call| call.error.as_deref())
            && tmem_quirks::says_too_large(error)
        {
            return LlmError::TooLarge {
                prompt: request.prompt.name.clone(),
                model: self.model.name().to_owned(),
                message: error.to_owned(),
            };
        }
        let spent = found.map(|call| call.spent).unwrap_or_default();
        let call = Call {
            spent,
            ..Call::waiting(self.model.name(), request)
        };
        match self.record(request, &call) {
            Ok(()) => LlmError::Pending(call.key.0),
            Err(error) => error,
        }
    }

    fn record(&self, request: &Request, call: &Call) -> Result<(), LlmError> {
        self.log
            .record(call)
            .map_err(|message| log_error(request, message))
    }

    /// Counting a hit must not cost the answer.
    fn note_hit(&self, key: &CallKey) {
        if self.mode != Mode::Replay
            && let Err(message) = self.log.hit(key)
        {
            tracing::warn!(%key, message, "a cached call could not be counted");
        }
    }

    fn mark(&self, request: &Request, verdict: &Verdict) -> Result<(), String> {
        let Some(mut call) = self.log.find(&CallKey::of(self.model.name(), request))? else {
            return Ok(());
        };
        match verdict {
            Verdict::Unusable(_) => call.spent.count_unusable(),
            Verdict::GivenUp(reason) if call.error.is_none() && call.reply.is_some() => {
                call.error = Some(reason.clone());
            }
            Verdict::GivenUp(_) => return Ok(()),
        }
        self.log.record(&call)
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for LoggedModel<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn context_window(&self) -> Option<usize> {
        self.model.context_window()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        let key = CallKey::of(self.model.name(), request);
        let turn = self.busy.turn(&key);
        let _held = turn.lock.lock().await;
        self.asked(request, &key).await
    }

    fn judged(&self, request: &Request, verdict: &Verdict) {
        self.model.judged(request, verdict);
        if self.mode == Mode::Replay {
            return;
        }
        if let Err(message) = self.mark(request, verdict) {
            tracing::warn!(
                prompt = request.prompt.name,
                message,
                "a verdict could not be logged"
            );
        }
    }
}

/// One lock per key that is being asked right now; nothing is kept of keys that are done.
#[derive(Default)]
struct Busy(Mutex<HashMap<CallKey, Arc<tokio::sync::Mutex<()>>>>);

/// The share of one call in its key's lock; the last to go takes the lock with it.
struct Turn<'a> {
    busy: &'a Busy,
    key: &'a CallKey,
    lock: Arc<tokio::sync::Mutex<()>>,
}

impl Busy {
    fn turn<'a>(&'a self, key: &'a CallKey) -> Turn<'a> {
        let lock = self.keys().entry(key.clone()).or_default().clone();
        Turn {
            busy: self,
            key,
            lock,
        }
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<CallKey, Arc<tokio::sync::Mutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut keys = self.busy.keys();
        // The map and this turn hold one each: with no third, nobody waits for the key.
        if Arc::strong_count(&self.lock) <= 2 {
            keys.remove(self.key);
        }
    }
}

/// A model that has a name and answers nothing: stands behind a log that does all the answering.
#[derive(Clone, Debug)]
pub struct Nameplate(pub String);

#[async_trait]
impl ChatModel for Nameplate {
    fn name(&self) -> &str {
        &self.0
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        Err(LlmError::Failed {
            prompt: request.prompt.name.clone(),
            message: format!("no model is configured that could be asked as {}", self.0),
        })
    }
}

/// Civil UTC time to the second.
pub(crate) fn now() -> String {
    let now = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now());
    now.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// A failure with what it has cost, if the server said so.
fn fail(call: &mut Call, error: &LlmError) {
    if let LlmError::NoChoice {
        usage: Some(usage), ..
    } = error
    {
        call.spent.use_tokens(*usage);
    }
    call.failed(chain(error), now());
}

/// An error with its sources in one line.
fn chain(error: &LlmError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn log_error(request: &Request, message: String) -> LlmError {
    LlmError::Log {
        prompt: request.prompt.name.clone(),
        message,
    }
}

fn not_recorded(request: &Request) -> LlmError {
    let text = request
        .messages
        .iter()
        .map(|message| message.content.as_str());
    LlmError::NotRecorded {
        prompt: request.prompt.name.clone(),
        version: request.prompt.version,
        text: text.collect::<Vec<_>>().join("\n\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_of_keys_that_are_done() {
        let (busy, key) = (Busy::default(), CallKey("k".to_owned()));
        let (first, second) = (busy.turn(&key), busy.turn(&key));
        drop(first);
        assert_eq!(busy.keys().len(), 1);
        drop(second);
        assert!(busy.keys().is_empty());
    }
}
