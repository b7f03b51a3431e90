//! JSON and JSON Lines: a stream of values, each a sample, a chat, a turn, or a list of these.

use std::borrow::Cow;

use serde_json::{Deserializer, Map, Value};
use tmem_quirks::mend_surrogates;

use super::draft::Draft;
use super::error::IngestError;
use super::{Conversation, Options, chat, locomo};

type Object = Map<String, Value>;

pub(super) fn parse(text: &str, options: &Options) -> Result<Vec<Conversation>, IngestError> {
    let text = mend_surrogates(text);
    let mended = matches!(text, Cow::Owned(_));
    let mut reader = Reader {
        options,
        drafts: Vec::new(),
    };
    let mut values = Deserializer::from_str(&text).into_iter::<Value>();
    let mut lines = Lines::new(&text);
    loop {
        let place = format!("line {}", lines.at(values.byte_offset()));
        match values.next() {
            None => break,
            Some(Ok(value)) => reader.value(&place, value)?,
            Some(Err(source)) => return Err(IngestError::Json { place, source }),
        }
    }
    Ok(reader
        .drafts
        .into_iter()
        .map(|draft| draft.finish(mended))
        .collect())
}

struct Reader<'a> {
    options: &'a Options,
    drafts: Vec<Draft>,
}

impl Reader<'_> {
    fn value(&mut self, place: &str, value: Value) -> Result<(), IngestError> {
        match value {
            Value::Array(list) => list.into_iter().enumerate().try_for_each(|(at, value)| {
                let place = format!("element {}", at + 1);
                match value {
                    Value::Object(object) => self.object(&place, object),
                    other => Err(unknown(&place, &other)),
                }
            }),
            Value::Object(object) => self.object(place, object),
            other => Err(unknown(place, &other)),
        }
    }

    fn object(&mut self, place: &str, object: Object) -> Result<(), IngestError> {
        if object
            .get("format")
            .and_then(Value::as_str)
            .is_some_and(|f| f.starts_with("tmem-"))
        {
            Err(IngestError::Memory)
        } else if locomo::fits(&object) {
            self.drafts
                .push(locomo::sample(place, &object, self.options)?);
            Ok(())
        } else if let Some(list) = list_of_turns(&object) {
            self.chat(place, &object, list)
        } else if chat::fits(&object) {
            let draft = self.draft(chat::conversation(place, &object)?);
            chat::turn(draft.0, place, &object, draft.1)
        } else {
            Err(unknown(place, &Value::Object(object)))
        }
    }

    /// An object that holds a whole chat, and perhaps its name.
    fn chat(&mut self, place: &str, object: &Object, list: &[Value]) -> Result<(), IngestError> {
        let name = chat::conversation(place, object)?;
        let (draft, options) = match name {
            Some(_) => self.draft(name),
            None => {
                self.drafts.push(Draft::new(None));
                (
                    self.drafts.last_mut().expect("it was just added"),
                    self.options,
                )
            }
        };
        for (at, value) in list.iter().enumerate() {
            let place = format!("{place}, message {}", at + 1);
            match value {
                Value::Object(object) => chat::turn(draft, &place, object, options)?,
                other => return Err(unknown(&place, other)),
            }
        }
        Ok(())
    }

    /// The conversation of that name, new or begun.
    fn draft(&mut self, name: Option<String>) -> (&mut Draft, &Options) {
        let known = self
            .drafts
            .iter()
            .rposition(|draft| draft.name() == name.as_deref());
        let at = known.unwrap_or_else(|| {
            self.drafts.push(Draft::new(name));
            self.drafts.len() - 1
        });
        (&mut self.drafts[at], self.options)
    }
}

fn list_of_turns(object: &Object) -> Option<&Vec<Value>> {
    ["messages", "turns"]
        .iter()
        .find_map(|key| object.get(*key)?.as_array())
}

fn unknown(place: &str, value: &Value) -> IngestError {
    let found = match value {
        Value::Object(object) if object.is_empty() => {
            "an object without any key; `text` and `speaker` are missing".to_owned()
        }
        Value::Object(object) => {
            let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
            format!(
                "an object of unknown kind, with the keys {}",
                keys.join(", ")
            )
        }
        other => {
            let shown = crate::text::ellipsis(&other.to_string(), 60);
            format!("an object is expected, not {shown}")
        }
    };
    IngestError::Unknown {
        place: place.to_owned(),
        found,
    }
}

/// Line numbers of ever later offsets.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            offset: 0,
            line: 1,
        }
    }

    /// Line, from 1, of the first thing at or after `offset` that is not blank.
    fn at(&mut self, offset: usize) -> usize {
        let rest = &self.text[offset..];
        let start = offset + (rest.len() - rest.trim_start().len());
        let passed = &self.text.as_bytes()[self.offset..start];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.offset = start;
        self.line
    }
}
