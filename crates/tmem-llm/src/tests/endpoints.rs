//! Servers as they are: what they refuse, leave out, add and get wrong.

use std::{sync::Arc, time::Duration};

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tmem_http::{
    Client, Endpoint, Secret,
    testing::{Answer, FakeServer, recorded_pause},
};

use super::{FLEET, Fleet, messages, params, prompt, request};
use crate::{
    Cap, ChatModel, ChatModelExt, Dialect, Finish, Ledger, LlmError, LoggedModel, MemoryLog, Mode,
    OpenAiModel, Prices, Reply, Structure, Usage,
};

fn model(server: &FakeServer) -> OpenAiModel {
    let endpoint = Endpoint {
        api_key: Some(Secret::new("sk-test-0001")),
        key_setting: "TEST_KEY".to_owned(),
        max_retries: 3,
        timeout: Duration::from_secs(20),
        ..Endpoint::new(server.url())
    };
    OpenAiModel::new(
        Client::with_pause(endpoint, recorded_pause().0).unwrap(),
        "m",
    )
}

async fn fleet(model: &impl ChatModel) -> Result<Fleet, LlmError> {
    model.extract(prompt(), messages(), params()).await
}

fn refuses(message: &str) -> Answer {
    Answer::error(400, message)
}

/// Where the schema went, and under which name the cap.
fn form(body: &Value) -> String {
    let format = body["response_format"]["type"].as_str().unwrap_or("plain");
    let prompted = body["messages"][0]["content"]
        .as_str()
        .unwrap()
        .contains("JSON Schema");
    let cap = if body["max_tokens"].is_null() {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    let temperature = if body["temperature"].is_null() {
        ""
    } else {
        ", temperature"
    };
    format!(
        "{format}{}, {cap}{temperature}",
        if prompted { " and prompt" } else { "" }
    )
}

async fn check_forms(answers: Vec<Answer>, questions: usize, expected: Expect) {
    let server = FakeServer::answering(answers).await;
    let model = model(&server);
    for _ in 0..questions {
        assert_eq!(fleet(&model).await.unwrap().names(), "Heron");
    }
    let forms: Vec<_> = server.seen().iter().map(|seen| form(&seen.body)).collect();
    expected.assert_eq(&forms.join("\n"));
}

#[tokio::test]
async fn a_refused_schema_moves_into_the_prompt_once_and_for_all() {
    let refusal = refuses("response_format of this type is not offered here");
    check_forms(
        vec![refusal.clone(), Answer::chat(FLEET)],
        2,
        expect![[r#"
        json_schema, max_tokens, temperature
        json_object and prompt, max_tokens, temperature
        json_object and prompt, max_tokens, temperature"#]],
    )
    .await;
    check_forms(
        vec![refusal.clone(), refusal, Answer::chat(FLEET)],
        2,
        expect![[r#"
        json_schema, max_tokens, temperature
        json_object and prompt, max_tokens, temperature
        plain and prompt, max_tokens, temperature
        plain and prompt, max_tokens, temperature"#]],
    )
    .await;
}

#[tokio::test]
async fn refused_parameters_are_dropped_or_renamed_one_after_the_other() {
    let param = |name: &str, message: &str| {
        Answer::json(
            400,
            &json!({"error": {"param": name, "code": "unsupported", "message": message}}),
        )
    };
    let answers = vec![
        param("temperature", "only the default is taken"),
        param("max_tokens", "use max_completion_tokens"),
        Answer::chat(FLEET),
    ];
    check_forms(
        answers,
        2,
        expect![[r#"
        json_schema, max_tokens, temperature
        json_schema, max_tokens
        json_schema, max_completion_tokens
        json_schema, max_completion_tokens"#]],
    )
    .await;
}

#[tokio::test]
async fn a_refusal_wrapped_by_a_gateway_is_understood() {
    let inner = r#"upstream said 400: {"error":{"message":"temperature is not accepted","param":"temperature"}}"#;
    let wrapped = Answer::json(
        400,
        &json!({"error": {"type": "api_error", "message": inner}}),
    );
    check_forms(
        vec![wrapped, Answer::chat(FLEET)],
        1,
        expect![[r#"
        json_schema, max_tokens, temperature
        json_schema, max_tokens"#]],
    )
    .await;
}

#[tokio::test]
async fn a_server_that_ignores_the_schema_gets_it_in_the_prompt() {
    check_forms(
        vec![Answer::chat("**Boats:** Heron"), Answer::chat(FLEET)],
        2,
        expect![[r#"
        json_schema, max_tokens, temperature
        json_object and prompt, max_tokens, temperature
        json_object and prompt, max_tokens, temperature"#]],
    )
    .await;
}

#[tokio::test]
async fn a_fenced_reply_takes_one_request_in_every_form() {
    for structure in [
        Structure::JsonSchema,
        Structure::JsonObject,
        Structure::Plain,
    ] {
        let server =
            FakeServer::answering(vec![Answer::chat(&format!("```json\n{FLEET}\n```"))]).await;
        let model = model(&server).with_dialect(Dialect {
            structure,
            ..Dialect::default()
        });
        fleet(&model).await.unwrap();
        assert_eq!(server.seen().len(), 1);
        assert_ne!(
            form(&server.seen()[0].body),
            "plain, max_tokens, temperature"
        );
    }
}

#[tokio::test]
async fn bounds_that_a_server_does_not_know_are_left_out() {
    let refusal = refuses("Invalid schema for response_format: 'maxLength' is not permitted");
    let server = FakeServer::answering(vec![refusal, Answer::chat(FLEET)]).await;
    let mut request = request();
    let boats = &mut request.schema.as_mut().unwrap().schema["properties"]["boats"];
    boats["maxItems"] = json!(9);
    boats["items"]["properties"]["name"]["maxLength"] = json!(40);
    model(&server).complete(&request).await.unwrap();
    let sent: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.body["response_format"].to_string())
        .collect();
    assert!(sent[0].contains("maxLength") && sent[0].contains("maxItems"));
    assert!(
        !sent[1].contains("maxLength")
            && !sent[1].contains("maxItems")
            && sent[1].contains("strict")
    );
}

#[tokio::test]
async fn another_refusal_is_shown_in_full_and_not_repeated() {
    let server = FakeServer::answering(vec![refuses("there is no model m")]).await;
    let error = fleet(&model(&server)).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        source.ends_with("answered 400 (application/json): there is no model m"),
        "{source}"
    );
    assert_eq!(server.seen().len(), 1);
}

async fn check_reply(answer: Value, expected: Result<Reply, &str>) {
    let server = FakeServer::answering(vec![Answer::json(200, &answer)]).await;
    let got = model(&server)
        .complete(&request())
        .await
        .map_err(|error| error.to_string());
    assert_eq!(got, expected.map_err(str::to_owned), "{answer}");
}

fn reply(text: &str, finish: Finish, usage: Option<(u64, u64)>) -> Result<Reply, &'static str> {
    let usage = usage.map(|(prompt_tokens, completion_tokens)| Usage {
        prompt_tokens,
        completion_tokens,
    });
    Ok(Reply {
        text: text.to_owned(),
        finish,
        usage,
    })
}

#[tokio::test]
async fn only_the_fields_in_use_are_needed_and_the_rest_is_ignored() {
    let message = json!({"content": "x"});
    check_reply(
        json!({"choices": [{"message": message}]}),
        reply("x", Finish::Stop, None),
    )
    .await;
    let odd = json!({"choices": [{"message": {"content": "x", "role": 7}, "finish_reason": "stop"}], "service_tier": "on_demand",
        "x_extra": {"a": null}, "usage": {"prompt_tokens": 3, "completion_tokens": 1, "cost": "?"}});
    check_reply(odd, reply("x", Finish::Stop, Some((3, 1)))).await;
    let parts = json!([{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]);
    check_reply(
        json!({"choices": [{"message": {"content": parts}}]}),
        reply("xy", Finish::Stop, None),
    )
    .await;
}

#[tokio::test]
async fn why_a_reply_ended_is_told_apart() {
    let usage = json!({"prompt_tokens": 900, "completion_tokens": 40});
    let answer = |message: Value, finish: &str| json!({"choices": [{"message": message, "finish_reason": finish}], "usage": usage});
    let used = Some((900, 40));
    check_reply(
        answer(json!({"content": ""}), "stop"),
        reply("", Finish::Stop, used),
    )
    .await;
    check_reply(
        answer(json!({"content": null}), "stop"),
        reply("", Finish::Stop, used),
    )
    .await;
    check_reply(
        answer(json!({"content": "x"}), "length"),
        reply("x", Finish::Length, used),
    )
    .await;
    let refused = |reason: &str| reply("", Finish::Refused(reason.to_owned()), used);
    check_reply(
        answer(
            json!({"content": null, "refusal": "I would rather not."}),
            "stop",
        ),
        refused("I would rather not."),
    )
    .await;
    check_reply(
        answer(json!({"content": ""}), "content_filter"),
        refused("stopped by a content filter"),
    )
    .await;
}

#[tokio::test]
async fn an_answer_without_a_choice_is_an_error_with_a_name() {
    for choices in [json!([]), Value::Null] {
        check_reply(
            json!({"choices": choices}),
            Err("boats: the answer of m holds no choice"),
        )
        .await;
    }
}

#[tokio::test]
async fn reasoning_is_used_only_if_allowed_and_only_if_it_fits() {
    let answer = |reasoning: &str| {
        let message = json!({"content": null, "reasoning_content": reasoning});
        Answer::json(
            200,
            &json!({"choices": [{"message": message, "finish_reason": "stop"}]}),
        )
    };
    let good = format!("Perhaps {{\"boats\":[]}}. No: {FLEET}");
    let server = FakeServer::answering(vec![answer(&good)]).await;
    assert!(matches!(
        fleet(&model(&server)).await,
        Err(LlmError::Empty { .. })
    ));
    let allowed = model(&server).with_reasoning_fallback(true);
    assert_eq!(fleet(&allowed).await.unwrap().names(), "Heron");
    let server = FakeServer::answering(vec![answer(r#"Perhaps {"ships":["Heron"]}"#)]).await;
    let allowed = model(&server).with_reasoning_fallback(true);
    assert!(matches!(fleet(&allowed).await, Err(LlmError::Empty { .. })));
}

#[tokio::test]
async fn a_wrong_key_is_hinted_at_and_never_shown() {
    let server = FakeServer::answering(vec![Answer::error(401, "bad key sk-test-0001")]).await;
    let log = Arc::new(MemoryLog::default());
    let logged = LoggedModel::new(model(&server), log.clone(), Mode::Live);
    let error = fleet(&logged).await.unwrap_err();
    assert_eq!(error.hint(), Some("check the key in TEST_KEY"));
    assert!(log.calls()[0].error.as_ref().unwrap().contains("401"));
    assert!(
        !log.to_jsonl().contains("sk-test-0001") && !format!("{error:?}").contains("sk-test-0001")
    );
}

#[tokio::test]
async fn a_request_that_is_too_large_is_told_apart_after_one_request() {
    for answer in [
        Answer::error(413, "over 6000 tokens"),
        refuses("maximum context length is 4096 tokens, lower max_tokens"),
    ] {
        let server = FakeServer::answering(vec![answer]).await;
        assert!(matches!(
            fleet(&model(&server)).await,
            Err(LlmError::TooLarge { .. })
        ));
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn an_outage_costs_one_layer_of_retries() {
    let server = FakeServer::answering(vec![Answer::error(503, "down")]).await;
    assert!(matches!(
        fleet(&model(&server)).await,
        Err(LlmError::Endpoint { .. })
    ));
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn a_storm_of_refusals_loses_nothing_and_costs_no_tokens() {
    let server = FakeServer::start(|seen| {
        if seen.number < 3 {
            Answer::error(429, "slow")
        } else {
            Answer::chat(FLEET)
        }
    })
    .await;
    let log = Arc::new(MemoryLog::default());
    let logged = LoggedModel::new(model(&server), log.clone(), Mode::Live);
    let questions = (0..3).map(|cap| {
        let params = crate::Params {
            max_tokens: 100 + cap,
            temperature: None,
        };
        logged.extract::<Fleet>(prompt(), messages(), params)
    });
    let fleets = futures::future::join_all(questions).await;
    assert!(fleets.iter().all(Result::is_ok));
    let spent = Ledger::of(log.calls(), &Prices::new()).total().spent;
    assert_eq!((spent.calls, spent.tokens(), spent.failed), (3, 45, 0));
}

#[tokio::test]
async fn the_configured_cap_is_what_is_sent() {
    let server = FakeServer::answering(vec![Answer::chat(FLEET)]).await;
    let model = model(&server).with_dialect(Dialect {
        cap: Cap::MaxCompletionTokens,
        ..Dialect::default()
    });
    fleet(&model).await.unwrap();
    assert_eq!(server.seen()[0].body["max_completion_tokens"], json!(100));
    assert_eq!(server.seen()[0].path, "/v1/chat/completions");
}
