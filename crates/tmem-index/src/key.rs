//! Keys, sets of keys, and hits: what every backend speaks.

use std::cmp::Ordering;

/// A row of one index. Keys are dealt in the order of ids, so a tie by key is a tie by id.
pub type Key = u32;

/// A row and its score; higher is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The row.
    pub key: Key,
    /// Its score; finite.
    pub score: f32,
}

impl Hit {
    /// Best first, ties by key: a total order.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.key.cmp(&other.key))
    }
}

/// The `k` best of `hits`, best first, ties by key.
#[must_use]
pub fn best(mut hits: Vec<Hit>, k: usize) -> Vec<Hit> {
    if k == 0 {
        return Vec::new();
    }
    if k < hits.len() {
        hits.select_nth_unstable_by(k - 1, Hit::order);
        hits.truncate(k);
    }
    hits.sort_unstable_by(Hit::order);
    hits
}

/// The keys that a query may return, as a bitmap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    words: Vec<u64>,
    len: usize,
}

impl KeySet {
    /// Adds `key`; false if it was there.
    pub fn insert(&mut self, key: Key) -> bool {
        let (word, bit) = place(key);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.len += usize::from(new);
        new
    }

    /// Whether `key` is in it.
    #[must_use]
    pub fn contains(&self, key: Key) -> bool {
        let (word, bit) = place(key);
        self.words.get(word).is_some_and(|held| held & bit != 0)
    }

    /// How many keys it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it allows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its keys, in order.
    pub fn iter(&self) -> impl Iterator<Item = Key> {
        let words = self.words.iter().zip(0u32..);
        words.flat_map(|(held, word)| {
            (0..64)
                .filter(move |bit| held >> bit & 1 == 1)
                .map(move |bit| word * 64 + bit)
        })
    }

    /// The keys that are in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.iter().filter(|&key| other.contains(key)).collect()
    }
}

impl FromIterator<Key> for KeySet {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        let mut set = Self::default();
        keys.into_iter().for_each(|key| {
            set.insert(key);
        });
        set
    }
}

fn place(key: Key) -> (usize, u64) {
    (key as usize / 64, 1 << (key % 64))
}

/// Whether `allowed` lets `key` pass; no set allows all.
pub(crate) fn passes(allowed: Option<&KeySet>, key: Key) -> bool {
    allowed.is_none_or(|set| set.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_counts_each_key_once_and_lists_them_in_order() {
        let set: KeySet = [70, 3, 64, 3].into_iter().collect();
        assert_eq!(
            (set.len(), set.iter().collect::<Vec<_>>()),
            (3, vec![3, 64, 70])
        );
        assert!(set.contains(64) && !set.contains(65) && !set.contains(100_000));
    }

    #[test]
    fn equal_scores_come_in_the_order_of_their_keys_at_every_cut() {
        let hits = || [5, 1, 3, 2, 4].map(|key| Hit { key, score: 0.5 }).to_vec();
        for k in 0..7 {
            let keys: Vec<Key> = best(hits(), k).iter().map(|hit| hit.key).collect();
            assert_eq!(keys, (1..=5).take(k).collect::<Vec<_>>());
        }
    }
}
