//! [`Links`]: the edges of the memory between keys, so that ranking looks nothing up by name.

use std::collections::BTreeSet;

use tmem_model::{ItemId, Memory, TopicId};

use crate::hosts::{Hosts, Moved, Moves};
use crate::key::{Key, KeySet};
use crate::row::Host;

/// Who belongs to whom; every list is in the order of keys.
#[derive(Debug, Default, PartialEq)]
pub struct Links {
    topic_scenes: Vec<Vec<Key>>,
    scene_topics: Vec<Vec<Key>>,
    scene_items: Vec<Vec<Key>>,
    item_scenes: Vec<Vec<Key>>,
    item_earlier: Vec<Vec<Key>>,
    item_later: Vec<Vec<Key>>,
    open_turns: KeySet,
}

impl Links {
    /// Looks at what was touched; the rest is renumbered where keys moved.
    pub(crate) fn update(
        &mut self,
        memory: &Memory,
        hosts: &Hosts,
        moved: &Moved,
        touched: &BTreeSet<Host>,
    ) {
        let (topics, scenes, items) = (
            hosts.topics.ids.len(),
            hosts.scenes.ids.len(),
            hosts.items.ids.len(),
        );
        renumber(&mut self.topic_scenes, &moved.topics, &moved.scenes, topics);
        renumber(&mut self.item_scenes, &moved.items, &moved.scenes, items);
        renumber(&mut self.item_earlier, &moved.items, &moved.items, items);
        for host in touched {
            let Some(key) = hosts.key(host).map(|key| key as usize) else {
                continue;
            };
            match host {
                Host::Topic(id) => self.topic_scenes[key] = of_topic(memory, hosts, id),
                Host::Item(id) => {
                    self.item_scenes[key] = of_item(memory, hosts, id);
                    self.item_earlier[key] = earlier(memory, hosts, id);
                }
                Host::Turn(_) | Host::Scene(_) => {}
            }
        }
        self.scene_topics = inverse(&self.topic_scenes, scenes);
        self.scene_items = inverse(&self.item_scenes, scenes);
        self.item_later = inverse(&self.item_earlier, items);
        let open = memory.conversations().flat_map(|c| memory.open_turns(c));
        let open = open.filter_map(|turn| hosts.key(&Host::Turn(turn.id.clone())));
        self.open_turns = open.collect();
    }

    /// Scenes that a topic admitted.
    #[must_use]
    pub fn scenes_of(&self, topic: Key) -> &[Key] {
        &self.topic_scenes[topic as usize]
    }

    /// Topics that admitted a scene.
    #[must_use]
    pub fn topics_of(&self, scene: Key) -> &[Key] {
        &self.scene_topics[scene as usize]
    }

    /// Items that draw on a scene.
    #[must_use]
    pub fn items_of(&self, scene: Key) -> &[Key] {
        &self.scene_items[scene as usize]
    }

    /// Scenes that an item draws on.
    #[must_use]
    pub fn sources(&self, item: Key) -> &[Key] {
        &self.item_scenes[item as usize]
    }

    /// Later items that put an item out of date.
    #[must_use]
    pub fn superseding(&self, item: Key) -> &[Key] {
        &self.item_later[item as usize]
    }

    /// Turns that no scene holds yet.
    #[must_use]
    pub fn open_turns(&self) -> &KeySet {
        &self.open_turns
    }
}

/// Lists at their new places, with the new keys of what they name.
fn renumber(lists: &mut Vec<Vec<Key>>, outer: &Moves, inner: &Moves, count: usize) {
    if let Some(inner) = inner {
        let new = |key: Key| inner[key as usize];
        for list in lists.iter_mut() {
            *list = sorted(list.drain(..).filter_map(new));
        }
    }
    if let Some(outer) = outer {
        let mut moved = vec![Vec::new(); count];
        for (list, place) in std::mem::take(lists).into_iter().zip(outer) {
            if let Some(place) = place {
                moved[*place as usize] = list;
            }
        }
        *lists = moved;
    }
    lists.resize(count, Vec::new());
}

fn of_topic(memory: &Memory, hosts: &Hosts, id: &TopicId) -> Vec<Key> {
    let scenes = memory.scenes_of(id);
    sorted(scenes.filter_map(|scene| hosts.key(&Host::Scene(scene.id.clone()))))
}

fn of_item(memory: &Memory, hosts: &Hosts, id: &ItemId) -> Vec<Key> {
    let scenes = memory.sources(id);
    sorted(scenes.filter_map(|scene| hosts.key(&Host::Scene(scene.id.clone()))))
}

fn earlier(memory: &Memory, hosts: &Hosts, id: &ItemId) -> Vec<Key> {
    let earlier = memory
        .item(id)
        .into_iter()
        .flat_map(|item| &item.supersedes);
    sorted(earlier.filter_map(|id| hosts.key(&Host::Item(id.clone()))))
}

fn sorted(keys: impl Iterator<Item = Key>) -> Vec<Key> {
    let mut keys: Vec<Key> = keys.collect();
    keys.sort_unstable();
    keys
}

/// For each of `count` targets, the places whose list names it.
fn inverse(lists: &[Vec<Key>], count: usize) -> Vec<Vec<Key>> {
    let mut inverse = vec![Vec::new(); count];
    for (place, list) in (0..).zip(lists) {
        list.iter()
            .for_each(|&target| inverse[target as usize].push(place));
    }
    inverse
}
