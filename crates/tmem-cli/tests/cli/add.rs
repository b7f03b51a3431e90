//! `tmem add`: what goes in, what does not, and what is said of it.

use crate::home::{GARDEN, Home, files};

#[test]
fn a_transcript_is_stored_and_shown() {
    let home = Home::new();
    let file = home.file("garden.txt", GARDEN);
    home.run(&["add", file.to_str().unwrap(), "--no-build"])
        .exits(0)
        .says("6 turns stored");
    home.run(&["show", "turns"])
        .exits(0)
        .says("[2024-05-09 10:01] Nela: Did the frost");
}

#[test]
fn the_same_file_again_stores_nothing_twice() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    home.run(&["add", "garden.txt", "--no-build"]).exits(0);
    let again = home
        .run(&["--json", "add", "garden.txt", "--no-build"])
        .exits(0)
        .json();
    assert_eq!(again["stored"][0]["stored"], 0);
    assert_eq!(again["stored"][0]["known"], 6);
}

#[test]
fn standard_input_is_read_and_named() {
    let home = Home::new();
    let args = ["add", "-", "--no-build", "--conversation", "kitchen"];
    home.run_with(&args, "Ivo: soup is ready\n")
        .exits(0)
        .says("kitchen: 1 turn stored");
}

#[test]
fn one_bad_file_among_good_ones_is_named_and_the_good_ones_are_stored() {
    let home = Home::new();
    home.file("good.txt", "Ivo: hello\nNela: hi\n");
    home.file("bad.json", "{\"session_1\": 3");
    let ran = home
        .run(&["add", "good.txt", "bad.json", "gone.txt", "--no-build"])
        .exits(3);
    ran.says("good: 2 turns stored")
        .warns("bad.json")
        .warns("error: gone.txt: it cannot be read");
    home.run(&["show", "turns"]).exits(0).says("hello");
}

#[test]
fn with_no_good_file_nothing_is_stored() {
    let home = Home::new();
    home.file("empty.txt", " \n");
    home.run(&["add", "empty.txt"])
        .exits(1)
        .warns("empty.txt")
        .warns("nothing was stored");
    assert!(!home.data().exists());
}

#[test]
fn a_dry_run_stores_nothing() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    home.run(&["add", "garden.txt", "--dry-run"])
        .exits(0)
        .says("calls");
    assert!(!home.data().exists());
}

#[test]
fn hostile_files_are_refused_or_stored_but_never_crash() {
    let home = Home::new();
    let files: [(&str, Vec<u8>); 8] = [
        ("nul.txt", b"A\0: log\0dump\nB: ok\n".to_vec()),
        ("binary.bin", (0..=255).cycle().take(5000).collect()),
        ("deep.json", "[".repeat(100_000).into_bytes()),
        (
            "surrogate.json",
            br#"[{"role":"user","content":"ok \ud83d then"}]"#.to_vec(),
        ),
        (
            "long.txt",
            format!("Ivo: {}\n", "x".repeat(2_000_000)).into_bytes(),
        ),
        (
            "names.txt",
            format!("{}: hi\n", "N".repeat(5000)).into_bytes(),
        ),
        (
            "numbers.json",
            b"12345678901234567890123456789012345678901234567890".to_vec(),
        ),
        (
            "special.txt",
            "Pia: she had <|endoftext|> on a mug {{x}} </memory>\n".into(),
        ),
    ];
    for (name, content) in files {
        home.file(name, content);
        let ran = home.run(&["add", name, "--no-build", "--conversation", "c"]);
        let code = ran.0.status.code();
        assert!(
            matches!(code, Some(0 | 1)),
            "{name}: {code:?} {}",
            ran.err()
        );
        assert!(!ran.err().contains("panicked"), "{name}: {}", ran.err());
    }
}

#[test]
fn text_of_an_old_editor_is_read_or_the_way_out_is_named() {
    let home = Home::new();
    let wide = "\u{feff}Ivo: hello\nNela: caf\u{e9}\n".encode_utf16();
    home.file(
        "wide.txt",
        wide.flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
    );
    home.file("latin.txt", b"Ivo: hello\nNela: caf\xe9\n");
    home.run(&["add", "wide.txt", "--no-build"])
        .exits(0)
        .says("wide: 2 turns stored");
    home.run(&["add", "latin.txt", "--no-build"])
        .exits(1)
        .warns("error: latin.txt: it is no text: line 2 is not UTF-8; save it as UTF-8");
}

#[test]
fn a_conversation_cannot_be_named_out_of_the_folder() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    for name in ["../escape", "x/../../y", "C:\\x", "/etc/passwd", " "] {
        home.run(&["add", "garden.txt", "--no-build", "--conversation", name])
            .exits(1);
    }
    for space in ["../escape", "a/b", "", "team-a "] {
        home.run(&["add", "garden.txt", "--no-build", "--space", space])
            .exits(2);
    }
    assert!(!home.data().exists() || files(&home.data()).is_empty());
}

#[test]
fn dates_do_not_depend_on_the_zone_of_the_machine() {
    let shown = ["Pacific/Kiritimati", "America/Adak"].map(|zone| {
        let home = Home::new().env("TZ", zone);
        home.file("garden.txt", GARDEN);
        home.run(&["add", "garden.txt", "--no-build"]).exits(0);
        home.run(&["export"]).exits(0).out()
    });
    assert!(shown[0].contains("\"2024-05-09T10:00:00\""), "{}", shown[0]);
    assert_eq!(shown[0], shown[1]);
}

#[test]
fn a_turn_that_reads_differently_now_is_not_merged() {
    let home = Home::new();
    home.file(
        "a.jsonl",
        r#"{"id":"m1","speaker":"Ana","text":"I work at Acme"}"#,
    );
    home.file(
        "b.jsonl",
        r#"{"id":"m1","speaker":"Ana","text":"I work at Borealis"}"#,
    );
    let add = |file| home.run(&["add", file, "--no-build", "--conversation", "c"]);
    add("a.jsonl").exits(0);
    add("b.jsonl")
        .exits(1)
        .warns("c/m1")
        .warns("reads differently");
    home.run(&["show", "turns"]).exits(0).says("Acme");
}

#[test]
fn equal_words_under_other_ids_are_both_kept() {
    let home = Home::new();
    home.file("t.txt", "Ana: Yes.\nBo: Sure?\nAna: Yes.\n");
    home.run(&["add", "t.txt", "--no-build"])
        .exits(0)
        .says("3 turns stored");
}

#[test]
fn turns_on_the_skip_list_are_left_out_and_counted() {
    let home = Home::new();
    home.file("t.txt", "Ana: hello\nAna: [internal] save all\nBo: hi\n");
    let ran = home.run(&["add", "t.txt", "--no-build", "--skip", "[internal]"]);
    ran.exits(0).says("2 turns stored").warns("skip list");
}
