//! Scores of one question, pure and small enough to be worked by hand.
//!
//! A retrieval score never needs a model. Means over questions are taken by [`mean`] over a fixed
//! number of questions; what could not be scored is counted by the caller, never dropped here.

use std::collections::BTreeSet;

/// Share of `evidence` that `found` holds; `None` without evidence.
pub fn recall<T: Ord>(evidence: &[T], found: &BTreeSet<T>) -> Option<f64> {
    if evidence.is_empty() {
        return None;
    }
    let held = evidence.iter().filter(|turn| found.contains(turn)).count();
    Some(held as f64 / evidence.len() as f64)
}

/// Whether `found` holds all of `evidence`; `None` without evidence.
pub fn all_hit<T: Ord>(evidence: &[T], found: &BTreeSet<T>) -> Option<bool> {
    (!evidence.is_empty()).then(|| evidence.iter().all(|turn| found.contains(turn)))
}

/// Recall of the first `k` of `units`, each a list of turns.
pub fn recall_at_k<T: Ord + Clone>(evidence: &[T], units: &[Vec<T>], k: usize) -> Option<f64> {
    recall(evidence, &units.iter().take(k).flatten().cloned().collect())
}

/// All-evidence hit of the first `k` of `units`.
pub fn all_hit_at_k<T: Ord + Clone>(evidence: &[T], units: &[Vec<T>], k: usize) -> Option<bool> {
    all_hit(evidence, &units.iter().take(k).flatten().cloned().collect())
}

/// Rank, from 1, of the first of `ranking` that `is_target` accepts.
pub fn rank_of<T>(
    ranking: impl IntoIterator<Item = T>,
    is_target: impl Fn(&T) -> bool,
) -> Option<usize> {
    ranking
        .into_iter()
        .position(|one| is_target(&one))
        .map(|place| place + 1)
}

/// Arithmetic mean; `None` of nothing.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values
        .into_iter()
        .fold((0.0, 0_u32), |(s, n), value| (s + value, n + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Sample standard deviation; `None` below two values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let middle = mean(values.iter().copied())?;
    let squares = values
        .iter()
        .map(|value| (value - middle).powi(2))
        .sum::<f64>();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// The `q` quantile by nearest rank of `sorted` values, `q` in `[0, 1]`.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1).min(last)).copied()
}

/// Words of `text` times 1.3: the token estimate by which every system's context is weighed.
#[must_use]
pub fn tokens(text: &str) -> f64 {
    text.split_whitespace().count() as f64 * 1.3
}

/// How the words of an answer are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum F1 {
    /// As the published LoCoMo figures were made: sets of lower-cased words, punctuation kept.
    Published,
    /// Bags of words without case, punctuation, small words (articles, `in`, `on`, `at`) and commas
    /// in numbers.
    Normalised,
}

/// Left out of the normalised comparison: `in 2019` says what `2019` says.
const SMALL_WORDS: [&str; 7] = ["a", "an", "the", "and", "in", "on", "at"];

/// Token F1 of `answer` against `gold`, between 0 and 1.
#[must_use]
pub fn f1(how: F1, answer: &str, gold: &str) -> f64 {
    let (answer, gold) = (words(how, answer), words(how, gold));
    if answer.is_empty() || gold.is_empty() {
        return f64::from(u8::from(answer.is_empty() && gold.is_empty()));
    }
    let shared = shared(&answer, &gold) as f64;
    if shared == 0.0 {
        return 0.0;
    }
    let (precision, recall) = (shared / answer.len() as f64, shared / gold.len() as f64);
    2.0 * precision * recall / (precision + recall)
}

fn words(how: F1, text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut words: Vec<String> = match how {
        F1::Published => words_and_marks(&lower),
        F1::Normalised => normalised(&lower),
    };
    words.sort_unstable();
    if how == F1::Published {
        words.dedup();
    }
    words
}

