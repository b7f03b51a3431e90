//! Small invented memories for the tests.
#![allow(dead_code, reason = "each test file uses its own part")]

use serde_json::Map;
use tmem_model::{
    Change, ConversationId, Item, ItemId, ItemKind, Persona, Scene, SceneId, Topic, TopicId, Turn,
    TurnId,
};

pub(crate) fn conversation(name: &str) -> ConversationId {
    ConversationId::new(name).unwrap()
}

pub(crate) fn turn_id(c: &str, id: &str) -> TurnId {
    TurnId::new(&conversation(c), id).unwrap()
}

pub(crate) fn scene_id(c: &str, id: &str) -> SceneId {
    SceneId::new(&conversation(c), id).unwrap()
}

pub(crate) fn turn(c: &str, id: &str) -> Turn {
    let (id, text) = (turn_id(c, id), format!("says {id}"));
    Turn {
        id,
        speaker: "Ada".into(),
        text,
        at: None,
        image: None,
        extra: Map::new(),
    }
}

pub(crate) fn turns(c: &str, ids: &[&str]) -> Change {
    Change {
        turns: ids.iter().map(|id| turn(c, id)).collect(),
        ..Change::default()
    }
}

pub(crate) fn scene(c: &str, id: &str, turns: &[&str]) -> Scene {
    Scene {
        id: scene_id(c, id),
        turns: turns.iter().map(|id| turn_id(c, id)).collect(),
        title: String::new(),
        summary: String::new(),
        narrative: String::new(),
        scene_trigger: None,
        horizon_triggers: Vec::new(),
        extra: Map::new(),
    }
}

pub(crate) fn topic(c: &str, id: &str, scenes: &[&str]) -> Topic {
    Topic {
        id: TopicId::new(&conversation(c), id).unwrap(),
        title: String::new(),
        keywords: Vec::new(),
        scenes: scenes.iter().map(|id| scene_id(c, id)).collect(),
        extra: Map::new(),
    }
}

pub(crate) fn item(c: &str, id: &str, scenes: &[&str], turns: &[&str]) -> Item {
    Item {
        id: ItemId::new(&conversation(c), id).unwrap(),
        kind: if scenes.len() == 1 {
            ItemKind::Atomic
        } else {
            ItemKind::Connected
        },
        text: String::new(),
        scenes: scenes.iter().map(|id| scene_id(c, id)).collect(),
        turns: turns.iter().map(|id| turn_id(c, id)).collect(),
        supersedes: Vec::new(),
        triggers: Vec::new(),
        extra: Map::new(),
    }
}

pub(crate) fn persona(c: &str, speaker: &str) -> Persona {
    let (speaker, summary) = (speaker.to_owned(), String::new());
    Persona {
        conversation: conversation(c),
        speaker,
        summary,
        extra: Map::new(),
    }
}
