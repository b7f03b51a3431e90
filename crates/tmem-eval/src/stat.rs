//! Paired bootstrap: how sure a difference between two systems is.

use serde::{Deserialize, Serialize};

use crate::metric::quantile;

/// Resamples of every interval.
pub const RESAMPLES: usize = 2_000;

/// A difference of means with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Difference {
    /// Mean of the second minus mean of the first, over all pairs.
    pub mean: f64,
    /// 2.5 % quantile over resampled clusters (conversations).
    pub low: f64,
    /// 97.5 % quantile over resampled clusters.
    pub high: f64,
    /// 2.5 % quantile over resampled questions: narrower, ignores that questions share a dialogue.
    pub low_by_question: f64,
    /// 97.5 % quantile over resampled questions.
    pub high_by_question: f64,
    /// Clusters: below five an interval over them says little.
    pub clusters: usize,
    /// Pairs; for two samples that are not paired, the values of both.
    pub pairs: usize,
}

/// Differences of one metric, question by question, grouped by conversation.
///
/// `clusters`: per conversation, the paired scores `(first, second)`. Resamples conversations with
/// replacement, keeping their pairs together; equal seeds give equal intervals. `None` without pairs.
#[must_use]
pub fn paired_bootstrap(clusters: &[Vec<(f64, f64)>], seed: u64) -> Option<Difference> {
    let differences = |pairs: &Vec<(f64, f64)>| pairs.iter().map(|(a, b)| b - a).collect();
    let clusters: Vec<Vec<f64>> = clusters.iter().map(differences).collect();
    let clusters: Vec<_> = clusters
        .into_iter()
        .filter(|cluster| !cluster.is_empty())
        .collect();
    let all: Vec<f64> = clusters.concat();
    let sums: Vec<_> = clusters
        .iter()
        .map(|c| (c.iter().sum::<f64>(), c.len()))
        .collect();
    let singles: Vec<_> = all.iter().map(|difference| (*difference, 1)).collect();
    let (low, high) = interval(&sums, seed)?;
    let (low_by_question, high_by_question) = interval(&singles, seed)?;
    Some(Difference {
        mean: all.iter().sum::<f64>() / all.len() as f64,
        low,
        high,
        low_by_question,
        high_by_question,
        clusters: clusters.len(),
        pairs: all.len(),
    })
}

/// 95 % interval of one mean over resampled clusters of values.
#[must_use]
pub fn bootstrap(clusters: &[Vec<f64>], seed: u64) -> Option<(f64, f64)> {
    let filled = clusters.iter().filter(|cluster| !cluster.is_empty());
    let sums: Vec<_> = filled.map(|c| (c.iter().sum::<f64>(), c.len())).collect();
    interval(&sums, seed)
}

/// Difference between the means of two samples that share conversations but not questions: per
/// conversation, the values of the first and of the second. Conversations without both are left out.
///
/// Resamples conversations with all their values; and, for the interval by question, the values of
/// each sample. `None` without values.
#[must_use]
pub fn unpaired_bootstrap(clusters: &[(Vec<f64>, Vec<f64>)], seed: u64) -> Option<Difference> {
    let whole = clusters
        .iter()
        .filter(|(a, b)| !a.is_empty() && !b.is_empty());
    let whole: Vec<_> = whole.collect();
    let group = |values: &[f64]| (values.iter().sum::<f64>(), values.len());
    let single = |value: &f64| (*value, 1);
    let groups: Vec<[(f64, usize); 2]> = whole.iter().map(|(a, b)| [group(a), group(b)]).collect();
    let first: Vec<_> = whole
        .iter()
        .flat_map(|(a, _)| a.iter().map(single))
        .collect();
    let second: Vec<_> = whole
        .iter()
        .flat_map(|(_, b)| b.iter().map(single))
        .collect();
    if groups.is_empty() {
        return None;
    }
    let of = |side: usize, drawn: &[&[(f64, usize); 2]]| mean_of(drawn.iter().map(|two| two[side]));
    let (low, high) = quantiles(seed, |random| {
        let drawn: Vec<_> = groups
            .iter()
            .map(|_| &groups[random.below(groups.len())])
            .collect();
        of(1, &drawn) - of(0, &drawn)
    })?;
    let (low_by_question, high_by_question) = quantiles(seed, |random| {
        resampled_mean(&second, random) - resampled_mean(&first, random)
    })?;
    Some(Difference {
        mean: mean_of(second.iter().copied()) - mean_of(first.iter().copied()),
        low,
        high,
        low_by_question,
        high_by_question,
        clusters: groups.len(),
        pairs: first.len() + second.len(),
    })
}

