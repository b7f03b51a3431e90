//! What every vector backend owes, held against the exact scan by hand-made cases.

use super::exact::ExactIndex;
use super::{VectorBackend, VectorIndex};
use crate::key::{Key, KeySet};
use crate::{IndexError, Vector};

type Make = fn() -> Box<dyn VectorIndex>;

fn backends() -> Vec<(&'static str, Make)> {
    vec![
        ("exact", || Box::new(ExactIndex::default())),
        #[cfg(feature = "hnsw")]
        ("hnsw", || Box::new(super::hnsw::HnswIndex::from_rows(16))),
    ]
}

/// Runs `check` on each backend, filled with `rows`.
#[track_caller]
fn each(rows: &[(Key, Vector)], check: impl Fn(&str, Box<dyn VectorIndex>)) {
    for (name, make) in backends() {
        let mut index = make();
        rows.iter()
            .for_each(|(key, vector)| index.upsert(*key, vector).unwrap());
        check(name, index);
    }
}

/// A direction in space, turned from the first axis towards the second by `degrees`.
fn at(degrees: f32) -> Vector {
    let angle = degrees.to_radians();
    Vector::try_from(vec![angle.cos(), angle.sin(), 0.0]).unwrap()
}

/// `count` vectors, a tenth of a degree apart.
fn fan(count: Key) -> Vec<(Key, Vector)> {
    (0..count).map(|key| (key, at(key as f32 / 10.0))).collect()
}

fn keys(index: &dyn VectorIndex, query: &Vector, k: usize, allowed: Option<&KeySet>) -> Vec<Key> {
    index
        .search(query, k, allowed)
        .unwrap()
        .iter()
        .map(|hit| hit.key)
        .collect()
}

#[test]
fn the_nearest_come_first_with_their_cosines() {
    each(&fan(200), |name, index| {
        assert_eq!(keys(&*index, &at(0.0), 3, None), [0, 1, 2], "{name}");
        let hits = index.search(&at(0.0), 200, None).unwrap();
        assert!(
            (hits[100].score - 10f32.to_radians().cos()).abs() < 1e-6,
            "{name}"
        );
    });
}

#[test]
fn equal_cosines_are_ordered_by_key() {
    let same: Vec<(Key, Vector)> = (0..40).rev().map(|key| (key, at(30.0))).collect();
    each(&same, |name, index| {
        assert_eq!(
            keys(&*index, &at(30.0), 40, None),
            (0..40).collect::<Vec<_>>(),
            "{name}"
        );
    });
}

#[test]
fn a_filter_that_allows_nothing_finds_nothing() {
    each(&fan(200), |name, index| {
        assert!(
            keys(&*index, &at(0.0), 10, Some(&KeySet::default())).is_empty(),
            "{name}"
        );
    });
}

#[test]
fn a_filter_that_allows_the_farthest_row_alone_finds_it() {
    let grid: Vec<(Key, Vector)> = (0..10_000)
        .map(|key| {
            let (x, y) = ((key / 100) as f32, (key % 100) as f32);
            (
                key,
                Vector::try_from(vec![1.0, x / 100.0, y / 100.0]).unwrap(),
            )
        })
        .collect();
    each(
        &grid[..if cfg!(feature = "hnsw") {
            2_000
        } else {
            10_000
        }],
        |name, index| {
            let last = index.len() as Key - 1;
            let allowed: KeySet = [last].into_iter().collect();
            let query = Vector::try_from(vec![1.0, 0.0, 0.0]).unwrap();
            assert_eq!(keys(&*index, &query, 10, Some(&allowed)), [last], "{name}");
        },
    );
}

#[test]
fn removed_rows_neither_come_back_nor_take_up_places() {
    each(&fan(1_000), |name, mut index| {
        (0..500).for_each(|key| assert!(index.remove(key), "{name}"));
        assert_eq!(index.len(), 500, "{name}");
        assert_eq!(
            keys(&*index, &at(0.0), 50, None),
            (500..550).collect::<Vec<_>>(),
            "{name}"
        );
        assert!(!index.remove(3), "{name}");
    });
}

