//! Finding values in text: past reasoning blocks, fences and chatter.

use serde_json::{Deserializer, Value};
use tmem_quirks::mend_surrogates;

use super::{Fault, excerpt, tail};

/// Names that models give to their reasoning blocks.
const REASONING: &[&str] = &[
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
];

/// The first complete JSON object in `text` that `fit` accepts. Replies are objects: a list on its own
/// is passed over, for serde would read it as the fields of a struct in their order.
///
/// # Errors
/// [`Fault::Empty`], [`Fault::NotJson`], [`Fault::Unfinished`], or what `fit` said of the first
/// object.
pub fn find<T>(text: &str, fit: impl Fn(Value) -> Result<T, Fault>) -> Result<T, Fault> {
    let text = readable(text);
    let spoken = without_reasoning(&text)?;
    let mut fault = None;
    for value in values(spoken) {
        match value {
            Ok(Value::Array(_)) if fault.is_none() => fault = Some((false, list())),
            Ok(Value::Array(_)) => {}
            value => match value.and_then(&fit) {
                Ok(found) => return Ok(found),
                Err(new) if !matches!(fault, Some((true, _))) => fault = Some((true, new)),
                Err(_) => {}
            },
        }
    }
    Err(fault.map_or_else(
        || Fault::NotJson {
            excerpt: excerpt(spoken),
        },
        |(_, fault)| fault,
    ))
}

fn list() -> Fault {
    Fault::OffSchema {
        path: ".".to_owned(),
        reason: "a list where an object was wanted".to_owned(),
    }
}

/// The last JSON object or list in `text` that `fit` accepts: reasoning ends with its conclusion.
pub fn find_last<T>(text: &str, fit: impl Fn(Value) -> Option<T>) -> Option<T> {
    values(&readable(text))
        .filter_map(|value| fit(value.ok()?))
        .last()
}

/// The text that a reply wants to be: surrogates mended, a reply that is one JSON string unquoted.
pub(crate) fn readable(text: &str) -> String {
    let text = mend_surrogates(text);
    let quoted = text.trim().starts_with('"');
    let inner = quoted
        .then(|| serde_json::from_str::<String>(text.trim()).ok())
        .flatten();
    inner.unwrap_or_else(|| text.into_owned())
}

/// What follows the reasoning, or the fault if that is nothing.
pub(crate) fn without_reasoning(text: &str) -> Result<&str, Fault> {
    let spoken = skip_reasoning(text).ok_or_else(|| Fault::NotJson {
        excerpt: excerpt(text),
    })?;
    let blank = spoken
        .trim()
        .trim_start_matches("```json")
        .trim_matches('`')
        .trim()
        .is_empty();
    if blank { Err(Fault::Empty) } else { Ok(spoken) }
}

/// Drops reasoning blocks; `None` if one never ends. The first bracket of a tag may be lost, and so
/// may the whole opening tag, which some chat templates put into the prompt.
fn skip_reasoning(text: &str) -> Option<&str> {
    let mut rest = text.trim_start();
    if rest.starts_with(['{', '[', '`']) {
        return Some(rest);
    }
    while let Some((name, inside)) = opening_tag(rest) {
        rest = after_tag(inside, name)?.trim_start();
    }
    let closed = REASONING
        .iter()
        .filter_map(|name| after_last_tag(rest, name));
    Some(closed.min_by_key(|after| after.len()).unwrap_or(rest))
}

fn opening_tag(text: &str) -> Option<(&'static str, &str)> {
    let text = text.strip_prefix('<').unwrap_or(text);
    let (tag, inside) = text.split_once('>')?;
    let name = REASONING
        .iter()
        .find(|name| name.eq_ignore_ascii_case(tag.trim()))?;
    Some((name, inside))
}

fn after_tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let closing = format!("/{name}>");
    let start = text.to_ascii_lowercase().find(&closing)?;
    Some(&text[start + closing.len()..])
}

fn after_last_tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let closing = format!("</{name}>");
    let start = text.to_ascii_lowercase().rfind(&closing)?;
    Some(&text[start + closing.len()..])
}

/// Brackets that begin nothing, after which a text is taken to hold no more JSON: each costs a try.
const MOST_FALSE_STARTS: usize = 1000;

/// The outermost JSON objects and lists of a text, in order; ends after one that breaks off.
fn values(text: &str) -> impl Iterator<Item = Result<Value, Fault>> {
    let (mut at, mut false_starts) = (0, 0);
    std::iter::from_fn(move || {
        while false_starts < MOST_FALSE_STARTS {
            let start = at + text[at..].find(['{', '['])?;
            let mut stream = Deserializer::from_str(&text[start..]).into_iter::<Value>();
            match stream.next() {
                Some(Ok(value)) => {
                    at = start + stream.byte_offset();
                    return Some(Ok(value));
                }
                Some(Err(error)) if error.is_eof() => {
                    at = text.len();
                    return Some(Err(Fault::Unfinished {
                        excerpt: tail(text),
                    }));
                }
                _ => (at, false_starts) = (start + 1, false_starts + 1),
            }
        }
        None
    })
}
