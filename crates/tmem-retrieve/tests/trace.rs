//! The trace, as data and in words.

mod common;

use common::{World, kitchen, query, small};
use expect_test::expect;

#[test]
fn a_person_can_read_why_each_piece_is_there() {
    let recall = World::of(&[kitchen()]).recall(&query("dine together by the fern"), &small());
    expect![[r#"
        topics that let scenes pass
          kitchen/t02, kitchen/t01, kitchen/t03
        scenes by similarity
          kitchen/s002 (0.033: words #1 at 2.461, meaning #1 at 0.265, dialogue #1 at 0.064, horizon trigger #3 at 0.000, bridges of its items #2 at 0.000)
            through topic kitchen/t02, "Home"
            dialogue of scene kitchen/s002: "I water the fern every morning" [cosine 0.19, in general 0.18]
        scenes by trigger
          kitchen/s007 (0.942: meaning #7 at 0.000, dialogue #5 at -0.147, horizon trigger #1 at 0.545, bridges of its items #7 at 0.000)
            through topic kitchen/t01, "Health and food"
            horizon trigger (consequence) of scene kitchen/s007: "The team looks for somewhere to dine together" [cosine 0.52, in general 0.00]
        items by similarity
          kitchen/i0001 (0.016: meaning #2 at 0.000)
            from scene kitchen/s001
          kitchen/i0003 (0.016: meaning #3 at 0.000)
            from scene kitchen/s003
          kitchen/i0004 (0.016: meaning #4 at 0.000)
            from scene kitchen/s004
        stayed out
          scenes by similarity: 5 ranked lower
          scenes by trigger: 5 ranked lower
          items: 2 ranked lower, 2 with all their turns in the context already
        88 tokens, 0 left out by the budget
    "#]].assert_eq(&recall.trace.explain());
}

#[test]
fn the_trace_names_the_trigger_with_its_text_and_numbers() {
    let recall = World::of(&[kitchen()]).recall(&query("dine together by the fern"), &small());
    let trace = serde_json::to_value(&recall.trace).unwrap();
    let scene = &trace["associations"].as_array().unwrap().iter();
    let scene = scene
        .clone()
        .find(|scene| scene["id"] == "kitchen/s007")
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
    assert_eq!(way["host"]["scene"], "kitchen/s007");
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
