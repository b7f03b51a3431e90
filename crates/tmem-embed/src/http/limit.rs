//! How much of a text an endpoint is sent. Its tokenizer is not here, so the count is a guess that
//! errs on the side of too many tokens: many servers fail on one too many instead of cutting.

/// Tokens that models add to a text.
const SPECIAL: usize = 2;

/// The longest beginning of `text` that surely fits into `max_tokens`; ends between characters.
pub(crate) fn cut(text: &str, max_tokens: usize) -> &str {
    let budget = max_tokens.saturating_sub(SPECIAL).saturating_mul(SHARE);
    let mut spent = 0_usize;
    for (position, c) in text.char_indices() {
        spent += shares(c);
        if spent > budget {
            return &text[..position];
        }
    }
    text
}

/// The first half of `text`, at least one character.
pub(crate) fn half(text: &str) -> &str {
    let middle = text.chars().count().div_ceil(2);
    match text.char_indices().nth(middle) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// A token in the unit of [`shares`].
const SHARE: usize = 6;

/// What a character costs, in sixths of a token: three letters or digits of ASCII share one, two
/// letters of another alphabet too, all else has its own.
fn shares(c: char) -> usize {
    match c {
        ' ' => 0,
        c if c.is_ascii_alphanumeric() => 2,
        '\u{80}'..='\u{2FFF}' if c.is_alphabetic() => 3,
        _ => SHARE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, max_tokens: usize, characters: usize) {
        let kept = cut(text, max_tokens);
        assert!(text.starts_with(kept));
        assert_eq!(kept.chars().count(), characters);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        check(&"雪".repeat(2_000), 512, 510);
        check(&"snow ".repeat(1_000), 512, 1912);
        check(&"снег".repeat(1_000), 512, 1020);
        check("snow", 512, 4);
        check("snow", 0, 0);
    }

    #[test]
    fn halves_come_to_an_end() {
        assert_eq!(half("雪雪雪"), "雪雪");
        assert_eq!(half("雪"), "雪");
    }
}
