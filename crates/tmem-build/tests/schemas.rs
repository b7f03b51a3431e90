//! Every schema that is sent is strict and bounded.

mod common;

use std::cell::RefCell;
use std::rc::Rc;

use common::{Bench, dialogue, read};
use serde_json::Value;
use tmem_build::{BuildConfig, Segmenter};
use tmem_llm::{Reply, ReplySchema};

fn schemas(config: BuildConfig) -> Vec<ReplySchema> {
    let all = Rc::new(RefCell::new(Vec::new()));
    let mut bench = Bench::new(config);
    let seen = all.clone();
    bench.model = Box::new(move |request| {
        seen.borrow_mut().extend(request.schema.clone());
        Ok(Reply::text(read(request).to_string()))
    });
    bench.add(&dialogue(40));
    bench.flush();
    bench.build();
    all.take()
}

#[test]
fn every_schema_is_strict_and_every_text_and_list_is_bounded() {
    let small = BuildConfig {
        segmenter: Segmenter::Model,
        personas: true,
        ..BuildConfig::small()
    };
    for config in [BuildConfig::default(), small] {
        let all = schemas(config);
        let mut names: Vec<&str> = all.iter().map(|schema| schema.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let expect = [
            "item_triggers",
            "items",
            "persona",
            "scene_triggers",
            "segment",
            "topics",
            "write",
        ];
        assert_eq!(names, expect);
        for schema in &all {
            tmem_llm::schema::assert_strict(&schema.schema);
            bounded(&schema.schema, &schema.name);
        }
    }
}

fn bounded(schema: &Value, path: &str) {
    match schema["type"].as_str() {
        Some("string") => assert!(schema["maxLength"].is_u64(), "{path}: a text without bound"),
        Some("array") => {
            assert!(
                schema["maxItems"].as_u64() > Some(0),
                "{path}: a list without bound"
            );
            bounded(&schema["items"], &format!("{path}[]"));
        }
        Some("object") => {
            for (name, inner) in schema["properties"].as_object().unwrap() {
                bounded(inner, &format!("{path}.{name}"));
            }
        }
        _ => {}
    }
}

#[test]
fn small_models_begin_facts_with_who_spoke_and_write_triggers_without_the_words_of_their_host() {
    let all = schemas(BuildConfig {
        segmenter: Segmenter::Model,
        ..BuildConfig::small()
    });
    let of = |name| all.iter().find(|schema| schema.name == name).unwrap();
    let fact = &of("items").schema["properties"]["items"]["items"]["properties"]["text"];
    let pattern = fact["pattern"].as_str().unwrap();
    assert!(
        pattern.starts_with("^(Ada)") || pattern.starts_with("^(Bo)"),
        "{pattern}"
    );
    assert!(!of("item_triggers").without.is_empty());
    assert!(!of("scene_triggers").without.is_empty());
    assert!(of("items").without.is_empty());
}

#[test]
fn small_models_can_only_cite_what_was_offered() {
    let all = schemas(BuildConfig {
        segmenter: Segmenter::Model,
        facts_by_turn: false,
        ..BuildConfig::small()
    });
    let items = all.iter().find(|schema| schema.name == "items").unwrap();
    let turn = &items.schema["properties"]["items"]["items"]["properties"]["turn"];
    assert!(
        turn["minimum"] == 1 && turn["maximum"].as_u64() > Some(1),
        "{turn}"
    );
}
