//! [`Scope`]: what a query's filters leave, as sets of keys, before anything is ranked or cut.

use tmem_index::{Host, Indices, Key, KeySet};
use tmem_model::{ConversationId, DateTime, Item, Memory, Scene, Topic, Turn};

use crate::Query;

/// Allowed keys by kind; `None` where nothing is filtered.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) topics: Option<KeySet>,
    pub(crate) scenes: Option<KeySet>,
    pub(crate) items: Option<KeySet>,
    /// Turns that no scene holds yet; always a set.
    pub(crate) open_turns: KeySet,
}

impl Scope {
    pub(crate) fn of(memory: &Memory, indices: &Indices, query: &Query) -> Self {
        let filter = Filter { memory, query };
        let turn = |&key: &Key| memory.turn(&indices.turns()[key as usize]);
        let open = indices.links().open_turns().iter();
        let open_turns = open.filter(|key| turn(key).is_some_and(|turn| filter.turn(turn)));
        let open_turns = open_turns.collect();
        if query.conversation.is_none() && query.at.is_none() {
            return Self {
                open_turns,
                ..Self::default()
            };
        }
        let topics = memory.topics().filter(|topic| filter.topic(topic));
        let scenes = memory.scenes().filter(|scene| filter.scene(scene));
        let items = memory.items().filter(|item| filter.item(item));
        Self {
            topics: Some(keys(
                indices,
                topics.map(|topic| Host::Topic(topic.id.clone())),
            )),
            scenes: Some(keys(
                indices,
                scenes.map(|scene| Host::Scene(scene.id.clone())),
            )),
            items: Some(keys(indices, items.map(|item| Host::Item(item.id.clone())))),
            open_turns,
        }
    }

    pub(crate) fn allows_item(&self, item: Key) -> bool {
        self.items.as_ref().is_none_or(|items| items.contains(item))
    }

    pub(crate) fn allows_scene(&self, scene: Key) -> bool {
        self.scenes
            .as_ref()
            .is_none_or(|scenes| scenes.contains(scene))
    }
}

fn keys(indices: &Indices, hosts: impl Iterator<Item = Host>) -> KeySet {
    hosts.filter_map(|host| indices.key(&host)).collect()
}

struct Filter<'a> {
    memory: &'a Memory,
    query: &'a Query,
}

impl Filter<'_> {
    fn conversation(&self, conversation: &ConversationId) -> bool {
        self.query
            .conversation
            .as_ref()
            .is_none_or(|wanted| wanted == conversation)
    }

    fn said_by_then(&self, at: Option<DateTime>) -> bool {
        match (self.query.at, at) {
            (Some(limit), Some(at)) => at <= limit,
            _ => true,
        }
    }

    fn turn(&self, turn: &Turn) -> bool {
        self.conversation(turn.id.conversation()) && self.said_by_then(turn.at)
    }

    /// A scene is known once its last turn was said.
    fn scene(&self, scene: &Scene) -> bool {
        let end = self.memory.span(&scene.id).map(|(_, end)| end);
        self.conversation(scene.id.conversation()) && self.said_by_then(end)
    }

    /// A fact is known once all the turns that say it, or all its scenes, were.
    fn item(&self, item: &Item) -> bool {
        let mut turns = item.turns.iter().filter_map(|turn| self.memory.turn(turn));
        let known = if item.turns.is_empty() {
            self.memory.sources(&item.id).all(|scene| self.scene(scene))
        } else {
            turns.all(|turn| self.said_by_then(turn.at))
        };
        self.conversation(item.id.conversation()) && known
    }

    fn topic(&self, topic: &Topic) -> bool {
        self.memory
            .scenes_of(&topic.id)
            .any(|scene| self.scene(scene))
    }
}
