//! Nodes into JSON, known fields in the order of the format, then the unknown ones.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

use super::{Document, FORMAT};
use crate::node::{
    Confidence, Extra, HorizonTrigger, Item, ItemKind, ItemTrigger, Persona, Scene, SceneTrigger,
    Topic, Turn,
};

pub(super) fn document(document: &Document) -> String {
    let mut bytes = Vec::new();
    let mut out = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b" "));
    value(document)
        .serialize(&mut out)
        .expect("a JSON value has only string keys");
    String::from_utf8(bytes).expect("the serializer writes UTF-8")
}

fn value(document: &Document) -> Value {
    let heading = &document.heading;
    let mut map = Map::new();
    map.insert("format".into(), FORMAT.into());
    map.insert("conversation".into(), heading.conversation.as_str().into());
    map.insert("speakers".into(), json!(heading.speakers));
    if let Some(turns) = &document.turns {
        map.insert("turns".into(), list(turns, turn));
    }
    if !document.open.is_empty() {
        map.insert("open".into(), list(&document.open, |id| id.local().into()));
    }
    map.insert("scenes".into(), list(&document.scenes, scene));
    map.insert("topics".into(), list(&document.topics, topic));
    map.insert("items".into(), list(&document.items, item));
    map.insert("personas".into(), list(&document.personas, persona));
    with(map, &heading.extra)
}

fn turn(turn: &Turn) -> Value {
    let mut map = object([
        ("id", turn.id.local().into()),
        ("speaker", turn.speaker.as_str().into()),
        ("text", turn.text.as_str().into()),
    ]);
    map.extend(turn.at.map(|at| ("at".into(), at.to_string().into())));
    map.extend(
        turn.image
            .iter()
            .map(|image| ("image".into(), image.as_str().into())),
    );
    with(map, &turn.extra)
}

fn scene(scene: &Scene) -> Value {
    let mut map = object([
        ("id", scene.id.local().into()),
        ("turns", list(&scene.turns, |id| id.local().into())),
        ("title", scene.title.as_str().into()),
        ("summary", scene.summary.as_str().into()),
        ("narrative", scene.narrative.as_str().into()),
    ]);
    map.extend(
        scene
            .scene_trigger
            .iter()
            .map(|t| ("scene_trigger".into(), scene_trigger(t))),
    );
    map.insert(
        "horizon_triggers".into(),
        list(&scene.horizon_triggers, horizon_trigger),
    );
    with(map, &scene.extra)
}

fn scene_trigger(trigger: &SceneTrigger) -> Value {
    let map = object([
        ("situation", trigger.situation.as_str().into()),
        ("object", trigger.object.as_str().into()),
        ("event", trigger.event.as_str().into()),
        ("emotion", trigger.emotion.as_str().into()),
    ]);
    with(map, &trigger.extra)
}

fn horizon_trigger(trigger: &HorizonTrigger) -> Value {
    let mut map = object([
        ("dimension", trigger.dimension.as_str().into()),
        ("text", trigger.text.as_str().into()),
    ]);
    map.extend(confidence(trigger.confidence));
    with(map, &trigger.extra)
}

fn topic(topic: &Topic) -> Value {
    let map = object([
        ("id", topic.id.local().into()),
        ("title", topic.title.as_str().into()),
        ("keywords", json!(topic.keywords)),
        ("scenes", list(&topic.scenes, |id| id.local().into())),
    ]);
    with(map, &topic.extra)
}

fn item(item: &Item) -> Value {
    let kind = match item.kind {
        ItemKind::Atomic => "atomic",
        ItemKind::Connected => "connected",
    };
    let mut map = object([
        ("id", item.id.local().into()),
        ("kind", kind.into()),
        ("text", item.text.as_str().into()),
        ("scenes", list(&item.scenes, |id| id.local().into())),
        ("turns", list(&item.turns, |id| id.local().into())),
    ]);
    if !item.supersedes.is_empty() {
        let earlier = list(&item.supersedes, |id| id.local().into());
        map.insert("supersedes".into(), earlier);
    }
    map.insert("triggers".into(), list(&item.triggers, item_trigger));
    with(map, &item.extra)
}

fn item_trigger(trigger: &ItemTrigger) -> Value {
    let mut map = object([
        ("entity", trigger.entity.as_str().into()),
        ("bridge", trigger.bridge.as_str().into()),
        ("rationale", trigger.rationale.as_str().into()),
    ]);
    map.extend(confidence(trigger.confidence));
    with(map, &trigger.extra)
}

fn persona(persona: &Persona) -> Value {
    let map = object([
        ("speaker", persona.speaker.as_str().into()),
        ("summary", persona.summary.as_str().into()),
    ]);
    with(map, &persona.extra)
}

fn confidence(confidence: Option<Confidence>) -> Option<(String, Value)> {
    confidence.map(|confidence| ("confidence".into(), confidence.get().into()))
}

fn list<T>(elements: &[T], write: impl Fn(&T) -> Value) -> Value {
    elements.iter().map(write).collect()
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

fn with(mut map: Map<String, Value>, extra: &Extra) -> Value {
    for (key, value) in extra {
        map.entry(key.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(map)
}
