//! [`Table`]: the vectors of one view, with their hosts and backgrounds.

use std::collections::BTreeMap;

use tmem_model::{Memory, TurnId};

use crate::background::{Probe, measure, spaced};
use crate::dense::{VectorBackend, VectorIndex};
use crate::hosts::Hosts;
use crate::indices::{IndexConfig, Match};
use crate::key::{Key, KeySet};
use crate::row::{Host, Row, View};
use crate::{IndexError, Vector};

/// A row of a [`Table`]; its key is its position.
#[derive(Clone, Copy, Debug)]
struct Entry {
    host: Key,
    ordinal: usize,
    background: f32,
}

/// One view.
#[derive(Debug)]
pub(crate) struct Table {
    index: Box<dyn VectorIndex>,
    entries: Vec<Entry>,
    depth: usize,
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn backgrounds(&self) -> impl Iterator<Item = (Key, usize, f32)> {
        self.entries
            .iter()
            .map(|entry| (entry.host, entry.ordinal, entry.background))
    }

    /// See [`Indices::nearest`](crate::Indices::nearest).
    pub(crate) fn nearest(
        &self,
        query: &Vector,
        correction: f32,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Match>, IndexError> {
        let rows = allowed.map(|hosts| self.rows_of(hosts));
        let mut best = BTreeMap::<Key, Match>::new();
        for hit in self.index.search(query, self.depth, rows.as_ref())? {
            let Entry {
                host: key,
                ordinal,
                background,
            } = self.entries[hit.key as usize];
            let score = hit.score - correction * background;
            let found = Match {
                key,
                ordinal,
                cosine: hit.score,
                background,
                score,
            };
            let held = best.entry(key).or_insert(found);
            if found.score > held.score {
                *held = found;
            }
        }
        let mut matches: Vec<Match> = best.into_values().collect();
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
        Ok(matches)
    }

    fn rows_of(&self, hosts: &KeySet) -> KeySet {
        let rows = (0..).zip(&self.entries);
        rows.filter(|(_, entry)| hosts.contains(entry.host))
            .map(|(row, _)| row)
            .collect()
    }
}

/// A table per view that has rows.
pub(crate) fn tables(
    memory: &Memory,
    hosts: &Hosts,
    rows: Vec<(Row, Vector)>,
    config: &IndexConfig,
) -> Result<BTreeMap<View, Table>, IndexError> {
    let mut views = BTreeMap::<View, Vec<(Key, usize, Vector)>>::new();
    for (row, vector) in rows {
        if let (Some(key), true) = (hosts.key(&row.host), row.view.kind() == row.host.kind()) {
            views
                .entry(row.view)
                .or_default()
                .push((key, row.ordinal, vector));
        }
    }
    for rows in views.values_mut() {
        rows.sort_by_key(|(key, ordinal, _)| (*key, *ordinal));
        rows.dedup_by_key(|(key, ordinal, _)| (*key, *ordinal));
    }
    let said = Said::of(&views, config.background.sample);
    let table = |(&view, rows): (&View, &Vec<_>)| {
        let backgrounds = backgrounds(memory, hosts, &said, view, rows, config);
        Ok((view, table(rows, backgrounds, config)?))
    };
    views.iter().map(table).collect()
}

fn table(
    rows: &[(Key, usize, Vector)],
    backgrounds: Vec<f32>,
    config: &IndexConfig,
) -> Result<Table, IndexError> {
    let mut index = config.vectors.create()?;
    let mut entries = Vec::with_capacity(rows.len());
    for ((host, ordinal, vector), background) in rows.iter().zip(backgrounds) {
        index.upsert(entries.len() as Key, vector)?;
        entries.push(Entry {
            host: *host,
            ordinal: *ordinal,
            background,
        });
    }
    let depth = if config.vectors == VectorBackend::Exact {
        usize::MAX
    } else {
        config.depth
    };
    Ok(Table {
        index,
        entries,
        depth,
    })
}

/// The utterances that stand for what is said in general.
struct Said<'a> {
    vectors: Vec<&'a Vector>,
    places: BTreeMap<Key, usize>,
}

impl<'a> Said<'a> {
    fn of(views: &'a BTreeMap<View, Vec<(Key, usize, Vector)>>, most: usize) -> Self {
        let turns = views.get(&View::Turn).map_or(&[][..], Vec::as_slice);
        let taken: Vec<_> = spaced(turns.len(), most)
            .into_iter()
            .map(|at| &turns[at])
            .collect();
        Self {
            vectors: taken.iter().map(|(_, _, vector)| vector).collect(),
            places: taken
                .iter()
                .enumerate()
                .map(|(at, (key, _, _))| (*key, at))
                .collect(),
        }
    }

    fn places(&self, hosts: &Hosts, turns: impl Iterator<Item = TurnId>) -> Vec<usize> {
        let keys = turns.filter_map(|turn| hosts.key(&Host::Turn(turn)));
        keys.filter_map(|key| self.places.get(&key).copied())
            .collect()
    }
}

/// The background of each row of an associative view, 0 for the others.
fn backgrounds(
    memory: &Memory,
    hosts: &Hosts,
    said: &Said<'_>,
    view: View,
    rows: &[(Key, usize, Vector)],
    config: &IndexConfig,
) -> Vec<f32> {
    if !view.is_associative() {
        return vec![0.0; rows.len()];
    }
    let probe = |(key, _, vector): &'_ (Key, usize, Vector)| {
        let own = own_turns(memory, &hosts.host(view.kind(), *key));
        (own, vector.clone())
    };
    let probes: Vec<(Vec<TurnId>, Vector)> = rows.iter().map(probe).collect();
    let probes: Vec<Probe<'_>> = probes
        .iter()
        .map(|(own, vector)| Probe {
            vector,
            own: said.places(hosts, own.iter().cloned()),
        })
        .collect();
    measure(&probes, &said.vectors, config.background.neighbours)
}

/// The turns of a scene, or of an item's source scenes.
fn own_turns(memory: &Memory, host: &Host) -> Vec<TurnId> {
    match host {
        Host::Scene(scene) => memory
            .scene_turns(scene)
            .map(|turn| turn.id.clone())
            .collect(),
        Host::Item(item) => memory
            .sources(item)
            .flat_map(|scene| scene.turns.clone())
            .collect(),
        Host::Turn(_) | Host::Topic(_) => Vec::new(),
    }
}
