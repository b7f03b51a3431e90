//! The check of strictness, written apart from the rewriting: tests of every crate that sends a
//! schema walk it with this.

use serde_json::Value;

const ALLOWED: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "anyOf",
    "description",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
];

/// Panics with every breach of strictness in `schema`.
///
/// # Panics
/// If there is one.
#[track_caller]
pub fn assert_strict(schema: &Value) {
    let breaches = breaches(schema);
    assert!(
        breaches.is_empty(),
        "the schema is not strict:\n{}",
        breaches.join("\n")
    );
}

/// Every way in which `schema` is not strict, each with its place.
pub fn breaches(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if schema["type"] != "object" {
        found.push("#: the root is not an object".to_owned());
    }
    walk(schema, "#", &mut found);
    found
}

fn walk(schema: &Value, path: &str, found: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        return found.push(format!("{path}: not a schema"));
    };
    for keyword in keywords
        .keys()
        .filter(|keyword| !ALLOWED.contains(&keyword.as_str()))
    {
        found.push(format!("{path}: keyword `{keyword}`"));
    }
    if !["type", "anyOf", "enum"]
        .iter()
        .any(|keyword| keywords.contains_key(*keyword))
    {
        found.push(format!("{path}: no type"));
    }
    object(schema, path, found);
    if has_type(schema, "array") && schema.get("items").is_none() {
        found.push(format!("{path}: a list without items"));
    }
    if let Some(items) = schema.get("items") {
        walk(items, &format!("{path}/items"), found);
    }
    for (index, branch) in schema["anyOf"].as_array().into_iter().flatten().enumerate() {
        walk(branch, &format!("{path}/anyOf/{index}"), found);
    }
}

fn object(schema: &Value, path: &str, found: &mut Vec<String>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    if !has_type(schema, "object") && properties.is_none() {
        return;
    }
    if schema["additionalProperties"] != Value::Bool(false) {
        found.push(format!("{path}: additional properties"));
    }
    let required: Vec<_> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    for (name, property) in properties.into_iter().flatten() {
        if !required.iter().any(|each| *each == name) {
            found.push(format!("{path}: `{name}` is not required"));
        }
        walk(property, &format!("{path}/{name}"), found);
    }
}

fn has_type(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::Array(types) => types.iter().any(|each| each == name),
        one => one == name,
    }
}
