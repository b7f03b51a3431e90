//! [`Postings`]: BM25 over plain maps. Small, exact, and what tantivy is held against.

use std::collections::BTreeMap;

use super::{LexicalDocument, LexicalIndex, distinct, idf, saturation};
use crate::IndexError;
use crate::key::{Hit, Key, KeySet, best, passes};

/// Which documents hold a term and how often, and which terms a document holds.
#[derive(Clone, Debug, Default)]
pub struct Postings {
    postings: BTreeMap<String, BTreeMap<Key, u32>>,
    documents: BTreeMap<Key, Vec<String>>,
    total_terms: usize,
}

impl Postings {
    fn insert(&mut self, document: LexicalDocument) {
        self.take_out(document.key);
        self.total_terms += document.terms.len();
        for term in &document.terms {
            let held = self.postings.entry(term.clone()).or_default();
            *held.entry(document.key).or_insert(0) += 1;
        }
        self.documents.insert(document.key, document.terms);
    }

    fn take_out(&mut self, key: Key) {
        let Some(terms) = self.documents.remove(&key) else {
            return;
        };
        self.total_terms -= terms.len();
        for term in terms {
            if let Some(held) = self.postings.get_mut(&term) {
                held.remove(&key);
                if held.is_empty() {
                    self.postings.remove(&term);
                }
            }
        }
    }
}

impl LexicalIndex for Postings {
    fn upsert(&mut self, documents: Vec<LexicalDocument>) -> Result<(), IndexError> {
        documents
            .into_iter()
            .for_each(|document| self.insert(document));
        Ok(())
    }

    fn remove(&mut self, keys: &[Key]) -> Result<(), IndexError> {
        keys.iter().for_each(|&key| self.take_out(key));
        Ok(())
    }

    fn len(&self) -> usize {
        self.documents.len()
    }

    fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    fn search(
        &self,
        terms: &[String],
        k: usize,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Hit>, IndexError> {
        let average = self.total_terms as f32 / self.documents.len().max(1) as f32;
        let mut scores = BTreeMap::<Key, f32>::new();
        for held in distinct(terms)
            .into_iter()
            .filter_map(|term| self.postings.get(term))
        {
            let idf = idf(self.documents.len(), held.len());
            for (&key, &tf) in held.iter().filter(|&(&key, _)| passes(allowed, key)) {
                let length = self.documents[&key].len() as f32;
                *scores.entry(key).or_insert(0.0) += idf * saturation(tf as f32, length, average);
            }
        }
        let hits = scores
            .into_iter()
            .map(|(key, score)| Hit { key, score })
            .collect();
        Ok(best(hits, k))
    }
}