/// Quantiles of the mean over resampled `(sum, count)` groups.
fn interval(groups: &[(f64, usize)], seed: u64) -> Option<(f64, f64)> {
    if groups.is_empty() {
        return None;
    }
    quantiles(seed, |random| resampled_mean(groups, random))
}

/// The middle 95 % of what `draw` gives.
fn quantiles(seed: u64, mut draw: impl FnMut(&mut SplitMix) -> f64) -> Option<(f64, f64)> {
    let mut random = SplitMix(seed);
    let mut drawn: Vec<f64> = (0..RESAMPLES).map(|_| draw(&mut random)).collect();
    drawn.sort_by(f64::total_cmp);
    Some((quantile(&drawn, 0.025)?, quantile(&drawn, 0.975)?))
}

fn resampled_mean(groups: &[(f64, usize)], random: &mut SplitMix) -> f64 {
    mean_of((0..groups.len()).map(|_| groups[random.below(groups.len())]))
}

/// Mean of `(sum, count)` groups, of which there is at least one.
fn mean_of(groups: impl IntoIterator<Item = (f64, usize)>) -> f64 {
    let (sum, count) = groups
        .into_iter()
        .fold((0.0, 0), |(sum, count), (s, n)| (sum + s, count + n));
    sum / count as f64
}

/// `SplitMix64` (Steele, Lea and Flood 2014): small, seeded, the same everywhere.
#[derive(Clone, Debug)]
pub struct SplitMix(pub u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.next()) * bound as u128;
        usize::try_from(wide >> 64).expect("below the bound, a usize")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_constant_difference_has_no_width() {
        let clusters = [vec![(0.1, 0.3), (0.5, 0.7)], vec![(0.0, 0.2)]];
        let one = paired_bootstrap(&clusters, 7).expect("pairs");
        for bound in [
            one.mean,
            one.low,
            one.high,
            one.low_by_question,
            one.high_by_question,
        ] {
            assert!((bound - 0.2).abs() < 1e-9);
        }
        assert_eq!((one.clusters, one.pairs), (2, 3));
    }

    #[test]
    fn no_pairs_no_interval() {
        assert_eq!(paired_bootstrap(&[], 7), None);
        assert_eq!(paired_bootstrap(&[vec![]], 7), None);
    }

    #[test]
    fn equal_seeds_give_equal_intervals() {
        let clusters: Vec<Vec<_>> = (0..6).map(|c| vec![(0.0, f64::from(c)); 3]).collect();
        assert_eq!(
            paired_bootstrap(&clusters, 1),
            paired_bootstrap(&clusters, 1)
        );
        assert_ne!(
            paired_bootstrap(&clusters, 1),
            paired_bootstrap(&clusters, 2)
        );
    }

    #[test]
    fn two_samples_differ_by_their_means_over_shared_conversations() {
        let clusters = [
            (vec![0.5, 1.0], vec![0.25]),
            (vec![0.0], vec![0.25, 0.25, 0.25]),
            (vec![1.0; 9], vec![]),
        ];
        let one = unpaired_bootstrap(&clusters, 7).expect("values");
        assert!((one.mean - -0.25).abs() < 1e-9);
        assert_eq!((one.clusters, one.pairs), (2, 7));
        // Drawn twice, the first conversation gives 0.25 - 0.75 and the second 0.25 - 0.
        assert!((one.low - -0.5).abs() < 1e-9 && (one.high - 0.25).abs() < 1e-9);
        assert!(one.low_by_question < one.mean && one.mean < one.high_by_question);
        assert_eq!(unpaired_bootstrap(&clusters[2..], 7), None);
    }

    /// Of 200 samples with a known mean difference, about 95 % of the intervals must hold it.
    #[test]
    fn intervals_cover_the_true_difference() {
        let mut random = SplitMix(11);
        let mut uniform = || random.below(1_000) as f64 / 1_000.0;
        let covered = (0..200).filter(|round| {
            let clusters: Vec<_> = (0..30)
                .map(|_| vec![(uniform(), uniform() + 0.1); 2])
                .collect();
            let one = paired_bootstrap(&clusters, *round).expect("pairs");
            (one.low..=one.high).contains(&0.1)
        });
        let covered = covered.count();
        assert!((180..=199).contains(&covered), "{covered} of 200");
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_mean_of_a_large_sample(values in proptest::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 20..60)) {
            let clusters: Vec<_> = values.iter().map(|pair| vec![*pair]).collect();
            let one = paired_bootstrap(&clusters, 3).expect("pairs");
            prop_assert!(one.low <= one.mean + 1e-9 && one.mean <= one.high + 1e-9);
        }

        #[test]
        fn a_draw_stays_below_its_bound(seed: u64, bound in 1_usize..1000) {
            prop_assert!(SplitMix(seed).below(bound) < bound);
        }
    }
}
