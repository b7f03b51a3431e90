//! [`Indices`]: the lexical index of each kind of node and the vector table of each view.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tmem_model::text::terms;
use tmem_model::{ItemId, Memory, SceneId, TopicId, TurnId};

use crate::background::BackgroundConfig;
use crate::dense::VectorBackend;
use crate::hosts::{Hosts, Slot};
use crate::key::{Hit, Key, KeySet};
use crate::lexical::{LexicalBackend, LexicalDocument, LexicalIndex};
use crate::links::Links;
use crate::row::{Host, Kind, Row, View, horizon_text, hosts, lexical_text};
use crate::table::{Slots, Table, Tables};
use crate::{IndexError, Vector};

/// How indices are made. A missing key takes its default; an unknown one is an error.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct IndexConfig {
    /// Holds the vectors.
    pub vectors: VectorBackend,
    /// Holds the words.
    pub words: LexicalBackend,
    /// Rows that an approximate backend is asked for (count); the exact scan ranks all.
    pub depth: usize,
    /// Length of the encoder's vectors; `None` takes the length that most vectors have. Vectors of
    /// another length are left out and counted.
    pub dimensions: Option<usize>,
    /// Least cosine at which an item trigger counts, if the encoder has a fixed one. `None` gates
    /// each trigger at its own background: closer to the query than to what is said in general.
    pub gate: Option<f32>,
    /// How the background is measured.
    pub background: BackgroundConfig,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            vectors: VectorBackend::default(),
            words: LexicalBackend::default(),
            depth: 1_000,
            dimensions: None,
            gate: None,
            background: BackgroundConfig::default(),
        }
    }
}

/// The row of a host that is nearest to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// The host.
    pub key: Key,
    /// Which of its texts.
    pub ordinal: usize,
    /// Cosine with the query.
    pub cosine: f32,
    /// How close the text is to what is said in general.
    pub background: f32,
    /// `cosine - correction * background`.
    pub score: f32,
}

/// What BM25 reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Corpus {
    /// The nodes of a kind themselves.
    Of(Kind),
    /// The horizon sentences of scenes.
    Horizons,
}

/// All indices over one memory, as it was when they were last brought up to date.
#[derive(Debug)]
pub struct Indices {
    config: IndexConfig,
    hosts: Hosts,
    links: Links,
    words: BTreeMap<Corpus, Box<dyn LexicalIndex>>,
    tables: Tables,
    /// How many vectors of a host are of another length.
    odd: BTreeMap<Host, usize>,
}

impl Indices {
    /// Indices over `memory`: words from its nodes, vectors from `rows` (those of
    /// [`rows`](crate::rows), each with its vector if there is one). Rows whose host is not in
    /// `memory` are passed over.
    ///
    /// # Errors
    /// [`IndexError`] if this build lacks a backend or an engine fails.
    pub fn build(
        memory: &Memory,
        rows: Vec<(Row, Option<Vector>)>,
        config: &IndexConfig,
    ) -> Result<Self, IndexError> {
        let mut indices = Self {
            config: config.clone(),
            hosts: Hosts::default(),
            links: Links::default(),
            words: BTreeMap::new(),
            tables: Tables::default(),
            odd: BTreeMap::new(),
        };
        indices.update(memory, &hosts(memory), rows)?;
        Ok(indices)
    }

    /// Makes of indices over an earlier state of a memory what [`build`](Self::build) would make of
    /// `memory`. `touched` are the nodes that came, changed or went since, with all that is
    /// [`affected`](crate::affected) by them; `rows` are theirs, as [`rows_of`](crate::rows_of) gives
    /// them.
    ///
    /// # Errors
    /// [`IndexError`] if this build lacks a backend or an engine fails; the indices are of no use
    /// then.
    pub fn update(
        &mut self,
        memory: &Memory,
        touched: &BTreeSet<Host>,
        rows: Vec<(Row, Option<Vector>)>,
    ) -> Result<(), IndexError> {
        let slot = |hosts: &Hosts, host: &Host| Some((host.clone(), hosts.slot(host)?));
        let mut slots: Slots = touched
            .iter()
            .filter_map(|h| slot(&self.hosts, h))
            .collect();
        let moved = self.hosts.update(memory, touched);
        slots.extend(touched.iter().filter_map(|h| slot(&self.hosts, h)));
        slots.sort();
        slots.dedup();
        self.links.update(memory, &self.hosts, &moved, touched);
        self.read(memory, &slots)?;
        let rows = self.fitting(touched, rows);
        let (hosts, config) = (&self.hosts, &self.config);
        self.tables.update(memory, hosts, &slots, rows, config)
    }

    /// Brings the words up to date.
    fn read(&mut self, memory: &Memory, slots: &Slots) -> Result<(), IndexError> {
        let mut documents = BTreeMap::<Corpus, Vec<LexicalDocument>>::new();
        let mut gone = BTreeMap::<Corpus, Vec<Slot>>::new();
        for (host, key) in slots {
            for (corpus, text) in texts(memory, host) {
                if let Some(text) = text {
                    let (key, terms) = (*key, terms(&text));
                    let documents = documents.entry(corpus).or_default();
                    documents.push(LexicalDocument { key, terms });
                } else {
                    gone.entry(corpus).or_default().push(*key);
                }
            }
        }
        for (corpus, keys) in gone {
            if let Some(index) = self.words.get_mut(&corpus) {
                index.remove(&keys)?;
            }
        }
        for (corpus, documents) in documents {
            let index = match self.words.entry(corpus) {
                Entry::Occupied(index) => index.into_mut(),
                Entry::Vacant(place) => place.insert(self.config.words.create()?),
            };
            index.upsert(documents)?;
        }
        Ok(())
    }

