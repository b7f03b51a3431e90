//! Counts of what is there, what is missing, and how the gate of item triggers behaves.

use std::collections::BTreeMap;

use serde::Serialize;
use tmem_build::Jobs;
use tmem_index::{Host, Indices, Vector, View, rows};
use tmem_model::{Item, JobState, Memory, TurnId};

use crate::coverage::Coverage;
use crate::error::TmemError;
use crate::indexed::Indexed;
use crate::tmem::Tmem;

/// Turns that stand for what is said in general when the gate is tried.
const SAMPLE: usize = 100;

/// Figures of one space.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// How many there are of each kind.
    pub counts: Counts,
    /// What has no trigger or no use yet.
    pub coverage: Coverage,
    /// Jobs by state.
    pub jobs: BTreeMap<&'static str, usize>,
    /// What construction refused of the model's replies, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Vectors by view; nothing without an encoder.
    pub vectors: BTreeMap<String, usize>,
    /// Least cosine at which an item trigger counts; nothing if each has its own background.
    pub gate: Option<f32>,
    /// Share of the memory's own turns, taken as queries, that pass the gate of some foreign item.
    pub gate_fires: Option<f32>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// How many there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Conversations.
    pub conversations: usize,
    /// Turns.
    pub turns: usize,
    /// Turns in no scene yet.
    pub open_turns: usize,
    /// Scenes.
    pub scenes: usize,
    /// Topics.
    pub topics: usize,
    /// Items.
    pub items: usize,
    /// Items that later ones put out of date.
    pub superseded: usize,
    /// Personas.
    pub personas: usize,
    /// Triggers of items.
    pub item_triggers: usize,
    /// Scene triggers.
    pub scene_triggers: usize,
    /// Horizon triggers.
    pub horizon_triggers: usize,
}

impl Tmem {
    /// Figures of this space.
    ///
    /// # Errors
    /// [`TmemError`] if the indices cannot be built.
    pub async fn stats(&self) -> Result<Stats, TmemError> {
        let indexed = self.indexed().await?;
        let memory = &indexed.memory;
        Ok(Stats {
            counts: counts(memory),
            coverage: Coverage::of(memory, &self.jobs()),
            jobs: by_state(&self.jobs()),
            refused: refusals(&self.jobs()),
            vectors: vectors(&indexed.search.indices),
            gate: indexed.search.indices.gate(),
            gate_fires: self.gate_fires(&indexed).await?,
            notes: indexed.search.notes(),
        })
    }

    /// Share of the memory's own turns that, asked as questions, pass the gate of an item which
    /// does not come from them.
    async fn gate_fires(&self, indexed: &Indexed) -> Result<Option<f32>, TmemError> {
        let Ok(encoder) = self.services.encoder().await else {
            return Ok(None);
        };
        let mut turns = rows(&indexed.memory);
        turns.retain(|row| row.view == View::Turn);
        let step = turns.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<_> = turns.into_iter().step_by(step).collect();
        let known = self.vectors_of(&*encoder, &sample, &|_| ()).await?;
        let mut fired = 0_u16;
        let mut asked = 0_u16;
        for (row, vector) in crate::vectors::joined(sample, &known) {
            let (Host::Turn(turn), Some(vector)) = (&row.host, vector) else {
                continue;
            };
            asked += 1;
            fired += u16::from(fires(indexed, turn, &vector)?);
        }
        Ok((asked > 0).then(|| f32::from(fired) / f32::from(asked)))
    }
}

/// Whether some item that does not cite `turn` has a trigger that close to it.
fn fires(indexed: &Indexed, turn: &TurnId, vector: &Vector) -> Result<bool, TmemError> {
    // Without a fixed gate, a trigger has to be closer than what is said in general.
    let (gate, correction) = indexed
        .search
        .indices
        .gate()
        .map_or((0.0, 1.0), |gate| (gate, 0.0));
    for view in [View::Concept, View::Bridge, View::Joint] {
        for found in indexed
            .search
            .indices
            .nearest(view, vector, correction, None)?
        {
            if found.score < gate {
                break;
            }
            let id = &indexed.search.indices.items()[found.key as usize];
            if indexed
                .memory
                .item(id)
                .is_some_and(|item| !item.turns.contains(turn))
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn counts(memory: &Memory) -> Counts {
    let open = memory
        .conversations()
        .map(|id| memory.open_turns(id).count());
    Counts {
        conversations: memory.conversations().count(),
        turns: memory.all_turns().count(),
        open_turns: open.sum(),
        scenes: memory.scenes().count(),
        topics: memory.topics().count(),
        items: memory.items().count(),
        superseded: superseded(memory),
        personas: memory.personas().count(),
        item_triggers: memory.items().map(|item| item.triggers.len()).sum(),
        scene_triggers: memory
            .scenes()
            .filter(|scene| scene.scene_trigger.is_some())
            .count(),
        horizon_triggers: memory
            .scenes()
            .map(|scene| scene.horizon_triggers.len())
            .sum(),
    }
}

/// What construction refused, by reason.
fn refusals(jobs: &Jobs) -> BTreeMap<String, u64> {
    let mut counted = BTreeMap::new();
    let results = jobs
        .iter()
        .filter_map(|job| job.result.as_ref()?.get("refused")?.as_object());
    for (reason, count) in results.flatten() {
        *counted.entry(reason.clone()).or_default() += count.as_u64().unwrap_or(0);
    }
    counted
}

fn by_state(jobs: &Jobs) -> BTreeMap<&'static str, usize> {
    let mut counted = BTreeMap::new();
    for job in jobs.iter() {
        let state = match job.state {
            JobState::Done => "done",
            JobState::Failed => "failed",
            JobState::Refused => "refused",
            JobState::Pending => "pending",
        };
        *counted.entry(state).or_default() += 1;
    }
    counted
}

fn vectors(indices: &Indices) -> BTreeMap<String, usize> {
    let name = |view: View| {
        let name = serde_json::to_value(view).expect("a view is a plain word");
        name.as_str().expect("a view is a plain word").to_owned()
    };
    View::ALL
        .into_iter()
        .map(|view| (name(view), indices.len(view)))
        .collect()
}

/// How many items later ones put out of date.
fn superseded(memory: &Memory) -> usize {
    let later = |item: &&Item| memory.superseding(&item.id).next().is_some();
    memory.items().filter(later).count()
}
