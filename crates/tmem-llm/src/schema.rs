//! Strict schemas: what structured output accepts, made from what schemars writes.

mod breach;
mod fits;
mod strict;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

pub use breach::{assert_strict, breaches};
pub use fits::fits;
pub use strict::strict;

use crate::chat::ReplySchema;

/// Keywords of bounds on lengths, counts, numbers and beginnings.
pub(crate) const BOUNDS: &[&str] = &[
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
];

/// Why a type has no strict schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {reason}")]
pub struct SchemaError {
    /// Where, as in `items[].place`; `.` is the root.
    pub path: String,
    /// Why.
    pub reason: String,
}

impl ReplySchema {
    /// The strict schema of `T`, under a name made fit for the wire.
    ///
    /// # Errors
    /// [`SchemaError`] if `T` holds a map, a tuple, a free value, or holds itself.
    pub fn of<T: JsonSchema>(name: &str) -> Result<Self, SchemaError> {
        Ok(Self {
            name: wire_name(name),
            schema: strict(&raw::<T>())?,
            without: Vec::new(),
        })
    }
}

/// The schema of `T` as schemars writes it, without references where that is possible.
fn raw<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

fn wire_name(name: &str) -> String {
    let fit = |c: char| {
        if c.is_ascii_alphanumeric() || "_-".contains(c) {
            c
        } else {
            '_'
        }
    };
    name.chars().map(fit).take(64).collect()
}
