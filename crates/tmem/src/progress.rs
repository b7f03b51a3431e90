//! What a build tells while it runs, and what it says at its end.

use std::collections::BTreeMap;

use serde::Serialize;
use tmem_model::{ConversationId, Job, JobState, Stage};

/// Something that happened during a build.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// More steps of a stage are ready.
    Ready {
        /// The stage.
        stage: Stage,
        /// How many more.
        steps: usize,
    },
    /// One step is over and its result is durable.
    Finished {
        /// The stage.
        stage: Stage,
        /// Whether nothing of it failed, was refused or waits.
        done: bool,
    },
    /// Vectors were made.
    Embedded {
        /// So far.
        done: usize,
        /// In all.
        total: usize,
    },
}

/// How many jobs of a stage ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Done.
    pub done: usize,
    /// Went wrong.
    pub failed: usize,
    /// Refused by the model.
    pub refused: usize,
    /// Wait for an answer or for the next build.
    pub pending: usize,
}

/// A job that is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its conversation.
    pub conversation: ConversationId,
    /// Its stage.
    pub stage: Stage,
    /// What it works on.
    pub target: String,
    /// How it stands.
    pub state: JobState,
    /// Why.
    pub reason: Option<String>,
}

/// Why a build ended before its work did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Stopped {
    /// The budget is spent.
    Budget,
    /// Somebody asked for it.
    Interrupted,
    /// The language model's endpoint cannot be used just now.
    Outage,
}

/// What a build did and left.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Jobs that this build worked on, by stage.
    pub stages: BTreeMap<Stage, Tally>,
    /// What is not done, of this build and of earlier ones.
    pub problems: Vec<Problem>,
    /// How many scenes, items and topics the work is over on and has left bare (see
    /// [`Coverage::holes`](crate::Coverage::holes)), of this build and of earlier ones.
    pub holes: usize,
    /// How many items this build put out of date.
    pub superseded: usize,
    /// Why it ended early, if it did.
    pub stopped: Option<Stopped>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

impl Summary {
    /// Whether nothing failed, was refused, or is left.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.problems.is_empty() && self.stopped.is_none()
    }

    /// Jobs in all, by how they ended.
    #[must_use]
    pub fn total(&self) -> Tally {
        self.stages
            .values()
            .fold(Tally::default(), |sum, tally| Tally {
                done: sum.done + tally.done,
                failed: sum.failed + tally.failed,
                refused: sum.refused + tally.refused,
                pending: sum.pending + tally.pending,
            })
    }

    pub(crate) fn count(&mut self, stage: Stage, state: JobState) {
        let tally = self.stages.entry(stage).or_default();
        match state {
            JobState::Done => tally.done += 1,
            JobState::Failed => tally.failed += 1,
            JobState::Refused => tally.refused += 1,
            JobState::Pending => tally.pending += 1,
        }
    }
}

impl From<&Job> for Problem {
    fn from(job: &Job) -> Self {
        Self {
            conversation: job.conversation.clone(),
            stage: job.stage,
            target: job.target.clone(),
            state: job.state,
            reason: job.reason.clone(),
        }
    }
}
