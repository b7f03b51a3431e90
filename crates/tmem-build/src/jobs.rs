//! The jobs of a memory by key: what was done, what waits, what failed.

use std::collections::BTreeMap;

use serde_json::Value;
use tmem_model::{ConversationId, Job, JobKey, JobState, Stage};

/// Prefix of the job that marks a flush; the last turn flushed follows.
pub(crate) const FLUSH: &str = "flush@";

/// All jobs, by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jobs(BTreeMap<JobKey, Job>);

impl FromIterator<Job> for Jobs {
    fn from_iter<T: IntoIterator<Item = Job>>(jobs: T) -> Self {
        Self(jobs.into_iter().map(|job| (job.key(), job)).collect())
    }
}

impl Jobs {
    /// Takes over the jobs that a change writes and lets go of those that it removes.
    pub fn absorb(&mut self, change: &tmem_model::Change) {
        let gone = &change.removed;
        for key in &gone.jobs {
            self.0.remove(key);
        }
        for conversation in &gone.conversations {
            self.0.retain(|key, _| key.conversation != *conversation);
        }
        self.0
            .extend(change.jobs.iter().map(|job| (job.key(), job.clone())));
    }

    /// All jobs that are work (marks of flushes left out), by conversation, stage and target.
    pub fn iter(&self) -> impl Iterator<Item = &Job> {
        self.0.values().filter(|job| !job.target.starts_with(FLUSH))
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
        self.0.get(&JobKey {
            conversation,
            stage,
            target,
        })
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
        self.0
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
