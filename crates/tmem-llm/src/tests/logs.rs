//! The call log: nothing is paid for twice, nothing bad is kept as an answer, everything is counted.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use expect_test::expect;

use super::{FLEET, Fleet, messages, params, prompt, reply, request, stop};
use crate::{
    Call, CallKey, CallLog, ChatModel, ChatModelExt, FileLog, Finish, Ledger, LlmError,
    LoggedModel, MemoryLog, Message, Mode, Nameplate, Price, Prices, Reply, Request, ScriptedModel,
    Spent,
};

type Shared = Arc<MemoryLog>;

fn logged(
    model: ScriptedModel,
    log: &Shared,
) -> (Arc<ScriptedModel>, LoggedModel<Arc<ScriptedModel>>) {
    let model = Arc::new(model);
    (
        model.clone(),
        LoggedModel::new(model, log.clone(), Mode::Live),
    )
}

async fn fleet(model: &impl ChatModel) -> Result<Fleet, LlmError> {
    model.extract(prompt(), messages(), params()).await
}

fn total(log: &Shared) -> Spent {
    Ledger::of(log.calls(), &Prices::new()).total().spent
}

#[test]
fn a_key_depends_on_all_that_decides_a_reply_and_survives_storage() {
    let key = |change: fn(&mut Request)| {
        let mut request = request();
        change(&mut request);
        CallKey::of("m", &request).0
    };
    let same = key(|_| {});
    assert_eq!(same.len(), 64);
    assert_ne!(same, CallKey::of("other", &request()).0);
    assert_ne!(same, key(|r| r.prompt.version += 1));
    assert_ne!(same, key(|r| r.params.max_tokens += 1));
    assert_ne!(same, key(|r| r.params.temperature = None));
    assert_ne!(same, key(|r| r.messages.push(Message::user(""))));
    assert_ne!(same, key(|r| r.schema = None));
    let stored: Request =
        serde_json::from_str(&serde_json::to_string(&request()).unwrap()).unwrap();
    assert_eq!(CallKey::of("m", &stored).0, same);
}

#[tokio::test]
async fn an_answered_call_is_never_paid_for_again() {
    let log = Shared::default();
    let (model, logged) = logged(ScriptedModel::saying(FLEET), &log);
    for _ in 0..3 {
        assert_eq!(fleet(&logged).await.unwrap().names(), "Heron");
    }
    assert_eq!(model.asked().len(), 1);
    assert_eq!((total(&log).calls, total(&log).cached), (1, 2));
}

#[tokio::test]
async fn a_correction_is_resumed_as_well() {
    let log = Shared::default();
    let (_, first) = logged(ScriptedModel::replies(vec![stop("no"), stop(FLEET)]), &log);
    fleet(&first).await.unwrap();
    let (again, second) = logged(ScriptedModel::saying("unused"), &log);
    fleet(&second).await.unwrap();
    assert_eq!(again.asked().len(), 0);
    assert_eq!(
        (total(&log).calls, total(&log).failed, total(&log).cached),
        (2, 1, 2)
    );
}

#[tokio::test]
async fn replies_of_a_question_that_was_given_up_do_not_answer_it_again() {
    let log = Shared::default();
    let (_, first) = logged(ScriptedModel::saying("no"), &log);
    fleet(&first).await.unwrap_err();
    let (again, second) = logged(ScriptedModel::saying(FLEET), &log);
    assert_eq!(fleet(&second).await.unwrap().names(), "Heron");
    assert_eq!(again.asked().len(), 1);
    assert_eq!((total(&log).calls, total(&log).failed), (3, 2));
}

#[tokio::test]
async fn refusals_and_errors_are_counted_and_never_reused() {
    let log = Shared::default();
    let refusing = ScriptedModel::replies(vec![reply("", Finish::Refused("no".to_owned()), 10)]);
    let (_, first) = logged(refusing, &log);
    assert!(matches!(fleet(&first).await, Err(LlmError::Refused { .. })));
    let failing = ScriptedModel::new(|request| {
        Err(LlmError::Failed {
            prompt: request.prompt.name.clone(),
            message: "down".to_owned(),
        })
    });
    let (_, second) = logged(failing, &log);
    fleet(&second).await.unwrap_err();
    assert_eq!(log.calls()[0].error.as_deref(), Some("boats: down"));
    let (_, third) = logged(ScriptedModel::saying(FLEET), &log);
    assert_eq!(fleet(&third).await.unwrap().names(), "Heron");
    let spent = total(&log);
    assert_eq!(
        (
            spent.calls,
            spent.refused,
            spent.failed,
            spent.unknown_usage
        ),
        (3, 1, 1, 1)
    );
}

#[tokio::test]
async fn tokens_of_bad_replies_are_in_the_ledger() {
    let log = Shared::default();
    let replies = vec![
        reply("", Finish::Length, 1000),
        reply("no", Finish::Stop, 1000),
        reply(FLEET, Finish::Stop, 500),
    ];
    let (_, logged) = logged(ScriptedModel::replies(replies), &log);
    fleet(&logged).await.unwrap();
    let spent = total(&log);
    assert_eq!((spent.tokens(), spent.calls, spent.failed), (2500, 3, 2));
}