/// Runs of letters and digits, and every mark by itself, as a word tokeniser cuts them.
fn words_and_marks(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '\'' {
            word.push(c);
            continue;
        }
        words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        words.extend((!c.is_whitespace()).then(|| c.to_string()));
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn normalised(text: &str) -> Vec<String> {
    let no_commas = text.replace(',', "");
    let words = no_commas
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words
        .filter(|word| !SMALL_WORDS.contains(word))
        .map(str::to_owned)
        .collect()
}

/// Words that two sorted lists share, repeats counted as often as both have them.
fn shared(a: &[String], b: &[String]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, count) = (i + 1, j + 1, count + 1),
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn recall_is_the_share_of_the_evidence() {
        let found = BTreeSet::from([1, 2, 9]);
        assert_eq!(recall(&[1, 2, 3, 4], &found), Some(0.5));
        assert_eq!(recall::<i32>(&[], &found), None);
        assert_eq!(all_hit(&[1, 2], &found), Some(true));
        assert_eq!(all_hit(&[1, 3], &found), Some(false));
    }

    #[test]
    fn a_unit_brings_all_its_turns() {
        let units = [vec![1, 2], vec![3], vec![4, 5]];
        assert_eq!(recall_at_k(&[2, 4], &units, 1), Some(0.5));
        assert_eq!(recall_at_k(&[2, 4], &units, 2), Some(0.5));
        assert_eq!(recall_at_k(&[2, 4], &units, 3), Some(1.0));
        assert_eq!(all_hit_at_k(&[2, 4], &units, 2), Some(false));
        assert_eq!(all_hit_at_k(&[2, 4], &units, 9), Some(true));
    }

    #[test]
    fn ranks_count_from_one() {
        assert_eq!(rank_of(["a", "b"], |one| *one == "b"), Some(2));
        assert_eq!(rank_of(["a", "b"], |one| *one == "c"), None);
    }

    #[test]
    fn statistics_by_hand() {
        assert_eq!(mean([1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(mean([]), None);
        assert_eq!(deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
        assert_eq!(deviation(&[1.0]), None);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.9), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(tokens(" two  words\n"), 2.6);
    }

    #[track_caller]
    fn check_f1(answer: &str, gold: &str, published: f64, normalised: f64) {
        assert!(
            (f1(F1::Published, answer, gold) - published).abs() < 1e-9,
            "published"
        );
        assert!(
            (f1(F1::Normalised, answer, gold) - normalised).abs() < 1e-9,
            "normalised"
        );
    }

    #[test]
    fn years_are_equal_however_they_are_written() {
        check_f1("2019", "2019", 1.0, 1.0);
        check_f1("2019.", "2019", 2.0 / 3.0, 1.0);
        check_f1("in 2019", "2019", 2.0 / 3.0, 1.0);
    }

    #[test]
    fn published_f1_is_of_sets_and_normalised_of_bags() {
        check_f1("red red", "red", 1.0, 2.0 / 3.0);
        check_f1("The red boat", "a red boat", 2.0 / 3.0, 1.0);
        check_f1("1,200", "1200", 0.0, 1.0);
        check_f1("", "red", 0.0, 0.0);
    }

    proptest! {
        #[test]
        fn recall_never_falls_with_k(
            evidence in proptest::collection::vec(0_u8..20, 1..6),
            units in proptest::collection::vec(proptest::collection::vec(0_u8..20, 0..4), 0..10),
        ) {
            let at: Vec<_> = (0..=units.len()).map(|k| recall_at_k(&evidence, &units, k)).collect();
            prop_assert!(at.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!(at.iter().all(|r| r.is_some_and(|r| (0.0..=1.0).contains(&r))));
        }

        #[test]
        fn all_hit_is_recall_of_one(
            evidence in proptest::collection::vec(0_u8..20, 1..6),
            found in proptest::collection::btree_set(0_u8..20, 0..20),
        ) {
            prop_assert_eq!(all_hit(&evidence, &found), recall(&evidence, &found).map(|r| r == 1.0));
        }

        #[test]
        fn f1_is_symmetric_and_within_bounds(a in "[a-c ]{0,8}", b in "[a-c ]{0,8}") {
            for how in [F1::Published, F1::Normalised] {
                let one = f1(how, &a, &b);
                prop_assert!((0.0..=1.0).contains(&one));
                prop_assert!((one - f1(how, &b, &a)).abs() < 1e-12);
                prop_assert!((f1(how, &a, &a) - 1.0).abs() < 1e-12);
            }
        }
    }
}
