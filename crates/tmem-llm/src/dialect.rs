//! What one endpoint and model understand of the chat format, learned from their refusals.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::BOUNDS;

/// The way a request is written. Starts with the most exact form; each refusal changes one thing, for
/// good, so that it is met once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// How the shape of the reply is asked for.
    pub structure: Structure,
    /// How its longest length is named.
    pub cap: Cap,
    /// Whether a temperature is sent.
    pub temperature: bool,
    /// Whether a schema keeps its bounds on lengths, counts and numbers.
    pub bounds: bool,
}

/// How the shape of a reply is asked for, most exact first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Structure {
    /// By the server, which enforces the schema.
    #[default]
    JsonSchema,
    /// By the server, which enforces JSON; the schema stands in the prompt.
    JsonObject,
    /// In the prompt alone.
    Plain,
}

/// How the longest length of a reply is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// `max_tokens`.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            structure: Structure::default(),
            cap: Cap::default(),
            temperature: true,
            bounds: true,
        }
    }
}

/// Words by which a refusal shows that it is about the shape of the reply.
const STRUCTURE: &[&str] = &[
    "response_format",
    "json_schema",
    "json_object",
    "structured output",
    "schema",
    "grammar",
    "guided",
];

impl Dialect {
    /// Another way to say what was refused with `body`, if it is about the way. `shaped`: whether the
    /// request asked for a shape, `tempered`: whether it had a temperature.
    ///
    /// The names are looked for wherever they stand: gateways wrap one error in the text of another.
    pub fn after(self, body: &str, shaped: bool, tempered: bool) -> Option<Self> {
        let named = Named::find(body);
        if tempered && self.temperature && named.is("temperature") {
            return Some(Self {
                temperature: false,
                ..self
            });
        }
        if self.cap == Cap::MaxTokens
            && (named.is("max_tokens") || named.is("max_completion_tokens"))
        {
            return Some(Self {
                cap: Cap::MaxCompletionTokens,
                ..self
            });
        }
        if !shaped {
            return None;
        }
        let enforced = self.structure == Structure::JsonSchema;
        if enforced
            && self.bounds
            && BOUNDS
                .iter()
                .any(|word| named.is(&word.to_ascii_lowercase()))
        {
            return Some(Self {
                bounds: false,
                ..self
            });
        }
        let about_structure = STRUCTURE.iter().any(|word| named.is(word));
        self.plainer().filter(|_| about_structure)
    }

    /// One step down in how the shape is asked for.
    pub fn plainer(self) -> Option<Self> {
        let structure = match self.structure {
            Structure::JsonSchema => Structure::JsonObject,
            Structure::JsonObject => Structure::Plain,
            Structure::Plain => return None,
        };
        Some(Self { structure, ..self })
    }
}

/// The names in a refusal: those it calls parameters if there are any, else its whole text.
struct Named {
    parameters: Vec<String>,
    text: String,
}

impl Named {
    fn find(body: &str) -> Self {
        let mut parameters = Vec::new();
        collect(body, &mut parameters, 0);
        Self {
            parameters,
            text: body.to_ascii_lowercase(),
        }
    }

    fn is(&self, name: &str) -> bool {
        match self.parameters.as_slice() {
            [] => self.text.contains(name),
            some => some.iter().any(|parameter| parameter.contains(name)),
        }
    }
}

/// Gathers `param` fields, also from JSON inside of texts.
fn collect(text: &str, found: &mut Vec<String>, depth: usize) {
    if depth > 4 {
        return;
    }
    let Some(start) = text.find('{') else { return };
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    if let Some(Ok(value)) = values.next() {
        gather(&value, found, depth);
    }
}

fn gather(value: &Value, found: &mut Vec<String>, depth: usize) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_str() {
                    Some(parameter) if name == "param" && !parameter.is_empty() => {
                        found.push(parameter.to_ascii_lowercase());
                    }
                    _ => gather(field, found, depth),
                }
            }
        }
        Value::Array(elements) => elements
            .iter()
            .for_each(|element| gather(element, found, depth)),
        Value::String(text) => collect(text, found, depth + 1),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Dialect = Dialect {
        structure: Structure::JsonSchema,
        cap: Cap::MaxTokens,
        temperature: true,
        bounds: true,
    };

    #[track_caller]
    fn check(body: &str, expected: Option<Dialect>) {
        assert_eq!(FIRST.after(body, true, true), expected, "{body}");
    }

    #[test]
    fn a_named_parameter_is_dropped_or_renamed() {
        check(
            r#"{"error":{"param":"temperature","code":"unsupported_value","message":"default only"}}"#,
            Some(Dialect {
                temperature: false,
                ..FIRST
            }),
        );
        check(
            r#"{"error":{"param":"max_tokens","message":"use max_completion_tokens"}}"#,
            Some(Dialect {
                cap: Cap::MaxCompletionTokens,
                ..FIRST
            }),
        );
    }

    #[test]
    fn a_refusal_wrapped_in_the_text_of_another_is_understood() {
        let inner =
            r#"upstream said 400: {"error":{"message":"not accepted","param":"temperature"}}"#;
        let body =
            serde_json::json!({"error": {"type": "api_error", "message": inner}}).to_string();
        check(
            &body,
            Some(Dialect {
                temperature: false,
                ..FIRST
            }),
        );
        check(
            r#"{"error":"upstream: temperature is fixed for this model"}"#,
            Some(Dialect {
                temperature: false,
                ..FIRST
            }),
        );
    }

    #[test]
    fn a_refused_shape_steps_down_and_a_refused_bound_only_drops_bounds() {
        let body = r#"{"error":{"message":"response_format of this type is not offered here"}}"#;
        check(
            body,
            Some(Dialect {
                structure: Structure::JsonObject,
                ..FIRST
            }),
        );
        let plain = FIRST.plainer().unwrap().after(body, true, true).unwrap();
        assert_eq!(
            (plain.structure, plain.after(body, true, true)),
            (Structure::Plain, None)
        );
        let bound = r#"{"error":{"message":"Invalid schema: 'maxLength' is not permitted"}}"#;
        check(
            bound,
            Some(Dialect {
                bounds: false,
                ..FIRST
            }),
        );
    }

    #[test]
    fn a_refusal_of_something_else_changes_nothing() {
        check(r#"{"error":{"message":"no such model"}}"#, None);
        check(
            r#"{"error":{"param":"model","message":"m has no json_schema"}}"#,
            None,
        );
        assert_eq!(FIRST.after("response_format", false, false), None);
        assert_eq!(FIRST.after("temperature", true, false), None);
    }
}
