//! The exchange format `tmem-memory/1`: one conversation's memory as a JSON document.
//!
//! Equal memories give equal bytes: every list has a stated order, and fields that this version
//! does not know are kept behind those it knows. Turns in no scene yet are listed under `open`, so
//! that a turn which no scene and no such list names is a mistake and refused as one.

mod error;
mod fields;
mod locate;
mod read;
mod write;

pub use error::DocumentError;

use std::collections::HashSet;

use serde_json::Value;

use crate::id::{ConversationId, TurnId};
use crate::memory::{Change, Heading, Memory, ModelError};
use crate::node::{Item, Persona, Scene, Topic, Turn};

/// The format that this version writes and reads.
pub const FORMAT: &str = "tmem-memory/1";

/// A document of the exchange format, well formed in itself; its references are checked when it
/// meets a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    heading: Heading,
    /// Absent when the conversation already holds them.
    turns: Option<Vec<Turn>>,
    /// Turns that are in no scene yet.
    open: Vec<TurnId>,
    scenes: Vec<Scene>,
    topics: Vec<Topic>,
    items: Vec<Item>,
    personas: Vec<Persona>,
}

impl Document {
    /// Reads a document under the conversation name it gives itself.
    ///
    /// Control characters in texts are dropped, lone surrogates replaced by U+FFFD.
    ///
    /// # Errors
    /// [`DocumentError`] naming id and field, or line and column of a syntax error.
    pub fn parse(json: &str) -> Result<Self, DocumentError> {
        read::document(read::value(json)?, None)
    }

    /// Reads a document, or a list of them.
    ///
    /// # Errors
    /// As [`Document::parse`]; [`DocumentError::Listed`] for one of a list.
    pub fn parse_all(json: &str) -> Result<Vec<Self>, DocumentError> {
        let list = match read::value(json)? {
            Value::Array(list) if list.is_empty() => return Err(DocumentError::NoDocument),
            Value::Array(list) => list,
            value => return Ok(vec![read::document(value, None)?]),
        };
        let numbered = list.into_iter().zip(1..);
        numbered
            .map(|(value, number)| {
                read::document(value, None).map_err(|error| error.listed(number))
            })
            .collect()
    }

    /// Reads a document as one about `conversation`, whatever name it gives itself.
    ///
    /// # Errors
    /// As [`Document::parse`].
    pub fn parse_as(json: &str, conversation: &ConversationId) -> Result<Self, DocumentError> {
        read::document(read::value(json)?, Some(conversation))
    }

    /// The document of one conversation; `None` if the memory does not know it.
    #[must_use]
    pub fn of(memory: &Memory, conversation: &ConversationId) -> Option<Self> {
        let mut heading = memory.heading(conversation)?.clone();
        heading.speakers = memory
            .speakers(conversation)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let scenes: Vec<_> = memory.scenes_in(conversation).cloned().collect();
        let open = memory
            .open_turns(conversation)
            .filter(|_| !scenes.is_empty());
        Some(Self {
            heading,
            open: open.map(|turn| turn.id.clone()).collect(),
            turns: Some(memory.turns(conversation).cloned().collect()),
            topics: memory.topics_in(conversation).cloned().collect(),
            items: memory.items_in(conversation).cloned().collect(),
            personas: memory.personas_in(conversation).cloned().collect(),
            scenes,
        })
    }

    /// The conversation it is about.
    #[must_use]
    pub fn conversation(&self) -> &ConversationId {
        &self.heading.conversation
    }

    /// JSON with one blank of indent and no trailing line feed.
    #[must_use]
    pub fn to_json(&self) -> String {
        write::document(self)
    }

    /// What to apply to `memory` so that it holds this document.
    ///
    /// Turns that are there already are left as they are; scenes, topics, items and personas
    /// replace those of the same id.
    ///
    /// # Errors
    /// [`DocumentError`] naming id and field for every breach of the format's rules, and for a
    /// turn that is there with another content.
    pub fn into_change(self, memory: &Memory) -> Result<Change, DocumentError> {
        let turns = self.new_turns(memory)?;
        let change = Change {
            headings: vec![self.merged_heading(memory)],
            turns,
            scenes: self.scenes.clone(),
            topics: self.topics.clone(),
            items: self.items.clone(),
            personas: self.personas.clone(),
            ..Change::default()
        };
        memory
            .check(&change)
            .map_err(|source| locate::breach(&self, source))?;
        self.check_cover(memory)?;
        Ok(change)
    }

    fn new_turns(&self, memory: &Memory) -> Result<Vec<Turn>, DocumentError> {
        let Some(turns) = &self.turns else {
            let known = memory.turns(self.conversation()).next().is_some();
            let conversation = self.conversation().clone();
            return known
                .then(Vec::new)
                .ok_or(DocumentError::NoTurns { conversation });
        };
        let (mut new, mut seen) = (Vec::new(), HashSet::new());
        for (at, turn) in turns.iter().enumerate() {
            if !seen.insert(&turn.id) {
                let source = ModelError::Duplicate(turn.id.clone().into());
                return Err(locate::breach(self, source));
            }
            match memory.turn(&turn.id) {
                None => new.push(turn.clone()),
                Some(known) if known == turn => {}
                Some(_) => {
                    return Err(DocumentError::Differs {
                        at,
                        turn: turn.id.clone(),
                    });
                }
            }
        }
        Ok(new)
    }

    fn merged_heading(&self, memory: &Memory) -> Heading {
        let mut heading = self.heading.clone();
        if let Some(known) = memory.heading(self.conversation()) {
            let named: HashSet<&String> = known.speakers.iter().collect();
            let new = self
                .heading
                .speakers
                .iter()
                .filter(|name| !named.contains(name));
            heading.speakers = known.speakers.iter().chain(new).cloned().collect();
            heading.extra = known.extra.clone();
            heading.extra.extend(self.heading.extra.clone());
        }
        heading
    }

    /// Every turn is in a scene or open. Where the document leaves the turns to the memory, those
    /// after its last scene may have come later and count as open.
    fn check_cover(&self, memory: &Memory) -> Result<(), DocumentError> {
        if self.scenes.is_empty() {
            return Ok(());
        }
        let held = self.scenes.iter().flat_map(|scene| &scene.turns);
        let covered: HashSet<&TurnId> = held.chain(&self.open).collect();
        let mut turns: Vec<&Turn> = match &self.turns {
            Some(turns) => turns.iter().collect(),
            None => memory.turns(self.conversation()).collect(),
        };
        if self.turns.is_none() {
            let end = turns.iter().rposition(|turn| covered.contains(&turn.id));
            turns.truncate(end.map_or(0, |end| end + 1));
        }
        let loose = turns.iter().position(|turn| !covered.contains(&turn.id));
        loose.map_or(Ok(()), |at| {
            Err(DocumentError::Loose {
                at,
                turn: turns[at].id.clone(),
            })
        })
    }
}
