//! LongMemEval-S (`longmemeval_s.json`, xiaowu0162/LongMemEval): a history of chats per question.
//!
//! Every instance becomes a [`Dialogue`] of its own with one question; roles are the speakers.

use std::collections::BTreeSet;

use jiff::civil::DateTime;
use serde_json::{Map, Value};
use tmem_model::{ConversationId, Turn, TurnId};

use super::{Audit, Category, Dialogue, Question, Session};
use crate::error::EvalError;

const FILE: &str = "LongMemEval";

/// Reads the file's text.
///
/// # Errors
/// [`EvalError::Format`] naming instance and field.
pub fn load(text: &str) -> Result<(Vec<Dialogue>, Audit), EvalError> {
    let file: Value = serde_json::from_str(text).map_err(|e| fault("file", &e.to_string()))?;
    let items = file
        .as_array()
        .ok_or_else(|| fault("file", "not a list of instances"))?;
    let mut audit = Audit::default();
    let dialogues = items.iter().enumerate().map(|(place, item)| {
        let dialogue = dialogue(place, item, &mut audit)?;
        audit.conversation(&dialogue);
        Ok(dialogue)
    });
    let dialogues = dialogues.collect::<Result<_, EvalError>>()?;
    Ok((dialogues, audit))
}

fn fault(place: &str, message: &str) -> EvalError {
    EvalError::format(FILE, format!("{place}: {message}"))
}

fn dialogue(place: usize, item: &Value, audit: &mut Audit) -> Result<Dialogue, EvalError> {
    let name = text(item, "question_id", &format!("instance {place}"))?;
    let id = ConversationId::new(&name).map_err(|e| fault(&name, &e.to_string()))?;
    let sessions = list(item, "haystack_sessions", &name)?;
    let dates = list(item, "haystack_dates", &name)?;
    let names = list(item, "haystack_session_ids", &name)?;
    let answers = list(item, "answer_session_ids", &name)?;
    if sessions.len() != dates.len() || sessions.len() != names.len() {
        return Err(fault(
            &name,
            "sessions, dates and session ids differ in number",
        ));
    }
    let mut evidence = Vec::new();
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    let date = |place: usize| dates[place].as_str().and_then(parse_date);
    order.sort_by_key(|place| (date(*place), *place));
    let mut loaded = Vec::with_capacity(sessions.len());
    for (place, number) in order.into_iter().zip(1..) {
        let at = date(place);
        audit.unread_dates += usize::from(at.is_none());
        let holds_answer = answers.contains(&names[place]);
        loaded.push(session(
            &id,
            number,
            at,
            &sessions[place],
            holds_answer,
            &mut evidence,
        )?);
    }
    let speakers = vec!["user".to_owned(), "assistant".to_owned()];
    let question = question(item, &name, evidence, audit)?;
    Ok(Dialogue {
        id,
        speakers,
        sessions: loaded,
        questions: vec![question],
    })
}

fn text(item: &Value, key: &str, place: &str) -> Result<String, EvalError> {
    let text = item.get(key).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| fault(place, &format!("no text `{key}`")))
}

fn list<'a>(item: &'a Value, key: &str, place: &str) -> Result<&'a [Value], EvalError> {
    let list = item.get(key).and_then(Value::as_array).map(Vec::as_slice);
    list.ok_or_else(|| fault(place, &format!("no list `{key}`")))
}

/// The civil time of a session, as in `2023/05/30 (Tue) 23:40`.
#[must_use]
pub fn parse_date(text: &str) -> Option<DateTime> {
    let (date, rest) = text.trim().split_once(' ')?;
    let time = rest.rsplit(' ').next()?;
    DateTime::strptime("%Y/%m/%d %H:%M", format!("{date} {time}")).ok()
}

