//! [`ExactIndex`]: all rows in one block, looked at one after the other.
//!
//! Deterministic, filters and removals are free, and no other backend can be more right.

use std::collections::BTreeMap;

use super::{VectorIndex, check_dimensions};
use crate::key::{Hit, Key, KeySet, best, passes};
use crate::vector::dot;
use crate::{IndexError, Vector};

/// Rows side by side; a removed row is filled with the last one.
#[derive(Clone, Debug, Default)]
pub struct ExactIndex {
    dimensions: Option<usize>,
    block: Vec<f32>,
    keys: Vec<Key>,
    rows: BTreeMap<Key, usize>,
}

impl ExactIndex {
    /// Its keys, in the order of its rows.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Length of its vectors, once it has held one.
    #[must_use]
    pub fn dimensions(&self) -> Option<usize> {
        self.dimensions
    }

    fn row(&self, row: usize) -> &[f32] {
        let width = self.dimensions.unwrap_or(0);
        &self.block[row * width..(row + 1) * width]
    }

    fn hit(&self, query: &Vector, row: usize) -> Hit {
        Hit {
            key: self.keys[row],
            score: dot(query.as_slice(), self.row(row)),
        }
    }
}

impl VectorIndex for ExactIndex {
    fn upsert(&mut self, key: Key, vector: &Vector) -> Result<(), IndexError> {
        check_dimensions(self.dimensions, vector.dimensions())?;
        let width = vector.dimensions();
        self.dimensions = Some(width);
        match self.rows.get(&key) {
            Some(&row) => {
                self.block[row * width..(row + 1) * width].copy_from_slice(vector.as_slice());
            }
            None => {
                self.rows.insert(key, self.keys.len());
                self.keys.push(key);
                self.block.extend_from_slice(vector.as_slice());
            }
        }
        Ok(())
    }

    fn remove(&mut self, key: Key) -> bool {
        let (Some(row), Some(width)) = (self.rows.remove(&key), self.dimensions) else {
            return false;
        };
        let last = self.keys.len() - 1;
        self.block.copy_within(last * width.., row * width);
        self.block.truncate(last * width);
        self.keys.swap_remove(row);
        if let Some(&moved) = self.keys.get(row) {
            self.rows.insert(moved, row);
        }
        true
    }

    fn get(&self, key: Key) -> Option<&[f32]> {
        self.rows.get(&key).map(|&row| self.row(row))
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn search(
        &self,
        query: &Vector,
        k: usize,
        allowed: Option<&KeySet>,
    ) -> Result<Vec<Hit>, IndexError> {
        check_dimensions(self.dimensions, query.dimensions())?;
        let hits = match allowed {
            Some(set) if set.len() < self.len() / 4 => set
                .iter()
                .filter_map(|key| self.rows.get(&key))
                .map(|&row| self.hit(query, row))
                .collect(),
            _ => {
                let rows = 0..self.keys.len();
                let rows = rows.filter(|&row| passes(allowed, self.keys[row]));
                rows.map(|row| self.hit(query, row)).collect()
            }
        };
        Ok(best(hits, k))
    }
}
