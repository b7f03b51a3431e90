//! What the loader makes of LoCoMo's dirt, on an invented file.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

fn file(questions: Value) -> String {
    let turn =
        |id: &str, who: &str, text: &str| json!({"dia_id": id, "speaker": who, "text": text});
    let mut conversation = Map::new();
    conversation.insert("speaker_a".into(), "Ana".into());
    conversation.insert("speaker_b".into(), "Bo".into());
    for number in [10, 2, 1] {
        let turns = [
            turn(&format!("D{number}:1"), "Ana", "Hello: again"),
            turn(&format!("D{number}:2"), "Bo", "Hi"),
        ];
        conversation.insert(format!("session_{number}"), json!(turns));
        let date = format!("{number}:05 pm on {number} May, 2023");
        conversation.insert(format!("session_{number}_date_time"), date.into());
    }
    conversation.insert(
        "session_11_date_time".into(),
        "1:00 am on 11 May, 2023".into(),
    );
    json!([{"sample_id": "c", "conversation": conversation, "qa": questions}]).to_string()
}

#[track_caller]
fn check(questions: Value, expect: Expect) {
    let shown = match load(&file(questions)) {
        Ok((dialogues, _)) => dialogues[0]
            .questions
            .iter()
            .map(show)
            .collect::<Vec<_>>()
            .join("\n"),
        Err(error) => error.to_string(),
    };
    expect.assert_eq(&shown);
}

fn show(q: &Question) -> String {
    let answer = q.answer.as_deref().unwrap_or("-");
    let misleading = q.misleading.as_deref().unwrap_or("-");
    format!(
        "{} {}: {answer} / {misleading}, unanswerable {}",
        q.index, q.category.name, q.unanswerable
    )
}

#[test]
fn sessions_come_by_number_with_civil_dates() {
    let (dialogues, audit) = load(&file(json!([]))).expect("a good file");
    let sessions = dialogues[0].sessions.iter();
    let shown: Vec<_> = sessions
        .map(|s| format!("{} {}", s.number, s.at.expect("dated")))
        .collect();
    expect!["1 2023-05-01T13:05:00, 2 2023-05-02T14:05:00, 10 2023-05-10T22:05:00"]
        .assert_eq(&shown.join(", "));
    assert_eq!(audit.dates_without_session, 1);
}

#[test]
fn a_number_is_an_answer_in_text() {
    check(
        json!([{"question": "In which year did Ana graduate?", "answer": 2019, "category": 2, "evidence": ["D1:1"]}]),
        expect!["0 temporal: 2019 / -, unanswerable false"],
    );
}

#[test]
fn the_misleading_answer_is_never_gold_and_a_real_one_wins() {
    check(
        json!([
            {"question": "Did Bo paint the fence?", "answer": "No", "adversarial_answer": "Yes", "category": 5},
            {"question": "What colour is Ana's boat?", "adversarial_answer": "green", "category": 5},
        ]),
        expect![[r#"
            0 adversarial: No / Yes, unanswerable false
            1 adversarial: - / green, unanswerable true"#]],
    );
}

#[test]
fn an_answer_of_another_type_names_its_question() {
    check(
        json!([{"question": "Is it?", "answer": true, "category": 4}]),
        expect!["LoCoMo: c question 0: `answer` is neither text nor a number"],
    );
    check(
        json!([{"question": "Is it?", "answer": null, "category": 4}]),
        expect!["LoCoMo: c question 0: `answer` is neither text nor a number"],
    );
}

#[test]
fn the_numbers_of_the_categories_are_the_official_ones() {
    let names: Vec<_> = (1..=6)
        .map(|n| Category::locomo(n).map_or("-".into(), |c| c.name))
        .collect();
    expect!["multi-hop temporal open-domain single-hop adversarial -"].assert_eq(&names.join(" "));
}

#[test]
fn a_file_that_is_something_else_is_refused_with_the_place() {
    let message = |text: &str| load(text).expect_err("not LoCoMo").to_string();
    expect!["LoCoMo: file: not a list of conversations"].assert_eq(&message("{}"));
    expect!["LoCoMo: conversation-1: no object `conversation`"].assert_eq(&message("[{}]"));
    expect!["LoCoMo: file: expected value at line 1 column 1"].assert_eq(&message("?"));
}
