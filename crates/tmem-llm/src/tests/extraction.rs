//! How many calls a question takes, and how it ends.

use expect_test::{Expect, expect};

use super::{FLEET, Fleet, messages, params, prompt, reply, stop};
use crate::{Ask, ChatModelExt, Extracted, Finish, LlmError, Reply, ScriptedModel};

fn ask() -> Ask {
    Ask::new(prompt(), messages(), params())
}

async fn run(ask: Ask, replies: Vec<Reply>) -> (ScriptedModel, Result<Extracted<Fleet>, LlmError>) {
    let model = ScriptedModel::replies(replies);
    let outcome = model.extract_with(ask, |_: &Fleet| Ok(())).await;
    (model, outcome)
}

/// Shows the outcome, and the cap and size in letters of each prompt.
async fn check(ask: Ask, replies: Vec<Reply>, expected: Expect) {
    let (model, outcome) = run(ask, replies).await;
    let outcome = match outcome {
        Ok(found) => format!(
            "{}{} in {} attempts, {} tokens",
            found.value.names(),
            if found.partial { " (partial)" } else { "" },
            found.attempts,
            found.usage.total()
        ),
        Err(error) => match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    };
    let letters = |request: &crate::Request| -> usize {
        request.messages.iter().map(|m| m.content.len()).sum()
    };
    let asked = model
        .asked()
        .iter()
        .map(|each| format!("cap {} prompt {}", each.params.max_tokens, letters(each)))
        .collect::<Vec<_>>();
    expected.assert_eq(&format!("{outcome}\n{}", asked.join(", ")));
}

