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

/// Replaces JSON escapes of lone surrogates (`\ud83d` without its other half) by `\ufffd`.
///
/// Such an escape stands for no character, and a strict parser refuses the whole text for it.
/// Returns the mended text and how many were replaced.
#[must_use]
pub fn mend_surrogates(json: &str) -> (String, usize) {
    let (mut mended, mut count, mut rest) = (String::with_capacity(json.len()), 0, json);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let take = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(_), _) => 0,
            _ => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        if take == 0 {
            mended.push_str("\\ufffd");
            count += 1;
        }
        mended.push_str(&escape[..take]);
        rest = &escape[if take == 0 { 6 } else { take }..];
    }
    mended.push_str(rest);
    (mended, count)
}

/// The surrogate that an escape at the start of `text` stands for.
fn surrogate(text: &str) -> Option<u16> {
    let hex = text.strip_prefix("\\u")?.get(..4)?;
    let unit = u16::from_str_radix(hex, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
}
