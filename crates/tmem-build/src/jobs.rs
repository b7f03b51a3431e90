//! The jobs of a memory by key: what was done, what waits, what failed; and what wants doing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tmem_model::{Change, ConversationId, Job, JobKey, JobState, Memory, ModelError, Stage};

use crate::agenda::{Agenda, Touched, set};
use crate::stems::Stems;

/// Prefix of the job that marks a flush; the last turn flushed follows.
pub(crate) const FLUSH: &str = "flush@";

/// What the result of a job says once the triggers that it wrote were measured.
pub const MEASURED: &str = "measured";

/// All jobs, by key, with what their memory still has to have done: both change by [`apply`] alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jobs {
    rows: BTreeMap<JobKey, Job>,
    /// Those that are not done.
    unfinished: BTreeSet<JobKey>,
    /// Those that wrote triggers which were not measured.
    unmeasured: BTreeSet<JobKey>,
    /// What is new or pending in each conversation that has anything of the kind.
    agendas: BTreeMap<ConversationId, Agenda>,
    stems: Stems,
}

/// Applies a change to a memory and its jobs: all of it or, on an error, none of it. Takes as long
/// as the change is large, however large the memory is.
///
/// # Errors
/// [`ModelError`] if the memory refuses the change.
pub fn apply(memory: &mut Memory, jobs: &mut Jobs, change: &Change) -> Result<(), ModelError> {
    let touched = Touched::of(memory, change);
    memory.apply(change)?;
    jobs.absorb(memory, change, &touched);
    Ok(())
}

impl Jobs {
    /// The jobs of `memory`.
    #[must_use]
    pub fn of(memory: &Memory, jobs: impl IntoIterator<Item = Job>) -> Self {
        let mut all = Self::default();
        jobs.into_iter().for_each(|job| all.put(job));
        for conversation in memory.conversations() {
            let touched = Touched::all(memory, conversation);
            all.note(memory, &touched);
        }
        all
    }

    /// Takes over the jobs that a change writes and lets go of those that it removes.
    fn absorb(&mut self, memory: &Memory, change: &Change, touched: &Touched) {
        let gone = &change.removed;
        for key in &gone.jobs {
            self.rows.remove(key);
            self.unfinished.remove(key);
            self.unmeasured.remove(key);
        }
        for conversation in &gone.conversations {
            self.rows.retain(|key, _| key.conversation != *conversation);
            let stays = |key: &JobKey| key.conversation != *conversation;
            self.unfinished.retain(stays);
            self.unmeasured.retain(stays);
            self.agendas.remove(conversation);
        }
        change.jobs.iter().for_each(|job| self.put(job.clone()));
        self.note(memory, touched);
    }

    fn put(&mut self, job: Job) {
        let key = job.key();
        set(&mut self.unfinished, &key, job.state != JobState::Done);
        set(&mut self.unmeasured, &key, is_unmeasured(&job));
        self.rows.insert(key, job);
    }

    /// Brings the agendas up to date where something was touched.
    fn note(&mut self, memory: &Memory, touched: &Touched) {
        let mut agendas = std::mem::take(&mut self.agendas);
        touched.note(memory, self, &mut agendas);
        agendas.retain(|_, agenda| !agenda.is_empty());
        self.agendas = agendas;
    }

    /// What wants doing in a conversation; `None` if nothing does.
    pub(crate) fn agenda(&self, conversation: &ConversationId) -> Option<&Agenda> {
        self.agendas.get(conversation)
    }

    /// Stems of the texts that planning compares.
    pub(crate) fn stems(&self) -> &Stems {
        &self.stems
    }

    /// All jobs, marks of flushes included, by conversation, stage and target.
    pub fn rows(&self) -> impl Iterator<Item = &Job> {
        self.rows.values()
    }

    /// All jobs that are work (marks of flushes left out), by conversation, stage and target.
    pub fn iter(&self) -> impl Iterator<Item = &Job> {
        self.rows().filter(|job| !job.target.starts_with(FLUSH))
    }

    /// Those that are not done, in the same order.
    pub fn unfinished(&self) -> impl Iterator<Item = &Job> {
        self.unfinished.iter().map(|key| &self.rows[key])
    }

    /// Those that wrote triggers whose closeness to everything said was not measured: their result
    /// does not say so under [`MEASURED`].
    pub fn unmeasured(&self) -> impl Iterator<Item = &Job> {
        self.unmeasured.iter().map(|key| &self.rows[key])
    }

    /// How many jobs are in `state`.
    #[must_use]
    pub fn count(&self, state: JobState) -> usize {
        self.iter().filter(|job| job.state == state).count()
    }

    /// The job of that stage and target.
    #[must_use]
    pub fn get(&self, conversation: &ConversationId, stage: Stage, target: &str) -> Option<&Job> {
        let (conversation, target) = (conversation.clone(), target.to_owned());
        self.rows.get(&JobKey {
            conversation,
            stage,
            target,
        })
    }

    /// Whether a target wants work: new or pending.
    pub(crate) fn wants(&self, conversation: &ConversationId, stage: Stage, target: &str) -> bool {
        let job = self.get(conversation, stage, target);
        job.is_none_or(|job| job.state == JobState::Pending)
    }

    /// The jobs of one stage of one conversation, by target.
    pub(crate) fn of_stage(
        &self,
        conversation: &ConversationId,
        stage: Stage,
    ) -> impl Iterator<Item = &Job> {
        let first = JobKey {
            conversation: conversation.clone(),
            stage,
            target: String::new(),
        };
        let here = conversation.clone();
        let inside = move |key: &JobKey| key.conversation == here && key.stage == stage;
        self.rows
            .range(first..)
            .take_while(move |(key, _)| inside(key))
            .map(|(_, job)| job)
    }

    /// How often the work of `target` was split because it was too large.
    pub(crate) fn level(&self, conversation: &ConversationId, stage: Stage, target: &str) -> u32 {
        let job = self.get(conversation, stage, target);
        let split = job.and_then(|job| job.result.as_ref()?.get("split")?.as_u64());
        split
            .and_then(|level| u32::try_from(level).ok())
            .unwrap_or(0)
    }
}

fn is_unmeasured(job: &Job) -> bool {
    let writes = matches!(job.stage, Stage::ItemTriggers | Stage::SceneTriggers);
    let result = job.result.as_ref();
    let is_measured = result.is_some_and(|result| result.get(MEASURED).is_some());
    writes && job.state == JobState::Done && !is_measured
}

/// A job's row.
pub(crate) fn job(
    conversation: &ConversationId,
    stage: Stage,
    target: &str,
    state: JobState,
) -> Job {
    Job {
        conversation: conversation.clone(),
        stage,
        target: target.to_owned(),
        state,
        reason: None,
        result: None,
    }
}

/// A job that is done.
pub(crate) fn done(
    conversation: &ConversationId,
    stage: Stage,
    target: &str,
    result: Option<Value>,
) -> Job {
    Job {
        result,
        ..job(conversation, stage, target, JobState::Done)
    }
}

/// The number in an id such as `s012`; 0 if there is none.
pub(crate) fn number(local: &str) -> usize {
    let digits = local.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0)
}
