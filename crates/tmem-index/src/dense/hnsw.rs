//! [`HnswIndex`]: a navigable small-world graph over the rows of an exact index.
//!
//! The only file that names `hnsw_rs`. The graph proposes, the exact rows dispose: proposals are
//! scored by the exact cosine, and a search that the graph serves badly (a filter, a large `k`, few
//! rows, many removals) scans the rows instead. The graph lives in memory only: its dump has no
//! checksum and its loader ends the process on a truncated file.

use hnsw_rs::prelude::{DistDot, Hnsw};

use super::exact::ExactIndex;
use super::{VectorIndex, check_dimensions};
use crate::key::{Hit, Key, KeySet, best};
use crate::{IndexError, Vector};

/// Links per point and layer.
const LINKS: usize = 16;
/// Candidates looked at while a point is linked.
const EF_CONSTRUCTION: usize = 64;
/// Least number of candidates looked at in a search.
const EF_SEARCH: usize = 64;
const LAYERS: usize = 16;
/// Below this many rows the scan is as quick, and exact.
const WORTH_A_GRAPH: usize = 5_000;
/// `DistDot` panics when a dot product exceeds 1 by rounding, so points are shrunk a little. The
/// order of the neighbours does not depend on it.
const SHRINK: f32 = 0.999;

/// A graph whose points are never taken out: a point of a removed or replaced row is passed over,
/// and the graph is made anew when such points outnumber the others.
pub struct HnswIndex {
    rows: ExactIndex,
    graph: Option<Hnsw<'static, f32, DistDot>>,
    /// The key of each point; `None` once its row was removed or replaced.
    points: Vec<Option<Key>>,
    dead: usize,
    worth_a_graph: usize,
}

impl Default for HnswIndex {
    fn default() -> Self {
        Self::from_rows(WORTH_A_GRAPH)
    }
}

impl std::fmt::Debug for HnswIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let points = self.points.len();
        f.debug_struct("HnswIndex")
            .field("rows", &self.len())
            .field("points", &points)
            .finish()
    }
}

impl HnswIndex {
    /// An empty index that makes its graph once it has `worth_a_graph` rows.
    #[must_use]
    pub fn from_rows(worth_a_graph: usize) -> Self {
        let rows = ExactIndex::default();
        Self {
            rows,
            graph: None,
            points: Vec::new(),
            dead: 0,
            worth_a_graph: worth_a_graph.max(1),
        }
    }

    /// The point of a removed or replaced row is found no more.
    fn retire(&mut self, key: Key) {
        if let Some(point) = self
            .points
            .iter_mut()
            .rev()
            .find(|point| **point == Some(key))
        {
            *point = None;
            self.dead += 1;
        }
    }

    /// Adds the point of `key` to the graph, or makes the graph if it is due.
    fn link(&mut self, key: Key) {
        let stale = self.graph.is_none() || self.dead > self.points.len() / 2;
        if self.graph.is_some() && !stale {
            self.add_point(key);
        } else if self.len() >= self.worth_a_graph {
            self.points.clear();
            self.dead = 0;
            self.graph = Some(graph(self.len()));
            self.rows
                .keys()
                .to_vec()
                .into_iter()
                .for_each(|key| self.add_point(key));
        }
    }

    fn add_point(&mut self, key: Key) {
        let (Some(graph), Some(row)) = (&self.graph, self.rows.get(key)) else {
            return;
        };
        let shrunk: Vec<f32> = row.iter().map(|x| x * SHRINK).collect();
        graph.insert((&shrunk, self.points.len()));
        self.points.push(Some(key));
    }

    /// The rows that the graph proposes, scored exactly; `None` if they are too few to trust.
    fn proposed(&self, query: &Vector, k: usize) -> Option<Vec<Hit>> {
        let wanted = k.checked_add(self.dead)?;
        if wanted > self.len() / 4 {
            return None;
        }
        let shrunk: Vec<f32> = query.as_slice().iter().map(|x| x * SHRINK).collect();
        let found = self
            .graph
            .as_ref()?
            .search(&shrunk, wanted, EF_SEARCH.max(2 * wanted));
        let live: KeySet = found
            .iter()
            .filter_map(|point| self.points[point.d_id])
            .collect();
        let hits = self.rows.search(query, k, Some(&live)).ok()?;
        (hits.len() == k).then_some(hits)
    }
}

fn graph(rows: usize) -> Hnsw<'static, f32, DistDot> {
    Hnsw::new(LINKS, rows, LAYERS, EF_CONSTRUCTION, DistDot {})
}

impl VectorIndex for HnswIndex {
    fn upsert(&mut self, key: Key, vector: &Vector) -> Result<(), IndexError> {
        let replaced = self.rows.get(key).is_some();
        self.rows.upsert(key, vector)?;
        if replaced {
            self.retire(key);
        }
        self.link(key);
        Ok(())
    }

    fn remove(&mut self, key: Key) -> bool {
        let there = self.rows.remove(key);
        if there {
            self.retire(key);
        }
        there
    }

    fn get(&self, key: Key) -> Option<&[f32]> {
        self.rows.get(key)
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn search(
        &self,
        query: &Vector,
        k: usize,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Hit>, IndexError> {
        check_dimensions(self.rows.dimensions(), query.dimensions())?;
        let proposed = allowed.is_none().then(|| self.proposed(query, k)).flatten();
        match proposed {
            Some(hits) => Ok(best(hits, k)),
            None => self.rows.search(query, k, allowed),
        }
    }
}
