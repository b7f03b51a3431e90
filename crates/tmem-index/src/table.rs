//! [`Tables`]: the vectors of each view, with their hosts and backgrounds.

use std::collections::btree_map::Entry as Held;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use tmem_model::{Memory, TurnId};

use crate::background::{Near, Probe, Utterance, lot, measure, own_turns};
use crate::dense::{VectorBackend, VectorIndex};
use crate::hosts::{Hosts, Places, Slot};
use crate::indices::{IndexConfig, Match};
use crate::key::{Hit, Key, KeySet};
use crate::row::{Host, Row, View};
use crate::vector::dot;
use crate::{IndexError, Vector};

/// A row of a [`Table`]; its key is its position.
#[derive(Clone, Debug)]
struct Entry {
    host: Slot,
    ordinal: usize,
    /// What is said nearest to it, for an associative view.
    near: Near,
    background: f32,
}

impl Entry {
    /// What is nearest once utterances left the sample and others joined it, if that makes a
    /// difference; an error if it takes the whole sample to tell.
    fn renewed(
        &self,
        vector: &[f32],
        left: &KeySet,
        joined: &[Utterance<'_>],
        owners: &HashMap<Slot, Vec<Slot>>,
        neighbours: usize,
    ) -> Result<Option<Near>, Unknown> {
        let mut near = None;
        if self.near.has(left) {
            near = Some(self.near.without(left, neighbours).ok_or(Unknown)?);
        }
        for &(key, other) in joined {
            let score = dot(vector, other);
            let hit = Hit { key, score };
            let is_near = near.as_ref().unwrap_or(&self.near).admits(&hit);
            let own = || owners.get(&key).is_some_and(|own| own.contains(&self.host));
            if is_near && !own() {
                let near = near.get_or_insert_with(|| self.near.clone());
                near.take(hit, neighbours);
            }
        }
        Ok(near)
    }
}

/// What is near to a row has to be measured anew.
struct Unknown;

/// One view.
#[derive(Debug)]
pub(crate) struct Table {
    index: Box<dyn VectorIndex>,
    /// By row; `None` where a row was taken out.
    entries: Vec<Option<Entry>>,
    /// Rows by host.
    held: HashMap<Slot, Vec<Key>>,
    free: Vec<Key>,
    depth: usize,
}

impl Table {
    fn new(config: &IndexConfig) -> Result<Self, IndexError> {
        let depth = if config.vectors == VectorBackend::Exact {
            usize::MAX
        } else {
            config.depth
        };
        Ok(Self {
            index: config.vectors.create()?,
            entries: Vec::new(),
            held: HashMap::new(),
            free: Vec::new(),
            depth,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Its rows with their vectors.
    fn rows(&self) -> impl Iterator<Item = (Key, &Entry, &[f32])> {
        let entries = (0..).zip(&self.entries);
        entries.filter_map(|(row, entry)| Some((row, entry.as_ref()?, self.index.get(row)?)))
    }

    /// Slot, ordinal and background of each row, in no order.
    pub(crate) fn backgrounds(&self) -> impl Iterator<Item = (Slot, usize, f32)> {
        let entries = self.entries.iter().flatten();
        entries.map(|entry| (entry.host, entry.ordinal, entry.background))
    }

    /// See [`Indices::nearest`](crate::Indices::nearest).
    pub(crate) fn nearest(
        &self,
        query: &Vector,
        correction: f32,
        places: &Places,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Match>, IndexError> {
        let rows = allowed.map(|hosts| self.rows_of(&places.slots_of(hosts)));
        let mut best = vec![None; places.len()];
        for hit in self.index.search(query, self.depth, rows.as_ref())? {
            let found = self.found(hit, correction, places);
            let held = best[found.key as usize].get_or_insert(found);
            let order = (found.score, found.cosine).partial_cmp(&(held.score, held.cosine));
            let order = order.map(|order| order.then(held.ordinal.cmp(&found.ordinal)));
            if order.is_some_and(|order| order.is_gt()) {
                *held = found;
            }
        }
        let mut matches: Vec<Match> = best.into_iter().flatten().collect();
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
        Ok(matches)
    }

    fn found(&self, hit: Hit, correction: f32, places: &Places) -> Match {
        let entry = self.entries[hit.key as usize].as_ref();
        let entry = entry.expect("what is found has an entry");
        Match {
            key: places.key(entry.host).expect("rows go with their host"),
            ordinal: entry.ordinal,
            cosine: hit.score,
            background: entry.background,
            score: hit.score - correction * entry.background,
        }
    }

    fn rows_of(&self, hosts: &KeySet) -> KeySet {
        let rows = hosts.iter().filter_map(|slot| self.held.get(&slot));
        rows.flatten().copied().collect()
    }

    /// Takes out the rows of a host.
    fn remove(&mut self, host: Slot) {
        for row in self.held.remove(&host).unwrap_or_default() {
            self.index.remove(row);
            self.entries[row as usize] = None;
            self.free.push(row);
        }
    }

    fn insert(&mut self, entry: Entry, vector: &Vector) -> Result<(), IndexError> {
        let row = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as Key - 1
        });
        self.index.upsert(row, vector)?;
        self.held.entry(entry.host).or_default().push(row);
        self.entries[row as usize] = Some(entry);
        Ok(())
    }
}

/// A table per view that ever had rows, and the utterances that backgrounds are measured against.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    views: BTreeMap<View, Table>,
    /// Turns with a vector, in the order in which they are drawn for the sample.
    lots: BTreeSet<(u64, Slot)>,
}

/// A row that comes in: where it leads, which of the host's texts it is, its vector.
type New = (Slot, usize, Vector);

impl Tables {
    pub(crate) fn get(&self, view: View) -> Option<&Table> {
        self.views.get(&view)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.views.values().all(|table| table.len() == 0)
    }