#[tokio::test]
async fn identical_calls_at_the_same_time_are_paid_for_once() {
    struct Slow(AtomicUsize);
    #[async_trait]
    impl ChatModel for Slow {
        fn name(&self) -> &str {
            "slow"
        }
        async fn complete(&self, _: &Request) -> Result<Reply, LlmError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            Ok(stop(FLEET))
        }
    }
    let slow = Arc::new(Slow(AtomicUsize::new(0)));
    let logged = LoggedModel::new(slow.clone(), Shared::default(), Mode::Live);
    let request = request();
    let all = futures::future::join_all((0..5).map(|_| logged.complete(&request))).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(slow.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_reply_is_recorded_before_it_is_used() {
    struct Full;
    impl CallLog for Full {
        fn find(&self, _: &CallKey) -> Result<Option<Call>, String> {
            Ok(None)
        }
        fn record(&self, _: &Call) -> Result<(), String> {
            Err("no space left".to_owned())
        }
        fn waiting(&self) -> Result<Vec<Call>, String> {
            Ok(Vec::new())
        }
    }
    let logged = LoggedModel::new(ScriptedModel::saying(FLEET), Arc::new(Full), Mode::Live);
    let error = fleet(&logged).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "boats: the call log failed: no space left"
    );
}

#[tokio::test]
async fn a_replay_answers_from_the_recording_and_shows_what_is_missing() {
    let log = Shared::default();
    let (_, live) = logged(ScriptedModel::saying(FLEET).named("m"), &log);
    fleet(&live).await.unwrap();
    let recording = log.to_jsonl();
    let log = Arc::new(MemoryLog::from_jsonl(&recording).unwrap());
    let replay = LoggedModel::new(Nameplate("m".to_owned()), log.clone(), Mode::Replay);
    assert_eq!(fleet(&replay).await.unwrap().names(), "Heron");
    let other = vec![Message::user("The Tern stays.")];
    let error = replay
        .extract::<Fleet>(prompt(), other, params())
        .await
        .unwrap_err();
    expect![[r#"
        boats (version 3): this call was not recorded; its prompt is
        The Tern stays."#]]
    .assert_eq(&error.to_string());
    assert_eq!(log.to_jsonl(), recording, "a replay changes nothing");
}

#[test]
fn a_recording_with_half_a_last_line_is_read_and_other_damage_is_named() {
    let call = serde_json::to_string(&Call::waiting("m", &request())).unwrap();
    let half = &call[..call.len() / 2];
    let calls = |text: &str| MemoryLog::from_jsonl(text).map(|log| log.calls().len());
    assert_eq!(calls(&format!("{call}\n\n{half}")), Ok(1));
    assert!(
        calls(&format!("{half}\n{call}\n"))
            .unwrap_err()
            .starts_with("line 1: ")
    );
    assert!(
        calls(&format!("{call}\n{half}\n"))
            .unwrap_err()
            .starts_with("line 2: ")
    );
}

#[test]
fn a_file_keeps_calls_through_a_broken_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let mut call = Call::waiting("m", &request());
    FileLog::open(&path).unwrap().record(&call).unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{whole}{{\"key\":\"half")).unwrap();
    call.answered(stop(FLEET), "2026-01-01T00:00:00".to_owned());
    FileLog::open(&path).unwrap().record(&call).unwrap();
    assert_eq!(FileLog::open(&path).unwrap().calls(), [call]);
}

#[tokio::test]
async fn a_call_that_a_budget_kept_back_is_no_call() {
    let log = Shared::default();
    let (_, model) = logged(
        ScriptedModel::new(|_| {
            Err(LlmError::Budget {
                prompt: "boats".to_owned(),
                limit: "100 tokens".to_owned(),
            })
        }),
        &log,
    );
    let error = fleet(&model).await.unwrap_err();
    assert!(matches!(error, LlmError::Budget { .. }), "{error}");
    assert!(log.calls().is_empty());
}

#[test]
fn the_ledger_goes_by_prompt_and_model_and_prices_what_it_can() {
    let call = |prompt: &str, model: &str, tokens: u64| {
        let mut request = request();
        request.prompt.name = prompt.to_owned();
        let mut call = Call::waiting(model, &request);
        if tokens > 0 {
            call.answered(reply(FLEET, Finish::Stop, tokens), String::new());
        }
        call
    };
    let calls = [
        call("b", "m", 1000),
        call("a", "n", 0),
        call("b", "m", 500),
        call("a", "m", 1),
    ];
    let prices = Prices::from([(
        "m".to_owned(),
        Price {
            input: 2.0,
            output: 8.0,
        },
    )]);
    let ledger = Ledger::of(&calls, &prices);
    let shown: Vec<_> = ledger
        .lines
        .iter()
        .map(|line| {
            let cost = line
                .cost
                .map_or_else(|| "?".to_owned(), |cost| format!("{cost:.6}"));
            format!(
                "{} {}: {} calls, {} waiting, {} tokens, {cost}",
                line.prompt,
                line.model,
                line.spent.calls,
                line.waiting,
                line.spent.tokens()
            )
        })
        .collect();
    expect![[r#"
        a m: 1 calls, 0 waiting, 1 tokens, 0.000002
        a n: 0 calls, 1 waiting, 0 tokens, ?
        b m: 2 calls, 0 waiting, 1500 tokens, 0.003000"#]]
    .assert_eq(&shown.join("\n"));
    assert_eq!(
        (ledger.total().spent.tokens(), ledger.total().cost),
        (1501, None)
    );
}
