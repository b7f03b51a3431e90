//! Transcripts: `Name: text` lines, each perhaps behind a time, as in `[2024-05-10 20:00] Ada: hi`.
//!
//! A line that names no speaker, or is indented, goes on with the turn before it; blank lines are
//! dropped. A name has a letter or an emoji, at most four words, and no punctuation but that of names.

use jiff::civil::DateTime;

use super::draft::{Draft, Said};
use super::error::IngestError;
use super::{Conversation, Options};
use crate::text::ellipsis;
use crate::time;

const MAX_NAME_WORDS: usize = 4;
const MAX_NAME_CHARS: usize = 64;

/// Signs within names, and what joins emoji.
const SIGNS: &str = " .-_'’()@#&/·・\u{200D}\u{FE0F}";

/// Whether the first line that is not blank begins a turn.
pub(super) fn is_header(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| !matches!(header(line), Ok(None)))
}

pub(super) fn parse(text: &str, options: &Options) -> Result<Vec<Conversation>, IngestError> {
    let mut draft = Draft::new(None);
    let mut turn: Option<(usize, Said)> = None;
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for (line, content) in (1..)
        .zip(text.lines())
        .filter(|(_, c)| !c.trim().is_empty())
    {
        let new = header(content).map_err(|value| bad_time(line, value))?;
        match (new, &mut turn) {
            (Some(said), _) => {
                close(&mut draft, turn.take(), options)?;
                turn = Some((line, said));
            }
            (None, Some((_, said))) => append(&mut said.text, content),
            (None, None) => {
                return Err(IngestError::Line {
                    line,
                    text: ellipsis(content.trim(), 60),
                });
            }
        }
    }
    close(&mut draft, turn, options)?;
    Ok(vec![draft.finish(false)])
}

fn close(
    draft: &mut Draft,
    turn: Option<(usize, Said)>,
    options: &Options,
) -> Result<(), IngestError> {
    let Some((line, said)) = turn else {
        return Ok(());
    };
    let fallback = draft.next_id("S1");
    draft.push(&format!("line {line}"), fallback, said, options)
}

fn append(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line.trim());
}

fn bad_time(line: usize, value: String) -> IngestError {
    IngestError::Time {
        place: format!("line {line}"),
        key: "time".to_owned(),
        value,
    }
}

/// The turn that a line begins, if it does.
///
/// # Errors
/// The text in a leading bracket that has digits, stands before a name, and is no time.
fn header(line: &str) -> Result<Option<Said>, String> {
    if line.starts_with([' ', '\t']) {
        return Ok(None);
    }
    let (stamp, rest) = stamped(line);
    let Some((name, text)) = rest
        .split_once([':', '：'])
        .filter(|(name, _)| is_name(name))
    else {
        return Ok(None);
    };
    if text.starts_with("//") {
        return Ok(None);
    }
    let at = match stamp {
        Stamp::None => None,
        Stamp::At(at) => Some(at),
        Stamp::Words => return Ok(None),
        Stamp::Broken(value) => return Err(ellipsis(value, 60)),
    };
    let (speaker, text) = (name.trim().to_owned(), text.trim().to_owned());
    Ok(Some(Said {
        speaker,
        text,
        at,
        ..Said::default()
    }))
}

enum Stamp<'a> {
    None,
    At(DateTime),
    /// A bracket that is no time, such as `[laughs]`.
    Words,
    Broken(&'a str),
}

fn stamped(line: &str) -> (Stamp<'_>, &str) {
    if let Some((inner, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
        let stamp = match time::parse(inner) {
            Some(at) => Stamp::At(at),
            None if inner.contains(|c: char| c.is_ascii_digit()) => Stamp::Broken(inner),
            None => Stamp::Words,
        };
        return (stamp, rest.trim_start());
    }
    let blanks = line.match_indices(' ').map(|(at, _)| at).take(2);
    let ends: Vec<usize> = blanks
        .filter(|_| line.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    let found = ends
        .iter()
        .rev()
        .find_map(|end| Some((time::iso(&line[..*end])?, *end)));
    found.map_or((Stamp::None, line), |(at, end)| {
        (Stamp::At(at), line[end..].trim_start())
    })
}

fn is_name(name: &str) -> bool {
    let name = name.trim();
    let fits = |c: char| c.is_alphanumeric() || is_mark(c) || is_emoji(c) || SIGNS.contains(c);
    name.chars().any(|c| c.is_alphabetic() || is_emoji(c))
        && name.chars().all(fits)
        && name.chars().count() <= MAX_NAME_CHARS
        && name.split_whitespace().count() <= MAX_NAME_WORDS
}

/// A picture; not the ticks and arrows that lists are made of.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{26FF}' | '\u{2764}')
}

fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}
