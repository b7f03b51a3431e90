//! Rows, tables and background over a small invented memory.

use expect_test::{Expect, expect};
use tmem_index::{Host, IndexConfig, Indices, Kind, Row, Vector, View, rows};
use tmem_model::document::Document;
use tmem_model::{Change, Memory};

const HARBOUR: &str = r#"{"format": "tmem-memory/1", "conversation": "harbour", "speakers": ["Ida"],
  "turns": [
    {"id": "T1", "speaker": "Ida", "text": "The ferry was late"},
    {"id": "T2", "speaker": "Ida", "text": "", "image": "a grey ferry"},
    {"id": "T10", "speaker": "Ida", "text": "I sold the boat"}],
  "scenes": [
    {"id": "s1", "turns": ["T1", "T2"], "title": "A late ferry", "summary": "", "narrative": "n",
     "scene_trigger": {"situation": "", "object": "", "event": "waiting", "emotion": " "},
     "horizon_triggers": [{"dimension": "goal", "text": "leaving earlier"}]},
    {"id": "s2", "turns": ["T10"], "title": "The boat", "summary": "Ida sold it.", "narrative": "n",
     "horizon_triggers": []}],
  "topics": [{"id": "t1", "title": "Ferries", "keywords": ["delay", "pier"], "scenes": ["s1"]}],
  "items": [{"id": "i1", "kind": "atomic", "text": "Ida sold her boat", "scenes": ["s2"],
     "turns": ["T10"], "triggers": [
       {"entity": "", "bridge": "somebody wants to sail", "rationale": "she has none any more"},
       {"entity": "sale", "bridge": "", "rationale": ""}]}],
  "personas": []}"#;

fn harbour() -> Memory {
    let mut memory = Memory::new();
    let change = Document::parse(HARBOUR)
        .unwrap()
        .into_change(&memory)
        .unwrap();
    memory.apply(&change).unwrap();
    memory
}

/// A vector of the plane, `degrees` from the first axis.
fn at(degrees: f32) -> Vector {
    let angle = degrees.to_radians();
    Vector::try_from(vec![angle.cos(), angle.sin()]).unwrap()
}

/// Indices in which each row lies at the degrees that `place` gives it, or nowhere.
fn indices(memory: &Memory, place: impl Fn(&Row) -> Option<f32>) -> Indices {
    let with = |row: Row| (row.clone(), place(&row).map(at));
    let rows = rows(memory).into_iter().map(with).collect();
    Indices::build(memory, rows, &IndexConfig::default()).unwrap()
}

fn local(host: &Host) -> &str {
    match host {
        Host::Turn(id) => id.local(),
        Host::Topic(id) => id.local(),
        Host::Scene(id) => id.local(),
        Host::Item(id) => id.local(),
    }
}

#[track_caller]
fn check_rows(memory: &Memory, expect: Expect) {
    let line = |row: &Row| {
        format!(
            "{:?} {} {}: {}\n",
            row.view,
            local(&row.host),
            row.ordinal,
            row.text
        )
    };
    expect.assert_eq(&rows(memory).iter().map(line).collect::<String>());
}

