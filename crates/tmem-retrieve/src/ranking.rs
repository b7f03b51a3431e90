//! [`Ranking`]: lists over keys and the order they fuse to.

use std::collections::{BTreeMap, BTreeSet};

use tmem_index::{Hit, Key};

use crate::fuse::reciprocal_rank_fusion;
use crate::trace::{List, ListRank};

/// Rank, from 1, and score of each key of a list.
type Places = BTreeMap<Key, (usize, f32)>;

/// Candidates of one kind, best first, and where each list has them.
#[derive(Debug, Default)]
pub(crate) struct Ranking {
    lists: Vec<(List, Places)>,
    pub(crate) order: Vec<(Key, f32)>,
}

impl Ranking {
    /// Fuses `lists` (best first) by reciprocal ranks.
    pub(crate) fn by_ranks(lists: &[(List, Vec<Hit>)], k0: f32) -> Self {
        let keys = |hits: &[Hit]| hits.iter().map(|hit| hit.key).collect();
        let rankings: Vec<Vec<Key>> = lists.iter().map(|(_, hits)| keys(hits)).collect();
        let order = reciprocal_rank_fusion(&rankings, k0);
        Self {
            lists: lists
                .iter()
                .map(|(list, hits)| (*list, places(hits)))
                .collect(),
            order,
        }
    }

    /// Fuses `lists` by the weighted sum of their scores; who is missing in a list scores there
    /// like its last.
    pub(crate) fn by_scores(lists: &[(List, Vec<Hit>)], weight: impl Fn(List) -> f32) -> Self {
        let lists: Vec<_> = lists.iter().filter(|(_, hits)| !hits.is_empty()).collect();
        let places: Vec<_> = lists
            .iter()
            .map(|(list, hits)| (*list, places(hits)))
            .collect();
        let last = |hits: &[Hit]| hits.last().map_or(0.0, |hit| hit.score);
        let mut sums = BTreeMap::<Key, f32>::new();
        for key in lists.iter().flat_map(|(_, hits)| hits).map(|hit| hit.key) {
            let scores = lists.iter().zip(&places).map(|((list, hits), (_, held))| {
                weight(*list)
                    * held
                        .get(&key)
                        .map_or_else(|| last(hits), |(_, score)| *score)
            });
            sums.entry(key).or_insert_with(|| scores.sum());
        }
        let mut order: Vec<(Key, f32)> = sums.into_iter().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Self {
            lists: places,
            order,
        }
    }

    /// Adds a list that ranks nothing but is shown.
    pub(crate) fn show(&mut self, list: List, hits: &[Hit]) {
        self.lists.push((list, places(hits)));
    }

    /// Drops candidates that `keep` refuses.
    pub(crate) fn restrict(&mut self, keep: impl Fn(Key) -> bool) {
        self.order.retain(|(key, _)| keep(*key));
    }

    /// Puts those that have a score in `scores` first, in its order.
    pub(crate) fn rerank(&mut self, scores: &BTreeMap<Key, f32>) {
        if scores.is_empty() {
            return;
        }
        let mut hits: Vec<Hit> = scores
            .iter()
            .map(|(&key, &score)| Hit { key, score })
            .collect();
        hits.sort_by(Hit::order);
        self.show(List::Rerank, &hits);
        let score = |key: &Key| scores.get(key).copied().unwrap_or(f32::NEG_INFINITY);
        self.order
            .sort_by(|a, b| score(&b.0).total_cmp(&score(&a.0)));
    }

    /// Puts what `ahead` names for a candidate directly before it, unless it stands higher; what
    /// was moved or added, each with its candidate.
    pub(crate) fn lead(&mut self, ahead: impl Fn(Key) -> Vec<Key>) -> BTreeMap<Key, Key> {
        let (mut seen, mut leads) = (BTreeSet::new(), BTreeMap::new());
        let mut order = Vec::with_capacity(self.order.len());
        for (key, score) in std::mem::take(&mut self.order) {
            for lead in ahead(key).into_iter().filter(|lead| seen.insert(*lead)) {
                leads.insert(lead, key);
                order.push((lead, score));
            }
            if seen.insert(key) {
                order.push((key, score));
            }
        }
        self.order = order;
        leads
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> {
        self.order.iter().map(|(key, _)| *key)
    }

    /// Where the lists have `key`.
    pub(crate) fn places(&self, key: Key) -> Vec<ListRank> {
        let place = |(list, held): &(List, Places)| {
            let &(rank, score) = held.get(&key)?;
            Some(ListRank {
                list: *list,
                rank,
                score,
            })
        };
        self.lists.iter().filter_map(place).collect()
    }
}

fn places(hits: &[Hit]) -> Places {
    let mut places = BTreeMap::new();
    for (rank, hit) in (1..).zip(hits) {
        places.entry(hit.key).or_insert((rank, hit.score));
    }
    places
}
