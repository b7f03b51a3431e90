//! What a build would cost, before anything is paid: the pipeline run on stand-in replies of the
//! sizes that real ones have.

use std::collections::BTreeMap;

use serde::Serialize;
use tmem_model::{Change, ConversationId, Memory, ModelError, Stage, Turn, text};

use crate::config::{BuildConfig, Segmenter};
use crate::context::{Inputs, Vectors};
use crate::draft::prompt;
use crate::jobs::{Jobs, apply};
use crate::pipeline::{accept, flush, plan};
use crate::prompts::Prompts;
use crate::step::{Asked, Step};
use crate::typical;

/// Calls and tokens, by stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate(BTreeMap<Stage, Cost>);

/// Calls and tokens of one stage, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Model calls (count).
    pub calls: usize,
    /// Tokens of prompts.
    pub prompt_tokens: usize,
    /// Tokens of replies.
    pub reply_tokens: usize,
}

impl Cost {
    /// Tokens of prompts and replies together.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.prompt_tokens + self.reply_tokens
    }

    /// Adds what another cost.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.reply_tokens += other.reply_tokens;
    }
}

impl Estimate {
    /// The stages that cost something, in their order.
    pub fn stages(&self) -> impl Iterator<Item = (Stage, Cost)> {
        self.0.iter().map(|(stage, cost)| (*stage, *cost))
    }

    /// All stages together.
    #[must_use]
    pub fn total(&self) -> Cost {
        let mut total = Cost::default();
        self.0.values().for_each(|cost| total.add(cost));
        total
    }
}

/// What it would cost to add `turns` to `conversation`, flush, and build all that is left to build.
///
/// Tokens are estimates (see [`text::estimate_tokens`]). No model is asked, nothing is changed.
///
/// # Errors
/// [`ModelError`] if the memory refuses the turns.
pub fn estimate(
    memory: &Memory,
    jobs: &Jobs,
    conversation: &ConversationId,
    turns: &[Turn],
    config: &BuildConfig,
    prompts: &Prompts,
) -> Result<Estimate, ModelError> {
    let mut run = Rehearsal::new(memory, jobs, config, prompts);
    run.apply(&Change {
        turns: turns.to_vec(),
        ..Change::default()
    })?;
    run.apply(&flush(run.inputs(), conversation))?;
    // Replies always fit, so each plan does away with work; the bound guards against a mistake.
    for _ in 0..turns.len() + memory.turns(conversation).count() + ROUNDS {
        let steps = plan(run.inputs(), conversation, &run.config);
        if steps.is_empty() {
            break;
        }
        steps.into_iter().try_for_each(|step| run.step(step))?;
    }
    Ok(run.estimate)
}

/// Plans beyond one per turn.
const ROUNDS: usize = 100;

struct Rehearsal<'a> {
    memory: Memory,
    jobs: Jobs,
    vectors: Vectors,
    config: BuildConfig,
    /// Whether windows cost nothing, since no model decides them.
    free_windows: bool,
    prompts: &'a Prompts,
    estimate: Estimate,
}

impl<'a> Rehearsal<'a> {
    fn new(memory: &Memory, jobs: &Jobs, config: &BuildConfig, prompts: &'a Prompts) -> Self {
        let free_windows = config.segmenter != Segmenter::Model;
        let config = BuildConfig {
            segmenter: Segmenter::Model,
            ..config.clone()
        };
        let (memory, jobs, vectors) = (memory.clone(), jobs.clone(), Vectors::new());
        Self {
            memory,
            jobs,
            vectors,
            config,
            free_windows,
            prompts,
            estimate: Estimate::default(),
        }
    }

    fn inputs(&self) -> Inputs<'_> {
        Inputs {
            memory: &self.memory,
            jobs: &self.jobs,
            vectors: &self.vectors,
        }
    }

    fn apply(&mut self, change: &Change) -> Result<(), ModelError> {
        apply(&mut self.memory, &mut self.jobs, change)
    }

    fn accept(&self, asked: &Asked) -> Change {
        accept(asked, self.inputs(), &self.config, self.prompts)
    }

    fn step(&mut self, step: Step) -> Result<(), ModelError> {
        let request = prompt(&step, self.inputs(), &self.config, self.prompts);
        let Some(request) = request else {
            let change = self.accept(&Asked::local(step));
            return self.apply(&change);
        };
        let reply = typical::reply(&step, self.inputs(), &self.config);
        if !(self.free_windows && step.stage() == Stage::Segment) {
            let shown = request
                .messages
                .iter()
                .map(|m| text::estimate_tokens(&m.content));
            let (prompt_tokens, reply_tokens) =
                (shown.sum(), text::estimate_tokens(&reply.to_string()));
            let cost = Cost {
                calls: 1,
                prompt_tokens,
                reply_tokens,
            };
            self.estimate.0.entry(step.stage()).or_default().add(&cost);
        }
        let change = self.accept(&Asked::replied(step, reply));
        self.apply(&change)
    }
}
