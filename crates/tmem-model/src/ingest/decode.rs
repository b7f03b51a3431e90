//! Bytes into text, and what is no text.

use super::error::IngestError;

/// Text of a file in UTF-8, with or without a byte order mark, or UTF-16 with one.
///
/// # Errors
/// [`IngestError::Binary`] for anything else.
pub fn decode(bytes: &[u8]) -> Result<String, IngestError> {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units = bytes[2..]
            .chunks(2)
            .map(|pair| unit([pair[0], *pair.get(1).unwrap_or(&0)]));
        let text: Result<String, _> = char::decode_utf16(units).collect();
        text.map_err(|_| IngestError::Binary("broken UTF-16".to_owned()))
    };
    match bytes {
        [0xFF, 0xFE, ..] => wide(u16::from_le_bytes),
        [0xFE, 0xFF, ..] => wide(u16::from_be_bytes),
        _ => utf8(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)),
    }
}

fn utf8(bytes: &[u8]) -> Result<String, IngestError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|b| **b == b'\n')
            .count();
        IngestError::Binary(format!("line {line} is not UTF-8"))
    })?;
    Ok(text.to_owned())
}

/// Refuses text of which a fair part are control characters: it was never meant to be read.
///
/// A stray one is dropped later on.
pub(super) fn refuse_binary(text: &str) -> Result<(), IngestError> {
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{1b}' | '\u{c}');
    let head = || text.chars().take(8192);
    let count = head().filter(|c| odd(*c)).count();
    if count * 20 > head().count() {
        return Err(IngestError::Binary(
            "it is full of control characters".to_owned(),
        ));
    }
    Ok(())
}
