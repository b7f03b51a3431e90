//! Shapes of replies: strict JSON Schemas with a bound on every text and list.
//!
//! Built from a few words instead of derived from types, since the fields of a trigger reply are
//! configuration. Properties keep their order: models write them in it.

use serde_json::{Map, Value, json};
use tmem_llm::ReplySchema;

/// An object with exactly these properties.
pub(crate) fn object(properties: Vec<(&str, Value)>) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let all: Map<String, Value> = properties
        .iter()
        .map(|(name, shape)| ((*name).to_owned(), shape.clone()))
        .collect();
    json!({"type": "object", "properties": all, "required": names, "additionalProperties": false})
}

/// A text of at most `longest` characters.
pub(crate) fn text(longest: usize) -> Value {
    json!({"type": "string", "maxLength": longest})
}

/// A text of at most `longest` characters that begins with one of `names`, or with what is theirs,
/// and neither asks nor exclaims.
pub(crate) fn about(names: &[&str], longest: usize) -> Value {
    let literal = |c: char| match c.is_ascii_punctuation() {
        true => format!("\\{c}"),
        false => c.to_string(),
    };
    let names = names.iter().map(|name| name.chars().map(literal).collect());
    let names = names.collect::<Vec<String>>().join("|");
    let pattern = format!("^({names})( and ({names}))?('s)? [^?!]+$");
    json!({"type": "string", "pattern": pattern, "maxLength": longest})
}

/// A list of at most `most` elements.
pub(crate) fn list(element: Value, most: usize) -> Value {
    json!({"type": "array", "items": element, "maxItems": most.max(1)})
}

/// A label; with `range`, one of those.
pub(crate) fn label(range: Option<(usize, usize)>) -> Value {
    match range {
        Some((least, most)) => json!({"type": "integer", "minimum": least, "maximum": most}),
        None => json!({"type": "integer"}),
    }
}

/// The named schema.
pub(crate) fn named(name: &str, schema: Value) -> ReplySchema {
    ReplySchema {
        name: name.to_owned(),
        schema,
        without: Vec::new(),
    }
}
