//! [`Vector`]: what an encoder gives, checked once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Squared norms below this cannot be told from rounding noise.
const LEAST_SQUARED_NORM: f32 = 1e-12;

/// A direction in an encoder's space: finite numbers of norm 1, at least one of them.
///
/// Cheap to clone. A text without content has no vector at all, so there is no zero vector.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "Vec<f32>", into = "Vec<f32>")]
pub struct Vector(Arc<[f32]>);

impl Vector {
    /// Its numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// How many numbers it has; two vectors compare only when this agrees.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// Cosine with `other`, in `[-1, 1]` up to rounding; `None` if their dimensions differ.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        (self.dimensions() == other.dimensions()).then(|| dot(&self.0, &other.0))
    }
}

impl AsRef<[f32]> for Vector {
    fn as_ref(&self) -> &[f32] {
        &self.0
    }
}

impl TryFrom<Vec<f32>> for Vector {
    type Error = VectorError;

    fn try_from(mut numbers: Vec<f32>) -> Result<Self, VectorError> {
        if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(VectorError::NotFinite { at });
        }
        let squared = dot(&numbers, &numbers);
        if !squared.is_finite() || squared < LEAST_SQUARED_NORM {
            return Err(VectorError::NoDirection);
        }
        let norm = squared.sqrt();
        numbers.iter_mut().for_each(|x| *x /= norm);
        Ok(Self(numbers.into()))
    }
}

impl From<Vector> for Vec<f32> {
    fn from(vector: Vector) -> Self {
        vector.0.to_vec()
    }
}

/// Why numbers are no [`Vector`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// NaN or infinity.
    #[error("component {at} is not a finite number")]
    NotFinite {
        /// Its position.
        at: usize,
    },
    /// Empty, all zeros, or too large to have a norm.
    #[error("a vector without a direction")]
    NoDirection,
}

/// Dot product; eight running sums let the compiler use whole registers, in a fixed order.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0f32; LANES];
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_scaled_to_norm_one() {
        let vector = Vector::try_from(vec![3.0, 4.0]).unwrap();
        assert_eq!(vector.as_slice(), [0.6, 0.8]);
    }

    #[test]
    fn what_has_no_direction_is_no_vector() {
        for numbers in [vec![], vec![0.0; 3], vec![f32::MAX; 3]] {
            assert_eq!(Vector::try_from(numbers), Err(VectorError::NoDirection));
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused_by_position() {
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(
                Vector::try_from(vec![1.0, odd]),
                Err(VectorError::NotFinite { at: 1 })
            );
        }
    }

    #[test]
    fn vectors_of_two_encoders_have_no_cosine() {
        let a = Vector::try_from(vec![1.0, 0.0]).unwrap();
        let b = Vector::try_from(vec![1.0, 0.0, 0.0]).unwrap();
        assert_eq!(a.cosine(&b), None);
        assert_eq!(a.cosine(&a), Some(1.0));
    }

    #[test]
    fn the_blocked_product_equals_the_plain_one() {
        let a: Vec<f32> = (0..37).map(|i| i as f32).collect();
        let plain: f32 = a.iter().map(|x| x * x).sum();
        assert_eq!(dot(&a, &a), plain);
    }
}
