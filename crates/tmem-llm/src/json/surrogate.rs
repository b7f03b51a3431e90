//! Lone surrogates: half a character, escaped in JSON, which no UTF-8 text can hold.

use std::borrow::Cow;

/// Replaces every escaped lone surrogate (`\ud83d` without its other half) by `\ufffd`, the sign for
/// a lost character; everything else stays byte for byte.
pub fn mend_surrogates(text: &str) -> Cow<'_, str> {
    let mut mended: Option<String> = None;
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        let (length, lone) = escape(&text[start..]);
        if lone {
            let mended = mended.get_or_insert_default();
            mended.push_str(&text[kept..start]);
            mended.push_str("\\ufffd");
            kept = start + length;
        }
        at = start + length;
    }
    match mended {
        Some(mended) => Cow::Owned(mended + &text[kept..]),
        None => Cow::Borrowed(text),
    }
}

/// Length in bytes of the escape that `text` begins with (a pair counts as one), and whether it is a
/// lone surrogate.
fn escape(text: &str) -> (usize, bool) {
    match unit(text) {
        Some(0xD800..=0xDBFF) => match unit(&text[6..]) {
            Some(0xDC00..=0xDFFF) => (12, false),
            _ => (6, true),
        },
        Some(0xDC00..=0xDFFF) => (6, true),
        Some(_) => (6, false),
        None => (
            1 + text[1..].chars().next().map_or(0, char::len_utf8),
            false,
        ),
    }
}

/// The UTF-16 unit that `text` begins with, if it begins with `\uXXXX`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u16::from_str_radix(digits, 16).ok())?
}
