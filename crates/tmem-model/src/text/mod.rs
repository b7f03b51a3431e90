//! Text at the border and in the indices: the one tokeniser, cleaning, cutting, token estimates.

mod script;
mod stop;
mod terms;

pub use terms::terms;

use unicode_segmentation::UnicodeSegmentation;

/// Longest prefix of at most `max_bytes` bytes that ends between grapheme clusters.
///
/// A joined emoji or an accented letter is kept whole or left out.
#[must_use]
pub fn truncate(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let starts = text.grapheme_indices(true).map(|(start, _)| start);
    let end = starts
        .take_while(|start| *start <= max_bytes)
        .last()
        .unwrap_or(0);
    &text[..end]
}

/// The text itself if it has at most `max` grapheme clusters, else the first `max - 1` and `…`.
#[must_use]
pub fn ellipsis(text: &str, max: usize) -> String {
    match text.grapheme_indices(true).nth(max) {
        None => text.to_owned(),
        Some(_) if max == 0 => String::new(),
        Some(_) => {
            let cut = text
                .grapheme_indices(true)
                .nth(max - 1)
                .map_or(0, |(start, _)| start);
            format!("{}…", text[..cut].trim_end())
        }
    }
}

/// Text without control characters; line feeds and tabs stay, CR LF and CR become line feeds.
#[must_use]
pub fn clean(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    lines
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// Text on one line: as [`clean`], with every run of white space made one blank, ends trimmed.
#[must_use]
pub fn one_line(text: &str) -> String {
    let text = clean(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// About how many tokens a language model makes of `text`, leaning to the high side.
///
/// Four ASCII bytes a token, two bytes of anything else: a Chinese or Japanese character counts
/// one and a half, an emoji two. Meant for budgets where the model's tokeniser is not at hand.
#[must_use]
pub fn estimate_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + (text.len() - ascii).div_ceil(2)
}

/// `noun`, in the plural unless there is one of it.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => noun.to_owned(),
        _ => format!("{noun}s"),
    }
}

/// How many there are of something: `1 turn`, `2 turns`.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}
