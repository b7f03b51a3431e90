//! The exchange format: what it refuses and where, and that nothing changes on a round trip.

mod common;

use common::conversation;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tmem_model::{Document, Memory, memory::Change};

fn sample() -> Value {
    json!({
        "format": "tmem-memory/1",
        "conversation": "harbour",
        "speakers": ["Bo", "Ada"],
        "turns": [
            {"id": "D1:1", "speaker": "Ada", "text": "I repaired the jetty.", "at": "2024-05-10T20:00:00"},
            {"id": "D1:2", "speaker": "Bo", "text": "", "image": "a jetty at dusk"},
            {"id": "D2:1", "speaker": "Ada", "text": "The ferry is late."},
            {"id": "D10:1", "speaker": "Cem", "text": "It came."}
        ],
        "scenes": [
            {
                "id": "s001", "turns": ["D1:1", "D1:2"],
                "title": "The jetty", "summary": "Ada repaired it.", "narrative": "Ada tells Bo.",
                "scene_trigger": {"situation": "repairs", "object": "", "event": "", "emotion": "pride"},
                "horizon_triggers": [{"dimension": "goal", "text": "a boat of one's own", "confidence": 0.75}]
            },
            {
                "id": "s002", "turns": ["D2:1", "D10:1"],
                "title": "", "summary": "", "narrative": "", "horizon_triggers": []
            }
        ],
        "topics": [{"id": "t01", "title": "Boats", "keywords": ["ferry"], "scenes": ["s001", "s002"]}],
        "items": [
            {
                "id": "i0001", "kind": "atomic", "text": "Ada repaired the jetty.",
                "scenes": ["s001"], "turns": ["D1:1"],
                "triggers": [{"entity": "carpentry", "bridge": "a shelf falls", "rationale": "she can", "confidence": 1.0}]
            },
            {
                "id": "i0002", "kind": "connected", "text": "Ada is at the harbour a lot.",
                "scenes": ["s001", "s002"], "turns": [], "supersedes": ["i0001"], "triggers": []
            }
        ],
        "personas": [{"speaker": "Ada", "summary": "handy"}]
    })
}

fn change(json: &str) -> Result<Change, String> {
    let chain = |error: &dyn std::error::Error| match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    let document = Document::parse(json).map_err(|error| chain(&error))?;
    document
        .into_change(&Memory::new())
        .map_err(|error| chain(&error))
}

fn round(json: &str) -> String {
    let document = Document::parse(json).unwrap();
    let conversation = document.conversation().clone();
    let mut memory = Memory::new();
    memory
        .apply(&document.into_change(&memory).unwrap())
        .unwrap();
    Document::of(&memory, &conversation).unwrap().to_json()
}

/// The sample with the value at `pointer` replaced is refused with this message.
#[track_caller]
fn refused(pointer: &str, value: Value, expect: Expect) {
    let mut document = sample();
    *document
        .pointer_mut(pointer)
        .expect("the sample has this place") = value;
    expect.assert_eq(&change(&document.to_string()).unwrap_err());
}

#[test]
fn a_canonical_document_comes_back_byte_by_byte() {
    let once = round(&sample().to_string());
    assert_eq!(round(&once), once);
    let mut expected = sample();
    expected["speakers"] = json!(["Bo", "Ada", "Cem"]);
    assert_eq!(serde_json::from_str::<Value>(&once).unwrap(), expected);
    assert!(
        once.starts_with("{\n \"format\": \"tmem-memory/1\",\n \"conversation\": \"harbour\",")
    );
    assert!(once.ends_with('}'));
}

#[test]
fn equal_memories_are_equal_bytes_whatever_their_order_in_the_file() {
    let mut shuffled = sample();
    for key in ["scenes", "items"] {
        shuffled[key].as_array_mut().unwrap().reverse();
    }
    assert_eq!(round(&shuffled.to_string()), round(&sample().to_string()));
}