#[test]
fn of_ten_alike_the_last_live_one_leads_and_others_fill_up() {
    let mut rows: Vec<(Key, Vector)> = (0..10).map(|key| (key, at(0.0))).collect();
    rows.extend((10..60).map(|key| (key, at(key as f32))));
    each(&rows, |name, mut index| {
        (0..9).for_each(|key| assert!(index.remove(key), "{name}"));
        assert_eq!(keys(&*index, &at(0.0), 3, None), [9, 10, 11], "{name}");
    });
}

#[test]
fn a_replaced_row_is_found_by_its_new_vector_only_and_once() {
    each(&fan(100), |name, mut index| {
        index.upsert(0, &at(90.0)).unwrap();
        assert_eq!(index.len(), 100, "{name}");
        assert_eq!(keys(&*index, &at(0.0), 2, None), [1, 2], "{name}");
        assert_eq!(keys(&*index, &at(90.0), 1, None), [0], "{name}");
    });
}

#[test]
fn an_emptied_index_answers_and_can_be_filled_again() {
    each(&fan(20), |name, mut index| {
        (0..20).for_each(|key| assert!(index.remove(key), "{name}"));
        assert!(
            index.is_empty() && keys(&*index, &at(0.0), 5, None).is_empty(),
            "{name}"
        );
        index.upsert(7, &at(1.0)).unwrap();
        assert_eq!(keys(&*index, &at(0.0), 5, None), [7], "{name}");
    });
}

#[test]
fn a_vector_of_another_encoder_is_refused_on_both_sides() {
    let other = Vector::try_from(vec![1.0, 0.0]).unwrap();
    each(&fan(20), |name, mut index| {
        let refused = |result| {
            matches!(
                result,
                Err(IndexError::Dimensions {
                    expected: 3,
                    found: 2
                })
            )
        };
        assert!(refused(index.upsert(99, &other)), "{name}");
        assert!(refused(index.search(&other, 1, None).map(|_| ())), "{name}");
    });
}

#[test]
fn no_hits_are_given_for_no_places() {
    each(&fan(20), |name, index| {
        assert!(keys(&*index, &at(0.0), 0, None).is_empty(), "{name}");
    });
}

/// Rows around `clusters` centres, from a small congruential generator.
#[cfg(feature = "hnsw")]
fn clustered(rows: Key, clusters: Key) -> Vec<(Key, Vector)> {
    let mut state = 1u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    let mut draw = || (0..32).map(|_| random()).collect::<Vec<f32>>();
    let centres: Vec<Vec<f32>> = (0..clusters).map(|_| draw()).collect();
    let row = |key: Key| {
        let centre = &centres[(key % clusters) as usize];
        let numbers = centre.iter().zip(draw()).map(|(c, noise)| c + 0.5 * noise);
        (
            key,
            Vector::try_from(numbers.collect::<Vec<f32>>()).unwrap(),
        )
    };
    (0..rows).map(row).collect()
}

#[cfg(feature = "hnsw")]
#[test]
fn the_graph_finds_what_the_scan_finds() {
    let rows = clustered(3_000, 30);
    let mut graph = super::hnsw::HnswIndex::from_rows(16);
    let mut scan = ExactIndex::default();
    for (key, vector) in &rows {
        graph.upsert(*key, vector).unwrap();
        scan.upsert(*key, vector).unwrap();
    }
    let found = |query: &Vector| {
        let wanted = keys(&scan, query, 10, None);
        keys(&graph, query, 10, None)
            .iter()
            .filter(|key| wanted.contains(key))
            .count()
    };
    let total: usize = rows
        .iter()
        .step_by(30)
        .map(|(_, vector)| found(vector))
        .sum();
    assert!(total >= 950, "{total} of 1000");
}

#[test]
fn a_backend_that_is_not_built_in_names_its_feature() {
    let made = VectorBackend::Hnsw.create();
    if cfg!(feature = "hnsw") {
        assert!(made.is_ok());
    } else {
        assert!(made.unwrap_err().to_string().ends_with("the feature hnsw"));
    }
}
