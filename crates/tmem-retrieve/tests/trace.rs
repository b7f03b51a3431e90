//! The trace, as data and in words.

mod common;

use common::{World, kitchen, query, small};
use expect_test::expect;

#[test]
fn a_person_can_read_why_each_piece_is_there() {
    let recall = World::of(&[kitchen()]).recall(&query("dine together by the fern"), &small());
    expect![[""]].assert_eq(&recall.trace.explain());
}

#[test]
fn the_trace_names_the_trigger_with_its_text_and_numbers() {
    let recall = World::of(&[kitchen()]).recall(&query("dine together by the fern"), &small());
    let trace = serde_json::to_value(&recall.trace).unwrap();
    let scene = &trace["associations"].as_array().unwrap().iter();
    let scene = scene
        .clone()
        .find(|scene| scene["id"] == "kitchen/s001")
        .unwrap();
    let way = scene["via"]
        .as_array()
        .unwrap()
        .iter()
        .find(|way| way["view"] == "horizon")
        .unwrap();
    assert_eq!(way["family"], "horizon");
    assert_eq!(way["label"], "consequence");
    assert_eq!(way["text"], "The team looks for somewhere to dine together");
    assert_eq!(way["host"]["scene"], "kitchen/s001");
    assert!(way["cosine"].as_f64().unwrap() > way["background"].as_f64().unwrap());
    assert_eq!(scene["fate"]["kept"], "association");
}

#[test]
fn every_piece_of_the_context_is_in_the_trace_with_a_way_and_a_rank() {
    let recall = World::of(&[kitchen()]).ask("dine together by the fern, music at a party");
    for scene in &recall.context.scenes {
        let list = if scene.associative {
            &recall.trace.associations
        } else {
            &recall.trace.scenes
        };
        let told = list.iter().find(|told| told.id == scene.id).unwrap();
        assert!(
            !told.via.is_empty() && !told.ranks.is_empty(),
            "{}",
            scene.id
        );
    }
    for item in &recall.context.items {
        let told = recall
            .trace
            .items
            .iter()
            .find(|told| told.id == item.id)
            .unwrap();
        assert!(
            !told.via.is_empty() && !told.ranks.is_empty(),
            "{}",
            item.id
        );
    }
}