    /// Puts `rows` in the place of all rows of the hosts in `slots`, and measures what that changes.
    pub(crate) fn update(
        &mut self,
        memory: &Memory,
        hosts: &Hosts,
        slots: &Slots,
        rows: Vec<(Row, Vector)>,
        config: &IndexConfig,
    ) -> Result<(), IndexError> {
        let before = self.sample(config);
        let touched = self.take_out(slots);
        let mut new = by_view(hosts, &rows);
        let turns = new.remove(&View::Turn).unwrap_or_default();
        self.take_turns(hosts, turns, config)?;
        let after = self.sample(config);
        let stayed = before.intersection(&after);
        let stayed: BTreeSet<Slot> = stayed.copied().filter(|s| !touched.contains(s)).collect();
        let left: KeySet = before.difference(&stayed).copied().collect();
        let joined: BTreeSet<Slot> = after.difference(&stayed).copied().collect();
        if !(left.is_empty() && joined.is_empty()) {
            self.measure_again(memory, hosts, &after, &left, &joined, config);
        }
        for (view, rows) in new {
            self.take(memory, hosts, view, rows, &after, config)?;
        }
        Ok(())
    }

    /// Takes out all rows of hosts, and yields the turns among them.
    fn take_out(&mut self, slots: &Slots) -> BTreeSet<Slot> {
        let mut turns = BTreeSet::new();
        for (host, slot) in slots {
            let views = self.views.iter_mut();
            let views = views.filter(|(view, _)| view.kind() == host.kind());
            views.for_each(|(_, table)| table.remove(*slot));
            if let Host::Turn(turn) = host {
                self.lots.remove(&(lot(turn), *slot));
                turns.insert(*slot);
            }
        }
        turns
    }

    /// Turns that stand for all that is said.
    fn sample(&self, config: &IndexConfig) -> BTreeSet<Slot> {
        let drawn = self.lots.iter().take(config.background.sample);
        drawn.map(|(_, slot)| *slot).collect()
    }

    fn utterances(&self, turns: &BTreeSet<Slot>) -> Vec<Utterance<'_>> {
        let Some(said) = self.views.get(&View::Turn) else {
            return Vec::new();
        };
        let vector = |turn: &Slot| Some((*turn, said.index.get(said.held.get(turn)?[0])?));
        turns.iter().filter_map(vector).collect()
    }

    fn take_turns(
        &mut self,
        hosts: &Hosts,
        rows: Vec<New>,
        config: &IndexConfig,
    ) -> Result<(), IndexError> {
        for (slot, ..) in &rows {
            let host = hosts.host(View::Turn.kind(), *slot);
            self.lots
                .extend(host.as_ref().and_then(turn).map(|id| (lot(id), *slot)));
        }
        self.insert(View::Turn, rows, Vec::new(), config)
    }

    /// Takes in rows of a view; those of an associative one are measured.
    fn take(
        &mut self,
        memory: &Memory,
        hosts: &Hosts,
        view: View,
        rows: Vec<New>,
        sample: &BTreeSet<Slot>,
        config: &IndexConfig,
    ) -> Result<(), IndexError> {
        let mut near = Vec::new();
        if view.is_associative() {
            let mut probes: Vec<Probe<Vector>> = Vec::with_capacity(rows.len());
            for of_host in rows.chunk_by(|(a, ..), (b, ..)| a == b) {
                let own = own(memory, hosts, view, of_host[0].0);
                probes.extend(of_host.iter().map(|(_, _, vector)| Probe {
                    vector: vector.clone(),
                    own: own.clone(),
                }));
            }
            let said = self.utterances(sample);
            near = measure(&probes, &said, config.background.neighbours);
        }
        self.insert(view, rows, near, config)
    }

