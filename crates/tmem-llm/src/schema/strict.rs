//! The rewriting: references resolved, every object closed, nothing optional, few keywords.

use serde_json::{Map, Value, json};

use super::{BOUNDS, SchemaError};

/// Keywords that go over unchanged, beside bounds.
const KEPT: &[&str] = &["description", "enum"];

/// Keywords that only describe and are dropped; any other that is not handled below is refused.
const DROPPED: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "format",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "uniqueItems",
];

/// Levels after which a schema is taken to contain itself.
const DEEPEST: usize = 24;

/// Makes a schema strict: no `$ref`, every property required and in the given order, no additional
/// properties, `oneOf` of constants as `enum` and any other as `anyOf`, an `Option` as a type list
/// or `anyOf` with `null`. Descriptions, enums and bounds stay.
///
/// # Errors
/// [`SchemaError`] at the first map, tuple, free value, endless type or unknown keyword.
pub fn strict(schema: &Value) -> Result<Value, SchemaError> {
    let walk = Walk {
        root: schema,
        path: String::new(),
        depth: 0,
    };
    let strict = walk.schema(schema)?;
    match strict.get("properties") {
        Some(_) if strict["type"] == "object" => Ok(strict),
        _ => Err(walk.refuse("the root is not an object")),
    }
}

struct Walk<'a> {
    root: &'a Value,
    path: String,
    depth: usize,
}

impl Walk<'_> {
    fn schema(&self, schema: &Value) -> Result<Value, SchemaError> {
        let Value::Object(given) = schema else {
            return Err(self.refuse("any value is allowed"));
        };
        if self.depth > DEEPEST {
            return Err(self.refuse("the type contains itself"));
        }
        if let Some(target) = given.get("$ref") {
            return self.referred(given, target);
        }
        if let Some(Value::Array(parts)) = given.get("allOf") {
            return self.merged(given, parts);
        }
        let mut out = Map::new();
        for (keyword, value) in given {
            self.keyword(given, keyword, value, &mut out)?;
        }
        self.close(given, &mut out)?;
        Ok(Value::Object(out))
    }

    fn keyword(
        &self,
        given: &Map<String, Value>,
        keyword: &str,
        value: &Value,
        out: &mut Map<String, Value>,
    ) -> Result<(), SchemaError> {
        match keyword {
            "oneOf" | "anyOf" => self.choice(value, out)?,
            "const" => _ = out.insert("enum".to_owned(), json!([value])),
            "items" => _ = out.insert("items".to_owned(), self.at("[]").schema(value)?),
            "properties" => _ = out.insert("properties".to_owned(), self.properties(value)?),
            "type" => _ = out.insert("type".to_owned(), value.clone()),
            "required" => {}
            "additionalProperties" if *value == Value::Bool(false) => {}
            "additionalProperties"
                if given.contains_key("properties") && *value == Value::Bool(true) => {}
            "additionalProperties" => return Err(self.refuse("a map has no fixed fields")),
            _ if KEPT.contains(&keyword) || BOUNDS.contains(&keyword) => {
                _ = out.insert(keyword.to_owned(), value.clone())
            }
            _ if DROPPED.contains(&keyword) => {}
            _ => return Err(self.refuse(&format!("`{keyword}` is not part of strict schemas"))),
        }
        Ok(())
    }

    fn properties(&self, properties: &Value) -> Result<Value, SchemaError> {
        let properties = properties.as_object().into_iter().flatten();
        let strict =
            properties.map(|(name, schema)| Ok((name.clone(), self.at(name).schema(schema)?)));
        strict.collect::<Result<Map<_, _>, _>>().map(Value::Object)
    }

    /// Alternatives: constants become one `enum`, anything else stays apart.
    fn choice(&self, branches: &Value, out: &mut Map<String, Value>) -> Result<(), SchemaError> {
        let branches = branches.as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(values) = constants(branches) {
            describe(branches, out);
            out.insert("type".to_owned(), json!("string"));
            out.insert("enum".to_owned(), Value::Array(values));
            return Ok(());
        }
        let strict = branches.iter().map(|branch| self.schema(branch));
        out.insert(
            "anyOf".to_owned(),
            Value::Array(strict.collect::<Result<_, _>>()?),
        );
        Ok(())
    }

    /// Closes an object, and refuses what says too little of its type.
    fn close(
        &self,
        given: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Result<(), SchemaError> {
        if is_type(given, "array") && !given.contains_key("items") {
            return Err(self.refuse("a list says nothing of its elements"));
        }
        if is_type(given, "object") || given.contains_key("properties") {
            let properties = out.get("properties").and_then(Value::as_object);
            let Some(properties) = properties.filter(|_| !out.contains_key("anyOf")) else {
                return Err(self.refuse("an object without named fields"));
            };
            let required = properties.keys().cloned().map(Value::String).collect();
            out.insert("required".to_owned(), Value::Array(required));
            out.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        let typed = ["type", "anyOf", "enum"]
            .iter()
            .any(|keyword| out.contains_key(*keyword));
        if typed {
            Ok(())
        } else {
            Err(self.refuse("any value is allowed"))
        }
    }

    fn referred(&self, given: &Map<String, Value>, target: &Value) -> Result<Value, SchemaError> {
        let pointer = target.as_str().and_then(|target| target.strip_prefix('#'));
        let Some(found) = pointer.and_then(|pointer| self.root.pointer(pointer)) else {
            return Err(self.refuse("a reference leads nowhere"));
        };
        self.merged(given, std::slice::from_ref(found))
    }

    /// `given` without its reference, laid over the one schema that it stands for.
    fn merged(&self, given: &Map<String, Value>, parts: &[Value]) -> Result<Value, SchemaError> {
        let [Value::Object(part)] = parts else {
            return Err(self.refuse("several schemas at once"));
        };
        let mut whole = part.clone();
        let own = given
            .iter()
            .filter(|(keyword, _)| !["$ref", "allOf"].contains(&keyword.as_str()));
        whole.extend(own.map(|(keyword, value)| (keyword.clone(), value.clone())));
        self.at("").schema(&Value::Object(whole))
    }

    fn at(&self, step: &str) -> Self {
        let dot = if self.path.is_empty() || step.is_empty() || step == "[]" {
            ""
        } else {
            "."
        };
        Walk {
            root: self.root,
            path: format!("{}{dot}{step}", self.path),
            depth: self.depth + 1,
        }
    }

    fn refuse(&self, reason: &str) -> SchemaError {
        let path = if self.path.is_empty() {
            "."
        } else {
            &self.path
        };
        SchemaError {
            path: path.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

fn is_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|each| each == name),
        Some(one) => one == name,
        None => false,
    }
}

/// The string constants of all branches, if they are nothing else.
fn constants(branches: &[Value]) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    for branch in branches {
        match (branch.get("const"), branch.get("enum")) {
            (Some(one), None) if one.is_string() => values.push(one.clone()),
            (None, Some(Value::Array(many))) if many.iter().all(Value::is_string) => {
                values.extend(many.iter().cloned());
            }
            _ => return None,
        }
    }
    (!values.is_empty()).then_some(values)
}

/// Keeps what the branches say of their constants, as part of the description.
fn describe(branches: &[Value], out: &mut Map<String, Value>) {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(
        out.get("description")
            .and_then(Value::as_str)
            .map(str::to_owned),
    );
    for branch in branches {
        if let (Some(value), Some(text)) =
            (branch["const"].as_str(), branch["description"].as_str())
        {
            lines.push(format!("{value}: {text}"));
        }
    }
    if !lines.is_empty() {
        out.insert("description".to_owned(), json!(lines.join("\n")));
    }
}
