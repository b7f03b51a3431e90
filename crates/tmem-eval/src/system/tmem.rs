//! tmem under the retriever's own configuration.

use std::collections::BTreeSet;

use serde_json::Value;
use tmem_model::{Memory, SceneId, TurnId};
use tmem_retrieve::trace::{Candidate, Fate};
use tmem_retrieve::{Channel, Context, Query, RetrieveConfig, Retriever, Shown, Trace};

use super::Ask;
use super::found::{Found, Ranked};
use crate::error::EvalError;
use crate::metric::tokens;
use crate::results::RetrievedIds;
use crate::world::World;

/// Scenes and items whose ranks are known; what lies beyond has no rank.
const DEPTH: usize = 1_000;

pub(super) fn find(world: &World, config: &RetrieveConfig, ask: &Ask) -> Result<Found, EvalError> {
    let (memory, indices) = world.memory()?;
    let query = Query {
        speaker: ask.speaker.clone(),
        conversation: ask.conversation.clone(),
        ..Query::new(ask.text.clone(), ask.vector.clone())
    };
    let config = RetrieveConfig {
        trace_depth: DEPTH,
        ..config.clone()
    };
    let recall = Retriever::new(memory, indices).recall(&query, &config);
    let mut found = found(memory, &recall.context, config.scene_layer);
    if ask.write {
        found.text = recall.context.render();
    }
    // With a quota for associations their own ranking finds cues; without one, the last word is
    // similarity's.
    let associative = config.associative_scenes > 0;
    found.cue_list = if associative {
        "associations"
    } else {
        "scenes"
    };
    rankings(memory, &recall.trace, associative, &mut found);
    fates(memory, &recall.trace, &mut found);
    Ok(found)
}

fn found(memory: &Memory, context: &Context, scene_layer: bool) -> Found {
    let held: BTreeSet<TurnId> = context.cited_turns().into_iter().cloned().collect();
    let scenes = context
        .scenes
        .iter()
        .flat_map(|scene| memory.scene_turns(&scene.id));
    let reached = match scene_layer {
        true => scenes.map(|turn| turn.id.clone()).collect(),
        false => held.clone(),
    };
    Found {
        held,
        reached,
        tokens: evidence_tokens(context),
        persona_tokens: context
            .personas
            .iter()
            .map(|persona| tokens(&persona.summary))
            .sum(),
        ids: ids(context),
        ..Found::default()
    }
}

/// Words of dialogues (or titles with summaries), items and open turns, times 1.3.
fn evidence_tokens(context: &Context) -> f64 {
    let spoken =
        |turn: &tmem_retrieve::TurnEvidence| tokens(&format!("{}: {}", turn.speaker, turn.text));
    let scene = |scene: &tmem_retrieve::SceneEvidence| match &scene.shown {
        Shown::Turns(turns) => turns.iter().map(spoken).sum(),
        Shown::Summary(summary) => tokens(&scene.title) + tokens(summary),
    };
    context.scenes.iter().map(scene).sum::<f64>()
        + context
            .items
            .iter()
            .map(|item| tokens(&item.text))
            .sum::<f64>()
        + context.turns.iter().map(spoken).sum::<f64>()
}

fn ids(context: &Context) -> RetrievedIds {
    RetrievedIds {
        scenes: context
            .scenes
            .iter()
            .map(|scene| scene.id.local().to_owned())
            .collect(),
        items: context
            .items
            .iter()
            .map(|item| item.id.local().to_owned())
            .collect(),
        turns: context
            .turns
            .iter()
            .map(|turn| turn.id.local().to_owned())
            .collect(),
    }
}

fn rankings(memory: &Memory, trace: &Trace, associative: bool, found: &mut Found) {
    let scenes = |candidates: &[Candidate<SceneId>]| {
        candidates
            .iter()
            .map(|one| turns_of(memory, &one.id))
            .collect()
    };
    let items = trace.items.iter().filter_map(|one| memory.item(&one.id));
    found.lists.push(Ranked {
        name: "scenes",
        turns: scenes(&trace.scenes),
    });
    found.lists.push(Ranked {
        name: "items",
        turns: items.map(|item| item.turns.clone()).collect(),
    });
    if associative {
        found.lists.push(Ranked {
            name: "associations",
            turns: scenes(&trace.associations),
        });
    }
}

fn turns_of(memory: &Memory, scene: &SceneId) -> Vec<TurnId> {
    memory
        .scene_turns(scene)
        .map(|turn| turn.id.clone())
        .collect()
}

/// Notes for each scene its rank by view and the channels that brought it or its items in.
fn fates(memory: &Memory, trace: &Trace, found: &mut Found) {
    for one in trace.scenes.iter().chain(&trace.associations) {
        let Some(first) = memory.scene_turns(&one.id).next() else {
            continue;
        };
        let reached = found.scenes.entry(first.id.clone()).or_default();
        for rank in &one.ranks {
            reached.ranks.entry(name(&rank.list)).or_insert(rank.rank);
        }
        if let Fate::Kept(channel) = one.fate {
            reached
                .channels
                .insert(format!("scene by {}", channel_name(channel)));
        }
    }
    for one in &trace.items {
        let Fate::Kept(channel) = one.fate else {
            continue;
        };
        for scene in memory.sources(&one.id) {
            let Some(first) = memory.scene_turns(&scene.id).next() else {
                continue;
            };
            let reached = found.scenes.entry(first.id.clone()).or_default();
            reached
                .channels
                .insert(format!("item by {}", channel_name(channel)));
        }
    }
}

fn channel_name(channel: Channel) -> String {
    name(&channel)
}

/// The name that the trace itself gives, as in `scene_trigger`.
fn name(of: &impl serde::Serialize) -> String {
    match serde_json::to_value(of) {
        Ok(Value::String(name)) => name,
        _ => "other".to_owned(),
    }
}
