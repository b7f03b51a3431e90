//! [`Table`]: the vectors of one view, with their hosts and backgrounds.

use std::collections::BTreeMap;

use tmem_model::Memory;

use crate::background::{Background, spaced};
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
    let turns = views.get(&View::Turn).map_or(&[][..], Vec::as_slice);
    let sample = spaced(turns.len(), config.background.sample).into_iter();
    let sample = sample.map(|at| (&hosts.turns[turns[at].0 as usize], &turns[at].2));
    let said = Background::new(memory, sample, config.background.neighbours);
    let table = |(&view, rows): (&View, &Vec<_>)| {
        let backgrounds = backgrounds(&said, hosts, view, rows);
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

/// The background of each row of an associative view, 0 for the others.
fn backgrounds(
    said: &Background<'_>,
    hosts: &Hosts,
    view: View,
    rows: &[(Key, usize, Vector)],
) -> Vec<f32> {
    if !view.is_associative() {
        return vec![0.0; rows.len()];
    }
    let named = rows.iter().map(|(key, _, _)| hosts.host(view.kind(), *key));
    let named: Vec<Host> = named.collect();
    let vectors = rows.iter().map(|(_, _, vector)| vector);
    said.of(&named.iter().zip(vectors).collect::<Vec<_>>())
}
