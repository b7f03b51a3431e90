//! What every lexical backend owes; our own postings are the yardstick.

use tmem_model::text::terms;

use super::{LexicalBackend, LexicalDocument, LexicalIndex};
use crate::key::{Key, KeySet};

/// Runs `check` on each backend, filled with `texts`, which get the keys 0, 1, ….
#[track_caller]
fn each(texts: &[&str], check: impl Fn(&str, Box<dyn LexicalIndex>)) {
    let backends = [
        ("postings", LexicalBackend::Postings),
        ("tantivy", LexicalBackend::Tantivy),
    ];
    for (name, backend) in backends {
        let Ok(mut index) = backend.create() else {
            continue;
        };
        let documents = (0..).zip(texts).map(|(key, text)| document(key, text));
        index.upsert(documents.collect()).unwrap();
        check(name, index);
    }
}

fn document(key: Key, text: &str) -> LexicalDocument {
    LexicalDocument {
        key,
        terms: terms(text),
    }
}

fn keys(index: &dyn LexicalIndex, query: &str, k: usize, allowed: Option<&KeySet>) -> Vec<Key> {
    index
        .search(&terms(query), k, allowed)
        .unwrap()
        .iter()
        .map(|hit| hit.key)
        .collect()
}

const TEXTS: &[&str] = &[
    "Ines waters the fern every morning",
    "Tom repaired the kettle",
    "The fern lost its leaves, poor fern",
    "It was -5 degrees at 7:30, said Dr. Okafor",
];

#[test]
fn documents_with_more_of_the_query_come_first_and_others_not_at_all() {
    each(TEXTS, |name, index| {
        assert_eq!(keys(&*index, "fern leaves", 10, None), [2, 0], "{name}");
    });
}

#[test]
fn the_score_is_okapis() {
    each(&["kettle lamp", "lamp lamp"], |name, index| {
        let hits = index.search(&terms("lamp"), 10, None).unwrap();
        let idf = (1.0 + 0.5 / 2.5f32).ln();
        let expected = [idf * 2.0 * 2.2 / (2.0 + 1.2), idf];
        for (hit, expected) in hits.iter().zip(expected) {
            assert!(
                (hit.score - expected).abs() < 1e-5,
                "{name}: {hit:?}, not {expected}"
            );
        }
    });
}

#[test]
fn a_repeated_query_term_counts_once() {
    each(TEXTS, |name, index| {
        let once = index.search(&terms("fern kettle"), 10, None).unwrap();
        assert_eq!(
            index.search(&terms("fern fern kettle"), 10, None).unwrap(),
            once,
            "{name}"
        );
    });
}

#[test]
fn equal_scores_are_ordered_by_key_after_every_change() {
    each(&["a lamp"; 12], |name, mut index| {
        index.upsert(vec![document(3, "a lamp")]).unwrap();
        assert_eq!(keys(&*index, "lamp", 5, None), [0, 1, 2, 3, 4], "{name}");
    });
}

#[test]
fn signs_and_operators_are_no_syntax() {
    each(TEXTS, |name, index| {
        for query in [
            "-5 degrees",
            "what about 7:30?",
            "she said \"degrees",
            "degrees^2 OR",
        ] {
            assert_eq!(keys(&*index, query, 10, None), [3], "{name}: {query}");
        }
        for query in [">>>", "AND", "text:secret", "", "?!"] {
            assert!(keys(&*index, query, 10, None).is_empty(), "{name}: {query}");
        }
        let plain = keys(&*index, "Dr. Okafor which clinic", 10, None);
        assert_eq!(
            keys(&*index, "Dr. Okafor: which clinic?", 10, None),
            plain,
            "{name}"
        );
    });
}

#[test]
fn the_filter_comes_before_the_cut() {
    let mut texts = vec!["the lamp"; 200];
    texts.push("a lamp stands in the far corner of the old reading room");
    each(&texts, |name, index| {
        let allowed: KeySet = [200].into_iter().collect();
        assert_eq!(keys(&*index, "lamp", 5, Some(&allowed)), [200], "{name}");
        assert!(
            keys(&*index, "lamp", 5, Some(&KeySet::default())).is_empty(),
            "{name}"
        );
    });
}

#[test]
fn a_replaced_document_is_not_found_by_its_old_words() {
    each(&["Ada works at Brightwater"], |name, mut index| {
        index
            .upsert(vec![document(0, "Ada works at Stonefield")])
            .unwrap();
        assert_eq!(index.len(), 1, "{name}");
        assert!(keys(&*index, "Brightwater", 5, None).is_empty(), "{name}");
        assert_eq!(keys(&*index, "Stonefield", 5, None), [0], "{name}");
    });
}

#[test]
fn after_removal_scores_are_those_of_an_index_that_never_held_the_document() {
    each(TEXTS, |name, mut index| {
        index.remove(&[1, 2, 77]).unwrap();
        assert_eq!(index.len(), 2, "{name}");
        each(&[TEXTS[0]], |other, mut fresh| {
            if name == other {
                fresh.upsert(vec![document(3, TEXTS[3])]).unwrap();
                let hits = |index: &dyn LexicalIndex| index.search(&terms("fern degrees"), 9, None);
                assert_eq!(hits(&*index).unwrap(), hits(&*fresh).unwrap(), "{name}");
            }
        });
    });
}

#[test]
fn an_emptied_index_answers_and_can_be_filled_again() {
    each(TEXTS, |name, mut index| {
        index.remove(&[0, 1, 2, 3]).unwrap();
        assert!(
            index.is_empty() && keys(&*index, "fern", 5, None).is_empty(),
            "{name}"
        );
        index.upsert(vec![document(9, "a fern")]).unwrap();
        assert_eq!(keys(&*index, "fern", 5, None), [9], "{name}");
    });
}

#[test]
fn a_backend_that_is_not_built_in_names_its_feature() {
    let made = LexicalBackend::Tantivy.create();
    if cfg!(feature = "bm25") {
        assert!(made.is_ok());
    } else {
        assert!(made.unwrap_err().to_string().ends_with("the feature bm25"));
    }
}
