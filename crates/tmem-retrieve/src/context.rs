//! [`Context`]: what the answering model sees. It has no place for a topic or a trigger.

use serde::Serialize;
use tmem_model::{ConversationId, DateTime, ItemId, ItemKind, SceneId, TurnId, Validity};

/// Evidence by type (section 3.4): personas come last and outside every budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Context {
    /// Scenes, best first: those of similarity, then the associations.
    pub scenes: Vec<SceneEvidence>,
    /// Items, best first.
    pub items: Vec<ItemEvidence>,
    /// Turns that no scene holds yet, in arrival order.
    pub turns: Vec<TurnEvidence>,
    /// Standing traits of the speakers.
    pub personas: Vec<PersonaEvidence>,
}

impl Context {
    /// Whether there is no evidence.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scenes.is_empty() && self.items.is_empty() && self.turns.is_empty()
    }

    /// The turns shown word for word, then the source turns of the items; each once, in the order
    /// of the evidence.
    #[must_use]
    pub fn cited_turns(&self) -> Vec<&TurnId> {
        let raw = self
            .scenes
            .iter()
            .flat_map(SceneEvidence::raw_turns)
            .chain(&self.turns);
        let raw = raw.map(|turn| &turn.id);
        let mut cited = Vec::new();
        for id in raw.chain(self.items.iter().flat_map(|item| &item.turns)) {
            if !cited.contains(&id) {
                cited.push(id);
            }
        }
        cited
    }
}

/// A scene of the context.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SceneEvidence {
    /// Which one.
    pub id: SceneId,
    /// Its title.
    pub title: String,
    /// When its turns were said.
    pub when: Option<When>,
    /// Whether its triggers chose it, not likeness.
    pub associative: bool,
    /// What of it is shown.
    pub shown: Shown,
}

impl SceneEvidence {
    /// The turns shown word for word.
    pub fn raw_turns(&self) -> impl Iterator<Item = &TurnEvidence> {
        match &self.shown {
            Shown::Turns(turns) => turns.iter(),
            Shown::Summary(_) => [].iter(),
        }
    }
}

/// What of a scene is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shown {
    /// All its turns.
    Turns(Vec<TurnEvidence>),
    /// Title and summary.
    Summary(String),
}

/// First and last moment of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct When {
    /// When its first dated turn was said.
    pub from: DateTime,
    /// When its last dated turn was said.
    pub to: DateTime,
}

/// A turn, word for word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TurnEvidence {
    /// Which one.
    pub id: TurnId,
    /// Who said it.
    pub speaker: String,
    /// What was said, an image's caption in brackets.
    pub text: String,
    /// When.
    pub at: Option<DateTime>,
}

/// A fact and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemEvidence {
    /// Which one.
    pub id: ItemId,
    /// Of one scene, or across scenes.
    pub kind: ItemKind,
    /// The fact.
    pub text: String,
    /// Its source scenes.
    pub scenes: Vec<SceneId>,
    /// The turns that say it.
    pub turns: Vec<TurnId>,
    /// From when to when it holds, as of the query's date.
    pub validity: Validity,
    /// Whether a trigger alone brought it in.
    pub associative: bool,
}

/// A speaker's standing traits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PersonaEvidence {
    /// In which conversation.
    pub conversation: ConversationId,
    /// Whose.
    pub speaker: String,
    /// The traits.
    pub summary: String,
}
