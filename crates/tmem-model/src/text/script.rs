//! Which scripts are written without blanks between words.

/// Whether a character belongs to a script that is indexed by pairs: Han, kana, Hangul, bopomofo,
/// Thai, Lao, Khmer, Burmese.
pub(super) fn is_unspaced(c: char) -> bool {
    is_han(c)
        || matches!(c,
        '\u{0E01}'..='\u{0E7F}' | '\u{0E80}'..='\u{0EFF}' // Thai, Lao
        | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' // Burmese, Khmer
        | '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7FF}' // Hangul
        | '\u{3041}'..='\u{3096}' | '\u{3099}'..='\u{309A}' | '\u{309D}'..='\u{309F}' // hiragana
        | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' // katakana
        | '\u{3105}'..='\u{312F}' | '\u{31A0}'..='\u{31BF}') // bopomofo
}

/// Whether a character is a Chinese one, extension planes and the iteration mark included.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}

/// Whether a combining mark does not tell words apart in search: accents on Latin and Greek
/// letters, Hebrew points, Arabic vowel signs, hamza and tatweel.
pub(super) fn is_folded(mark: char, base: char) -> bool {
    match mark {
        '\u{0300}'..='\u{036F}' => !matches!(base, '\u{0400}'..='\u{052F}'),
        '\u{0591}'..='\u{05BD}' | '\u{05BF}' | '\u{05C1}'..='\u{05C7}' => true,
        '\u{0610}'..='\u{061A}' | '\u{0640}' | '\u{064B}'..='\u{065F}' | '\u{0670}' => true,
        '\u{06D6}'..='\u{06DC}' | '\u{06DF}'..='\u{06E8}' | '\u{06EA}'..='\u{06ED}' => true,
        _ => false,
    }
}
