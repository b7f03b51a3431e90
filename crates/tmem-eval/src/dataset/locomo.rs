//! LoCoMo (`locomo10.json`, snap-research/locomo), whole or in part.

use std::collections::BTreeSet;

use jiff::civil::DateTime;
use serde_json::{Map, Value};
use tmem_model::{ConversationId, Turn, TurnId};

use super::evidence::Evidence;
use super::{Audit, Category, Dialogue, Question, Session};
use crate::error::EvalError;

const FILE: &str = "LoCoMo";

/// Reads the file's text; oddities are counted, not repaired in silence.
///
/// # Errors
/// [`EvalError::Format`] naming conversation, question and field when the text is not LoCoMo:
/// wrong JSON, no sessions, a turn without id, an answer that is neither text nor number.
pub fn load(text: &str) -> Result<(Vec<Dialogue>, Audit), EvalError> {
    let file: Value = serde_json::from_str(text).map_err(|e| fault("file", &e.to_string()))?;
    let items = file
        .as_array()
        .ok_or_else(|| fault("file", "not a list of conversations"))?;
    let mut audit = Audit::default();
    let dialogues = items.iter().enumerate();
    let dialogues = dialogues.map(|(place, item)| dialogue(place, item, &mut audit));
    let dialogues = dialogues.collect::<Result<Vec<_>, _>>()?;
    unique(&dialogues)?;
    audit.repeated_questions(&dialogues);
    Ok((dialogues, audit))
}

fn unique(dialogues: &[Dialogue]) -> Result<(), EvalError> {
    let mut seen = BTreeSet::new();
    match dialogues.iter().find(|dialogue| !seen.insert(&dialogue.id)) {
        Some(twice) => Err(fault(twice.id.as_str(), "the conversation is there twice")),
        None => Ok(()),
    }
}

fn fault(place: &str, message: &str) -> EvalError {
    EvalError::format(FILE, format!("{place}: {message}"))
}

fn dialogue(place: usize, item: &Value, audit: &mut Audit) -> Result<Dialogue, EvalError> {
    let name = item.get("sample_id").and_then(Value::as_str);
    let name = name.map_or_else(|| format!("conversation-{}", place + 1), str::to_owned);
    let id = ConversationId::new(&name).map_err(|e| fault(&name, &e.to_string()))?;
    let talk = item.get("conversation").and_then(Value::as_object);
    let talk = talk.ok_or_else(|| fault(&name, "no object `conversation`"))?;
    let speakers = ["speaker_a", "speaker_b"].map(|key| text_of(talk, key, &name));
    let speakers = speakers.into_iter().collect::<Result<Vec<_>, _>>()?;
    let sessions = sessions(&id, talk, audit)?;
    let questions = questions(&id, item, &sessions, audit)?;
    let dialogue = Dialogue {
        id,
        speakers,
        sessions,
        questions,
    };
    audit.conversation(&dialogue);
    Ok(dialogue)
}

fn text_of(map: &Map<String, Value>, key: &str, place: &str) -> Result<String, EvalError> {
    let text = map.get(key).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| fault(place, &format!("no text `{key}`")))
}

/// Sessions by number: 2 before 10.
fn sessions(
    id: &ConversationId,
    talk: &Map<String, Value>,
    audit: &mut Audit,
) -> Result<Vec<Session>, EvalError> {
    let number = |key: &str| key.strip_prefix("session_")?.parse::<u32>().ok();
    let mut numbers: Vec<u32> = talk.keys().filter_map(|key| number(key)).collect();
    numbers.sort_unstable();
    audit.dates_without_session += talk
        .keys()
        .filter_map(|key| number(key.strip_suffix("_date_time")?))
        .filter(|number| numbers.binary_search(number).is_err())
        .count();
    if numbers.is_empty() {
        return Err(fault(id.as_str(), "no sessions"));
    }
    numbers
        .into_iter()
        .map(|number| session(id, talk, number, audit))
        .collect()
}

