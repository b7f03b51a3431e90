//! A conversation while it is read: ids by position, repeats, skips and notes.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::DateTime;
use serde_json::{Number, Value};

use super::{Conversation, IngestError, Options, RawTurn};
use crate::id::{ConversationId, TurnId};
use crate::text::{clean, ellipsis, one_line};
use crate::time;

/// What a record says of one turn.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) id: Option<String>,
    pub(super) speaker: String,
    pub(super) text: String,
    pub(super) at: Option<DateTime>,
    pub(super) image: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Draft {
    name: Option<String>,
    turns: Vec<RawTurn>,
    by_id: HashMap<String, usize>,
    positions: HashMap<String, usize>,
    left_out: BTreeMap<String, usize>,
    notes: Vec<String>,
}

impl Draft {
    pub(super) fn new(name: Option<String>) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Counts something that is left out, under a name for it in the singular.
    pub(super) fn leave_out(&mut self, what: impl Into<String>) {
        *self.left_out.entry(what.into()).or_default() += 1;
    }

    /// The id that the next record of a session gets if it has none; every record takes one.
    pub(super) fn next_id(&mut self, session: &str) -> String {
        let position = self.positions.entry(session.to_owned()).or_default();
        *position += 1;
        format!("{session}:{position}")
    }

    pub(super) fn push(
        &mut self,
        place: &str,
        fallback: String,
        said: Said,
        options: &Options,
    ) -> Result<(), IngestError> {
        let turn = RawTurn {
            numbered: said.id.is_none(),
            id: valid_id(place, said.id.unwrap_or(fallback))?,
            speaker: one_line(&said.speaker),
            text: clean(&said.text),
            at: said.at,
            image: said
                .image
                .map(|caption| one_line(&caption))
                .filter(|c| !c.is_empty()),
        };
        if turn.speaker.is_empty() {
            return Err(field(
                place,
                "speaker",
                "is blank; every turn needs a speaker",
            ));
        }
        if turn.text.trim().is_empty() && turn.image.is_none() {
            self.leave_out("blank turn");
        } else if options.skips(&turn.text) {
            self.leave_out("turn on the skip list");
        } else {
            self.keep(place, turn)?;
        }
        Ok(())
    }

    fn keep(&mut self, place: &str, turn: RawTurn) -> Result<(), IngestError> {
        match self.by_id.get(&turn.id).map(|at| &self.turns[*at]) {
            Some(known) if *known == turn => self.leave_out("exact repeat of a turn"),
            Some(_) => {
                return Err(IngestError::Duplicate {
                    place: place.to_owned(),
                    id: turn.id,
                });
            }
            None => {
                self.by_id.insert(turn.id.clone(), self.turns.len());
                self.turns.push(turn);
            }
        }
        Ok(())
    }

    /// The conversation; `mended` tells whether broken escapes were replaced in the file.
    pub(super) fn finish(mut self, mended: bool) -> Conversation {
        let broken = self
            .turns
            .iter()
            .filter(|turn| mended && turn.text.contains('\u{fffd}'));
        let broken = broken.map(|turn| {
            format!(
                "turn {}: a broken character escape was replaced by U+FFFD",
                turn.id
            )
        });
        let mut notes: Vec<String> = broken.collect();
        notes.append(&mut self.notes);
        let left_out = self.left_out.into_iter();
        notes.extend(left_out.map(|(what, n)| format!("left out: {n} × {what}")));
        Conversation {
            name: self.name,
            turns: self.turns,
            notes,
        }
    }
}

impl Options {
    fn skips(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let mut marks = self.skip.iter().filter(|mark| !mark.trim().is_empty());
        marks.any(|mark| text.contains(&mark.to_lowercase()))
    }
}

fn valid_id(place: &str, id: String) -> Result<String, IngestError> {
    let any = ConversationId::new("any").expect("a plain word is a valid name");
    match TurnId::new(&any, &id) {
        Ok(_) => Ok(id),
        Err(error) => Err(field(place, "id", format!("cannot be used: {error}"))),
    }
}

/// A name that a conversation may have.
pub(super) fn valid_name(place: &str, key: &str, name: &str) -> Result<String, IngestError> {
    let name = ConversationId::new(name.trim()).map_err(|error| {
        let why = format!("is no name for a conversation: {error}");
        field(place, key, why)
    })?;
    Ok(name.into())
}

pub(super) fn field(place: &str, key: &str, reason: impl Into<String>) -> IngestError {
    IngestError::Field {
        place: place.to_owned(),
        key: key.to_owned(),
        reason: reason.into(),
    }
}

/// A value that is wrong where it stands, shown in brief.
pub(super) fn wrong(place: &str, key: &str, expected: &str, value: &Value) -> IngestError {
    let shown = ellipsis(&value.to_string(), 60);
    field(place, key, format!("should be {expected}, not {shown}"))
}

/// A whole number as a name. Any other has lost its digits by the time it is here.
pub(super) fn numbered(place: &str, key: &str, number: &Number) -> Result<String, IngestError> {
    if number.is_f64() {
        let expected = "text, in quotes, or a whole number of at most 19 digits";
        return Err(wrong(place, key, expected, &Value::Number(number.clone())));
    }
    Ok(number.to_string())
}

/// Reads a time or names the key that holds something else.
pub(super) fn time(place: &str, key: &str, value: &Value) -> Result<DateTime, IngestError> {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let read = value.as_str().and_then(time::parse);
    read.ok_or_else(|| IngestError::Time {
        place: place.to_owned(),
        key: key.to_owned(),
        value: ellipsis(&text, 60),
    })
}
