//! The one tokeniser: what indexes a text also reads the query, and trigger hygiene compares by it.

use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::script::{is_folded, is_han, is_unspaced};
use super::stop::is_stop;

/// Longest term in bytes; what is longer is cut.
const MAX_TERM: usize = 96;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Terms of a text in reading order, repeats included.
///
/// Compatibility forms are unified (NFKC), case and accents folded. English stop words go and
/// Latin words are stemmed (Snowball English); numbers stay. Scripts without blanks give pairs of
/// neighbouring characters, and a character alone where a Chinese one stands between kana. Nothing
/// is an operator: symbols separate words and leave no term.
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let text = fold(text);
    let mut terms = Vec::new();
    for (unspaced, run) in runs(&text) {
        if unspaced {
            pairs(run, &mut terms);
        } else {
            run.unicode_words()
                .for_each(|word| push_word(word, &mut terms));
        }
    }
    terms
}

/// Compatibility-decomposed, lower case, without foldable marks, composed again.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase(); // as below, only sooner
    }
    let mut base = ' ';
    let lower = text.nfkd().flat_map(char::to_lowercase).map(plain_letter);
    let kept = lower.filter(|c| {
        let folded = is_folded(*c, base);
        if !folded && !unicode_normalization::char::is_combining_mark(*c) {
            base = *c;
        }
        !folded
    });
    kept.nfc().collect::<String>().replace('ß', "ss")
}

fn plain_letter(c: char) -> char {
    match c {
        '’' | 'ʼ' => '\'',
        'ς' => 'σ',
        'ı' => 'i',
        'ø' => 'o',
        'ł' => 'l',
        'đ' => 'd',
        c => c,
    }
}

/// Maximal runs of characters that are, or are not, of an unspaced script.
fn runs(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let unspaced = is_unspaced(rest.chars().next()?);
        let end = rest
            .find(|c| is_unspaced(c) != unspaced)
            .unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        rest = tail;
        Some((unspaced, run))
    })
}

fn pairs(run: &str, terms: &mut Vec<String>) {
    let graphemes: Vec<&str> = run.graphemes(true).collect();
    let han = |at: Option<&&str>| at.is_some_and(|g| g.chars().next().is_some_and(is_han));
    for (at, grapheme) in graphemes.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| graphemes.get(before));
        let next = graphemes.get(at + 1);
        if graphemes.len() == 1 || (han(Some(grapheme)) && !han(before) && !han(next)) {
            terms.push((*grapheme).to_owned());
        }
        terms.extend(next.map(|next| format!("{grapheme}{next}")));
    }
}

/// A word as segmented: a stop word, a number, or a word to split at inner marks and stem.
fn push_word(word: &str, terms: &mut Vec<String>) {
    if is_stop(word) {
        return;
    }
    let possessive = word.strip_suffix("'s").unwrap_or(word);
    for part in parts(possessive).filter(|part| !is_stop(part)) {
        let part = super::truncate(part, MAX_TERM);
        terms.push(if part.bytes().all(|b| b.is_ascii_alphabetic()) {
            STEMMER.stem(part).into_owned()
        } else {
            part.replace(',', "")
        });
    }
}

/// Splits `l'ecole`, `user_id` and `example.org`, but leaves `3.5`, `1,200` and `u.s` whole.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let letters = word.chars().any(char::is_alphabetic);
    let initials = word.split('.').all(|part| part.chars().count() == 1);
    let cuts = move |c| c == '\'' || c == '_' || (letters && !initials && matches!(c, '.' | ':'));
    word.split(cuts).filter(|part| !part.is_empty())
}