/// One session; the turns of an answering session that are marked, or else all of it, are evidence.
fn session(
    conversation: &ConversationId,
    number: u32,
    at: Option<DateTime>,
    value: &Value,
    holds_answer: bool,
    evidence: &mut Vec<TurnId>,
) -> Result<Session, EvalError> {
    let place = format!("{conversation} session {number}");
    let values = value
        .as_array()
        .ok_or_else(|| fault(&place, "not a list of turns"))?;
    let turns = values.iter().zip(1..).map(|(turn, position)| {
        let id = TurnId::new(conversation, &format!("D{number}:{position}"));
        let id = id.map_err(|e| fault(&place, &e.to_string()))?;
        let (speaker, said) = (text(turn, "role", &place)?, text(turn, "content", &place)?);
        Ok(Turn {
            id,
            speaker,
            text: said,
            at,
            image: None,
            extra: Map::new(),
        })
    });
    let turns = turns.collect::<Result<Vec<_>, EvalError>>()?;
    if holds_answer {
        let marked = |turn: &Value| turn.get("has_answer").and_then(Value::as_bool) == Some(true);
        let all = !values.iter().any(marked);
        let answers = turns
            .iter()
            .zip(values)
            .filter(|(_, value)| all || marked(value));
        evidence.extend(answers.map(|(turn, _)| turn.id.clone()));
    }
    Ok(Session { number, at, turns })
}

fn question(
    item: &Value,
    name: &str,
    evidence: Vec<TurnId>,
    audit: &mut Audit,
) -> Result<Question, EvalError> {
    let answer = match item.get("answer") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => return Err(fault(name, "`answer` is neither text nor a number")),
    };
    audit.number_answers += usize::from(item["answer"].is_number());
    audit.evidence_ids += evidence.len();
    let unique: BTreeSet<_> = evidence.iter().collect();
    audit.repeated_evidence += evidence.len() - unique.len();
    let at = item
        .get("question_date")
        .and_then(Value::as_str)
        .and_then(parse_date);
    Ok(Question {
        index: 0,
        text: text(item, "question", name)?,
        answer: Some(answer),
        misleading: None,
        category: Category::named(&text(item, "question_type", name)?),
        evidence,
        unusable: Vec::new(),
        at,
        unanswerable: name.ends_with("_abs"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    fn instance() -> Value {
        json!({
            "question_id": "q7_abs", "question_type": "multi-session",
            "question": "How many hens does Ida keep?", "answer": 4,
            "question_date": "2023/06/01 (Thu) 09:00",
            "haystack_session_ids": ["late", "early"],
            "haystack_dates": ["2023/05/30 (Tue) 23:40", "2023/05/02 (Tue) 08:00"],
            "haystack_sessions": [
                [{"role": "user", "content": "Four hens now.", "has_answer": true},
                 {"role": "assistant", "content": "Lovely.", "has_answer": false}],
                [{"role": "user", "content": "Hello"}]
            ],
            "answer_session_ids": ["late"]
        })
    }

    #[track_caller]
    fn check(instance: Value, expect: Expect) {
        let shown = match load(&json!([instance]).to_string()) {
            Err(error) => error.to_string(),
            Ok((dialogues, _)) => {
                let question = &dialogues[0].questions[0];
                let evidence: Vec<_> = question.evidence.iter().map(TurnId::local).collect();
                let first = dialogues[0].sessions[0].at.map(|at| at.to_string());
                format!(
                    "{first:?} {evidence:?} {:?} {} asked {:?} unanswerable {}",
                    question.answer,
                    question.category.name,
                    question.at.map(|at| at.to_string()),
                    question.unanswerable
                )
            }
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn sessions_come_by_date_and_marked_turns_are_evidence() {
        check(
            instance(),
            expect![[
                r#"Some("2023-05-02T08:00:00") ["D2:1"] Some("4") multi-session asked Some("2023-06-01T09:00:00") unanswerable true"#
            ]],
        );
    }

    #[test]
    fn an_answering_session_without_marks_is_evidence_as_a_whole() {
        let mut instance = instance();
        instance["haystack_sessions"][0][0]["has_answer"] = false.into();
        check(
            instance,
            expect![[
                r#"Some("2023-05-02T08:00:00") ["D2:1", "D2:2"] Some("4") multi-session asked Some("2023-06-01T09:00:00") unanswerable true"#
            ]],
        );
    }

    #[test]
    fn uneven_lists_are_refused() {
        let mut instance = instance();
        instance["haystack_dates"] = json!([]);
        check(
            instance,
            expect!["LongMemEval: q7_abs: sessions, dates and session ids differ in number"],
        );
    }
}
