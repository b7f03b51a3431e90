//! What writers of JSON and model servers do that they should not, and how to read it all the same:
//! broken character escapes, and the many ways to say that a request is too large.
//!
//! Files, answers of servers and replies of models all come with these, so they are known here once,
//! to crates that know nothing of each other.

use std::borrow::Cow;

/// Replaces every escaped lone surrogate (`\ud83d` without its other half) by `\ufffd`, the sign for
/// a lost character; everything else stays byte for byte. Borrowed if there was none.
///
/// Such an escape is half a character, which no UTF-8 text can hold: a strict parser refuses the
/// whole text for it.
pub fn mend_surrogates(json: &str) -> Cow<'_, str> {
    let mut mended: Option<String> = None;
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = json[at..].find('\\') {
        let start = at + found;
        let (length, lone) = escape(&json[start..]);
        if lone {
            let mended = mended.get_or_insert_default();
            mended.push_str(&json[kept..start]);
            mended.push_str("\\ufffd");
            kept = start + length;
        }
        at = start + length;
    }
    match mended {
        Some(mended) => Cow::Owned(mended + &json[kept..]),
        None => Cow::Borrowed(json),
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

/// Phrases by which servers say that a request exceeds what they take.
const TOO_LARGE: &[&str] = &[
    "is too large for",
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "max_model_len",
    "exceed_context",
    "prompt is too long",
    "prompt too long",
    "too many tokens",
    "too many input tokens",
    "request too large",
    "payload too large",
    "reduce the length",
    "input is too l",
    "input too long",
];

/// Whether the text of an error says that the request exceeds a model's window or a server's limit:
/// sending it again is useless, sending less of it is not.
pub fn says_too_large(error: &str) -> bool {
    let error = error.to_ascii_lowercase();
    TOO_LARGE.iter().any(|phrase| error.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_become_the_sign_for_a_lost_one() {
        for (given, mended) in [
            (r"ok \ud83d then", r"ok \ufffd then"),
            (r"\ude00\ud83d", r"\ufffd\ufffd"),
            (r"\ud83d\ude42 \udc00\ud83d", r"\ud83d\ude42 \ufffd\ufffd"),
            (r"\ud83d\u0041", r"\ufffd\u0041"),
            (r"\\\ud83d", r"\\\ufffd"),
        ] {
            assert_eq!(mend_surrogates(given), mended);
        }
    }

    #[test]
    fn whole_characters_and_texts_without_escapes_are_left_alone() {
        for given in [
            r"\ud83d\ude00",
            r"C:\\ud83d \u00e9",
            r"\ud83",
            r"\ud83é",
            "\\é\\",
            "tail \\",
            "",
        ] {
            assert!(
                matches!(mend_surrogates(given), Cow::Borrowed(text) if text == given),
                "{given}"
            );
        }
    }

    #[test]
    fn too_large_is_told_in_many_ways_and_not_confused_with_too_late() {
        for error in [
            "This model's maximum context length is 4096 tokens",
            "Request too large for m: limit 6000, requested 9000",
            "input is larger than the context size",
            "the request is too large for m: 413",
        ] {
            assert!(says_too_large(error), "{error}");
        }
        assert!(!says_too_large("context deadline exceeded"));
    }
}
