//! From the numbers of a run to one vector per text.

use super::{session::Output, tokens::Tokens};
use crate::{EmbedError, Pooling, check::bad};

/// One vector per row: pooled over the row's own tokens, or as the model gave it if it pools
/// itself.
pub(crate) fn vectors(
    model: &str,
    pooling: Pooling,
    rows: &[&Tokens],
    output: &Output<'_>,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let shape: Vec<usize> = output.shape.iter().map(|d| *d as usize).collect();
    match shape[..] {
        [texts, dimensions] if texts == rows.len() => Ok(split(output.data, dimensions)),
        [texts, width, dimensions] if texts == rows.len() => {
            let per_row = output.data.chunks(width * dimensions);
            let pairs = per_row.zip(rows);
            let pooled = pairs.map(|(tokens, row)| {
                let own = &tokens[..row.ids.len().min(width) * dimensions];
                pool(pooling, own, dimensions)
            });
            Ok(pooled.collect())
        }
        _ => Err(bad(
            model,
            format!("an output of shape {shape:?} for {} texts", rows.len()),
        )),
    }
}

/// Length of the vectors that an output of this shape holds.
pub(crate) fn dimensions(shape: &[i64]) -> usize {
    shape.last().map_or(0, |last| *last as usize)
}

fn split(data: &[f32], dimensions: usize) -> Vec<Vec<f32>> {
    data.chunks(dimensions.max(1))
        .map(<[f32]>::to_vec)
        .collect()
}

fn pool(pooling: Pooling, tokens: &[f32], dimensions: usize) -> Vec<f32> {
    match pooling {
        Pooling::Cls => tokens[..dimensions].to_vec(),
        Pooling::Mean => mean(tokens, dimensions),
    }
}

fn mean(tokens: &[f32], dimensions: usize) -> Vec<f32> {
    let count = (tokens.len() / dimensions) as f32;
    let mut sum = vec![0.0_f32; dimensions];
    for token in tokens.chunks(dimensions) {
        for (total, x) in sum.iter_mut().zip(token) {
            *total += x;
        }
    }
    sum.into_iter().map(|total| total / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(length: usize) -> Tokens {
        Tokens {
            ids: vec![7; length],
            types: vec![0; length],
        }
    }

    #[track_caller]
    fn check(pooling: Pooling, shape: &[i64], data: &[f32], expected: &[&[f32]]) {
        let (long, short) = (row(2), row(1));
        let output = Output { shape, data };
        let pooled = vectors("m", pooling, &[&long, &short], &output).unwrap();
        assert_eq!(pooled, expected);
    }

    #[test]
    fn padding_takes_no_part_in_the_mean() {
        let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 99.0, 99.0];
        check(
            Pooling::Mean,
            &[2, 2, 2],
            &data,
            &[&[2.0, 3.0], &[5.0, 6.0]],
        );
        check(Pooling::Cls, &[2, 2, 2], &data, &[&[1.0, 2.0], &[5.0, 6.0]]);
    }

    #[test]
    fn a_model_that_pools_itself_is_taken_at_its_word() {
        check(
            Pooling::Mean,
            &[2, 2],
            &[1.0, 2.0, 3.0, 4.0],
            &[&[1.0, 2.0], &[3.0, 4.0]],
        );
    }

    #[test]
    fn another_shape_is_refused() {
        let row = row(1);
        let output = Output {
            shape: &[2, 2],
            data: &[0.0; 4],
        };
        let error = vectors("m", Pooling::Mean, &[&row], &output).unwrap_err();
        assert_eq!(
            error.to_string(),
            "m: an output of shape [2, 2] for 1 texts"
        );
    }
}
