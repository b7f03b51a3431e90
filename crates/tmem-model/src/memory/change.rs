//! What one step of work adds to a memory and takes from it.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::Memory;
use super::error::NodeId;
use super::ids::Ids;
use crate::id::{ConversationId, ItemId, SceneId, TopicId, TurnId};
use crate::node::{Extra, Item, Persona, Scene, Topic, Turn};
use crate::work::{Job, JobKey};

/// A unit of writing, applied whole: nodes to insert or replace, ids to remove, jobs to note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// What is known of conversations as wholes; replaces the heading of the same conversation.
    pub headings: Vec<Heading>,
    /// Ids given before, by which the memory's own are raised; written nodes raise them anyway.
    pub ids: Vec<Ids>,
    /// New turns go to the end in this order; known ones keep their place.
    pub turns: Vec<Turn>,
    /// Scenes.
    pub scenes: Vec<Scene>,
    /// Topics.
    pub topics: Vec<Topic>,
    /// Items.
    pub items: Vec<Item>,
    /// Personas.
    pub personas: Vec<Persona>,
    /// What goes; before anything is written.
    pub removed: Removed,
    /// Construction work, kept by the store; the memory takes no notice of it.
    pub jobs: Vec<Job>,
}

impl Change {
    /// Whether it does nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds everything of `other`, after what is here.
    pub fn merge(&mut self, other: Self) {
        self.headings.extend(other.headings);
        self.ids.extend(other.ids);
        self.turns.extend(other.turns);
        self.scenes.extend(other.scenes);
        self.topics.extend(other.topics);
        self.items.extend(other.items);
        self.personas.extend(other.personas);
        self.removed.merge(other.removed);
        self.jobs.extend(other.jobs);
    }

    /// Writes the items that stay and supersede one that goes, without that reference.
    pub fn release_superseded(&mut self, memory: &Memory) {
        let gone: HashSet<&ItemId> = self.removed.items.iter().collect();
        let later = gone.iter().flat_map(|id| memory.superseding(id));
        let later = later.filter(|item| !gone.contains(&item.id));
        let released: BTreeMap<&ItemId, Item> = later
            .map(|item| {
                let mut item_without = item.clone();
                item_without.supersedes.retain(|id| !gone.contains(id));
                (&item.id, item_without)
            })
            .collect();
        self.items.extend(released.into_values());
    }

    /// Ids of all nodes written, kind by kind.
    pub fn written(&self) -> impl Iterator<Item = NodeId> + '_ {
        let turns = self.turns.iter().map(|turn| turn.id.clone().into());
        let scenes = self.scenes.iter().map(|scene| scene.id.clone().into());
        let topics = self.topics.iter().map(|topic| topic.id.clone().into());
        let items = self.items.iter().map(|item| item.id.clone().into());
        let personas = self.personas.iter().map(Persona::node_id);
        turns
            .chain(scenes)
            .chain(topics)
            .chain(items)
            .chain(personas)
    }
}

/// What a change takes away.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Removed {
    /// Whole conversations, with everything in them.
    pub conversations: Vec<ConversationId>,
    /// Turns.
    pub turns: Vec<TurnId>,
    /// Scenes.
    pub scenes: Vec<SceneId>,
    /// Topics.
    pub topics: Vec<TopicId>,
    /// Items, with their triggers.
    pub items: Vec<ItemId>,
    /// Personas, by conversation and speaker.
    pub personas: Vec<(ConversationId, String)>,
    /// Jobs.
    pub jobs: Vec<JobKey>,
}

impl Removed {
    /// Adds everything of `other`.
    pub fn merge(&mut self, other: Self) {
        self.conversations.extend(other.conversations);
        self.turns.extend(other.turns);
        self.scenes.extend(other.scenes);
        self.topics.extend(other.topics);
        self.items.extend(other.items);
        self.personas.extend(other.personas);
        self.jobs.extend(other.jobs);
    }

    /// Ids of all single nodes removed, kind by kind.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        let turns = self.turns.iter().cloned().map(NodeId::from);
        let scenes = self.scenes.iter().cloned().map(NodeId::from);
        let topics = self.topics.iter().cloned().map(NodeId::from);
        let items = self.items.iter().cloned().map(NodeId::from);
        let personas = self.personas.iter().cloned();
        let personas = personas.map(|(conversation, who)| NodeId::Persona(conversation, who));
        turns
            .chain(scenes)
            .chain(topics)
            .chain(items)
            .chain(personas)
    }
}

/// What is known of a conversation beside its nodes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Heading {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its speakers as a document listed them; turns may name more.
    pub speakers: Vec<String>,
    /// Unknown fields of its document.
    pub extra: Extra,
}

impl Heading {
    /// Nothing but the name.
    #[must_use]
    pub fn new(conversation: ConversationId) -> Self {
        Self {
            conversation,
            speakers: Vec::new(),
            extra: Extra::new(),
        }
    }
}
