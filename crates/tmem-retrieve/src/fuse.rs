//! Reciprocal rank fusion, the one way in which lists of similarity are joined.

use std::collections::BTreeMap;

/// `score(d) = sum over m of 1 / (k0 + rank_m(d))`, ranks from 1.
///
/// `rankings`: a list per index, best first; a repeat within a list counts at its first place, and
/// a list in which `d` is missing adds nothing. Yields each item once, best first, ties by id;
/// scores lie in `(0, rankings.len() / (k0 + 1)]`. Paper: section 3.4, equation 2 (`k0 = 60`).
pub fn reciprocal_rank_fusion<T: Ord + Clone>(rankings: &[Vec<T>], k0: f32) -> Vec<(T, f32)> {
    let mut scores = BTreeMap::<&T, f32>::new();
    for ranking in rankings {
        for (id, rank) in places(ranking) {
            *scores.entry(id).or_insert(0.0) += 1.0 / (k0 + rank as f32);
        }
    }
    let mut fused: Vec<(T, f32)> = scores.into_iter().map(|(id, s)| (id.clone(), s)).collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    fused
}

/// The first place of each item, from 1.
fn places<T: Ord>(ranking: &[T]) -> BTreeMap<&T, usize> {
    let mut places = BTreeMap::new();
    for id in ranking {
        let next = places.len() + 1;
        places.entry(id).or_insert(next);
    }
    places
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(rankings: &[&str], expect: Expect) {
        let rankings: Vec<Vec<char>> = rankings.iter().map(|list| list.chars().collect()).collect();
        let fused = reciprocal_rank_fusion(&rankings, 60.0);
        let shown: Vec<String> = fused.iter().map(|(id, s)| format!("{id} {s:.5}")).collect();
        expect.assert_eq(&shown.join(", "));
    }

    #[test]
    fn ranks_start_at_one_and_a_missing_item_gets_nothing() {
        check(
            &["PQR", "SR"],
            expect!["R 0.03200, P 0.01639, S 0.01639, Q 0.01613"],
        );
    }

    #[test]
    fn agreement_beats_a_single_first_place() {
        check(&["ab", "cb"], expect!["b 0.03226, a 0.01639, c 0.01639"]);
    }

    #[test]
    fn a_repeat_within_a_list_counts_once_and_takes_no_place() {
        check(&["aab"], expect!["a 0.01639, b 0.01613"]);
    }

    #[test]
    fn nothing_fused_is_nothing() {
        check(&["", ""], expect![""]);
    }

    proptest! {
        #[test]
        fn order_is_total_and_scores_are_bounded(
            lists in prop::collection::vec(prop::collection::vec(0u8..20, 0..20), 0..4)
        ) {
            let fused = reciprocal_rank_fusion(&lists, 60.0);
            let mut ids: Vec<u8> = fused.iter().map(|(id, _)| *id).collect();
            prop_assert!(fused.windows(2).all(|w| w[0].1 > w[1].1
                || (w[0].1 == w[1].1 && w[0].0 < w[1].0)));
            prop_assert!(fused.iter().all(|(_, s)| *s > 0.0 && *s <= lists.len() as f32 / 61.0 + 1e-6));
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), fused.len());
        }
    }
}
