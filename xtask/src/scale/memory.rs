//! Memories on disk that a scripted model builds.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use async_trait::async_trait;
use tmem::ingest::{Conversation, RawTurn};
use tmem::llm::{ChatModel, LlmError, Reply, Request, Spent, Usage};
use tmem::model::{Turn, text};
use tmem::retrieve::RetrieveConfig;
use tmem::{Access, BuildOptions, Layers, Options, Question, Tmem};

use super::script;
use crate::shell;

/// Full profile, and vectors that cost little to make.
const SETTINGS: &str = "[llm]\nkind = 'none'\n[embed]\nkind = 'hash'\ndimensions = 16\n\
                        [build]\nprofile = 'full'\n";

/// Reads prompts by the rules of [`script`]; answers at once, or a round after it was asked.
#[derive(Clone, Default)]
pub(super) struct Scripted(Arc<State>);

#[derive(Default)]
struct State {
    is_late: bool,
    round: AtomicUsize,
    /// In which round each request first came.
    asked: Mutex<HashMap<String, usize>>,
}

impl Scripted {
    /// A model that answers in the round after.
    pub(super) fn late() -> Self {
        let is_late = true;
        Self(Arc::new(State {
            is_late,
            ..State::default()
        }))
    }

    pub(super) fn next_round(&self) {
        self.0.round.fetch_add(1, Ordering::Relaxed);
    }

    fn waits(&self, request: &Request) -> bool {
        if !self.0.is_late {
            return false;
        }
        let now = self.0.round.load(Ordering::Relaxed);
        let key = serde_json::to_string(request).expect("a request has only string keys");
        let mut asked = self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked.entry(key).or_insert(now) == now
    }
}

#[async_trait]
impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        if self.waits(request) {
            return Err(LlmError::Pending(request.prompt.name.clone()));
        }
        let mut reply = Reply::text(script::read(request).to_string());
        let shown = request
            .messages
            .iter()
            .map(|message| tokens(&message.content));
        let (prompt_tokens, completion_tokens) = (shown.sum(), tokens(&reply.text));
        reply.usage = Some(Usage {
            prompt_tokens,
            completion_tokens,
        });
        Ok(reply)
    }
}

fn tokens(text: &str) -> u64 {
    text::estimate_tokens(text) as u64
}

/// An empty folder for a memory.
pub(super) fn folder(name: &str) -> Result<PathBuf> {
    let folder = shell::root().join("target/bench-scale").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    Ok(folder)
}

pub(super) fn open(folder: &Path, model: Scripted) -> Result<Tmem> {
    let mut options = Options::new(folder);
    options.access = Access::Write;
    options.config = Layers::new().text("bench-scale", SETTINGS).resolve()?;
    Ok(Tmem::builder(options).chat(model).open()?)
}

/// Adds what is new of `turns`.
pub(super) fn add(tmem: &Tmem, turns: &[Turn]) -> Result<()> {
    let raw = |turn: &Turn| RawTurn {
        id: turn.id.local().to_owned(),
        numbered: false,
        speaker: turn.speaker.clone(),
        text: turn.text.clone(),
        at: turn.at,
        image: None,
    };
    let turns = turns.iter().map(raw).collect();
    let given = Conversation {
        turns,
        ..Conversation::default()
    };
    tmem.add(&script::conversation(), &given)?;
    Ok(())
}

/// Builds what is ready; whether anything waits for an answer.
pub(super) async fn build(tmem: &Tmem) -> Result<bool> {
    let summary = tmem.build(&BuildOptions::default(), &|_| ()).await?;
    let total = summary.total();
    ensure!(
        total.failed + total.refused == 0,
        "steps failed: {:?}",
        summary.problems
    );
    Ok(!summary.is_complete())
}

/// Asks the memory something, and tells how long that took.
pub(super) async fn recall(tmem: &Tmem) -> Result<Duration> {
    let (question, start) = (Question::new("Who told of the kiln?"), Instant::now());
    tmem.recall(&question, &RetrieveConfig::default()).await?;
    Ok(start.elapsed())
}

/// All that the ledger knows.
pub(super) fn spent(tmem: &Tmem) -> Result<Spent> {
    Ok(tmem.cost()?.total().spent)
}

/// How many topics admitted the scenes of these turns.
pub(super) fn topics_of(tmem: &Tmem, turns: &[Turn]) -> usize {
    let memory = tmem.memory();
    let scenes = turns.iter().filter_map(|turn| memory.scene_of(&turn.id));
    let topics = scenes.flat_map(|scene| memory.topics_of(&scene.id));
    topics
        .map(|topic| topic.id.clone())
        .collect::<BTreeSet<_>>()
        .len()
}
