//! Memories to be examined: documents of conversations, documents of cues, and how a cue is set
//! into its host.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tmem_model::document::Document;
use tmem_model::{Change, ConversationId, Memory, TurnId};

use crate::dataset::plus::Placed;
use crate::dataset::{Cue, Dialogue};
use crate::error::EvalError;

/// Memory documents by what they are about.
#[derive(Clone, Debug, Default)]
pub struct Memories {
    conversations: BTreeMap<ConversationId, Change>,
    cues: BTreeMap<usize, Value>,
}

impl Memories {
    /// Adds the document of one conversation (`tmem-memory/1`); `file` is named in errors.
    ///
    /// # Errors
    /// [`EvalError::Format`] if it is not such a document or breaks its rules.
    pub fn add_conversation(&mut self, file: &str, text: &str) -> Result<(), EvalError> {
        let fault = |e: tmem_model::document::DocumentError| EvalError::format(file, chain(&e));
        let document = Document::parse(text).map_err(fault)?;
        let conversation = document.conversation().clone();
        let change = document.into_change(&Memory::new()).map_err(fault)?;
        self.conversations.insert(conversation, change);
        Ok(())
    }

    /// Adds cue documents: a list of objects with `index`, `conversation`, `turns`, `scene` (or a list
    /// `scenes`), `items`.
    ///
    /// # Errors
    /// [`EvalError::Format`] if an element has no index or conversation.
    pub fn add_cues(&mut self, file: &str, text: &str) -> Result<(), EvalError> {
        let list: Vec<Value> =
            serde_json::from_str(text).map_err(|e| EvalError::format(file, e.to_string()))?;
        for (place, cue) in list.into_iter().enumerate() {
            let index = cue.get("index").and_then(Value::as_u64);
            let index = index.and_then(|n| usize::try_from(n).ok());
            let index = index.ok_or_else(|| {
                EvalError::format(file, format!("element {place}: no number `index`"))
            })?;
            self.cues.insert(index, cue);
        }
        Ok(())
    }

    /// Names of the conversations that have a document.
    pub fn conversations(&self) -> impl Iterator<Item = &ConversationId> {
        self.conversations.keys()
    }

    /// What builds the memory of `conversation`.
    #[must_use]
    pub fn conversation(&self, conversation: &ConversationId) -> Option<&Change> {
        self.conversations.get(conversation)
    }

    /// Whether `cue` has a document.
    #[must_use]
    pub fn has_cue(&self, cue: &Cue) -> bool {
        self.cues.contains_key(&cue.index)
    }

    /// What builds the memory of `cue`, dated as it was placed; `None` without a document.
    ///
    /// # Errors
    /// [`EvalError::Format`] if its document breaks the format's rules.
    pub fn cue(&self, cue: &Cue, placed: &Placed) -> Result<Option<Change>, EvalError> {
        let Some(given) = self.cues.get(&cue.index) else {
            return Ok(None);
        };
        let fault = |message: String| {
            EvalError::format("cue documents", format!("cue {}: {message}", cue.index))
        };
        let document = json!({
            "format": "tmem-memory/1", "conversation": cue.host.as_str(), "speakers": [],
            "turns": dated(&given["turns"], placed), "scenes": scenes(given), "topics": [],
            "items": given["items"], "personas": [],
        });
        let document = Document::parse(&document.to_string()).map_err(|e| fault(chain(&e)))?;
        let mut change = document
            .into_change(&Memory::new())
            .map_err(|e| fault(chain(&e)))?;
        change.headings.clear();
        Ok(Some(change))
    }
}

/// The cue document made of a memory that was built of the cue's turns alone. Its scenes and items
/// get ids that are the cue's own, so that they fit into any host.
///
/// # Errors
/// [`EvalError::Format`] if `document` is not JSON.
pub fn cue_document(cue: &Cue, document: &str) -> Result<Value, EvalError> {
    let mut whole: Value = serde_json::from_str(document)
        .map_err(|e| EvalError::format("a memory document", e.to_string()))?;
    let mut names = BTreeMap::new();
    for kind in ["scenes", "items"] {
        let ids = whole[kind].as_array().into_iter().flatten();
        for (place, id) in ids.filter_map(|one| one["id"].as_str()).enumerate() {
            let own = format!("cue{}-{}{}", cue.index, &kind[..1], place + 1);
            names.insert(id.to_owned(), own);
        }
    }
    rename(&mut whole["scenes"], &names);
    rename(&mut whole["items"], &names);
    Ok(json!({
        "index": cue.index, "conversation": cue.host.as_str(), "turns": whole["turns"],
        "scenes": whole["scenes"], "items": whole["items"],
    }))
}

/// Puts other names in the place of ids, wherever one stands.
fn rename(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(own) = names.get(text) {
                text.clone_from(own);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|one| rename(one, names)),
        Value::Object(fields) => fields.values_mut().for_each(|one| rename(one, names)),
        _ => {}
    }
}

fn scenes(cue: &Value) -> Value {
    match cue.get("scenes") {
        Some(scenes) => scenes.clone(),
        None => json!([cue["scene"]]),
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

fn dated(turns: &Value, placed: &Placed) -> Value {
    let mut turns = turns.clone();
    for turn in turns.as_array_mut().into_iter().flatten() {
        if let Some(at) = placed.at {
            turn["at"] = at.strftime("%Y-%m-%dT%H:%M:%S").to_string().into();
        }
    }
    turns
}

/// A host's memory with cues set into it, each at its place.
///
/// A cue goes in front of the first scene that begins in a later session, so that no scene is torn.
#[must_use]
pub fn with_cues(host: &Change, dialogue: &Dialogue, mut cues: Vec<(usize, Change)>) -> Change {
    cues.sort_by_key(|(sessions_before, _)| *sessions_before);
    let session_of = sessions(dialogue);
    let mut cues = cues.into_iter().peekable();
    let mut whole = Change {
        turns: Vec::new(),
        scenes: Vec::new(),
        ..host.clone()
    };
    let mut turns = host.turns.iter().peekable();
    for scene in &host.scenes {
        let begins = scene
            .turns
            .first()
            .and_then(|turn| session_of.get(turn))
            .copied();
        while let Some((_, cue)) = cues.next_if(|(before, _)| begins.is_some_and(|b| *before <= b))
        {
            whole.merge(cue);
        }
        while let Some(turn) = turns.next_if(|turn| scene.turns.contains(&turn.id)) {
            whole.turns.push(turn.clone());
        }
        whole.scenes.push(scene.clone());
    }
    whole.turns.extend(turns.cloned());
    cues.for_each(|(_, cue)| whole.merge(cue));
    whole
}

/// How many sessions come before the one of each turn.
fn sessions(dialogue: &Dialogue) -> BTreeMap<&TurnId, usize> {
    let sessions = dialogue.sessions.iter().enumerate();
    sessions
        .flat_map(|(n, session)| session.turns.iter().map(move |turn| (&turn.id, n)))
        .collect()
}
