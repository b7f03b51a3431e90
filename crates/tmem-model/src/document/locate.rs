//! Where in a document a breach stands that the memory reports by ids.

use super::{Document, DocumentError};
use crate::memory::{ModelError, NodeId};

pub(super) fn breach(document: &Document, source: ModelError) -> DocumentError {
    let path = match &source {
        ModelError::Duplicate(id) => node(document, id, true),
        ModelError::Contradiction(id) => node(document, id, false),
        ModelError::Missing { from, to } | ModelError::Foreign { from, to } => {
            reference(document, from, to, false)
        }
        ModelError::Repeated { from, to } => reference(document, from, to, true),
        ModelError::Shared { turn, second, .. } => reference(
            document,
            &second.clone().into(),
            &turn.clone().into(),
            false,
        ),
        ModelError::Gap { scene, turn, .. } => {
            reference(document, &scene.clone().into(), &turn.clone().into(), false)
        }
        ModelError::EmptyScene(id) => node(document, &id.clone().into(), false) + ".turns",
        ModelError::EmptyTopic(id) => node(document, &id.clone().into(), false) + ".scenes",
        ModelError::Cycle(id) => node(document, &id.clone().into(), false) + ".supersedes",
        ModelError::Sources { item, .. } => node(document, &item.clone().into(), false) + ".scenes",
    };
    let source = Box::new(source);
    DocumentError::Breach { path, source }
}

/// Path of a node; of its last mention if `last`.
fn node(document: &Document, id: &NodeId, last: bool) -> String {
    let (list, at) = match id {
        NodeId::Turn(id) => {
            let turns = document.turns.as_deref().unwrap_or_default();
            ("turns", place(turns, |turn| turn.id == *id, last))
        }
        NodeId::Scene(id) => ("scenes", place(&document.scenes, |s| s.id == *id, last)),
        NodeId::Topic(id) => ("topics", place(&document.topics, |t| t.id == *id, last)),
        NodeId::Item(id) => ("items", place(&document.items, |i| i.id == *id, last)),
        NodeId::Persona(_, who) => (
            "personas",
            place(&document.personas, |p| p.speaker == *who, last),
        ),
    };
    at.map_or_else(|| list.to_owned(), |at| format!("{list}[{at}]"))
}

/// Path of the place at which `from` names `to`; of its last mention if `last`.
fn reference(document: &Document, from: &NodeId, to: &NodeId, last: bool) -> String {
    let within = match (from, to) {
        (NodeId::Scene(scene), NodeId::Turn(turn)) => {
            let scene = document.scenes.iter().find(|s| s.id == *scene);
            (
                ".turns",
                scene.and_then(|s| place(&s.turns, |t| t == turn, last)),
            )
        }
        (NodeId::Topic(topic), NodeId::Scene(scene)) => {
            let topic = document.topics.iter().find(|t| t.id == *topic);
            (
                ".scenes",
                topic.and_then(|t| place(&t.scenes, |s| s == scene, last)),
            )
        }
        (NodeId::Item(item), NodeId::Scene(scene)) => {
            let item = document.items.iter().find(|i| i.id == *item);
            (
                ".scenes",
                item.and_then(|i| place(&i.scenes, |s| s == scene, last)),
            )
        }
        (NodeId::Item(item), NodeId::Turn(turn)) => {
            let item = document.items.iter().find(|i| i.id == *item);
            (
                ".turns",
                item.and_then(|i| place(&i.turns, |t| t == turn, last)),
            )
        }
        (NodeId::Item(later), NodeId::Item(earlier)) => {
            let later = document.items.iter().find(|i| i.id == *later);
            (
                ".supersedes",
                later.and_then(|i| place(&i.supersedes, |id| id == earlier, last)),
            )
        }
        _ => ("", None),
    };
    let at = within
        .1
        .map_or_else(String::new, |at| format!("{}[{at}]", within.0));
    node(document, from, false) + &at
}

fn place<T>(list: &[T], is: impl Fn(&T) -> bool, last: bool) -> Option<usize> {
    if last {
        list.iter().rposition(is)
    } else {
        list.iter().position(is)
    }
}