#[test]
fn every_text_has_a_row_and_blank_ones_have_none_but_keep_their_number() {
    check_rows(
        &harbour(),
        expect![[r#"
        Turn T1 0: Ida: The ferry was late
        Turn T2 0: Ida: [image: a grey ferry]
        Turn T10 0: Ida: I sold the boat
        Topic t1 0: Ferries. delay, pier
        Scene s1 0: A late ferry
        Dialogue s1 0: Ida: The ferry was late
        Ida: [image: a grey ferry]
        SceneTrigger s1 2: waiting
        Horizon s1 0: leaving earlier
        Scene s2 0: The boat. Ida sold it.
        Dialogue s2 0: Ida: I sold the boat
        Item i1 0: Ida sold her boat
        Bridge i1 0: somebody wants to sail
        Joint i1 0: somebody wants to sail. she has none any more
        Concept i1 1: sale
        Joint i1 1: sale
    "#]],
    );
}

#[test]
fn a_host_is_ranked_by_the_best_of_its_texts() {
    let place = |row: &Row| Some(if row.ordinal == 0 { 60.0 } else { 10.0 });
    let indices = indices(&harbour(), place);
    let found = indices.nearest(View::Joint, &at(0.0), 0.0, None).unwrap();
    assert_eq!((found.len(), found[0].ordinal), (1, 1));
    assert!((found[0].cosine - 10f32.to_radians().cos()).abs() < 1e-6);
}

#[test]
fn the_background_leaves_out_what_the_host_itself_said() {
    let place = |row: &Row| Some(if local(&row.host) == "T10" { 60.0 } else { 0.0 });
    let indices = indices(&harbour(), place);
    let means: Vec<f32> = indices
        .backgrounds(View::Dialogue)
        .map(|(_, _, mean)| mean)
        .collect();
    assert!(
        (means[0] - 0.5).abs() < 1e-6,
        "the first scene hears the second only: {means:?}"
    );
    assert!(
        (means[1] - 1.0).abs() < 1e-6,
        "the second hears the first only: {means:?}"
    );
}

#[test]
fn the_correction_takes_its_share_of_the_background() {
    let indices = indices(&harbour(), |_| Some(0.0));
    let found = indices
        .nearest(View::Horizon, &at(60.0), 0.5, None)
        .unwrap();
    assert!((found[0].background - 1.0).abs() < 1e-6);
    assert!((found[0].cosine - 0.5).abs() < 1e-6 && found[0].score.abs() < 1e-6);
}

#[test]
fn the_nodes_own_texts_have_no_background() {
    let indices = indices(&harbour(), |_| Some(0.0));
    for view in [View::Turn, View::Topic, View::Scene, View::Item] {
        assert!(
            indices.backgrounds(view).all(|(_, _, mean)| mean == 0.0),
            "{view:?}"
        );
    }
}

#[test]
fn vectors_of_another_length_are_left_out_and_counted() {
    let memory = harbour();
    let odd = Vector::try_from(vec![1.0, 0.0, 0.0]).unwrap();
    let with = |(n, row): (usize, Row)| (row, Some(if n < 2 { odd.clone() } else { at(0.0) }));
    let rows: Vec<_> = rows(&memory).into_iter().enumerate().map(with).collect();
    let usual = Indices::build(&memory, rows.clone(), &IndexConfig::default()).unwrap();
    assert_eq!(
        (usual.left_out(), usual.dimensions(), usual.len(View::Turn)),
        (2, Some(2), 1)
    );
    let config = IndexConfig {
        dimensions: Some(3),
        ..IndexConfig::default()
    };
    let three = Indices::build(&memory, rows, &config).unwrap();
    assert_eq!((three.dimensions(), three.len(View::Turn)), (Some(3), 2));
    assert!(!three.lexical(Kind::Turn, "boat", None).unwrap().is_empty());
}

#[test]
fn without_vectors_words_are_still_found() {
    let indices = indices(&harbour(), |_| None);
    assert!(indices.is_empty() && indices.dimensions().is_none());
    let found = indices
        .lexical(Kind::Scene, "Who sold a boat?", None)
        .unwrap();
    assert_eq!(indices.scenes()[found[0].key as usize].local(), "s2");
}

#[test]
fn keys_follow_the_natural_order_of_ids() {
    let indices = indices(&harbour(), |_| None);
    let turns: Vec<&str> = indices.turns().iter().map(|turn| turn.local()).collect();
    assert_eq!(turns, ["T1", "T2", "T10"]);
    assert_eq!(
        indices.key(&Host::Turn(indices.turns()[2].clone())),
        Some(2)
    );
}

#[test]
fn what_was_removed_from_the_memory_is_in_no_index() {
    let mut memory = harbour();
    let item = memory.items().next().unwrap().id.clone();
    let mut change = Change::default();
    change.removed.items.push(item.clone());
    memory.apply(&change).unwrap();
    let indices = indices(&memory, |_| Some(0.0));
    assert_eq!(indices.key(&Host::Item(item)), None);
    assert!(
        [View::Item, View::Bridge, View::Joint]
            .iter()
            .all(|view| indices.len(*view) == 0)
    );
    assert!(
        indices
            .lexical(Kind::Item, "boat", None)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn edges_lead_both_ways() {
    let indices = indices(&harbour(), |_| None);
    let links = indices.links();
    assert_eq!(
        (links.scenes_of(0), links.topics_of(0)),
        (&[0][..], &[0][..])
    );
    assert_eq!((links.sources(0), links.items_of(1)), (&[1][..], &[0][..]));
    assert!(links.topics_of(1).is_empty() && links.items_of(0).is_empty());
    assert!(links.open_turns().is_empty());
}
