//! What construction has done and still has to do: a job per stage and target.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::ConversationId;

/// The stages of construction in their fixed order (section 3.2), then personas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Where events close.
    Segment,
    /// Title, summary and narrative of a scene.
    Write,
    /// Which topics admit a scene.
    Topics,
    /// Atomic and connected items of a topic.
    Items,
    /// Entity and Bridge triggers of an item.
    ItemTriggers,
    /// Scene and Horizon triggers of a scene.
    SceneTriggers,
    /// A speaker's standing traits.
    Personas,
}

impl Stage {
    /// Its name, for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Segment => "segment",
            Self::Write => "write",
            Self::Topics => "topics",
            Self::Items => "items",
            Self::ItemTriggers => "item triggers",
            Self::SceneTriggers => "scene triggers",
            Self::Personas => "personas",
        }
    }
}

/// How far a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Not done yet; carries on with the next build.
    Pending,
    /// Done.
    Done,
    /// Went wrong; tried again on request.
    Failed,
    /// The model refused.
    Refused,
}

/// One unit of construction work, durable across restarts.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Job {
    /// The conversation.
    pub conversation: ConversationId,
    /// The stage.
    pub stage: Stage,
    /// What it works on: a scene, an item, a topic with a scene, a window, a speaker.
    pub target: String,
    /// How far it has come.
    pub state: JobState,
    /// Why it failed, was refused or is waiting.
    pub reason: Option<String>,
    /// What later steps need of it (the closures that a window found, for one).
    pub result: Option<Value>,
}

impl Job {
    /// What tells it from other jobs.
    #[must_use]
    pub fn key(&self) -> JobKey {
        let (conversation, target) = (self.conversation.clone(), self.target.clone());
        JobKey {
            conversation,
            stage: self.stage,
            target,
        }
    }
}

/// Identity of a [`Job`]: there is one per conversation, stage and target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub struct JobKey {
    /// The conversation.
    pub conversation: ConversationId,
    /// The stage.
    pub stage: Stage,
    /// What it works on.
    pub target: String,
}
