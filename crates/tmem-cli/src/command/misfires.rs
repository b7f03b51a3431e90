//! `tmem show triggers --by misfires`: the triggers that fire and lead to nothing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use tmem::TriggerCounts;
use tmem::model::{Memory, TriggerId};

use super::show::View;
use crate::render::Listing;

/// A trigger as it is told: its host, its family, its place there, its text.
struct Told<'a> {
    host: String,
    family: &'static str,
    name: &'a str,
    text: &'a str,
}

/// Triggers with misfires, most first; of equally many, those that fired less, then by id.
pub(crate) fn listing(view: &View<'_>, counts: &BTreeMap<TriggerId, TriggerCounts>) -> Listing {
    let noisy = counts.iter().filter(|(_, counts)| counts.misfires() > 0);
    let mut noisy: Vec<_> = noisy.filter(|(trigger, _)| wants(view, trigger)).collect();
    noisy.sort_by_key(|(trigger, counts)| (Reverse(counts.misfires()), counts.fired, *trigger));
    noisy
        .into_iter()
        .filter_map(|(trigger, counts)| Some(entry(&told(view.memory, trigger)?, *counts)))
        .collect()
}

fn wants(view: &View<'_>, trigger: &TriggerId) -> bool {
    match trigger {
        TriggerId::Attribute(id, _) | TriggerId::Horizon(id, _) => {
            let scene = view.memory.scene(id);
            scene.is_some_and(|scene| view.wants_scene(scene))
        }
        TriggerId::Item(id, _) => view
            .memory
            .item(id)
            .is_some_and(|item| view.wants_item(item)),
    }
}

fn told<'a>(memory: &'a Memory, trigger: &TriggerId) -> Option<Told<'a>> {
    let (host, family, name, text) = match trigger {
        TriggerId::Attribute(id, at) => {
            let trigger = memory.scene(id)?.scene_trigger.as_ref()?;
            let all = [
                ("situation", &trigger.situation),
                ("object", &trigger.object),
                ("event", &trigger.event),
                ("emotion", &trigger.emotion),
            ];
            let (name, text) = all.get(*at)?;
            (id.to_string(), "scene", *name, text.as_str())
        }
        TriggerId::Horizon(id, at) => {
            let trigger = memory.scene(id)?.horizon_triggers.get(*at)?;
            let (name, text) = (trigger.dimension.as_str(), trigger.text.as_str());
            (id.to_string(), "horizon", name, text)
        }
        TriggerId::Item(id, at) => {
            let trigger = memory.item(id)?.triggers.get(*at)?;
            let (name, text) = (trigger.entity.as_str(), trigger.bridge.as_str());
            (id.to_string(), "item", name, text)
        }
    };
    Some(Told {
        host,
        family,
        name,
        text,
    })
}

fn entry(told: &Told<'_>, counts: TriggerCounts) -> (String, Value) {
    let Told {
        host,
        family,
        name,
        text,
    } = told;
    let TriggerCounts { fired, used } = counts;
    let misfires = counts.misfires();
    let line = format!(
        "{misfires:>5} misfires ({fired} fired, {used} used) {host} {family} ({name}): {text}"
    );
    let json = json!({ "host": host, "family": family, "name": name, "text": text,
        "fired": fired, "used": used, "misfires": misfires });
    (line, json)
}
