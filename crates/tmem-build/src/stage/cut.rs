//! Segmentation without a model: valleys of likeness between neighbouring turns, after TextTiling,
//! with silences as certain borders.

use std::collections::BTreeSet;

use tmem_model::{Change, Job};

use super::segment;
use crate::config::Segmenter;
use crate::context::Context;
use crate::step::Window;

/// The window with its cuts; needs no model.
pub(crate) fn window(ctx: &Context<'_>, window: &Window) -> Change {
    let gaps = segment::gaps(ctx, window);
    let ends = match ctx.config.segmenter {
        Segmenter::Embeddings => {
            let vectors: Vec<Option<&[f32]>> = window
                .turns
                .iter()
                .map(|turn| ctx.vectors.get(turn).map(Vec::as_slice))
                .collect();
            let (block, depth) = (ctx.config.cut_block, ctx.config.cut_depth);
            valleys(&vectors, &gaps, block, depth, ctx.config.scene_min)
        }
        Segmenter::Model | Segmenter::Gaps => gaps,
    };
    let job: Job = segment::found(ctx, window, &ends);
    Change {
        jobs: vec![job],
        ..Change::default()
    }
}

/// Positions after which a scene ends.
///
/// The likeness of the `block` turns before and after each position is compared with the peaks on
/// either side; a position is a border when its depth exceeds the mean depth by `depth` standard
/// deviations and no deeper one is nearer than `least` turns. `gaps` are borders anyway.
pub(crate) fn valleys(
    vectors: &[Option<&[f32]>],
    gaps: &BTreeSet<usize>,
    block: usize,
    depth: f32,
    least: usize,
) -> BTreeSet<usize> {
    let depths = depths(&likeness(vectors, block.max(1)));
    let limit = mean(&depths) + depth * deviation(&depths);
    let mut order: Vec<usize> = (0..depths.len()).filter(|&p| depths[p] > limit).collect();
    order.sort_by(|&a, &b| depths[b].total_cmp(&depths[a]).then(a.cmp(&b)));
    let mut ends = gaps.clone();
    let count = vectors.len();
    for position in order {
        let far = ends.iter().all(|&end| end.abs_diff(position) >= least);
        if far && position + 1 >= least && count - 1 - position >= least {
            ends.insert(position);
        }
    }
    ends
}

/// Cosine between the sums of the `block` vectors before and after each border.
fn likeness(vectors: &[Option<&[f32]>], block: usize) -> Vec<f32> {
    let borders = 0..vectors.len().saturating_sub(1);
    let cosine = |end: usize| {
        let before = sum(&vectors[(end + 1).saturating_sub(block)..=end]);
        let after = sum(&vectors[end + 1..vectors.len().min(end + 1 + block)]);
        cosine(&before, &after)
    };
    borders.map(cosine).collect()
}

fn sum(vectors: &[Option<&[f32]>]) -> Vec<f32> {
    let mut total: Vec<f32> = Vec::new();
    for vector in vectors.iter().flatten() {
        total.resize(total.len().max(vector.len()), 0.0);
        total
            .iter_mut()
            .zip(*vector)
            .for_each(|(sum, value)| *sum += value);
    }
    total
}

/// 1 where one side has no vector: nothing speaks for a border there.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let norm = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    let norms = norm(a) * norm(b);
    if norms > 0.0 { dot / norms } else { 1.0 }
}

/// How far the likeness falls from the peaks on both sides.
fn depths(likeness: &[f32]) -> Vec<f32> {
    let climb = |values: &mut dyn Iterator<Item = f32>, from: f32| {
        let mut peak = from;
        for value in values {
            if value < peak {
                break;
            }
            peak = value;
        }
        peak - from
    };
    let depth = |p: usize| {
        let here = likeness[p];
        let left = climb(&mut likeness[..p].iter().rev().copied(), here);
        left + climb(&mut likeness[p + 1..].iter().copied(), here)
    };
    (0..likeness.len()).map(depth).collect()
}

fn mean(values: &[f32]) -> f32 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f32>() / values.len() as f32
    }
}

fn deviation(values: &[f32]) -> f32 {
    let centre = mean(values);
    let squares: Vec<f32> = values
        .iter()
        .map(|value| (value - centre).powi(2))
        .collect();
    mean(&squares).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(topics: &str, gaps: &[usize], expect: &[usize]) {
        let vector = |c: char| {
            let mut vector = vec![0.1; 4];
            vector[c as usize - 'a' as usize] = 1.0;
            vector
        };
        let vectors: Vec<Option<Vec<f32>>> = topics
            .chars()
            .map(|c| (c != '-').then(|| vector(c)))
            .collect();
        let borrowed: Vec<Option<&[f32]>> = vectors.iter().map(|v| v.as_deref()).collect();
        let ends = valleys(&borrowed, &gaps.iter().copied().collect(), 3, 0.5, 2);
        assert_eq!(ends.into_iter().collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_change_of_subject_is_a_border() {
        check("aaaaabbbbbcccc", &[], &[4, 9]);
    }

    #[test]
    fn one_stray_turn_is_no_scene_of_its_own() {
        check("aaaaaaaa", &[], &[]);
        check("aaaabbbbb", &[], &[3]);
    }

    #[test]
    fn a_silence_is_a_border_though_the_subject_goes_on() {
        check("aaaaaaaa", &[2], &[2]);
    }

    #[test]
    fn turns_without_vectors_and_tiny_windows_do_no_harm() {
        check("aa--aabbbb", &[], &[5]);
        check("a", &[], &[]);
        check("--", &[], &[]);
        check("", &[], &[]);
    }
}