    fn insert(
        &mut self,
        view: View,
        rows: Vec<New>,
        near: Vec<Near>,
        config: &IndexConfig,
    ) -> Result<(), IndexError> {
        let mut near = near.into_iter();
        let table = match self.views.entry(view) {
            Held::Occupied(table) => table.into_mut(),
            Held::Vacant(place) => place.insert(Table::new(config)?),
        };
        for (host, ordinal, vector) in rows {
            let near = near.next().unwrap_or_default();
            let background = near.mean(config.background.neighbours);
            table.insert(
                Entry {
                    host,
                    ordinal,
                    near,
                    background,
                },
                &vector,
            )?;
        }
        Ok(())
    }

    /// Holds all rows against the utterances that `joined` the sample, and measures those anew that
    /// have too few near ones left without those that `left` it.
    fn measure_again(
        &mut self,
        memory: &Memory,
        hosts: &Hosts,
        sample: &BTreeSet<Slot>,
        left: &KeySet,
        joined: &BTreeSet<Slot>,
        config: &IndexConfig,
    ) {
        let neighbours = config.background.neighbours;
        let (all, new) = (self.utterances(sample), self.utterances(joined));
        let mut changed: Vec<(View, Key, Near)> = Vec::new();
        for (&view, table) in self.views.iter().filter(|(view, _)| view.is_associative()) {
            let owners = owners(memory, hosts, view, joined);
            let (mut places, mut probes) = (Vec::new(), Vec::new());
            for (row, entry, vector) in table.rows() {
                match entry.renewed(vector, left, &new, &owners, neighbours) {
                    Ok(near) => changed.extend(near.map(|near| (view, row, near))),
                    Err(Unknown) => {
                        let own = own(memory, hosts, view, entry.host);
                        places.push((view, row));
                        probes.push(Probe { vector, own });
                    }
                }
            }
            let again = measure(&probes, &all, neighbours);
            let again = places.into_iter().zip(again);
            changed.extend(again.map(|((view, row), near)| (view, row, near)));
        }
        for (view, row, near) in changed {
            let table = self.views.get_mut(&view).expect("it was just looked at");
            let entry = table.entries[row as usize].as_mut();
            let entry = entry.expect("it was just looked at");
            entry.background = near.mean(neighbours);
            entry.near = near;
        }
    }
}

/// Hosts with their slots.
pub(crate) type Slots = Vec<(Host, Slot)>;

fn turn(host: &Host) -> Option<&TurnId> {
    match host {
        Host::Turn(id) => Some(id),
        _ => None,
    }
}

/// Rows by view, each text once; rows whose host is not there are passed over.
fn by_view(hosts: &Hosts, rows: &[(Row, Vector)]) -> BTreeMap<View, Vec<New>> {
    let mut views = BTreeMap::<View, Vec<New>>::new();
    for of_host in rows.chunk_by(|(a, _), (b, _)| a.host == b.host) {
        let host = &of_host[0].0.host;
        let Some(slot) = hosts.slot(host) else {
            continue;
        };
        let fitting = of_host
            .iter()
            .filter(|(row, _)| row.view.kind() == host.kind());
        for (row, vector) in fitting {
            let of_view = views.entry(row.view).or_default();
            of_view.push((slot, row.ordinal, vector.clone()));
        }
    }
    for rows in views.values_mut() {
        rows.sort_by_key(|(slot, ordinal, _)| (*slot, *ordinal));
        rows.dedup_by_key(|(slot, ordinal, _)| (*slot, *ordinal));
    }
    views
}

/// Slots of a host's own turns.
fn own(memory: &Memory, hosts: &Hosts, view: View, slot: Slot) -> Vec<Slot> {
    let host = hosts.host(view.kind(), slot);
    let turns = host.iter().flat_map(|host| own_turns(memory, host));
    turns
        .filter_map(|turn| hosts.slot(&Host::Turn(turn.clone())))
        .collect()
}

/// The hosts of a view's kind that have each of the turns for their own.
fn owners(
    memory: &Memory,
    hosts: &Hosts,
    view: View,
    turns: &BTreeSet<Slot>,
) -> HashMap<Slot, Vec<Slot>> {
    let owners = |slot: &Slot| {
        let host = hosts.host(View::Turn.kind(), *slot)?;
        let scene = memory.scene_of(turn(&host)?)?;
        let scenes = std::iter::once(Host::Scene(scene.id.clone()));
        let items = memory
            .items_of(&scene.id)
            .map(|item| Host::Item(item.id.clone()));
        let all = scenes
            .chain(items)
            .filter(|host| host.kind() == view.kind());
        Some((*slot, all.filter_map(|host| hosts.slot(&host)).collect()))
    };
    turns.iter().filter_map(owners).collect()
}
