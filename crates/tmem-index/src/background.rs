//! What is said in general, and how close a text is to it.
//!
//! Some trigger texts are near everything that is ever said ("hubs") and would answer every query.
//! Each gets one number at index time: the mean of its cosines to the utterances nearest to it, its
//! host's own turns left out. It estimates the upper tail of that text's cosines to anything, on the
//! scale of whatever encoder made them. So ranking subtracts a share of it, a query that is no
//! closer to a trigger than talk in general does not fire it, and the writer of triggers may refuse
//! a text whose number is high.

use std::thread;

use serde::{Deserialize, Serialize};

use crate::Vector;
use crate::vector::dot;

/// How the background is measured.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackgroundConfig {
    /// How many nearest utterances the mean is taken over (count).
    pub neighbours: usize,
    /// Most utterances that stand for the memory (count). Above it, evenly spaced ones are taken
    /// and `neighbours` stays as it is: the number then describes the same upper tail in a memory
    /// of any size, and its cost grows with the triggers alone.
    pub sample: usize,
}

impl Default for BackgroundConfig {
    fn default() -> Self {
        Self {
            neighbours: 20,
            sample: 1_000,
        }
    }
}

/// A vector to be measured, and which utterances of the sample are its host's own.
#[derive(Clone, Debug)]
pub(crate) struct Probe<'a> {
    pub(crate) vector: &'a Vector,
    pub(crate) own: Vec<usize>,
}

/// Evenly spaced positions: at most `most` of `0..len`, ascending.
pub(crate) fn spaced(len: usize, most: usize) -> Vec<usize> {
    let taken = len.min(most);
    (0..taken).map(|i| i * len / taken).collect()
}

/// Mean cosine of each probe to its nearest utterances, in the order of `probes`; 0 where there is
/// no utterance to compare with.
pub(crate) fn measure(probes: &[Probe<'_>], sample: &[&Vector], neighbours: usize) -> Vec<f32> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let share = probes.len().div_ceil(workers).max(1);
    thread::scope(|scope| {
        let parts = probes.chunks(share);
        let running: Vec<_> = parts
            .map(|part| scope.spawn(move || measure_part(part, sample, neighbours)))
            .collect();
        let done = running
            .into_iter()
            .map(|part| part.join().expect("measuring does not panic"));
        done.flatten().collect()
    })
}

fn measure_part(probes: &[Probe<'_>], sample: &[&Vector], neighbours: usize) -> Vec<f32> {
    let mut cosines = Vec::with_capacity(sample.len());
    let mean = |probe: &Probe<'_>| {
        cosines.clear();
        let others = sample
            .iter()
            .enumerate()
            .filter(|(at, _)| !probe.own.contains(at));
        cosines.extend(others.map(|(_, other)| dot(probe.vector.as_slice(), other.as_slice())));
        mean_of_highest(&mut cosines, neighbours)
    };
    probes.iter().map(mean).collect()
}

/// Mean of the `k` highest of `numbers` (of all, if there are fewer), which it reorders.
fn mean_of_highest(numbers: &mut [f32], k: usize) -> f32 {
    let k = k.min(numbers.len());
    if k == 0 {
        return 0.0;
    }
    numbers.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    numbers[..k].sort_unstable_by(f32::total_cmp);
    numbers[..k].iter().sum::<f32>() / k as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A direction in the plane, `degrees` from the first axis.
    fn at(degrees: f32) -> Vector {
        let angle = degrees.to_radians();
        Vector::try_from(vec![angle.cos(), angle.sin()]).unwrap()
    }

    #[test]
    fn the_mean_is_taken_over_the_nearest_utterances_of_others() {
        let said = [at(0.0), at(60.0), at(60.0), at(90.0), at(180.0)];
        let sample: Vec<&Vector> = said.iter().collect();
        let vector = at(0.0);
        let mean = |own: Vec<usize>, k| {
            measure(
                &[Probe {
                    vector: &vector,
                    own,
                }],
                &sample,
                k,
            )[0]
        };
        assert!((mean(vec![0], 2) - 0.5).abs() < 1e-6);
        assert!((mean(vec![], 1) - 1.0).abs() < 1e-6);
        assert!((mean(vec![0, 1, 2], 9) + 0.5).abs() < 1e-6);
        assert_eq!(mean(vec![0, 1, 2, 3, 4], 20), 0.0);
    }

    #[test]
    fn probes_keep_their_order_over_several_threads() {
        let said = [at(0.0)];
        let sample: Vec<&Vector> = said.iter().collect();
        let vectors: Vec<Vector> = (0..37).map(|i| at(i as f32)).collect();
        let probes: Vec<_> = vectors
            .iter()
            .map(|vector| Probe {
                vector,
                own: vec![],
            })
            .collect();
        let means = measure(&probes, &sample, 20);
        assert!(means.is_sorted_by(|a, b| a > b));
    }

    #[test]
    fn a_sample_is_spread_over_the_whole_memory() {
        assert_eq!(spaced(3, 10), [0, 1, 2]);
        assert_eq!(spaced(10, 5), [0, 2, 4, 6, 8]);
        assert_eq!(spaced(0, 5), [0; 0]);
    }
}
