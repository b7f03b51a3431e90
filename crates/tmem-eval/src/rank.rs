//! The yardsticks' own rankers, independent of the system they are compared with: Okapi BM25,
//! exact cosine, and their fusion.

use std::collections::BTreeMap;

use tmem_model::text::terms;

/// Term saturation, as everywhere in this project.
const K1: f64 = 1.2;
/// Length normalisation.
const B: f64 = 0.75;
/// Smoothing of reciprocal rank fusion (section 3.4 of the paper).
pub const K0: f64 = 60.0;

/// Okapi BM25 over a list of texts.
#[derive(Clone, Debug)]
pub struct Bm25 {
    postings: BTreeMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    mean_length: f64,
}

impl Bm25 {
    /// Indexes `texts`; a text's place is its id.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut postings: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
        let mut lengths = Vec::new();
        for (place, text) in texts.into_iter().enumerate() {
            let terms = terms(text);
            lengths.push(terms.len() as f64);
            for term in terms {
                let list = postings.entry(term).or_default();
                match list.last_mut() {
                    Some((last, count)) if *last == place => *count += 1.0,
                    _ => list.push((place, 1.0)),
                }
            }
        }
        let mean_length = lengths.iter().sum::<f64>() / (lengths.len().max(1) as f64);
        Self {
            postings,
            lengths,
            mean_length,
        }
    }

    /// Places of the texts that share a term with `query`, best first, ties by place.
    #[must_use]
    pub fn rank(&self, query: &str) -> Vec<usize> {
        let mut terms = terms(query);
        terms.sort_unstable();
        terms.dedup();
        let mut scores = vec![0.0; self.lengths.len()];
        for list in terms.iter().filter_map(|term| self.postings.get(term)) {
            let idf = self.idf(list.len());
            for (place, count) in list {
                let length = 1.0 - B + B * self.lengths[*place] / self.mean_length;
                scores[*place] += idf * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
        let mut ranking = best_first(&scores);
        ranking.retain(|place| scores[*place] > 0.0);
        ranking
    }

    fn idf(&self, holding: usize) -> f64 {
        let (all, holding) = (self.lengths.len() as f64, holding as f64);
        (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
    }
}

/// Places by cosine of unit vectors, best first, ties by place; every place is there.
#[must_use]
pub fn dense(query: &[f32], rows: &[&[f32]]) -> Vec<usize> {
    let cosine = |row: &&[f32]| f64::from(query.iter().zip(*row).map(|(a, b)| a * b).sum::<f32>());
    best_first(&rows.iter().map(cosine).collect::<Vec<_>>())
}

/// Reciprocal rank fusion of whole lists, best first, ties by id: `sum of 1 / (k0 + rank)`.
#[must_use]
pub fn fuse<T: Ord + Clone>(lists: &[Vec<T>], k0: f64) -> Vec<T> {
    let mut scores: BTreeMap<T, f64> = BTreeMap::new();
    for list in lists {
        for (rank, id) in list.iter().enumerate() {
            *scores.entry(id.clone()).or_default() += 1.0 / (k0 + rank as f64 + 1.0);
        }
    }
    let mut fused: Vec<(T, f64)> = scores.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    fused.into_iter().map(|(id, _)| id).collect()
}

fn best_first(scores: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..scores.len()).collect();
    places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then_with(|| a.cmp(b)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rarer_term_and_a_shorter_text_win() {
        let texts = [
            "boats and sails",
            "boats",
            "sails and nets and ropes",
            "hens",
        ];
        let bm25 = Bm25::new(texts);
        assert_eq!(bm25.rank("boat"), [1, 0]);
        assert_eq!(bm25.rank("hens boats"), [3, 1, 0]);
    }

    #[test]
    fn what_shares_no_term_is_not_ranked() {
        let bm25 = Bm25::new(["boats", "hens"]);
        assert!(bm25.rank("volcano").is_empty());
        assert!(Bm25::new([]).rank("boats").is_empty());
    }

    #[test]
    fn cosine_ranks_all_ties_by_place() {
        let rows: [&[f32]; 3] = [&[0.0, 1.0], &[1.0, 0.0], &[1.0, 0.0]];
        assert_eq!(dense(&[1.0, 0.0], &rows), [1, 2, 0]);
    }

    #[test]
    fn agreement_beats_a_single_first_place_and_ties_go_by_id() {
        assert_eq!(fuse(&[vec![1, 2], vec![3, 2]], K0), [2, 1, 3]);
        assert_eq!(fuse(&[vec![2, 1], vec![1, 2]], K0), [1, 2]);
        assert!(fuse::<u8>(&[], K0).is_empty());
    }

    proptest! {
        #[test]
        fn fusion_keeps_every_id_once(lists in proptest::collection::vec(proptest::collection::btree_set(0_u8..12, 0..8), 0..4)) {
            let lists: Vec<Vec<u8>> = lists.into_iter().map(|set| set.into_iter().collect()).collect();
            let mut fused = fuse(&lists, K0);
            let mut all = lists.concat();
            all.sort_unstable();
            all.dedup();
            fused.sort_unstable();
            prop_assert_eq!(fused, all);
        }

        #[test]
        fn fusion_of_one_list_is_that_list(list in proptest::collection::vec(0_u8..200, 0..20)) {
            let mut seen = std::collections::BTreeSet::new();
            let list: Vec<u8> = list.into_iter().filter(|id| seen.insert(*id)).collect();
            prop_assert_eq!(fuse(std::slice::from_ref(&list), K0), list);
        }
    }
}
