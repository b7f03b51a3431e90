//! What every stage looks at: the memory, its jobs, the vectors of turns and the knobs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use tmem_model::ingest::NO_CAPTION;
use tmem_model::{
    ConversationId, Ids, Job, JobState, Memory, NodeId, Scene, SceneId, Stage, Turn, TurnId,
};

use crate::agenda::Agenda;
use crate::config::BuildConfig;
use crate::frame::Look;
use crate::jobs::{FLUSH, Jobs, job};

/// Vectors of turns, for a segmenter that cuts by embeddings.
pub type Vectors = BTreeMap<TurnId, Vec<f32>>;

/// The state that construction starts from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The memory as it is.
    pub memory: &'a Memory,
    /// Its jobs.
    pub jobs: &'a Jobs,
    /// Vectors of the turns that [`wanted`](crate::wanted) names; others are not looked at.
    pub vectors: &'a Vectors,
}

impl<'a> Inputs<'a> {
    pub(crate) fn context(
        self,
        conversation: &'a ConversationId,
        config: &'a BuildConfig,
    ) -> Context<'a> {
        let Self {
            memory,
            jobs,
            vectors,
        } = self;
        Context {
            memory,
            jobs,
            vectors,
            conversation,
            config,
        }
    }
}

/// [`Inputs`] with the conversation and the knobs.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) jobs: &'a Jobs,
    pub(crate) vectors: &'a Vectors,
    pub(crate) conversation: &'a ConversationId,
    pub(crate) config: &'a BuildConfig,
}

impl<'a> Context<'a> {
    pub(crate) fn state(&self, stage: Stage, target: &str) -> Option<JobState> {
        self.jobs
            .get(self.conversation, stage, target)
            .map(|job| job.state)
    }

    /// Whether a target wants work: new or pending.
    pub(crate) fn wants(&self, stage: Stage, target: &str) -> bool {
        self.jobs.wants(self.conversation, stage, target)
    }

    /// Scenes that the agenda lists, in arrival order.
    pub(crate) fn listed(&self, list: fn(&Agenda) -> &BTreeSet<SceneId>) -> Vec<&'a Scene> {
        let listed = self
            .jobs
            .agenda(self.conversation)
            .into_iter()
            .flat_map(list);
        let mut scenes: Vec<&Scene> = listed.filter_map(|id| self.scene(id)).collect();
        scenes.sort_by_cached_key(|scene| (self.place(&scene.id), &scene.id));
        scenes
    }

    /// Where a node stands in the order of arrival.
    pub(crate) fn place<I: Clone + Into<NodeId>>(&self, id: &I) -> Option<u64> {
        self.memory.place(&id.clone().into())
    }

    /// Whether a flush came after that turn.
    pub(crate) fn is_flushed(&self, turn: &TurnId) -> bool {
        let target = format!("{FLUSH}{}", turn.local());
        self.jobs
            .get(self.conversation, Stage::Segment, &target)
            .is_some()
    }

    pub(crate) fn level(&self, stage: Stage, target: &str) -> u32 {
        match self.state(stage, target) {
            Some(JobState::Pending) => self.jobs.level(self.conversation, stage, target),
            _ => 0,
        }
    }

    /// A row for `target`.
    pub(crate) fn job(&self, stage: Stage, target: &str, state: JobState) -> Job {
        job(self.conversation, stage, target, state)
    }

    /// A row that says why `target` is not done.
    pub(crate) fn because(&self, stage: Stage, target: &str, state: JobState, why: &str) -> Job {
        Job {
            reason: Some(why.to_owned()),
            ..self.job(stage, target, state)
        }
    }

    /// `target` again, with half as much in the call; failed at the floor.
    pub(crate) fn again(
        &self,
        stage: Stage,
        target: &str,
        level: u32,
        batch: usize,
        why: &str,
    ) -> Job {
        if level >= halvings(batch) + CLIPS {
            return self.because(stage, target, JobState::Failed, why);
        }
        let result = Some(json!({"split": level + 1}));
        Job {
            result,
            ..self.because(stage, target, JobState::Pending, why)
        }
    }

    /// How turns are shown when work of `batch` was split `level` times.
    pub(crate) fn look(&self, level: u32, batch: usize) -> Look {
        let clips = level.saturating_sub(halvings(batch));
        Look {
            clip: (self.config.turn_chars >> (2 * clips)).max(40),
            gap_hours: self.config.gap_hours,
        }
    }

    /// The ids to give next.
    pub(crate) fn ids(&self) -> Ids {
        self.memory.ids(self.conversation)
    }

    pub(crate) fn scene(&self, id: &SceneId) -> Option<&'a Scene> {
        self.memory.scene(id)
    }

    /// Turns of a scene that say something.
    pub(crate) fn spoken(&self, scene: &SceneId) -> Vec<&'a Turn> {
        self.memory
            .scene_turns(scene)
            .filter(|turn| !blank(turn))
            .collect()
    }
}

/// How often the text of turns is shortened before a single target is given up.
pub(crate) const CLIPS: u32 = 3;

/// How often a batch can be halved until one is left.
pub(crate) fn halvings(batch: usize) -> u32 {
    batch.max(1).next_power_of_two().trailing_zeros()
}

/// Whether a turn tells nothing: it has no text, and no image of which something is known.
pub(crate) fn blank(turn: &Turn) -> bool {
    let image = turn.image.as_deref().unwrap_or(NO_CAPTION);
    turn.text.trim().is_empty() && [NO_CAPTION, ""].contains(&image.trim())
}

/// Targets in calls: those of one aligned block of `size` and one level go together.
///
/// Blocks lie at fixed ordinals, so what else is ready does not change a call that was paid for.
pub(crate) fn batches<T>(targets: Vec<(usize, u32, T)>, size: usize) -> Vec<(u32, Vec<T>)> {
    let size = size.max(1);
    let mut blocks: BTreeMap<(usize, u32), Vec<T>> = BTreeMap::new();
    for (ordinal, level, target) in targets {
        blocks
            .entry((ordinal / size, level))
            .or_default()
            .push(target);
    }
    let mut calls = Vec::new();
    for ((_, level), block) in blocks {
        let most = (size >> level.min(31)).max(1);
        let mut block = block.into_iter().peekable();
        while block.peek().is_some() {
            calls.push((level, block.by_ref().take(most).collect()));
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_one_call_and_what_was_split_goes_in_halves() {
        let targets = vec![
            (0, 0, 'a'),
            (1, 0, 'b'),
            (4, 0, 'c'),
            (5, 1, 'd'),
            (6, 1, 'e'),
            (7, 1, 'f'),
        ];
        let expect = vec![
            (0, vec!['a', 'b']),
            (0, vec!['c']),
            (1, vec!['d', 'e']),
            (1, vec!['f']),
        ];
        assert_eq!(batches(targets, 4), expect);
    }

    #[test]
    fn a_batch_is_halved_until_one_is_left() {
        assert_eq!([1, 2, 5, 8, 10].map(halvings), [0, 1, 3, 3, 4]);
    }
}
