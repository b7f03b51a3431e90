//! Which key stands for which node: keys are dealt in the order of ids.

use tmem_model::{ItemId, Memory, SceneId, TopicId, TurnId};

use crate::key::Key;
use crate::row::{Host, Kind};

/// The nodes of one memory by key.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    pub(crate) turns: Vec<TurnId>,
    pub(crate) topics: Vec<TopicId>,
    pub(crate) scenes: Vec<SceneId>,
    pub(crate) items: Vec<ItemId>,
}

impl Hosts {
    pub(crate) fn of(memory: &Memory) -> Self {
        Self {
            turns: sorted(memory.all_turns().map(|turn| turn.id.clone())),
            topics: sorted(memory.topics().map(|topic| topic.id.clone())),
            scenes: sorted(memory.scenes().map(|scene| scene.id.clone())),
            items: sorted(memory.items().map(|item| item.id.clone())),
        }
    }

    pub(crate) fn key(&self, host: &Host) -> Option<Key> {
        let place = match host {
            Host::Turn(id) => self.turns.binary_search(id),
            Host::Topic(id) => self.topics.binary_search(id),
            Host::Scene(id) => self.scenes.binary_search(id),
            Host::Item(id) => self.items.binary_search(id),
        };
        place.ok().map(|place| place as Key)
    }

    pub(crate) fn host(&self, kind: Kind, key: Key) -> Host {
        let place = key as usize;
        match kind {
            Kind::Turn => Host::Turn(self.turns[place].clone()),
            Kind::Topic => Host::Topic(self.topics[place].clone()),
            Kind::Scene => Host::Scene(self.scenes[place].clone()),
            Kind::Item => Host::Item(self.items[place].clone()),
        }
    }
}

fn sorted<T: Ord>(ids: impl Iterator<Item = T>) -> Vec<T> {
    let mut ids: Vec<T> = ids.collect();
    ids.sort_unstable();
    ids
}
