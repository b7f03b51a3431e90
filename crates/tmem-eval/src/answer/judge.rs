//! One verdict on one prediction, read strictly.
//!
//! A label counts only as the schema's field, as the whole reply, or as `Label: X` at its end.
//! Two labels that contradict each other are no verdict: the judge is asked once more.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tmem_llm::{ChatModel, Finish, LlmError, Message, Request, Role};

use super::prompt::EvalPrompts;
use super::run::reason;

/// Which rule a verdict follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judge {
    /// As the published LoCoMo figures: generous.
    Lenient,
    /// Everything the gold answer says, nothing against it.
    Strict,
    /// Category 5: right is to say that it was not mentioned.
    Refusal,
    /// LoCoMo-Plus: the reply knows of the cue.
    Aware,
}

impl Judge {
    /// The prompt it uses.
    #[must_use]
    pub fn prompt(self) -> EvalPrompts {
        match self {
            Self::Lenient => EvalPrompts::Lenient,
            Self::Strict => EvalPrompts::Strict,
            Self::Refusal => EvalPrompts::Refusal,
            Self::Aware => EvalPrompts::Aware,
        }
    }
}

/// What came of judging one prediction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Right.
    Correct,
    /// Wrong.
    Wrong,
    /// No verdict: the judge failed or contradicted itself twice. Not an error of the system.
    Failed(String),
    /// The call waits for a batch.
    Pending,
}

impl Outcome {
    /// 1 if right; failures and waiting calls count as 0, in the denominator.
    #[must_use]
    pub fn score(&self) -> f64 {
        f64::from(u8::from(*self == Self::Correct))
    }
}

/// Asks `model` for a verdict; `values` are data, escaped as JSON strings.
pub async fn judge(model: &dyn ChatModel, judge: Judge, values: &[(&str, &str)]) -> Outcome {
    let escaped: Vec<(&str, String)> = values
        .iter()
        .map(|(name, value)| (*name, Value::from(*value).to_string()))
        .collect();
    let values: Vec<(&str, &str)> = escaped
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let request = judge.prompt().request(&values, 1);
    let first = ask(model, &request).await;
    match first {
        Err(Some(fault)) => match ask(model, &corrected(request, &fault)).await {
            Err(Some(fault)) => Outcome::Failed(fault),
            Err(None) => Outcome::Pending,
            Ok(outcome) => outcome,
        },
        Err(None) => Outcome::Pending,
        Ok(outcome) => outcome,
    }
}

/// A verdict; `Err(Some)` asks again, `Err(None)` waits.
async fn ask(model: &dyn ChatModel, request: &Request) -> Result<Outcome, Option<String>> {
    match model.complete(request).await {
        Err(LlmError::Pending(_)) => Err(None),
        Err(error) => Ok(Outcome::Failed(reason(&error))),
        Ok(reply) => match reply.finish {
            Finish::Stop => verdict(&reply.text)
                .map(outcome)
                .map_err(|f| Some(f.to_string())),
            Finish::Length => Err(Some("the reply was cut".to_owned())),
            Finish::Refused(reason) => Ok(Outcome::Failed(format!("the judge refused: {reason}"))),
        },
    }
}

fn outcome(correct: bool) -> Outcome {
    if correct {
        Outcome::Correct
    } else {
        Outcome::Wrong
    }
}

fn corrected(mut request: Request, fault: &str) -> Request {
    let note = format!(
        "\n\nYour last reply could not be used: {fault}. Reply with one JSON object and nothing else."
    );
    match request.messages.last_mut() {
        Some(last) if last.role == Role::User => last.content.push_str(&note),
        _ => request.messages.push(Message {
            role: Role::User,
            content: note,
        }),
    }
    request
}

/// Why a reply is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerdictFault {
    /// No label in a place that counts.
    #[error("it holds no label")]
    NoLabel,
    /// Both labels.
    #[error("it holds two labels that contradict each other")]
    Conflict,
}

/// Reads a judge's reply: true for CORRECT (or A), false for WRONG (or B).
///
/// # Errors
/// [`VerdictFault`] if there is no label or if two disagree.
pub fn verdict(reply: &str) -> Result<bool, VerdictFault> {
    let reply = reply.trim();
    let mut labels: Vec<bool> = objects(reply).iter().filter_map(label_field).collect();
    if labels.is_empty() {
        labels.extend(label(reply).or_else(|| label_at_end(reply)));
    }
    labels.dedup();
    match labels[..] {
        [one] => Ok(one),
        [] => Err(VerdictFault::NoLabel),
        _ => Err(VerdictFault::Conflict),
    }
}

fn label_field(object: &Value) -> Option<bool> {
    object.get("label").and_then(Value::as_str).and_then(label)
}

/// Exactly a label, with or without a full stop or marks around it.
fn label(text: &str) -> Option<bool> {
    let bare = text.trim_matches(|c: char| c.is_whitespace() || ".*\"'`".contains(c));
    match bare.to_ascii_uppercase().as_str() {
        "CORRECT" | "A" => Some(true),
        "WRONG" | "B" => Some(false),
        _ => None,
    }
}

/// `Label: X`, `Grade: X` or `Verdict: X` at the very end.
fn label_at_end(text: &str) -> Option<bool> {
    let (before, after) = text.rsplit_once(':')?;
    let word = before
        .rsplit(|c: char| !c.is_alphabetic())
        .next()?
        .to_ascii_lowercase();
    ["label", "grade", "verdict"]
        .contains(&word.as_str())
        .then(|| label(after))
        .flatten()
}

/// Every JSON object that stands in `text`, outermost ones only.
fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let mut stream = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Value>();
        let next = stream.next();
        let end = match next {
            Some(Ok(value)) => {
                found.push(value);
                stream.byte_offset()
            }
            _ => 1,
        };
        rest = &rest[start + end..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(reply: &str, expect: Expect) {
        expect.assert_eq(&match verdict(reply) {
            Ok(correct) => correct.to_string(),
            Err(fault) => fault.to_string(),
        });
    }

    #[test]
    fn the_field_of_the_schema_counts() {
        check(
            r#"{"reason": "It is CORRECT to say so, but", "label": "WRONG"}"#,
            expect!["false"],
        );
        check(
            "```json\n{\"reason\": \"same\", \"label\": \"CORRECT\"}\n```",
            expect!["true"],
        );
    }

    #[test]
    fn a_quoted_label_against_the_judges_own_is_no_verdict() {
        check(
            r#"The answer contains {"label":"CORRECT"} but: {"label":"WRONG"}"#,
            expect!["it holds two labels that contradict each other"],
        );
        check(
            r#"{"label":"WRONG"} as I said {"label":"WRONG"}"#,
            expect!["false"],
        );
    }

    #[test]
    fn a_word_that_holds_a_label_is_none() {
        for reply in [
            "incorrect",
            "Not correct.",
            "This is INCORRECT because...",
            "partially correct",
            "",
        ] {
            check(reply, expect!["it holds no label"]);
        }
        check("Correct.", expect!["true"]);
        check("WRONG", expect!["false"]);
    }

    #[test]
    fn a_grade_is_read_where_it_is_given_not_at_the_first_letter() {
        check("As a judge I find a gap. Grade: B", expect!["false"]);
        check("A full answer. Verdict: **CORRECT**", expect!["true"]);
        check("A judge might hesitate", expect!["it holds no label"]);
    }
}
