//! [`Indices`]: the lexical index of each kind of node and the vector table of each view.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tmem_model::text::terms;
use tmem_model::{ItemId, Memory, SceneId, TopicId, TurnId};

use crate::background::BackgroundConfig;
use crate::dense::VectorBackend;
use crate::hosts::Hosts;
use crate::key::{Hit, Key, KeySet};
use crate::lexical::{LexicalBackend, LexicalDocument, LexicalIndex};
use crate::links::Links;
use crate::row::{Host, Kind, Row, View, lexical_texts};
use crate::table::{Table, tables};
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

/// All indices over one memory, as it was when they were built.
#[derive(Debug)]
pub struct Indices {
    hosts: Hosts,
    links: Links,
    words: BTreeMap<Kind, Box<dyn LexicalIndex>>,
    tables: BTreeMap<View, Table>,
    dimensions: Option<usize>,
    gate: Option<f32>,
    left_out: usize,
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
        let hosts = Hosts::of(memory);
        let links = Links::of(memory, &hosts);
        let words = words(memory, &hosts, config.words)?;
        let dimensions = config.dimensions.or_else(|| usual_dimensions(&rows));
        let all = rows.len();
        let fits = |vector: &Vector| Some(vector.dimensions()) == dimensions;
        let vectorless = rows.iter().filter(|(_, vector)| vector.is_none()).count();
        let rows: Vec<(Row, Vector)> = rows
            .into_iter()
            .filter_map(|(row, vector)| Some((row, vector.filter(fits)?)))
            .collect();
        let left_out = all - vectorless - rows.len();
        let tables = tables(memory, &hosts, rows, config)?;
        Ok(Self {
            hosts,
            links,
            words,
            tables,
            dimensions,
            gate: config.gate,
            left_out,
        })
    }

    /// Turns by key.
    #[must_use]
    pub fn turns(&self) -> &[TurnId] {
        &self.hosts.turns
    }

    /// Topics by key.
    #[must_use]
    pub fn topics(&self) -> &[TopicId] {
        &self.hosts.topics
    }

    /// Scenes by key.
    #[must_use]
    pub fn scenes(&self) -> &[SceneId] {
        &self.hosts.scenes
    }

    /// Items by key.
    #[must_use]
    pub fn items(&self) -> &[ItemId] {
        &self.hosts.items
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
        self.gate
    }

    /// Length of the vectors; `None` without vectors.
    #[must_use]
    pub fn dimensions(&self) -> Option<usize> {
        self.dimensions
    }

    /// How many vectors were left out because their length is another encoder's.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// How many vectors `view` has.
    #[must_use]
    pub fn len(&self, view: View) -> usize {
        self.tables.get(&view).map_or(0, Table::len)
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
        let index = self.words.get(&kind);
        index.map_or(Ok(Vec::new()), |index| {
            index.search(&terms(query), usize::MAX, allowed)
        })
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
        let table = self.tables.get(&view);
        table.map_or(Ok(Vec::new()), |table| {
            table.nearest(query, correction, allowed)
        })
    }

    /// How close each text of `view` is to what is said in general, in the order of hosts: a high
    /// number marks an over-general trigger.
    pub fn backgrounds(&self, view: View) -> impl Iterator<Item = (Host, usize, f32)> {
        let table = self.tables.get(&view).into_iter();
        let rows = table.flat_map(Table::backgrounds);
        rows.map(move |(key, ordinal, mean)| (self.hosts.host(view.kind(), key), ordinal, mean))
    }
}

fn words(
    memory: &Memory,
    hosts: &Hosts,
    backend: LexicalBackend,
) -> Result<BTreeMap<Kind, Box<dyn LexicalIndex>>, IndexError> {
    let mut documents = BTreeMap::<Kind, Vec<LexicalDocument>>::new();
    for (host, text) in lexical_texts(memory) {
        let key = hosts.key(&host).expect("hosts come from the same memory");
        let document = LexicalDocument {
            key,
            terms: terms(&text),
        };
        documents.entry(host.kind()).or_default().push(document);
    }
    let index = |(kind, documents)| {
        let mut index = backend.create()?;
        index.upsert(documents)?;
        Ok((kind, index))
    };
    documents.into_iter().map(index).collect()
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
