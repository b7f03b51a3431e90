//! The nodes of the memory and the triggers they host (sections 3.1 and 3.2 of the paper).
//!
//! A trigger has no existence apart from its host: it is a field of a scene or an item.

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{ItemId, SceneId, TopicId, TurnId};

/// Fields of the exchange format that this version does not know; kept on a round trip.
pub type Extra = Map<String, Value>;

/// One utterance.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Turn {
    /// Its id; identity is (conversation, turn id), never the text.
    pub id: TurnId,
    /// Who said it.
    pub speaker: String,
    /// What was said; may be empty when there is an image.
    pub text: String,
    /// Civil time at which it was said, in no zone.
    pub at: Option<DateTime>,
    /// Caption of a shared image.
    pub image: Option<String>,
    /// Unknown fields.
    pub extra: Extra,
}

impl Turn {
    /// `text`, followed by the image's caption in brackets, if there is one.
    #[must_use]
    pub fn content(&self) -> String {
        match &self.image {
            Some(caption) if self.text.is_empty() => format!("[image: {caption}]"),
            Some(caption) => format!("{} [image: {caption}]", self.text),
            None => self.text.clone(),
        }
    }
}

/// A cohesive run of turns closed by an event boundary (section 3.2.1).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Scene {
    /// Its id.
    pub id: SceneId,
    /// Its turns, contiguous, in arrival order; never empty.
    pub turns: Vec<TurnId>,
    /// Read by the lexical and dense indices. Empty until the scene is written.
    pub title: String,
    /// Read by the lexical and dense indices. Empty until the scene is written.
    pub summary: String,
    /// Third person; read by the scene-trigger writer only. Empty until the scene is written.
    pub narrative: String,
    /// The descriptive trigger.
    pub scene_trigger: Option<SceneTrigger>,
    /// The associative triggers.
    pub horizon_triggers: Vec<HorizonTrigger>,
    /// Unknown fields.
    pub extra: Extra,
}

/// Scene trigger (quadrant IV): four attributes, a sentence each; an empty one has no vector.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct SceneTrigger {
    /// What is going on.
    pub situation: String,
    /// What it is about.
    pub object: String,
    /// What happens.
    pub event: String,
    /// How the speakers feel.
    pub emotion: String,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

impl SceneTrigger {
    /// The attributes that have text, each with its name.
    pub fn attributes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("situation", &self.situation),
            ("object", &self.object),
            ("event", &self.event),
            ("emotion", &self.emotion),
        ];
        all.into_iter()
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(n, t)| (n, t.as_str()))
    }
}

/// Horizon trigger (quadrant III): one forward-looking sentence of one dimension.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct HorizonTrigger {
    /// An open list: consequence, goal, state, value, contrast, feeling, theme, change, …
    pub dimension: String,
    /// The sentence.
    pub text: String,
    /// How sure the writer is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A subject that recurs over scenes: scopes item extraction, pre-filters scenes, is never shown.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Topic {
    /// Its id.
    pub id: TopicId,
    /// Its title.
    pub title: String,
    /// Its keywords.
    pub keywords: Vec<String>,
    /// The scenes it admitted; never empty.
    pub scenes: Vec<SceneId>,
    /// Unknown fields.
    pub extra: Extra,
}

/// Whether an item states a fact of one scene or a relation across scenes (section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// Exactly one source scene.
    Atomic,
    /// Two or more source scenes.
    Connected,
}

/// A self-contained fact.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// Atomic or connected; fits the number of scenes.
    pub kind: ItemKind,
    /// The fact, readable without its scene.
    pub text: String,
    /// Source scenes: one if atomic, two or more if connected.
    pub scenes: Vec<SceneId>,
    /// The turns that say it.
    pub turns: Vec<TurnId>,
    /// Earlier items that this one puts out of date; they stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<ItemId>,
    /// Its triggers.
    pub triggers: Vec<ItemTrigger>,
    /// Unknown fields.
    pub extra: Extra,
}

/// From when to when an item holds, in civil time; an end that is open or not known is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Validity {
    /// When all the turns that say it had been said.
    pub from: Option<DateTime>,
    /// When the first item that supersedes it had been said.
    pub until: Option<DateTime>,
    /// Whether it puts an earlier item out of date.
    pub supersedes: bool,
    /// Whether a later item puts it out of date.
    pub superseded: bool,
}

/// Entity and Bridge trigger of an item (quadrants I and II), written together.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct ItemTrigger {
    /// Superordinate concept.
    pub entity: String,
    /// A situation in which the item would matter.
    pub bridge: String,
    /// Why it would, in one clause.
    pub rationale: String,
    /// How sure the writer is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A speaker's standing traits over one conversation.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Persona {
    /// The conversation.
    pub conversation: crate::ConversationId,
    /// The speaker.
    pub speaker: String,
    /// The traits.
    pub summary: String,
    /// Unknown fields.
    pub extra: Extra,
}

/// How sure the writer is of a trigger: finite, in `[0, 1]`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize, Serialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(f64);

impl Confidence {
    /// The number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Confidence {
    type Error = ConfidenceError;

    fn try_from(value: f64) -> Result<Self, ConfidenceError> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(ConfidenceError(value))
        }
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        confidence.0
    }
}

/// A confidence that is no number between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("confidence {0} does not lie between 0 and 1")]
pub struct ConfidenceError(f64);
