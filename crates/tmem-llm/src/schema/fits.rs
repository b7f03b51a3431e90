//! Does a value fit a strict schema? Bounds are hints to the writer and are not checked.

use serde_json::Value;

use crate::json::Fault;

/// Checks `value` against a strict schema.
///
/// # Errors
/// [`Fault::Missing`] or [`Fault::OffSchema`] for the first breach.
pub fn fits(schema: &Value, value: &Value) -> Result<(), Fault> {
    check(schema, value, "")
}

fn check(schema: &Value, value: &Value, path: &str) -> Result<(), Fault> {
    if let Some(branches) = schema["anyOf"].as_array() {
        let fits_one = branches
            .iter()
            .any(|branch| check(branch, value, path).is_ok());
        return if fits_one {
            Ok(())
        } else {
            off(path, "it fits none of the alternatives")
        };
    }
    if !of_type(&schema["type"], value) {
        return off(path, &format!("expected {}", schema["type"]));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
        && !value.is_null()
    {
        return off(path, "not one of the allowed values");
    }
    match value {
        Value::Object(fields) => object(schema, fields, path),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .try_for_each(|(index, element)| {
                check(&schema["items"], element, &format!("{path}[{index}]"))
            }),
        _ => Ok(()),
    }
}

fn object(
    schema: &Value,
    fields: &serde_json::Map<String, Value>,
    path: &str,
) -> Result<(), Fault> {
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let path = join(path, name);
        match fields.get(name) {
            Some(value) => check(property, value, &path)?,
            None => return Err(Fault::Missing { path }),
        }
    }
    let unknown = fields
        .keys()
        .find(|name| properties.is_none_or(|known| !known.contains_key(*name)));
    unknown.map_or(Ok(()), |name| off(&join(path, name), "an unknown field"))
}

fn of_type(wanted: &Value, value: &Value) -> bool {
    match wanted {
        Value::Array(types) => types.iter().any(|each| of_type(each, value)),
        Value::String(name) => match name.as_str() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            _ => false,
        },
        _ => true,
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn off(path: &str, reason: &str) -> Result<(), Fault> {
    let path = if path.is_empty() { "." } else { path };
    Err(Fault::OffSchema {
        path: path.to_owned(),
        reason: reason.to_owned(),
    })
}
