//! One message or turn as a JSON object: `role` and `content`, or `speaker` and `text`.
//!
//! Left out, and counted: messages of the roles system, developer, tool and function, and messages
//! without content. Tool calls never become text. A speaker is named by `name`, `speaker` or
//! `sender`, else by the role. Image parts leave a marker, never their data.

use serde_json::{Map, Value};

use super::draft::{Draft, Said, field, numbered, time, valid_name, wrong};
use super::error::IngestError;
use super::{NO_CAPTION, Options};

type Object = Map<String, Value>;

/// Roles whose messages nobody said.
const UNSAID: &[&str] = &["system", "developer", "tool", "function"];
const SPEAKER: &[&str] = &["name", "speaker", "sender", "role"];
const TIME: &[&str] = &["at", "timestamp", "time", "date"];

/// Whether an object has a key of a turn.
pub(super) fn fits(object: &Object) -> bool {
    let keys = ["role", "speaker", "sender", "text", "content"];
    keys.iter().any(|key| object.contains_key(*key))
}

/// Name of the conversation that an object belongs to.
pub(super) fn conversation(place: &str, object: &Object) -> Result<Option<String>, IngestError> {
    let keys = ["conversation", "conversation_id"];
    match keys
        .iter()
        .find_map(|key| Some((*key, present(object, key)?)))
    {
        None => Ok(None),
        Some((key, Value::String(name))) => valid_name(place, key, name).map(Some),
        Some((key, Value::Number(number))) => numbered(place, key, number).map(Some),
        Some((key, other)) => Err(wrong(place, key, "a name", other)),
    }
}

/// Reads one object into the conversation.
pub(super) fn turn(
    draft: &mut Draft,
    place: &str,
    object: &Object,
    options: &Options,
) -> Result<(), IngestError> {
    let session = scalar(place, object, "session")?;
    let fallback = draft.next_id(&format!("S{}", session.as_deref().unwrap_or("1")));
    let role = present(object, "role")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if UNSAID
        .iter()
        .any(|unsaid| role.eq_ignore_ascii_case(unsaid))
    {
        draft.leave_out(format!("message of role {role}"));
        return Ok(());
    }
    let Some(content) = content(draft, place, object)? else {
        return Ok(());
    };
    let said = Said {
        id: scalar(place, object, "id")?,
        speaker: speaker(place, object)?,
        text: content.texts.join("\n"),
        at: at(place, object)?,
        image: content.image.or(text_field(place, object, "image")?),
    };
    draft.push(place, fallback, said, options)
}

#[derive(Default)]
struct Content {
    texts: Vec<String>,
    image: Option<String>,
}

/// What was said; `None` if the message is one of those without content.
fn content(
    draft: &mut Draft,
    place: &str,
    object: &Object,
) -> Result<Option<Content>, IngestError> {
    let key = if object.contains_key("content") {
        "content"
    } else {
        "text"
    };
    let calls = ["tool_calls", "function_call"]
        .iter()
        .any(|key| present(object, key).is_some());
    if calls {
        draft.leave_out("tool call");
    }
    match object.get(key) {
        Some(Value::String(text)) if calls && text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(Content {
            texts: vec![text.clone()],
            image: None,
        })),
        Some(Value::Array(parts)) => parts_of(draft, place, parts).map(Some),
        None | Some(Value::Null) if calls => Ok(None),
        Some(Value::Null) if key == "content" => {
            draft.leave_out("message without content");
            Ok(None)
        }
        None if present(object, "image").is_some() => Ok(Some(Content::default())),
        None => Err(field(place, key, "is missing")),
        Some(other) => Err(wrong(place, key, "a string", other)),
    }
}

fn parts_of(draft: &mut Draft, place: &str, parts: &[Value]) -> Result<Content, IngestError> {
    let mut content = Content::default();
    for (at, part) in parts.iter().enumerate() {
        let kind = part.get("type").and_then(Value::as_str);
        match (part, part.get("text"), kind) {
            (Value::String(text), ..) | (_, Some(Value::String(text)), _) => {
                content.texts.push(text.clone());
            }
            (_, _, Some("image_url" | "image" | "input_image" | "image_file")) => {
                content.image = Some(NO_CAPTION.to_owned());
            }
            (Value::Object(_), None, Some(kind)) => draft.leave_out(format!("part of type {kind}")),
            (other, ..) => {
                let key = format!("content[{at}]");
                return Err(wrong(place, &key, "a part with `type` and `text`", other));
            }
        }
    }
    Ok(content)
}

fn speaker(place: &str, object: &Object) -> Result<String, IngestError> {
    match SPEAKER
        .iter()
        .find_map(|key| Some((*key, present(object, key)?)))
    {
        Some((_, Value::String(name))) => Ok(name.clone()),
        Some((key, other)) => Err(wrong(place, key, "a string", other)),
        None => Err(field(place, "speaker", "is missing")),
    }
}

fn at(place: &str, object: &Object) -> Result<Option<jiff::civil::DateTime>, IngestError> {
    let found = TIME
        .iter()
        .find_map(|key| Some((*key, present(object, key)?)));
    found
        .map(|(key, value)| time(place, key, value))
        .transpose()
}

fn text_field(place: &str, object: &Object, key: &str) -> Result<Option<String>, IngestError> {
    match present(object, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong(place, key, "a string", other)),
    }
}

/// A string, or a whole number as one.
fn scalar(place: &str, object: &Object, key: &str) -> Result<Option<String>, IngestError> {
    match present(object, key) {
        Some(Value::Number(number)) => numbered(place, key, number).map(Some),
        _ => text_field(place, object, key),
    }
}

fn present<'a>(object: &'a Object, key: &str) -> Option<&'a Value> {
    object.get(key).filter(|value| !value.is_null())
}
