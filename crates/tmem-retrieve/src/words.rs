//! What a trigger that fired says, for the trace.

use tmem_index::{Host, View};
use tmem_model::HorizonTrigger;

use crate::cue::{Fired, Search};
use crate::trace::{Family, TriggerHit};

impl Search<'_> {
    /// `fired` with its text, for the trace.
    pub(crate) fn describe(&self, fired: &Fired) -> TriggerHit {
        let (host, words) = self.words(fired);
        let Words {
            family,
            label,
            text,
            rationale,
        } = words.unwrap_or_default();
        let Fired {
            view,
            ordinal,
            cosine,
            background,
            score,
            ..
        } = *fired;
        TriggerHit {
            family,
            view,
            host,
            ordinal,
            label,
            text,
            rationale,
            cosine,
            background,
            score,
        }
    }

    fn words(&self, fired: &Fired) -> (Host, Option<Words>) {
        let place = fired.host as usize;
        match fired.view {
            View::Concept | View::Bridge | View::Joint => {
                let id = &self.indices.items()[place];
                (Host::Item(id.clone()), self.item_words(fired))
            }
            _ => {
                let id = &self.indices.scenes()[place];
                (Host::Scene(id.clone()), self.scene_words(fired))
            }
        }
    }

    fn item_words(&self, fired: &Fired) -> Option<Words> {
        let item = self
            .memory
            .item(&self.indices.items()[fired.host as usize])?;
        let trigger = item.triggers.get(fired.ordinal)?;
        let (family, text) = match fired.view {
            View::Concept => (Family::Entity, trigger.entity.clone()),
            View::Bridge => (Family::Bridge, trigger.bridge.clone()),
            _ => (
                Family::Bridge,
                format!("{}: {}", trigger.entity, trigger.bridge),
            ),
        };
        let rationale = Some(trigger.rationale.clone()).filter(|text| !text.trim().is_empty());
        Some(Words {
            family,
            label: String::new(),
            text,
            rationale,
        })
    }

    fn scene_words(&self, fired: &Fired) -> Option<Words> {
        let scene = self
            .memory
            .scene(&self.indices.scenes()[fired.host as usize])?;
        let words = |family, label: &str, text: &str| {
            Some(Words {
                family,
                label: label.to_owned(),
                text: text.to_owned(),
                rationale: None,
            })
        };
        match fired.view {
            View::SceneTrigger => {
                let trigger = scene.scene_trigger.as_ref()?;
                let attributes = [
                    ("situation", &trigger.situation),
                    ("object", &trigger.object),
                    ("event", &trigger.event),
                    ("emotion", &trigger.emotion),
                ];
                let (label, text) = attributes.get(fired.ordinal)?;
                words(Family::Scene, label, text)
            }
            View::Horizon => {
                let HorizonTrigger {
                    dimension, text, ..
                } = scene.horizon_triggers.get(fired.ordinal)?;
                words(Family::Horizon, dimension, text)
            }
            _ => words(Family::Dialogue, "", &scene.title),
        }
    }
}

/// What a trigger says.
struct Words {
    family: Family,
    label: String,
    text: String,
    rationale: Option<String>,
}

impl Default for Words {
    fn default() -> Self {
        let text = String::new();
        Self {
            family: Family::Dialogue,
            label: text.clone(),
            text,
            rationale: None,
        }
    }
}