    /// The rows that have a vector of the right length; others are counted.
    fn fitting(
        &mut self,
        touched: &BTreeSet<Host>,
        rows: Vec<(Row, Option<Vector>)>,
    ) -> Vec<(Row, Vector)> {
        let usual = || usual_dimensions(&rows);
        self.config.dimensions = self.config.dimensions.or_else(usual);
        self.odd.retain(|host, _| !touched.contains(host));
        let mut fitting = Vec::new();
        for (row, vector) in rows {
            match vector {
                Some(vector) if Some(vector.dimensions()) == self.config.dimensions => {
                    fitting.push((row, vector));
                }
                Some(_) => *self.odd.entry(row.host).or_default() += 1,
                None => {}
            }
        }
        fitting
    }

    /// Turns by key.
    #[must_use]
    pub fn turns(&self) -> &[TurnId] {
        &self.hosts.turns.ids
    }

    /// Topics by key.
    #[must_use]
    pub fn topics(&self) -> &[TopicId] {
        &self.hosts.topics.ids
    }

    /// Scenes by key.
    #[must_use]
    pub fn scenes(&self) -> &[SceneId] {
        &self.hosts.scenes.ids
    }

    /// Items by key.
    #[must_use]
    pub fn items(&self) -> &[ItemId] {
        &self.hosts.items.ids
    }

    /// The key of a node within its kind; `None` if it came after the indices were built.
    #[must_use]
    pub fn key(&self, host: &Host) -> Option<Key> {
        self.hosts.key(host)
    }

    /// The edges of the memory between keys.
    #[must_use]
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Least cosine at which an item trigger counts; `None` if each has its background for a gate.
    #[must_use]
    pub fn gate(&self) -> Option<f32> {
        self.config.gate
    }

    /// Length of the vectors; `None` without vectors.
    #[must_use]
    pub fn dimensions(&self) -> Option<usize> {
        self.config.dimensions
    }

    /// How many vectors were left out because their length is another encoder's.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.odd.values().sum()
    }

    /// How many vectors `view` has.
    #[must_use]
    pub fn len(&self, view: View) -> usize {
        self.tables.get(view).map_or(0, Table::len)
    }

    /// Whether no view has a vector.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Nodes of `kind` that share a term with `query`, by BM25, best first, ties by id.
    ///
    /// # Errors
    /// [`IndexError::Lexical`] if the engine fails.
    pub fn lexical(
        &self,
        kind: Kind,
        query: &str,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Hit>, IndexError> {
        self.search(Corpus::Of(kind), kind, query, allowed)
    }

    /// Scenes whose horizon sentences share a term with `query`, by BM25, best first, ties by id.
    ///
    /// # Errors
    /// [`IndexError::Lexical`] if the engine fails.
    pub fn horizon_words(
        &self,
        query: &str,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Hit>, IndexError> {
        self.search(Corpus::Horizons, Kind::Scene, query, allowed)
    }

    fn search(
        &self,
        corpus: Corpus,
        kind: Kind,
        query: &str,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Hit>, IndexError> {
        let Some(index) = self.words.get(&corpus) else {
            return Ok(Vec::new());
        };
        let places = self.hosts.places(kind);
        let allowed = allowed.map(|keys| places.slots_of(keys));
        let hits = index.search(&terms(query), usize::MAX, allowed.as_ref())?;
        Ok(places.hits(hits))
    }

    /// Hosts by their best row of `view`: `cosine - correction * background`, best first, ties by
    /// id. An approximate backend gives only the hosts of its nearest rows.
    ///
    /// # Errors
    /// [`IndexError::Dimensions`] if `query` comes from another encoder.
    pub fn nearest(
        &self,
        view: View,
        query: &Vector,
        correction: f32,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Match>, IndexError> {
        let Some(table) = self.tables.get(view) else {
            return Ok(Vec::new());
        };
        let places = self.hosts.places(view.kind());
        table.nearest(query, correction, places, allowed)
    }

    /// How close each text of `view` is to what is said in general, in the order of hosts: a high
    /// number marks an over-general trigger.
    pub fn backgrounds(&self, view: View) -> impl Iterator<Item = (Host, usize, f32)> {
        let table = self.tables.get(view).into_iter();
        let rows = table.flat_map(Table::backgrounds);
        let named = rows.filter_map(|(slot, ordinal, mean)| {
            Some((self.hosts.host(view.kind(), slot)?, ordinal, mean))
        });
        let mut all: Vec<(Host, usize, f32)> = named.collect();
        all.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        all.into_iter()
    }
}

/// What each corpus that may hold `host` reads of it.
fn texts(memory: &Memory, host: &Host) -> Vec<(Corpus, Option<String>)> {
    let mut texts = vec![(Corpus::Of(host.kind()), lexical_text(memory, host))];
    if let Host::Scene(id) = host {
        texts.push((Corpus::Horizons, horizon_text(memory, id)));
    }
    texts
}

/// The length that most vectors have; of two that are equally frequent, the lesser.
fn usual_dimensions(rows: &[(Row, Option<Vector>)]) -> Option<usize> {
    let mut counts = BTreeMap::<usize, usize>::new();
    for vector in rows.iter().filter_map(|(_, vector)| vector.as_ref()) {
        *counts.entry(vector.dimensions()).or_insert(0) += 1;
    }
    let most = counts.values().max().copied();
    counts
        .into_iter()
        .find(|(_, count)| Some(*count) == most)
        .map(|(dimensions, _)| dimensions)
}
