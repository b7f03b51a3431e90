//! Reading replies. Servers leave out what they please; what is used has to be there and sound.

use serde_json::Value;

use crate::{EmbedError, check::bad};

/// The entries of a reply in the order of the inputs.
///
/// An entry without an index stands for its position. Indexes that are missing, double or beyond
/// `count` are an error, as vectors would go to the wrong texts.
pub(crate) fn in_order<'r>(
    model: &str,
    entries: &'r [Value],
    count: usize,
) -> Result<Vec<&'r Value>, EmbedError> {
    let mut ordered: Vec<Option<&Value>> = vec![None; count];
    for (position, entry) in entries.iter().enumerate() {
        let index = index(model, entry, position)?;
        let Some(place) = ordered.get_mut(index) else {
            return Err(bad(
                model,
                format!("index {index} in a reply to {count} texts"),
            ));
        };
        if place.replace(entry).is_some() {
            return Err(bad(model, format!("index {index} comes twice")));
        }
    }
    let all: Option<Vec<&Value>> = ordered.iter().copied().collect();
    let missing = || ordered.iter().position(Option::is_none).unwrap_or_default();
    all.ok_or_else(|| bad(model, format!("index {} of {count} is missing", missing())))
}

fn index(model: &str, entry: &Value, position: usize) -> Result<usize, EmbedError> {
    match entry.get("index") {
        None | Some(Value::Null) => Ok(position),
        Some(index) => {
            let number = index.as_u64().and_then(|index| usize::try_from(index).ok());
            number.ok_or_else(|| bad(model, format!("index {index} is no position")))
        }
    }
}

/// A finite number.
pub(crate) fn number(model: &str, value: &Value, what: &str) -> Result<f32, EmbedError> {
    let number = value.as_f64().map(|x| x as f32).filter(|x| x.is_finite());
    number.ok_or_else(|| bad(model, format!("{what} is {value}, not a number in range")))
}

/// The vector of an entry.
pub(crate) fn vector(model: &str, entry: &Value, text: usize) -> Result<Vec<f32>, EmbedError> {
    let Some(numbers) = entry.get("embedding").and_then(Value::as_array) else {
        return Err(bad(model, format!("no list `embedding` for text {text}")));
    };
    let numbers = numbers.iter().enumerate();
    let read = |(position, value): (usize, &Value)| {
        number(
            model,
            value,
            &format!("number {position} of the vector of text {text}"),
        )
    };
    numbers.map(read).collect()
}

/// The list that holds the entries, under any of `keys`, or the reply itself.
pub(crate) fn entries<'r>(
    model: &str,
    reply: &'r Value,
    keys: &[&str],
) -> Result<&'r [Value], EmbedError> {
    let list = keys.iter().find_map(|key| reply.get(key)).unwrap_or(reply);
    let list = list.as_array().map(Vec::as_slice);
    list.ok_or_else(|| bad(model, format!("no list `{}` in the reply", keys[0])))
}
