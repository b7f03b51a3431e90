//! Stems of texts that planning compares again and again, worked out once.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use tmem_model::text;

/// Stems as numbers.
pub(crate) type Stemmed = BTreeSet<u64>;

/// The stems of every text it was asked for, by the number of the text. A copy begins empty, and what
/// has been worked out makes no difference to anything but time.
#[derive(Debug, Default)]
pub(crate) struct Stems(Mutex<HashMap<u64, Arc<Stemmed>>>);

impl Stems {
    pub(crate) fn of(&self, text: &str) -> Arc<Stemmed> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stems = known
            .entry(number(text))
            .or_insert_with(|| Arc::new(stems(text)));
        Arc::clone(stems)
    }
}

impl Clone for Stems {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Stems {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The same without keeping them.
pub(crate) fn stems(text: &str) -> Stemmed {
    text::terms(text).iter().map(|term| number(term)).collect()
}

fn number(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one_stem_whether_kept_or_not() {
        let kept = Stems::default();
        let shared = |a, b| kept.of(a).intersection(&kept.of(b)).count();
        assert_eq!(shared("She moved to the harbour", "moving harbours"), 2);
        assert_eq!(shared("She moved to the harbour", "a kiln"), 0);
        assert_eq!(*kept.of("moving harbours"), stems("moving harbours"));
    }
}