fn session(
    id: &ConversationId,
    talk: &Map<String, Value>,
    number: u32,
    audit: &mut Audit,
) -> Result<Session, EvalError> {
    let key = format!("session_{number}");
    let date = talk
        .get(&format!("{key}_date_time"))
        .and_then(Value::as_str);
    let at = date.and_then(tmem_model::time::parse);
    audit.unread_dates += usize::from(at.is_none());
    let turns = talk[&key].as_array();
    let turns = turns.ok_or_else(|| fault(id.as_str(), &format!("`{key}` is not a list")))?;
    let turns = turns.iter().map(|turn| self::turn(id, turn, at, audit));
    Ok(Session {
        number,
        at,
        turns: turns.collect::<Result<_, _>>()?,
    })
}

fn turn(
    conversation: &ConversationId,
    value: &Value,
    at: Option<DateTime>,
    audit: &mut Audit,
) -> Result<Turn, EvalError> {
    let name = conversation.as_str();
    let map = value
        .as_object()
        .ok_or_else(|| fault(name, "a turn is not an object"))?;
    let local = text_of(map, "dia_id", name)?;
    let place = format!("{name} turn {local}");
    let id = TurnId::new(conversation, &local).map_err(|e| fault(&place, &e.to_string()))?;
    let text = map.get("text").and_then(Value::as_str).unwrap_or_default();
    let image = map
        .get("blip_caption")
        .and_then(Value::as_str)
        .map(str::trim);
    let image = image
        .filter(|caption| !caption.is_empty())
        .map(str::to_owned);
    audit.image_only_turns += usize::from(text.trim().is_empty());
    audit.captions_without_url += usize::from(image.is_some() && map.get("img_url").is_none());
    let speaker = text_of(map, "speaker", &place)?;
    Ok(Turn {
        id,
        speaker,
        text: text.trim().to_owned(),
        at,
        image,
        extra: Map::new(),
    })
}

fn questions(
    id: &ConversationId,
    item: &Value,
    sessions: &[Session],
    audit: &mut Audit,
) -> Result<Vec<Question>, EvalError> {
    let turns = sessions.iter().flat_map(|session| &session.turns);
    let turns: BTreeSet<&str> = turns.map(|turn| turn.id.local()).collect();
    let list = item
        .get("qa")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let questions = list.iter().enumerate();
    questions
        .map(|(index, value)| question(id, &turns, index, value, audit))
        .collect()
}

fn question(
    id: &ConversationId,
    turns: &BTreeSet<&str>,
    index: usize,
    value: &Value,
    audit: &mut Audit,
) -> Result<Question, EvalError> {
    let place = format!("{id} question {index}");
    let map = value
        .as_object()
        .ok_or_else(|| fault(&place, "not an object"))?;
    let number = map.get("category").and_then(Value::as_u64);
    let category = number.and_then(|n| Category::locomo(u8::try_from(n).ok()?));
    let category = category.ok_or_else(|| fault(&place, "`category` is not 1, 2, 3, 4 or 5"))?;
    let answer = answer(map, "answer", &place)?;
    audit.number_answers += usize::from(map.get("answer").is_some_and(Value::is_number));
    let misleading = self::answer(map, "adversarial_answer", &place)?;
    if answer.is_none() && misleading.is_none() {
        return Err(fault(&place, "no `answer`"));
    }
    let evidence = evidence(id, turns, map, &place)?;
    audit.evidence(&evidence);
    Ok(Question {
        index,
        text: text_of(map, "question", &place)?,
        unanswerable: category.is_adversarial() && answer.is_none(),
        answer,
        misleading,
        category,
        evidence: evidence.turns,
        unusable: evidence.unusable,
        at: None,
    })
}

/// An answer as text: a JSON number is written out, anything else is an error.
fn answer(map: &Map<String, Value>, key: &str, place: &str) -> Result<Option<String>, EvalError> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(fault(
            place,
            &format!("`{key}` is neither text nor a number"),
        )),
    }
}

fn evidence(
    id: &ConversationId,
    turns: &BTreeSet<&str>,
    map: &Map<String, Value>,
    place: &str,
) -> Result<Evidence, EvalError> {
    let entries = match map.get("evidence") {
        None => &[][..],
        Some(list) => list
            .as_array()
            .ok_or_else(|| fault(place, "`evidence` is not a list"))?,
    };
    let entries: Option<Vec<&str>> = entries.iter().map(Value::as_str).collect();
    let entries = entries.ok_or_else(|| fault(place, "`evidence` holds something not text"))?;
    Ok(Evidence::read(id, turns, &entries))
}

#[cfg(test)]
mod tests;
