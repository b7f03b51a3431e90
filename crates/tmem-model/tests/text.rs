//! The tokeniser, cutting, cleaning and counting.

use expect_test::{Expect, expect};
use tmem_model::text::{clean, counted, ellipsis, estimate_tokens, one_line, terms, truncate};

#[track_caller]
fn check(text: &str, expect: Expect) {
    expect.assert_eq(&terms(text).join(" "));
}

/// A query finds a text if they share a term.
#[track_caller]
fn finds(query: &str, text: &str) {
    let (query, text) = (terms(query), terms(text));
    assert!(
        query.iter().any(|term| text.contains(term)),
        "{query:?} does not meet {text:?}"
    );
}

#[test]
fn english_words_are_stemmed_and_common_ones_left_out() {
    check(
        "The painters were painting Caroline's paintings.",
        expect!["painter paint carolin paint"],
    );
    check(
        "I don't think it's what we've wanted",
        expect!["think want"],
    );
}

#[test]
fn numbers_and_dates_stay() {
    check(
        "On 2024-05-10 at 7:30 she paid 1,200.50 for 3 of 12",
        expect!["2024 05 10 7 30 paid 1200.50 3 12"],
    );
}

#[test]
fn inner_marks_split_words_that_are_made_of_words() {
    check(
        "user_id of l'école at example.org by J. R. (U.S.)",
        expect!["user id l ecol exampl org j r u.s"],
    );
}

#[test]
fn japanese_and_chinese_are_found_by_any_part() {
    finds("神社", "彼女は毎朝神社まで散歩する");
    finds("散歩", "彼女は毎朝神社まで散歩する");
    finds("猫", "猫を飼っている");
    finds("Rust", "Rust勉強会");
    finds("勉強", "Rust勉強会");
    check("Rust勉強会", expect!["rust 勉強 強会"]);
    let text = terms("周六跟老陈学做豆腐 tofu");
    assert!(terms("豆腐 tofu").iter().all(|term| text.contains(term)));
    finds("명령", "명령어를 입력했다");
    finds("𠮷野", "𠮷野家に行った");
}

#[test]
fn thai_is_found_by_a_part() {
    finds("แมว", "ฉันเลี้ยงแมวสองตัว");
}

#[test]
fn arabic_vowel_signs_tatweel_and_hamza_are_folded() {
    finds("المكتبة", "ذهبت سلمى إلى المَكْتَبة");
    finds("كتاب", "كـــتاب");
    finds("احمد", "أَحْمَد");
}

#[test]
fn compatibility_forms_are_one() {
    finds("ネコ", "ﾈｺを飼っている");
    finds("abc123", "ＡＢＣ１２３");
    finds("ガラス", "ｶﾞﾗｽの器");
}

#[test]
fn letters_with_marks_are_one_however_they_are_written() {
    finds("Hue\u{302}\u{301}", "Hu\u{1ebf}");
    finds("cafe", "Café");
    finds("STRASSE", "Straße");
    finds("istanbul", "İstanbul");
    check("й и", expect!["й и"]);
    check("が か", expect!["が か"]);
    check("हिन्दी में", expect!["हिन्दी में"]);
}

#[test]
fn nothing_is_an_operator() {
    check("-5 degrees", expect!["5 degre"]);
    check("text:secret", expect!["text secret"]);
    check("she said \"hi", expect!["said hi"]);
    check("a^2 OR (b", expect!["2 b"]);
    check(">>> ?! 🙂 AND", expect![""]);
    assert_eq!(
        terms("Dr. Okafor: which clinic?"),
        terms("Dr. Okafor which clinic")
    );
}

#[test]
fn a_word_without_end_is_cut_and_special_tokens_are_words() {
    assert!(
        terms(&"x".repeat(10_000))
            .iter()
            .all(|term| term.len() <= 96)
    );
    check("<|endoftext|>", expect!["endoftext"]);
}

#[test]
fn cutting_never_splits_a_character_at_any_limit() {
    let family = "👨‍👩‍👧‍👦";
    for text in [
        format!("{}é", "a".repeat(99)),
        "好".repeat(67),
        format!("ab{family}cd"),
        "e\u{301}e\u{301}".into(),
    ] {
        for limit in 0..=text.len() + 1 {
            let cut = truncate(&text, limit);
            assert!(cut.len() <= limit && text.starts_with(cut));
            assert!(!cut.ends_with('\u{200d}') && cut != "e");
        }
    }
    assert_eq!(truncate(&format!("ab{family}"), 10), "ab");
    assert_eq!(truncate("short", 100), "short");
}

#[test]
fn an_ellipsis_counts_among_the_characters() {
    assert_eq!(ellipsis("harbour", 7), "harbour");
    assert_eq!(ellipsis("harbour", 4), "har…");
    assert_eq!(ellipsis("harbour", 0), "");
}

#[test]
fn control_characters_go_and_line_ends_become_one_kind() {
    assert_eq!(
        clean("log\u{0}dump\u{7}\r\nnext\rlast\ttab\u{85}"),
        "logdump\nnext\nlast\ttab"
    );
    assert_eq!(one_line("  A\u{0}da \n  L. "), "Ada L.");
}

#[test]
fn tokens_of_scripts_without_blanks_are_not_under_counted() {
    assert_eq!(estimate_tokens(""), 0);
    assert_eq!(estimate_tokens("four score and seven"), 5);
    assert!(estimate_tokens(&"語".repeat(3000)) >= 3000);
    assert!(estimate_tokens("🙂") >= 2);
}

#[test]
fn one_is_counted_in_the_singular() {
    assert_eq!(
        [0, 1, 2].map(|n| counted(n, "turn")),
        ["0 turns", "1 turn", "2 turns"]
    );
}
