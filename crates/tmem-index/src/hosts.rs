//! Which key stands for which node: keys are dealt in the order of ids and move when nodes come and
//! go; slots, by which the backends know nodes, stay.

use std::collections::BTreeSet;

use tmem_model::{ItemId, Memory, SceneId, TopicId, TurnId};

use crate::key::{Hit, Key, KeySet};
use crate::row::{Host, Kind};

/// Where the backends keep a node; a slot is dealt once.
pub(crate) type Slot = Key;

/// The nodes of one memory by key.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    pub(crate) turns: Ranks<TurnId>,
    pub(crate) topics: Ranks<TopicId>,
    pub(crate) scenes: Ranks<SceneId>,
    pub(crate) items: Ranks<ItemId>,
}

/// How the keys of each kind moved; see [`Moves`].
pub(crate) struct Moved {
    pub(crate) topics: Moves,
    pub(crate) scenes: Moves,
    pub(crate) items: Moves,
}

/// The new key at each old one, `None` where the node went; no list at all if none moved.
pub(crate) type Moves = Option<Vec<Option<Key>>>;

impl Hosts {
    /// Takes in those of `touched` that are in `memory`, and lets go of the others.
    pub(crate) fn update(&mut self, memory: &Memory, touched: &BTreeSet<Host>) -> Moved {
        let (mut turns, mut topics, mut scenes, mut items) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for host in touched {
            match host {
                Host::Turn(id) => turns.push((id, memory.turn(id).is_some())),
                Host::Topic(id) => topics.push((id, memory.topic(id).is_some())),
                Host::Scene(id) => scenes.push((id, memory.scene(id).is_some())),
                Host::Item(id) => items.push((id, memory.item(id).is_some())),
            }
        }
        self.turns.update(&turns);
        Moved {
            topics: self.topics.update(&topics),
            scenes: self.scenes.update(&scenes),
            items: self.items.update(&items),
        }
    }

    pub(crate) fn key(&self, host: &Host) -> Option<Key> {
        match host {
            Host::Turn(id) => self.turns.key(id),
            Host::Topic(id) => self.topics.key(id),
            Host::Scene(id) => self.scenes.key(id),
            Host::Item(id) => self.items.key(id),
        }
    }

    pub(crate) fn slot(&self, host: &Host) -> Option<Slot> {
        let key = self.key(host)? as usize;
        Some(self.places(host.kind()).slots[key])
    }

    /// The node in a slot; `None` if it went.
    pub(crate) fn host(&self, kind: Kind, slot: Slot) -> Option<Host> {
        let key = self.places(kind).keys[slot as usize]? as usize;
        Some(match kind {
            Kind::Turn => Host::Turn(self.turns.ids[key].clone()),
            Kind::Topic => Host::Topic(self.topics.ids[key].clone()),
            Kind::Scene => Host::Scene(self.scenes.ids[key].clone()),
            Kind::Item => Host::Item(self.items.ids[key].clone()),
        })
    }

    pub(crate) fn places(&self, kind: Kind) -> &Places {
        match kind {
            Kind::Turn => &self.turns.places,
            Kind::Topic => &self.topics.places,
            Kind::Scene => &self.scenes.places,
            Kind::Item => &self.items.places,
        }
    }
}

/// The ids of one kind in their order: the position of an id is its key.
#[derive(Debug)]
pub(crate) struct Ranks<T> {
    pub(crate) ids: Vec<T>,
    places: Places,
}

impl<T> Default for Ranks<T> {
    fn default() -> Self {
        let (ids, places) = (Vec::new(), Places::default());
        Self { ids, places }
    }
}

impl<T: Clone + Ord> Ranks<T> {
    fn key(&self, id: &T) -> Option<Key> {
        self.ids.binary_search(id).ok().map(|key| key as Key)
    }

    /// Takes in and lets go of ids, given in their order, each with whether it is there.
    fn update(&mut self, touched: &[(&T, bool)]) -> Moves {
        let new = |(id, there): &&(&T, bool)| *there && self.key(id).is_none();
        let gone = |(id, there): &&(&T, bool)| !*there && self.key(id).is_some();
        let new: Vec<&T> = touched.iter().filter(new).map(|(id, _)| *id).collect();
        let gone: Vec<&T> = touched.iter().filter(gone).map(|(id, _)| *id).collect();
        if new.is_empty() && gone.is_empty() {
            return None;
        }
        let before = self.places.slots.clone();
        self.merge(&new, &gone);
        self.places.number();
        let moves: Vec<Option<Key>> = before.iter().map(|&slot| self.places.key(slot)).collect();
        let stay = (0..).zip(&moves).all(|(key, after)| *after == Some(key));
        (!stay).then_some(moves)
    }

    /// One pass over all ids; both lists are sorted.
    fn merge(&mut self, new: &[&T], gone: &[&T]) {
        let fresh = self.places.keys.len() as Slot;
        self.places
            .keys
            .resize(self.places.keys.len() + new.len(), None);
        let mut new = new.iter().copied().zip(fresh..).peekable();
        let old = std::mem::take(&mut self.ids).into_iter();
        let old = old.zip(std::mem::take(&mut self.places.slots));
        let mut gone = gone.iter().peekable();
        for (id, slot) in old {
            while let Some((id, slot)) = new.next_if(|(other, _)| **other < id) {
                self.ids.push(id.clone());
                self.places.slots.push(slot);
            }
            if gone.next_if(|other| ***other == id).is_some() {
                self.places.keys[slot as usize] = None;
            } else {
                self.ids.push(id);
                self.places.slots.push(slot);
            }
        }
        for (id, slot) in new {
            self.ids.push(id.clone());
            self.places.slots.push(slot);
        }
    }
}

/// Keys and slots of one kind, both ways.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// By key.
    slots: Vec<Slot>,
    /// By slot.
    keys: Vec<Option<Key>>,
}

impl Places {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn key(&self, slot: Slot) -> Option<Key> {
        self.keys[slot as usize]
    }

    fn number(&mut self) {
        for (key, &slot) in (0..).zip(&self.slots) {
            self.keys[slot as usize] = Some(key);
        }
    }

    /// The slots of keys.
    pub(crate) fn slots_of(&self, keys: &KeySet) -> KeySet {
        let inside = keys.iter().filter_map(|key| self.slots.get(key as usize));
        inside.copied().collect()
    }

    /// Hits by slot as hits by key: best first, ties by key.
    pub(crate) fn hits(&self, hits: Vec<Hit>) -> Vec<Hit> {
        let by_key = |hit: Hit| {
            Some(Hit {
                key: self.key(hit.key)?,
                ..hit
            })
        };
        let mut hits: Vec<Hit> = hits.into_iter().filter_map(by_key).collect();
        hits.sort_unstable_by(Hit::order);
        hits
    }
}
