//! A reply schema as a guide through the tokens: which may come next, and which must.

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::SimpleVob;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use tmem_llm::ReplySchema;

use crate::error::{LocalError, first_line};
use crate::vocab::Vocab;

/// Makes guides for one vocabulary.
pub(crate) struct Grammars {
    factory: ParserFactory,
}

/// Follows one reply through its schema.
pub(crate) struct Guide {
    matcher: Matcher,
}

impl Grammars {
    /// Prepares the vocabulary; takes about half a second for a large one.
    pub(crate) fn new(vocab: &Vocab) -> Result<Self, LocalError> {
        let mut factory = ParserFactory::new_simple(&vocab.environment()).map_err(failed)?;
        factory.quiet();
        Ok(Self { factory })
    }

    /// A guide at the start of a reply of that schema.
    pub(crate) fn guide(&self, schema: &ReplySchema) -> Result<Guide, LocalError> {
        let grammar = TopLevelGrammar::from_json_schema(with_layout(&schema.schema));
        let matcher = Matcher::new(self.factory.create_parser(grammar));
        match matcher.get_error() {
            Some(message) => Err(LocalError::Schema {
                name: schema.name.clone(),
                message: first_line(&message),
            }),
            None => Ok(Guide { matcher }),
        }
    }
}

impl Guide {
    /// Takes the tokens that leave no choice; they are part of the reply.
    pub(crate) fn forced(&mut self) -> Vec<u32> {
        self.matcher.consume_ff_tokens()
    }

    /// The tokens that may come next; never none, unless the reply is complete.
    pub(crate) fn allowed(&mut self) -> Result<SimpleVob, LocalError> {
        self.matcher.compute_mask().map_err(failed)
    }

    /// Takes a chosen token.
    pub(crate) fn accept(&mut self, token: u32) -> Result<(), LocalError> {
        self.matcher.consume_token(token).map_err(failed)
    }

    /// Whether the reply is complete and nothing can follow.
    pub(crate) fn is_complete(&self) -> bool {
        self.matcher.is_stopped()
    }

    /// Whether the reply could end here.
    pub(crate) fn may_end(&mut self) -> bool {
        self.matcher.is_accepting().unwrap_or(false)
    }
}

/// The schema, written without free white space: small models fill it endlessly, and what is fixed
/// need not be chosen. Escapes are kept to those that a text needs, so that half a character can
/// never be spelled.
fn with_layout(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(object) = schema.as_object_mut() {
        let layout = json!({
            "whitespace_flexible": false,
            "item_separator": ", ",
            "key_separator": ": ",
            "coerce_one_of": true,
            "json_allowed_escapes": "n\"\\",
        });
        object.insert("x-guidance".to_owned(), layout);
    }
    schema
}

fn failed(error: impl std::fmt::Display) -> LocalError {
    LocalError::Compute(first_line(&error))
}

/// Where in a JSON text a byte sequence has got to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonPosition {
    in_string: bool,
    escaped: bool,
}

impl JsonPosition {
    /// Whether the next byte belongs to a string.
    pub(crate) fn in_string(self) -> bool {
        self.in_string
    }

    /// The position after `bytes`.
    pub(crate) fn after(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |position, &byte| {
            match (position.in_string, position.escaped, byte) {
                (true, true, _) => Self {
                    escaped: false,
                    ..position
                },
                (true, false, b'\\') => Self {
                    escaped: true,
                    ..position
                },
                (_, _, b'"') => Self {
                    in_string: !position.in_string,
                    escaped: false,
                },
                _ => position,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::JsonPosition;

    #[track_caller]
    fn check(text: &str, in_string: bool) {
        assert_eq!(
            JsonPosition::default().after(text.as_bytes()).in_string(),
            in_string
        );
    }

    #[test]
    fn a_key_is_a_string_and_what_follows_is_not() {
        check("{\"ke", true);
        check("{\"key\": 1", false);
    }

    #[test]
    fn an_escaped_quote_does_not_close() {
        check(r#"{"a": "b\"c"#, true);
        check(r#"{"a": "b\\" "#, false);
    }
}