#[test]
fn unknown_fields_are_kept_at_every_level_and_in_their_order() {
    let mut document = sample();
    let places = [
        "",
        "/turns/0",
        "/scenes/0",
        "/scenes/0/scene_trigger",
        "/scenes/0/horizon_triggers/0",
        "/topics/0",
        "/items/0",
        "/items/0/triggers/0",
        "/personas/0",
    ];
    for place in places {
        let object = document
            .pointer_mut(place)
            .unwrap()
            .as_object_mut()
            .unwrap();
        object.insert("zeta".into(), json!({"deep": [1, null, "x"]}));
        object.insert("alpha".into(), json!(true));
    }
    let once = round(&document.to_string());
    let read: Value = serde_json::from_str(&once).unwrap();
    for place in places {
        let object = read.pointer(place).unwrap().as_object().unwrap();
        let last: Vec<_> = object.keys().rev().take(2).rev().collect();
        assert_eq!(last, ["zeta", "alpha"], "{place}");
    }
    assert_eq!(round(&once), once);
}

#[test]
fn open_turns_survive_and_are_told_from_forgotten_ones() {
    let mut document = sample();
    document["scenes"][1]["turns"] = json!(["D2:1"]);
    expect!["turns[3].id: turn harbour/D10:1 is in no scene and not listed under `open`"]
        .assert_eq(&change(&document.to_string()).unwrap_err());
    document["open"] = json!(["D10:1"]);
    let once = round(&document.to_string());
    assert!(once.contains("\"open\": [\n  \"D10:1\"\n ]"));
    assert_eq!(round(&once), once);
}

#[test]
fn a_document_without_scenes_is_a_conversation_not_built_yet() {
    let mut document = sample();
    for key in ["scenes", "topics", "items"] {
        document[key] = json!([]);
    }
    let once = round(&document.to_string());
    assert_eq!(round(&once), once);
}

#[test]
fn other_formats_are_refused() {
    refused(
        "/format",
        json!("tmem-memory/2"),
        expect![[
            r#"format: "tmem-memory/2" is not supported, this version reads "tmem-memory/1"; what people said is read with `tmem add`"#
        ]],
    );
    refused(
        "/format",
        Value::Null,
        expect![[
            r#"format: nothing is not supported, this version reads "tmem-memory/1"; what people said is read with `tmem add`"#
        ]],
    );
    expect!["it is no JSON: expected value at line 1 column 1"]
        .assert_eq(&change("hello").unwrap_err());
    expect!["document: an object is expected, not a list"].assert_eq(&change("[]").unwrap_err());
}