#[tokio::test]
async fn a_good_reply_takes_one_call_however_it_is_wrapped() {
    for text in [
        FLEET.to_owned(),
        format!("```json\n{FLEET}\n```"),
        format!("<think>x</think>Sure: {FLEET}"),
    ] {
        check(
            ask(),
            vec![stop(&text)],
            expect![[r#"
            Heron in 1 attempts, 10 tokens
            cap 100 prompt 39"#]],
        )
        .await;
    }
}

#[tokio::test]
async fn a_bad_reply_gets_one_correction_that_names_the_fault_and_all_tokens_count() {
    check(
        ask(),
        vec![stop(r#"{"vessels":[]}"#), stop(FLEET)],
        expect![[r#"
            Heron in 2 attempts, 20 tokens
            cap 100 prompt 39, cap 100 prompt 167"#]],
    )
    .await;
    let (model, _) = run(ask(), vec![stop(r#"{"vessels":[]}"#), stop(FLEET)]).await;
    let asked = model.asked();
    expect![[r#"
        The Heron sails at noon.

        Your last reply could not be used: `boats` is missing. Reply once more, with nothing but one JSON value of the required shape."#]].assert_eq(&asked[1].messages[1].content);
}

#[tokio::test]
async fn a_model_that_never_answers_in_json_is_asked_twice() {
    check(ask(), vec![stop("{oops")], expect![[r#"
        boats: no usable reply from scripted in 2 attempts (finish reason stop): the reply holds no JSON: "{oops"
        cap 100 prompt 39, cap 100 prompt 181"#]]).await;
}

#[tokio::test]
async fn an_empty_reply_is_named_as_such_after_one_more_try() {
    check(
        ask(),
        vec![stop("```json\n```")],
        expect![[r#"
            boats: scripted gave an empty reply (finish reason stop)
            cap 100 prompt 39, cap 100 prompt 167"#]],
    )
    .await;
}

#[tokio::test]
async fn a_cut_reply_doubles_the_cap_once_and_leaves_the_prompt_alone() {
    let cut = || reply(r#"{"boats":[{"name":"Heron"},{"na"#, Finish::Length, 10);
    check(
        ask(),
        vec![cut(), stop(FLEET)],
        expect![[r#"
        Heron in 2 attempts, 20 tokens
        cap 100 prompt 39, cap 200 prompt 39"#]],
    )
    .await;
    check(
        ask(),
        vec![cut()],
        expect![[r#"
        boats: the reply of scripted was cut at 200 tokens (finish reason length)
        cap 100 prompt 39, cap 200 prompt 39"#]],
    )
    .await;
}

#[tokio::test]
async fn a_budget_eaten_by_thinking_ends_in_a_budget_error() {
    check(
        ask(),
        vec![reply("", Finish::Length, 100)],
        expect![[r#"
        boats: the reply of scripted was cut at 200 tokens (finish reason length)
        cap 100 prompt 39, cap 200 prompt 39"#]],
    )
    .await;
}

#[tokio::test]
async fn the_cap_never_rises_above_its_ceiling() {
    let cut = || vec![reply("", Finish::Length, 10)];
    check(
        Ask {
            cap_ceiling: Some(150),
            ..ask()
        },
        cut(),
        expect![[r#"
        boats: the reply of scripted was cut at 150 tokens (finish reason length)
        cap 100 prompt 39, cap 150 prompt 39"#]],
    )
    .await;
    check(
        Ask {
            cap_ceiling: Some(100),
            ..ask()
        },
        cut(),
        expect![[r#"
        boats: the reply of scripted was cut at 100 tokens (finish reason length)
        cap 100 prompt 39"#]],
    )
    .await;
}

#[tokio::test]
async fn complete_elements_of_a_reply_cut_twice_are_marked_partial() {
    let cut = reply(
        r#"{"boats":[{"name":"Heron"},{"name":"Te"#,
        Finish::Length,
        10,
    );
    check(
        ask().salvaging(),
        vec![cut],
        expect![[r#"
        Heron (partial) in 2 attempts, 20 tokens
        cap 100 prompt 39, cap 200 prompt 39"#]],
    )
    .await;
}

#[tokio::test]
async fn a_cut_is_seen_before_the_text_is_read() {
    check(
        ask(),
        vec![reply(FLEET, Finish::Length, 10), stop(r#"{"boats":[]}"#)],
        expect![[r#"
         in 2 attempts, 20 tokens
        cap 100 prompt 39, cap 200 prompt 39"#]],
    )
    .await;
}

#[tokio::test]
async fn a_complete_value_before_endless_talk_is_whole() {
    let talk = format!("{FLEET} And so on and so");
    check(
        ask(),
        vec![reply(&talk, Finish::Length, 10)],
        expect![[r#"
            Heron in 2 attempts, 20 tokens
            cap 100 prompt 39, cap 200 prompt 39"#]],
    )
    .await;
}

#[tokio::test]
async fn no_order_of_bad_replies_takes_more_than_three_calls() {
    let cut = || reply("", Finish::Length, 1);
    for replies in [
        vec![cut(), stop("no"), cut()],
        vec![stop("no"), cut(), stop("no")],
        vec![cut(), cut(), cut()],
    ] {
        let (model, outcome) = run(ask(), replies).await;
        assert!(outcome.is_err() && model.asked().len() <= 3);
    }
}

#[tokio::test]
async fn a_refusal_ends_at_once_with_its_reason() {
    check(
        ask(),
        vec![reply("", Finish::Refused("not today".to_owned()), 10)],
        expect![[r#"
        boats: the model refused: not today
        cap 100 prompt 39"#]],
    )
    .await;
}

#[tokio::test]
async fn what_the_caller_rejects_is_corrected_once() {
    let model = ScriptedModel::saying(FLEET);
    let check = |fleet: &Fleet| {
        if fleet.names() == "Heron" {
            Err("boat Heron was not offered".to_owned())
        } else {
            Ok(())
        }
    };
    let error = model.extract_with(ask(), check).await.unwrap_err();
    assert!(
        matches!(&error, LlmError::Unusable { attempts: 2, .. }),
        "{error}"
    );
    assert!(
        model.asked()[1].messages[1]
            .content
            .contains("boat Heron was not offered")
    );
}

#[tokio::test]
async fn an_object_without_any_known_field_does_not_fit_a_type_of_options() {
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    struct Notes {
        #[expect(dead_code, reason = "only its absence matters")]
        weather: Option<String>,
    }
    let model = ScriptedModel::saying(r#"{"wether": "calm"}"#);
    let error = model
        .extract::<Notes>(prompt(), messages(), params())
        .await
        .unwrap_err();
    let LlmError::Unusable { source, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(source.to_string(), "`weather` is missing");
}
