//! Which triggers fired in a recall, and which of them led to evidence: counted, trigger by trigger,
//! so that those that only make noise can be seen.

use std::collections::{BTreeMap, BTreeSet};

use tmem_index::{Host, View};
use tmem_model::{Memory, TriggerId};
use tmem_retrieve::{Candidate, Context, Fate, RetrieveConfig, Trace, TriggerHit, Via};
use tmem_store::TriggerCounts;

use crate::answer::Cited;
use crate::error::TmemError;
use crate::recall::Recalled;
use crate::tmem::Tmem;

impl Tmem {
    /// How often each trigger fired and was of use, of those that ever fired and are still there.
    ///
    /// # Errors
    /// [`TmemError::Store`] if the store cannot be read.
    pub fn trigger_counts(&self) -> Result<BTreeMap<TriggerId, TriggerCounts>, TmemError> {
        let memory = self.memory();
        let mut counts = self.shelf.trigger_counts()?;
        counts.retain(|(trigger, _)| is_there(&memory, trigger));
        Ok(counts.into_iter().collect())
    }

    /// Counts what fired in a recall. A store that cannot be written now costs the count alone.
    pub(crate) fn count_firings(
        &self,
        recalled: &Recalled,
        config: &RetrieveConfig,
        evidence: &BTreeSet<Host>,
    ) {
        if !self.config().triggers.count {
            return;
        }
        let counts: Vec<_> = firings(&recalled.trace, config, evidence)
            .into_iter()
            .collect();
        if !counts.is_empty() {
            self.shelf.count_triggers(&counts).ok();
        }
    }
}

/// Scenes and items that a context shows.
pub(crate) fn shown(context: &Context) -> BTreeSet<Host> {
    let scenes = context.scenes.iter().map(|one| Host::Scene(one.id.clone()));
    let items = context.items.iter().map(|one| Host::Item(one.id.clone()));
    scenes.chain(items).collect()
}

/// Scenes and items of a context that an answer cites, themselves or by one of their turns.
pub(crate) fn cited(context: &Context, cited: &Cited) -> BTreeSet<Host> {
    let scenes = context.scenes.iter().filter(|scene| {
        let mut turns = scene.raw_turns();
        cited.scenes.contains(&scene.id) || turns.any(|turn| cited.turns.contains(&turn.id))
    });
    let items = context.items.iter().filter(|item| {
        let mut turns = item.turns.iter();
        turns.any(|turn| cited.turns.contains(turn))
    });
    let scenes = scenes.map(|one| Host::Scene(one.id.clone()));
    scenes
        .chain(items.map(|one| Host::Item(one.id.clone())))
        .collect()
}

/// Triggers that are closer to the query than to talk in general and led to a candidate; used if
/// that candidate, or the host of the trigger, is `evidence`.
fn firings(
    trace: &Trace,
    config: &RetrieveConfig,
    evidence: &BTreeSet<Host>,
) -> BTreeMap<TriggerId, TriggerCounts> {
    let mut fired = BTreeMap::new();
    let mut note = |to: Host, hit: &TriggerHit| {
        let of_use = evidence.contains(&to) || evidence.contains(&hit.host);
        if let Some(trigger) = trigger(hit) {
            let counts: &mut TriggerCounts = fired.entry(trigger).or_default();
            counts.fired = 1;
            counts.used |= u64::from(of_use);
        }
    };
    for (place, scene) in trace.associations.iter().enumerate() {
        if place < config.cue_scenes || matches!(scene.fate, Fate::Kept(_)) {
            let near = hits(scene).filter(|hit| hit.is_telling());
            near.for_each(|hit| note(Host::Scene(scene.id.clone()), hit));
        }
    }
    for item in &trace.items {
        hits(item).for_each(|hit| note(Host::Item(item.id.clone()), hit));
    }
    fired
}

fn hits<Id>(candidate: &Candidate<Id>) -> impl Iterator<Item = &TriggerHit> {
    candidate.via.iter().filter_map(|via| match via {
        Via::Trigger(hit) => Some(hit),
        _ => None,
    })
}

/// Which trigger a hit belongs to; a dialogue is none.
fn trigger(hit: &TriggerHit) -> Option<TriggerId> {
    match (&hit.host, hit.view) {
        (Host::Scene(scene), View::SceneTrigger) => {
            Some(TriggerId::Attribute(scene.clone(), hit.ordinal))
        }
        (Host::Scene(scene), View::Horizon) => Some(TriggerId::Horizon(scene.clone(), hit.ordinal)),
        (Host::Item(item), _) => Some(TriggerId::Item(item.clone(), hit.ordinal)),
        _ => None,
    }
}

fn is_there(memory: &Memory, trigger: &TriggerId) -> bool {
    match trigger {
        TriggerId::Attribute(id, _) => memory
            .scene(id)
            .is_some_and(|scene| scene.scene_trigger.is_some()),
        TriggerId::Horizon(id, at) => memory
            .scene(id)
            .is_some_and(|scene| *at < scene.horizon_triggers.len()),
        TriggerId::Item(id, at) => memory
            .item(id)
            .is_some_and(|item| *at < item.triggers.len()),
    }
}