#[test]
fn wrong_types_name_the_field_and_its_owner() {
    refused(
        "/turns/1/text",
        json!(7),
        expect!["turns[1].text (in D1:2): a string is expected, not a number"],
    );
    refused(
        "/turns/1/speaker",
        Value::Null,
        expect!["turns[1].speaker (in D1:2): a string is expected here"],
    );
    refused(
        "/turns",
        json!({}),
        expect!["turns: a list is expected, not an object"],
    );
    refused(
        "/scenes/0/turns/1",
        json!(2),
        expect!["scenes[0].turns[1] (in s001): a string is expected, not a number"],
    );
    refused(
        "/scenes/0/scene_trigger",
        json!("x"),
        expect!["scenes[0].scene_trigger: an object is expected, not a string"],
    );
    refused(
        "/items/0/kind",
        json!("molecular"),
        expect![[r#"items[0].kind (in i0001): "molecular" is neither atomic nor connected"#]],
    );
    refused(
        "/topics/0/id",
        json!(" "),
        expect!["topics[0].id: an id is empty"],
    );
    refused(
        "/conversation",
        json!("a/b"),
        expect![[r#"conversation: id "a/b" holds a character that ids may not hold"#]],
    );
    refused(
        "/items/0",
        json!("i0001"),
        expect!["items[0]: an object is expected, not a string"],
    );
}

#[test]
fn a_confidence_lies_between_0_and_1() {
    let pointer = "/items/0/triggers/0/confidence";
    refused(
        pointer,
        json!(1.5),
        expect![
            "items[0].triggers[0].confidence (in i0001): confidence 1.5 does not lie between 0 and 1"
        ],
    );
    refused(
        pointer,
        json!(-0.1),
        expect![
            "items[0].triggers[0].confidence (in i0001): confidence -0.1 does not lie between 0 and 1"
        ],
    );
    refused(
        pointer,
        json!("high"),
        expect!["items[0].triggers[0].confidence (in i0001): a number is expected, not a string"],
    );
    let json = sample().to_string().replace("0.75", "NaN");
    assert!(
        change(&json)
            .unwrap_err()
            .starts_with("it is no JSON: expected value at line 1")
    );
    let json = sample().to_string().replace("0.75", "1e999");
    assert!(
        change(&json)
            .unwrap_err()
            .starts_with("it is no JSON: number out of range")
    );
}

#[test]
fn times_are_civil_and_others_refused() {
    refused(
        "/turns/0/at",
        json!("last Tuesday"),
        expect![[r#"turns[0].at (in D1:1): "last Tuesday" is no time like 2024-05-10T20:00:00"#]],
    );
    let json = sample()
        .to_string()
        .replace("2024-05-10T20:00:00", "2024-05-10T20:00:00+02:00");
    assert!(round(&json).contains("\"at\": \"2024-05-10T20:00:00\""));
}

#[test]
fn every_id_referred_to_exists() {
    refused(
        "/scenes/1/turns/0",
        json!("D9:9"),
        expect![
            "scenes[1].turns[0] breaks a rule: scene harbour/s002 refers to turn harbour/D9:9, which does not exist"
        ],
    );
    refused(
        "/topics/0/scenes/1",
        json!("s9"),
        expect![
            "topics[0].scenes[1] breaks a rule: topic harbour/t01 refers to scene harbour/s9, which does not exist"
        ],
    );
    refused(
        "/items/0/scenes/0",
        json!("s9"),
        expect![
            "items[0].scenes[0] breaks a rule: item harbour/i0001 refers to scene harbour/s9, which does not exist"
        ],
    );
    refused(
        "/items/0/turns/0",
        json!("D9:9"),
        expect![
            "items[0].turns[0] breaks a rule: item harbour/i0001 refers to turn harbour/D9:9, which does not exist"
        ],
    );
}

#[test]
fn an_item_supersedes_others_that_exist_and_never_itself() {
    refused(
        "/items/1/supersedes/0",
        json!("i9"),
        expect![
            "items[1].supersedes[0] breaks a rule: item harbour/i0002 refers to item harbour/i9, which does not exist"
        ],
    );
    refused(
        "/items/1/supersedes/0",
        json!("i0002"),
        expect!["items[1].supersedes breaks a rule: item harbour/i0002 supersedes itself"],
    );
}

#[test]
fn ids_are_unique_within_their_kind() {
    refused(
        "/turns/1/id",
        json!("D1:1"),
        expect!["turns[1] breaks a rule: turn harbour/D1:1 is given twice"],
    );
    refused(
        "/scenes/1/id",
        json!("s001"),
        expect!["scenes[1] breaks a rule: scene harbour/s001 is given twice"],
    );
    refused(
        "/items/1/id",
        json!("i0001"),
        expect!["items[1] breaks a rule: item harbour/i0001 is given twice"],
    );
    let persona = json!({"speaker": "Ada", "summary": "calm"});
    refused(
        "/personas",
        json!([persona, persona]),
        expect![[r#"personas[1] breaks a rule: persona of "Ada" in harbour is given twice"#]],
    );
}

#[test]
fn scenes_partition_the_turns() {
    refused(
        "/scenes/1/turns",
        json!(["D1:2", "D2:1", "D10:1"]),
        expect![
            "scenes[1].turns[0] breaks a rule: turn harbour/D1:2 is in scene harbour/s001 and in scene harbour/s002"
        ],
    );
    refused(
        "/scenes/0/turns",
        json!(["D1:2", "D1:1"]),
        expect![
            "scenes[0].turns[1] breaks a rule: turn harbour/D1:1 does not directly follow turn harbour/D1:2, its predecessor in scene harbour/s001"
        ],
    );
    refused(
        "/scenes/0/turns",
        json!([]),
        expect!["scenes[0].turns breaks a rule: scene harbour/s001 has no turns"],
    );
}

#[test]
fn kinds_of_items_and_topics_fit_their_number_of_scenes() {
    refused(
        "/items/0/scenes",
        json!(["s001", "s002"]),
        expect![
            "items[0].scenes breaks a rule: item harbour/i0001 is Atomic and has 2 scenes: atomic takes one, connected two or more"
        ],
    );
    refused(
        "/items/1/scenes",
        json!(["s001"]),
        expect![
            "items[1].scenes breaks a rule: item harbour/i0002 is Connected and has 1 scenes: atomic takes one, connected two or more"
        ],
    );
    refused(
        "/items/1/scenes",
        json!(["s001", "s001"]),
        expect![
            "items[1].scenes[1] breaks a rule: item harbour/i0002 refers to scene harbour/s001 twice"
        ],
    );
    refused(
        "/topics/0/scenes",
        json!([]),
        expect!["topics[0].scenes breaks a rule: topic harbour/t01 has no scenes"],
    );
}

#[test]
fn turns_may_be_left_to_the_conversation_that_holds_them() {
    let mut without = sample();
    without.as_object_mut().unwrap().remove("turns");
    expect!["turns: absent, and conversation harbour holds no turns that they could be"]
        .assert_eq(&change(&without.to_string()).unwrap_err());

    let all = change(&sample().to_string()).unwrap();
    let mut memory = Memory::new();
    memory
        .apply(&Change {
            turns: all.turns.clone(),
            ..Change::default()
        })
        .unwrap();
    let change = Document::parse(&without.to_string())
        .unwrap()
        .into_change(&memory)
        .unwrap();
    assert_eq!((change.turns.len(), change.scenes.len()), (0, 2));
    memory.apply(&change).unwrap();
    assert_eq!(
        Document::of(&memory, &conversation("harbour"))
            .unwrap()
            .to_json(),
        round(&sample().to_string())
    );
}

#[test]
fn a_hole_is_refused_even_where_the_turns_are_left_to_the_conversation() {
    let all = change(&sample().to_string()).unwrap();
    let mut memory = Memory::new();
    memory
        .apply(&Change {
            turns: all.turns,
            ..Change::default()
        })
        .unwrap();
    let mut document = sample();
    document.as_object_mut().unwrap().remove("turns");
    document["scenes"][1]["turns"] = json!(["D10:1"]);
    let document = Document::parse(&document.to_string()).unwrap();
    expect!["turns[2].id: turn harbour/D2:1 is in no scene and not listed under `open`"]
        .assert_eq(&document.into_change(&memory).unwrap_err().to_string());
}

#[test]
fn importing_again_changes_nothing_and_other_conversations_stay() {
    let mut memory = Memory::new();
    memory.apply(&common::turns("other", &["1"])).unwrap();
    for _ in 0..2 {
        let document = Document::parse(&sample().to_string()).unwrap();
        memory
            .apply(&document.into_change(&memory).unwrap())
            .unwrap();
    }
    let names: Vec<_> = memory.conversations().map(|c| c.as_str()).collect();
    assert_eq!(names, ["other", "harbour"]);
    assert_eq!(
        Document::of(&memory, &conversation("harbour"))
            .unwrap()
            .to_json(),
        round(&sample().to_string())
    );
    assert_eq!(memory.turns(&conversation("other")).count(), 1);
}

#[test]
fn the_same_document_may_be_read_under_another_name() {
    let copy = conversation("copy");
    let document = Document::parse_as(&sample().to_string(), &copy).unwrap();
    let change = document.into_change(&Memory::new()).unwrap();
    assert!(change.written().all(|id| id.conversation() == &copy));
}

#[test]
fn a_turn_of_the_same_id_and_another_content_is_not_merged() {
    let mut memory = Memory::new();
    memory
        .apply(&change(&sample().to_string()).unwrap())
        .unwrap();
    let json = sample().to_string().replace("It came.", "It sank.");
    let error = Document::parse(&json)
        .unwrap()
        .into_change(&memory)
        .unwrap_err();
    expect!["turns[3].id: turn harbour/D10:1 is already there with another content"]
        .assert_eq(&error.to_string());
}

#[test]
fn texts_are_mended_where_they_come_in() {
    let json = sample()
        .to_string()
        .replace("It came.", r"ok \ud83d then \u0000 on");
    let text = round(&json);
    assert!(text.contains("ok \u{fffd} then  on"), "{text}");
    assert_eq!(round(&text), text);
}

#[test]
fn nesting_without_end_is_an_error() {
    let json = format!("{{\"format\": {}", "[".repeat(100_000));
    assert!(
        change(&json)
            .unwrap_err()
            .starts_with("it is no JSON: recursion limit exceeded")
    );
}
