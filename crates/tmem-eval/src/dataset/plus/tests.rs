//! What the loader makes of cues, gaps and dates, on invented items.

use expect_test::{Expect, expect};
use serde_json::json;
use tmem_model::TurnId;

use super::*;
use crate::dataset::Session;

fn host() -> Dialogue {
    let id = ConversationId::new("h").expect("a name");
    let session = |number: u32, date: &str| {
        let turn = TurnId::new(&id, &format!("D{number}:1")).expect("an id");
        let at = Some(date.parse().expect("a date"));
        let turn = tmem_model::Turn {
            id: turn,
            speaker: "Ana".into(),
            text: "Hello".into(),
            at,
            image: None,
            extra: serde_json::Map::new(),
        };
        Session {
            number,
            at,
            turns: vec![turn],
        }
    };
    let sessions = vec![
        session(1, "2023-01-10T10:00:00"),
        session(2, "2023-03-10T10:00:00"),
        session(3, "2023-05-10T10:00:00"),
    ];
    Dialogue {
        id: id.clone(),
        speakers: vec!["Ana".into(), "Bo".into()],
        sessions,
        questions: vec![],
    }
}

fn item(cue: &str, gap: &str) -> String {
    json!([{"relation_type": "goal", "cue_dialogue": cue, "trigger_query": "A: Should I try the new bakery?", "time_gap": gap}])
        .to_string()
}

#[track_caller]
fn check(cue: &str, gap: &str, expect: Expect) {
    let host = host();
    let (cues, _) = load(&item(cue, gap), std::slice::from_ref(&host)).expect("a good item");
    let placed = stitch(&cues[0], &host).expect("placed");
    let mut shown: Vec<_> = placed
        .turns
        .iter()
        .map(|turn| format!("{} {}: {}", turn.id.local(), turn.speaker, turn.text))
        .collect();
    let date = |at: Option<jiff::civil::DateTime>| at.map_or("-".into(), |at| at.to_string());
    shown.push(format!(
        "after {} sessions, {}, asked {}{}",
        placed.sessions_before,
        date(placed.at),
        date(placed.query_at),
        if placed.moved { ", moved" } else { "" }
    ));
    expect.assert_eq(&shown.join("\n"));
}

#[test]
fn sides_become_the_hosts_speakers_and_other_colons_survive() {
    check(
        "A: I gave up sugar: all of it, vitamin B: too.\nB: When: spring?",
        "two months later",
        expect![[r#"
            CUE0:1 Ana: I gave up sugar: all of it, vitamin B: too.
            CUE0:2 Bo: When: spring?
            after 2 sessions, 2023-03-18T10:00:00, asked 2023-05-17T10:00:00"#]],
    );
}

#[test]
fn a_cue_of_one_line_is_one_turn() {
    check(
        "A: I gave up sugar in spring.",
        "about six weeks later",
        expect![[r#"
            CUE0:1 Ana: I gave up sugar in spring.
            after 2 sessions, 2023-04-05T10:00:00, asked 2023-05-17T10:00:00"#]],
    );
}

#[test]
fn lines_run_together_are_taken_apart() {
    check(
        "A: I sold my car.\\nB: Brave of you.",
        "a year after",
        expect![[r#"
            CUE0:1 Ana: I sold my car.
            CUE0:2 Bo: Brave of you.
            after 0 sessions, 2022-05-17T10:00:00, asked 2023-05-17T10:00:00"#]],
    );
    check(
        "A: I sold my car. B: Brave of you.",
        "two months after the sale",
        expect![[r#"
            CUE0:1 Ana: I sold my car.
            CUE0:2 Bo: Brave of you.
            after 2 sessions, 2023-03-18T10:00:00, asked 2023-05-17T10:00:00"#]],
    );
}

#[test]
fn a_cue_is_never_next_to_its_query() {
    check(
        "A: I sold my car.",
        "one week later",
        expect![[r#"
            CUE0:1 Ana: I sold my car.
            after 2 sessions, 2023-05-10T09:59:00, asked 2023-05-17T10:00:00, moved"#]],
    );
    check(
        "A: I sold my car.",
        "after some time",
        expect![[r#"
            CUE0:1 Ana: I sold my car.
            after 2 sessions, 2023-05-10T09:59:00, asked 2023-05-17T10:00:00, moved"#]],
    );
}

#[test]
fn gaps_without_a_number_are_read_and_reported() {
    let (cues, audit) =
        load(&item("A: x.", "several months later"), &[host()]).expect("a good item");
    assert_eq!(cues[0].gap.days(), Some(120));
    assert_eq!(cues[0].gap.official_days(), None);
    expect![[r#"{"several months later": [0]}"#]].assert_eq(&format!("{:?}", audit.unparsed_gaps));
    assert_eq!((audit.after_last, audit.moved), (1, 0));
    let days = |text| Gap::parse(text).days();
    assert_eq!(days("a couple of months later"), Some(60));
    assert_eq!(days("a few weeks later"), Some(21));
    assert_eq!(days("around eight months later"), Some(240));
    assert_eq!(days("later"), None);
}

#[test]
fn an_item_names_its_host_or_takes_its_turn() {
    let mut item: Value = serde_json::from_str(&item("A: x.", "a week later")).expect("JSON");
    let (cues, _) = load(&item.to_string(), &[]).expect("good");
    assert_eq!(cues[0].host.as_str(), "conv-26");
    item[0]["host"] = "conv-50".into();
    item[0]["index"] = 399.into();
    let (cues, audit) = load(&item.to_string(), &[host()]).expect("good");
    assert_eq!((cues[0].host.as_str(), cues[0].index), ("conv-50", 399));
    assert_eq!(audit.without_host, 1);
}

#[test]
fn a_missing_field_names_the_item() {
    let error = load(r#"[{"relation_type": "goal"}]"#, &[])
        .expect_err("incomplete")
        .to_string();
    expect!["LoCoMo-Plus: item 0: no text `cue_dialogue`"].assert_eq(&error);
}
