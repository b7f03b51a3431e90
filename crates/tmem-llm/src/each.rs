//! Lists that are accepted element by element: one bad element does not cost the good ones.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

use crate::json;

/// A list whose elements are accepted one by one; a refused one leaves its reason.
///
/// Its schema is that of a plain list. It has no `Default` on purpose: a list that is missing from a
/// reply is a fault of the reply, not an empty list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Each<T>(pub Vec<Result<T, String>>);

impl<T> Each<T> {
    /// The accepted elements with their positions in the reply, in order, and the refused ones.
    pub fn split(self) -> (Vec<(usize, T)>, Vec<Refusal>) {
        let mut accepted = Vec::new();
        let mut refused = Vec::new();
        for (index, element) in self.0.into_iter().enumerate() {
            match element {
                Ok(element) => accepted.push((index, element)),
                Err(reason) => refused.push(Refusal { index, reason }),
            }
        }
        (accepted, refused)
    }

    /// The accepted elements, in order.
    pub fn accepted(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(|element| element.as_ref().ok())
    }
}

/// An element that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its position in the list, from 0.
    pub index: usize,
    /// What was wrong with it.
    pub reason: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "element {}: {}", self.index, self.reason)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Each<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let elements = Vec::<Value>::deserialize(deserializer)?;
        let each = |element| json::fit(element).map_err(|fault| fault.to_string());
        Ok(Self(elements.into_iter().map(each).collect()))
    }
}

impl<T: JsonSchema> JsonSchema for Each<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}
