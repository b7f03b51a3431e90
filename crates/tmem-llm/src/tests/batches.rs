//! Calls that are answered elsewhere.

use std::sync::Arc;

use expect_test::expect;
use serde_json::{Value, json};

use super::{FLEET, Fleet, messages, params, prompt, request};
use crate::{
    Call, CallLog, ChatModelExt, Dialect, LlmError, LoggedModel, MemoryLog, Message, Mode,
    Nameplate,
    batch::{Imported, export, import},
};

fn batch(log: &Arc<MemoryLog>) -> LoggedModel<Nameplate> {
    LoggedModel::new(Nameplate("m".to_owned()), log.clone(), Mode::Batch)
}

async fn ask(log: &Arc<MemoryLog>, text: &str) -> Result<Fleet, LlmError> {
    batch(log)
        .extract(prompt(), vec![Message::user(text)], params())
        .await
}

fn exported(log: &MemoryLog) -> Vec<Value> {
    let text = export(&log.waiting().unwrap(), Dialect::default());
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The line of an answer.
fn answer(request: &Value, content: &str) -> String {
    let body = json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}});
    json!({"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}, "error": null}).to_string()
}

#[tokio::test]
async fn a_round_goes_out_and_comes_back() {
    let log = Arc::new(MemoryLog::default());
    assert!(matches!(ask(&log, "one").await, Err(LlmError::Pending(_))));
    let lines = exported(&log);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["custom_id"].as_str().unwrap().len(), 64);
    assert_eq!(
        (&lines[0]["method"], &lines[0]["url"]),
        (&json!("POST"), &json!("/v1/chat/completions"))
    );
    assert_eq!(
        lines[0]["body"]["response_format"]["json_schema"]["strict"],
        json!(true)
    );
    let imported = import(&answer(&lines[0], FLEET), &*log).unwrap();
    assert_eq!(
        imported,
        Imported {
            answered: 1,
            ..Imported::default()
        }
    );
    assert_eq!(ask(&log, "one").await.unwrap().names(), "Heron");
    assert_eq!(log.calls()[0].spent.tokens(), 9);
    assert!(exported(&log).is_empty());
}

#[tokio::test]
async fn a_bad_answer_waits_for_its_correction_in_the_next_round() {
    let log = Arc::new(MemoryLog::default());
    ask(&log, "one").await.unwrap_err();
    import(&answer(&exported(&log)[0], "no boats, sorry"), &*log).unwrap();
    assert!(matches!(ask(&log, "one").await, Err(LlmError::Pending(_))));
    let lines = exported(&log);
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0]["body"]["messages"][0]["content"]
            .as_str()
            .unwrap()
            .contains("could not be used")
    );
    import(&answer(&lines[0], FLEET), &*log).unwrap();
    assert_eq!(ask(&log, "one").await.unwrap().names(), "Heron");
}

#[tokio::test]
async fn odd_lines_are_counted_apart_and_foreign_ones_never_kept() {
    let log = Arc::new(MemoryLog::default());
    for text in ["one", "two", "three", "four", "five"] {
        ask(&log, text).await.unwrap_err();
    }
    let lines = exported(&log);
    let id = |index: usize| lines[index]["custom_id"].clone();
    let foreign =
        json!({"custom_id": "f".repeat(64), "response": {"status_code": 200, "body": {}}});
    let text = [
        answer(&lines[0], FLEET),
        answer(&lines[0], "again"),
        json!({"custom_id": id(1), "response": null, "error": {"code": "batch_expired", "message": "expired"}}).to_string(),
        json!({"custom_id": id(2), "response": {"status_code": 500, "body": {"error": {"message": "oops"}}}}).to_string(),
        json!({"custom_id": id(3), "response": {"status_code": 200, "body": {"choices": []}}, "error": null}).to_string(),
        foreign.to_string(),
        "{half".to_owned(),
        String::new(),
        r#"{"response": {}}"#.to_owned(),
    ].join("\n");
    let mut imported = import(&text, &*log).unwrap();
    imported
        .failed
        .iter_mut()
        .for_each(|line| *line = line[64..].to_owned());
    expect![[r#"
        Imported {
            answered: 1,
            failed: [
                ": boats: expired",
                ": boats: status 500: oops",
                ": boats: the answer holds no choice",
            ],
            missing: 1,
            repeated: 1,
            foreign: 1,
            unreadable: [
                "line 7",
                "line 9",
            ],
        }
    "#]]
    .assert_debug_eq(&imported);
    assert_eq!(log.calls().len(), 5);
    assert_eq!(ask(&log, "one").await.unwrap().names(), "Heron");
}

#[tokio::test]
async fn a_call_that_came_back_with_an_error_is_asked_again() {
    let log = Arc::new(MemoryLog::default());
    ask(&log, "one").await.unwrap_err();
    let line = &exported(&log)[0];
    let failed =
        json!({"custom_id": line["custom_id"], "error": {"message": "expired"}}).to_string();
    import(&failed, &*log).unwrap();
    assert!(exported(&log).is_empty());
    assert!(matches!(ask(&log, "one").await, Err(LlmError::Pending(_))));
    assert_eq!(exported(&log).len(), 1);
    assert_eq!(
        (log.calls()[0].spent.calls, log.calls()[0].spent.failed),
        (1, 1)
    );
}

#[tokio::test]
async fn a_call_that_was_too_large_is_not_asked_again_but_split_by_its_stage() {
    for (status, message) in [(400, "maximum context length is 4096 tokens"), (413, "no")] {
        let log = Arc::new(MemoryLog::default());
        ask(&log, "one").await.unwrap_err();
        let id = exported(&log)[0]["custom_id"].clone();
        let body = json!({"error": {"message": message}});
        let failed = json!({"custom_id": id, "response": {"status_code": status, "body": body}});
        import(&failed.to_string(), &*log).unwrap();
        let error = ask(&log, "one").await.unwrap_err();
        assert!(matches!(error, LlmError::TooLarge { .. }), "{error}");
    }
}

#[test]
fn answered_and_failed_calls_are_not_exported() {
    let mut failed = Call::waiting("m", &request());
    failed.failed("down".to_owned(), String::new());
    let waiting = Call::waiting(
        "m",
        &crate::Request {
            messages: messages(),
            ..request()
        },
    );
    let text = export([&failed, &waiting], Dialect::default());
    assert_eq!(text.lines().count(), 1);
}
