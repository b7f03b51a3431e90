//! Takes the fields of a JSON object one by one, with a path for every complaint.

use serde_json::{Map, Value};

use super::error::DocumentError;
use crate::node::Extra;
use crate::text::clean;

type Result<T> = std::result::Result<T, DocumentError>;

/// What is left of an object, and where it stands.
pub(super) struct Fields {
    path: String,
    id: Option<String>,
    map: Map<String, Value>,
}

impl Fields {
    pub(super) fn of(value: Value, path: String) -> Result<Self> {
        match value {
            Value::Object(map) => {
                let id = map
                    .get("id")
                    .and_then(Value::as_str)
                    .filter(|id| !id.trim().is_empty());
                Ok(Self {
                    path,
                    id: id.map(str::to_owned),
                    map,
                })
            }
            other => Err(field(
                path,
                None,
                format!("an object is expected, not {}", kind(&other)),
            )),
        }
    }

    /// The fields that nobody took.
    pub(super) fn rest(self) -> Extra {
        self.map
    }

    pub(super) fn error(&self, key: &str, reason: impl ToString) -> DocumentError {
        field(self.at(key), self.id.clone(), reason.to_string())
    }

    /// A field, unless it is absent or null.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        // Not `swap_remove`: the fields that stay keep their order.
        self.map.shift_remove(key).filter(|value| !value.is_null())
    }

    pub(super) fn optional_text(&mut self, key: &str) -> Result<Option<String>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(clean(&text))),
            Some(other) => Err(self.wrong(key, "a string", &other)),
        }
    }

    pub(super) fn text(&mut self, key: &str) -> Result<String> {
        self.optional_text(key)?
            .ok_or_else(|| self.error(key, "a string is expected here"))
    }

    pub(super) fn text_or_empty(&mut self, key: &str) -> Result<String> {
        Ok(self.optional_text(key)?.unwrap_or_default())
    }

    pub(super) fn number(&mut self, key: &str) -> Result<Option<f64>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(number.as_f64()),
            Some(other) => Err(self.wrong(key, "a number", &other)),
        }
    }

    /// A list; absent counts as empty.
    pub(super) fn list(&mut self, key: &str) -> Result<Vec<Value>> {
        Ok(self.optional_list(key)?.unwrap_or_default())
    }

    pub(super) fn optional_list(&mut self, key: &str) -> Result<Option<Vec<Value>>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(self.wrong(key, "a list", &other)),
        }
    }

    pub(super) fn texts(&mut self, key: &str) -> Result<Vec<String>> {
        let list = self.list(key)?.into_iter().enumerate();
        list.map(|(at, value)| match value {
            Value::String(text) => Ok(clean(&text)),
            other => Err(self.wrong(&format!("{key}[{at}]"), "a string", &other)),
        })
        .collect()
    }

    /// Elements of a list of objects, each read by `read`.
    pub(super) fn objects<T>(
        &mut self,
        key: &str,
        read: impl Fn(Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let list = self.list(key)?;
        self.each(key, list, read)
    }

    pub(super) fn each<T>(
        &self,
        key: &str,
        list: Vec<Value>,
        read: impl Fn(Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let element = |(at, value)| {
            let mut fields = Self::of(value, self.at(&format!("{key}[{at}]")))?;
            fields.id = fields.id.or_else(|| self.id.clone());
            read(fields)
        };
        list.into_iter().enumerate().map(element).collect()
    }

    /// An object within this one.
    pub(super) fn object(&mut self, key: &str) -> Result<Option<Self>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let mut fields = Self::of(value, self.at(key))?;
        fields.id = self.id.clone();
        Ok(Some(fields))
    }

    fn wrong(&self, key: &str, expected: &str, found: &Value) -> DocumentError {
        self.error(key, format!("{expected} is expected, not {}", kind(found)))
    }

    fn at(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

fn field(path: String, id: Option<String>, reason: String) -> DocumentError {
    let path = if path.is_empty() {
        "document".to_owned()
    } else {
        path
    };
    DocumentError::Field { path, id, reason }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
