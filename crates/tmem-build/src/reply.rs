//! Reading a reply element by element: what fits is kept, what does not is named and counted.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tmem_model::text;

/// Elements of the list at `key`, or the path that is missing.
pub(crate) fn elements<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    match value.get(key) {
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(format!("the reply's `{key}` is not a list")),
        None => Err(format!("the reply lacks `{key}`")),
    }
}

/// The text at `key`, on one line, at most `longest` characters; empty if there is none.
pub(crate) fn text_at(value: &Value, key: &str, longest: usize) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .map_or(String::new(), |text| bounded(text, longest))
}

/// `text` on one line; if it is longer than `longest`, cut after its last whole sentence.
pub(crate) fn bounded(text: &str, longest: usize) -> String {
    let line = text::one_line(text);
    if line.chars().count() < longest {
        return line;
    }
    let cut: String = line.chars().take(longest).collect();
    let end = cut
        .rfind(['.', '!', '?', '。', '！', '？'])
        .filter(|end| *end * 2 >= cut.len());
    match end {
        Some(end) => cut.chars().take(cut[..end].chars().count() + 1).collect(),
        None => text::ellipsis(&line, longest),
    }
}

/// The label at `key`, counted from 0, if it is one of `offered`.
pub(crate) fn label_at(value: &Value, key: &str, offered: usize) -> Option<usize> {
    value.get(key).and_then(|label| index(label, offered))
}

/// The labels at `key` that were offered, counted from 0, and those that were not, as written.
pub(crate) fn labels_at(value: &Value, key: &str, offered: usize) -> (Vec<usize>, Vec<String>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let list = value.get(key).map_or(&[][..], |list| match list {
        Value::Array(list) => list,
        one => std::slice::from_ref(one),
    });
    for label in list {
        match index(label, offered) {
            Some(index) if !good.contains(&index) => good.push(index),
            Some(_) => {}
            None => bad.push(label.to_string()),
        }
    }
    (good, bad)
}

/// A number, or a text such as `"12"`, `"S3"` or `"[#4]"`.
fn index(label: &Value, offered: usize) -> Option<usize> {
    let number = match label {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => {
            let digits = text.trim_matches(|c: char| !c.is_ascii_digit());
            digits.parse().ok()
        }
        _ => None,
    };
    let number = usize::try_from(number?).ok()?;
    (1..=offered).contains(&number).then(|| number - 1)
}

/// What was kept and refused of one reply, and why; it becomes the result of the job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) kept: usize,
    refused: BTreeMap<String, usize>,
    notes: Vec<String>,
}

/// Most notes kept per job.
const NOTES: usize = 8;

impl Tally {
    pub(crate) fn refuse(&mut self, why: impl Into<String>) {
        *self.refused.entry(why.into()).or_default() += 1;
    }

    /// Refuses and says what exactly was wrong.
    pub(crate) fn refuse_noting(&mut self, why: &str, note: String) {
        self.refuse(why);
        if self.notes.len() < NOTES {
            self.notes.push(note);
        }
    }

    pub(crate) fn result(&self) -> Option<Value> {
        let mut result = Map::new();
        result.insert("kept".into(), json!(self.kept));
        if !self.refused.is_empty() {
            result.insert("refused".into(), json!(self.refused));
        }
        if !self.notes.is_empty() {
            result.insert("notes".into(), json!(self.notes));
        }
        Some(Value::Object(result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_numbers_or_digits_and_only_offered_ones_count() {
        let reply = json!({"turns": [2, "[#3]", "S1", 9, null, 2, -1]});
        let (good, bad) = labels_at(&reply, "turns", 4);
        assert_eq!(good, [1, 2, 0]);
        assert_eq!(bad, ["9", "null", "-1"]);
        assert_eq!(labels_at(&json!({"turns": 2}), "turns", 4).0, [1]);
    }

    #[test]
    fn a_text_at_its_limit_ends_with_its_last_sentence() {
        assert_eq!(
            bounded("One two. Three four. Fi", 22),
            "One two. Three four."
        );
        assert_eq!(bounded("no sentence ends here at all", 12), "no sentence…");
        assert_eq!(bounded("short\nand\u{0} plain", 40), "short and plain");
    }

    #[test]
    fn a_missing_list_is_named() {
        assert_eq!(
            elements(&json!({"cues": []}), "items").unwrap_err(),
            "the reply lacks `items`"
        );
    }
}
