//! LoCoMo samples: sessions `session_N` with `session_N_date_time`, in the order of N.
//!
//! Questions, evidence, summaries and observations are not part of the conversation and ignored.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use serde_json::{Map, Value};

use super::draft::{Draft, Said, field, numbered, time, valid_name, wrong};
use super::error::IngestError;
use super::{NO_CAPTION, Options};

type Object = Map<String, Value>;

/// Whether an object is a sample, or the conversation of one.
pub(super) fn fits(object: &Object) -> bool {
    let dialogue = dialogue(object);
    let speakers = dialogue.contains_key("speaker_a") && dialogue.contains_key("speaker_b");
    speakers || dialogue.keys().any(|key| session(key).is_some())
}

pub(super) fn sample(
    place: &str,
    object: &Object,
    options: &Options,
) -> Result<Draft, IngestError> {
    let mut draft = Draft::new(name(place, object)?);
    let mut dates = dates(object);
    for (number, (key, value)) in sessions(object) {
        let at = match dates.remove(&number).filter(|(_, date)| !is_blank(date)) {
            Some((key, value)) => Some(time(place, key, value)?),
            None => None,
        };
        let turns = value
            .as_array()
            .ok_or_else(|| wrong(place, key, "a list of turns", value))?;
        for (position, value) in turns.iter().enumerate() {
            let place = format!("{place}, {key}[{position}]");
            turn(
                &mut draft,
                &place,
                &format!("D{number}"),
                value,
                at,
                options,
            )?;
        }
    }
    if !dates.is_empty() {
        let keys: Vec<&str> = dates.into_values().map(|(key, _)| key).collect();
        draft.note(format!(
            "ignored, for there are no such sessions: {}",
            keys.join(", ")
        ));
    }
    Ok(draft)
}

fn name(place: &str, object: &Object) -> Result<Option<String>, IngestError> {
    match object.get("sample_id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => valid_name(place, "sample_id", name).map(Some),
        Some(Value::Number(number)) => numbered(place, "sample_id", number).map(Some),
        Some(other) => Err(wrong(place, "sample_id", "a name", other)),
    }
}

fn turn(
    draft: &mut Draft,
    place: &str,
    session: &str,
    value: &Value,
    at: Option<DateTime>,
    options: &Options,
) -> Result<(), IngestError> {
    let object = value
        .as_object()
        .ok_or_else(|| wrong(place, "turn", "an object", value))?;
    let fallback = draft.next_id(session);
    let caption = text(place, object, "blip_caption")?;
    let shared = object.get("img_url").is_some_and(|url| !url.is_null());
    let said = text(place, object, "text")?;
    if said.is_none() && caption.is_none() && !shared {
        return Err(field(place, "text", "is missing"));
    }
    let blank = said.as_ref().is_none_or(|text| text.trim().is_empty());
    let said = Said {
        id: text(place, object, "dia_id")?.map(|id| id.trim().to_owned()),
        speaker: text(place, object, "speaker")?
            .ok_or_else(|| field(place, "speaker", "is missing"))?,
        text: said.unwrap_or_default(),
        at,
        image: caption.or_else(|| (shared && blank).then(|| NO_CAPTION.to_owned())),
    };
    draft.push(place, fallback, said, options)
}

fn text(place: &str, object: &Object, key: &str) -> Result<Option<String>, IngestError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong(place, key, "a string", other)),
    }
}

fn dialogue(object: &Object) -> &Object {
    object
        .get("conversation")
        .and_then(Value::as_object)
        .unwrap_or(object)
}

type Numbered<'a> = BTreeMap<u32, (&'a str, &'a Value)>;

fn sessions(object: &Object) -> Numbered<'_> {
    let keyed = dialogue(object).iter();
    keyed
        .filter_map(|(key, value)| Some((session(key)?, (key.as_str(), value))))
        .collect()
}

fn dates(object: &Object) -> Numbered<'_> {
    let keyed = dialogue(object).iter();
    let dated = keyed.filter_map(|(key, value)| {
        let number = session(key.strip_suffix("_date_time")?)?;
        Some((number, (key.as_str(), value)))
    });
    dated.collect()
}

fn session(key: &str) -> Option<u32> {
    key.strip_prefix("session_")?.parse().ok()
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}
