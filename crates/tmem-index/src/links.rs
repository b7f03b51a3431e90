//! [`Links`]: the edges of the memory between keys, so that ranking looks nothing up by name.

use tmem_model::{ItemId, Memory, SceneId, TopicId};

use crate::hosts::Hosts;
use crate::key::{Key, KeySet};
use crate::row::Host;

/// Who belongs to whom; every list is in the order of keys.
#[derive(Debug, Default)]
pub struct Links {
    topic_scenes: Vec<Vec<Key>>,
    scene_topics: Vec<Vec<Key>>,
    scene_items: Vec<Vec<Key>>,
    item_scenes: Vec<Vec<Key>>,
    item_later: Vec<Vec<Key>>,
    open_turns: KeySet,
}

impl Links {
    pub(crate) fn of(memory: &Memory, hosts: &Hosts) -> Self {
        let scenes = |id: &SceneId| hosts.key(&Host::Scene(id.clone()));
        let of_topic = |id: &TopicId| sorted(memory.scenes_of(id).filter_map(|s| scenes(&s.id)));
        let of_item = |id: &ItemId| sorted(memory.sources(id).filter_map(|s| scenes(&s.id)));
        let items = |id: &ItemId| hosts.key(&Host::Item(id.clone()));
        let later = |id: &ItemId| sorted(memory.superseding(id).filter_map(|i| items(&i.id)));
        let topic_scenes: Vec<Vec<Key>> = hosts.topics.iter().map(of_topic).collect();
        let item_scenes: Vec<Vec<Key>> = hosts.items.iter().map(of_item).collect();
        let open = memory.conversations().flat_map(|c| memory.open_turns(c));
        let open = open.filter_map(|turn| hosts.key(&Host::Turn(turn.id.clone())));
        Self {
            open_turns: open.collect(),
            scene_topics: inverse(&topic_scenes, hosts.scenes.len()),
            scene_items: inverse(&item_scenes, hosts.scenes.len()),
            item_later: hosts.items.iter().map(later).collect(),
            topic_scenes,
            item_scenes,
        }
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
