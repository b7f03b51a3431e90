//! Small invented conversations for the tests.
#![allow(dead_code, reason = "each test file uses its own part")]

use serde_json::Map;
use tmem_model::{
    Change, ConversationId, Item, ItemId, ItemKind, Job, JobState, Scene, SceneId, Stage, Topic,
    TopicId, Turn, TurnId,
};
use tmem_store::SpaceName;

pub(crate) fn space(name: &str) -> SpaceName {
    name.parse().unwrap()
}

pub(crate) fn conversation(name: &str) -> ConversationId {
    ConversationId::new(name).unwrap()
}

pub(crate) fn turn(c: &str, id: &str, text: &str) -> Turn {
    let id = TurnId::new(&conversation(c), id).unwrap();
    Turn {
        id,
        speaker: "Ada".into(),
        text: text.into(),
        at: None,
        image: None,
        extra: Map::new(),
    }
}

pub(crate) fn turns(c: &str, texts: &[&str]) -> Change {
    let turns = texts
        .iter()
        .enumerate()
        .map(|(at, text)| turn(c, &format!("{}", at + 1), text));
    Change {
        turns: turns.collect(),
        ..Change::default()
    }
}

pub(crate) fn scene(c: &str, id: &str, turns: &[&str]) -> Scene {
    let c = conversation(c);
    Scene {
        id: SceneId::new(&c, id).unwrap(),
        turns: turns
            .iter()
            .map(|turn| TurnId::new(&c, turn).unwrap())
            .collect(),
        title: format!("scene {id}"),
        summary: String::new(),
        narrative: String::new(),
        scene_trigger: None,
        horizon_triggers: Vec::new(),
        extra: Map::new(),
    }
}

pub(crate) fn topic(c: &str, id: &str, scenes: &[&str]) -> Topic {
    let c = conversation(c);
    Topic {
        id: TopicId::new(&c, id).unwrap(),
        title: format!("topic {id}"),
        keywords: Vec::new(),
        scenes: scenes
            .iter()
            .map(|scene| SceneId::new(&c, scene).unwrap())
            .collect(),
        extra: Map::new(),
    }
}

pub(crate) fn item(c: &str, id: &str, scene: &str, text: &str) -> Item {
    let c = conversation(c);
    Item {
        id: ItemId::new(&c, id).unwrap(),
        kind: ItemKind::Atomic,
        text: text.into(),
        scenes: vec![SceneId::new(&c, scene).unwrap()],
        turns: Vec::new(),
        supersedes: Vec::new(),
        triggers: Vec::new(),
        extra: Map::new(),
    }
}

pub(crate) fn job(c: &str, target: &str, state: JobState) -> Job {
    Job {
        conversation: conversation(c),
        stage: Stage::Write,
        target: target.into(),
        state,
        reason: None,
        result: None,
    }
}
