//! `tmem recall` and `tmem ask` without a language model.

use crate::home::{GARDEN, Home};
use crate::server::{Act, Server};

fn home() -> Home {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    home.run(&["add", "garden.txt", "--no-build"]).exits(0);
    home
}

#[test]
fn turns_are_found_as_soon_as_they_are_stored() {
    home()
        .run(&["recall", "tomatoes"])
        .exits(0)
        .says("Did the frost get your tomatoes?");
}

#[test]
fn without_an_encoder_words_alone_find_and_a_note_says_so() {
    let home = home().env("TMEM_EMBED_KIND", "none");
    home.run(&["recall", "tomatoes"])
        .exits(0)
        .says("frost")
        .warns("words alone");
    let quiet = home.run(&["recall", "tomatoes", "--quiet"]).exits(0);
    assert_eq!(quiet.err(), "");
}

#[test]
fn weights_that_are_not_there_leave_words_and_the_way_to_fetch_them() {
    let home = home()
        .env("TMEM_EMBED_KIND", "onnx")
        .env("TMEM_MODELS", "nowhere");
    home.run(&["recall", "tomatoes"])
        .exits(0)
        .says("frost")
        .warns("tmem models pull");
}

#[test]
fn a_question_with_operators_is_only_words() {
    let home = home();
    for query in [
        "-5 degrees",
        "text:frost",
        ">>>",
        "she said \"hi",
        "AND",
        "a^2 OR",
    ] {
        home.run(&["recall", query]).exits(0);
    }
}

#[test]
fn a_question_of_forty_thousand_letters_is_answered() {
    home().run(&["recall", &"frost ".repeat(7000)]).exits(0);
}

#[test]
fn asking_without_a_language_model_says_what_is_missing() {
    home()
        .run(&["ask", "Where are the tomatoes?"])
        .exits(1)
        .warns("no language model");
}

#[test]
fn asking_an_empty_memory_needs_no_model() {
    let home = Home::new();
    home.file("t.txt", "Ana: Yes.\n");
    home.run(&["add", "t.txt", "--no-build"]).exits(0);
    home.run(&["forget", "--conversation", "t"]).exits(0);
    home.run(&["ask", "Where are the tomatoes?"])
        .exits(0)
        .says("There is nothing in memory");
}

#[test]
fn the_same_question_gives_the_same_evidence_in_every_process() {
    let home = home();
    let ask = || {
        home.run(&["recall", "who broke an ankle", "--json"])
            .exits(0)
            .out()
    };
    assert_eq!(ask(), ask());
}

#[test]
fn another_encoder_is_refused_until_the_vectors_are_made_anew() {
    let home = home();
    home.run(&["recall", "frost"]).exits(0);
    home.run(&["build"]).exits(1);
    let home = home.env("TMEM_EMBED_DIMENSIONS", "64");
    home.run(&["recall", "frost"])
        .exits(1)
        .warns("tmem reindex");
    home.run(&["reindex"]).exits(0);
    home.run(&["recall", "frost"]).exits(0).says("frost");
}

/// Ida moved; the second of two facts puts the first out of date.
const MOVED: &str = r#"{
    "format": "tmem-memory/1", "conversation": "moves", "speakers": ["Ida"],
    "turns": [
        {"id": "1", "speaker": "Ida", "text": "My flat is in Lyon.", "at": "2024-01-10T20:00:00"},
        {"id": "2", "speaker": "Ida", "text": "Turin it is, since today!", "at": "2024-06-10T20:00:00"}],
    "scenes": [
        {"id": "s001", "turns": ["1"], "title": "Lyon", "summary": "", "narrative": "", "horizon_triggers": []},
        {"id": "s002", "turns": ["2"], "title": "Turin", "summary": "", "narrative": "", "horizon_triggers": []}],
    "topics": [],
    "items": [
        {"id": "i0001", "kind": "atomic", "text": "Ida has her flat in Lyon.", "scenes": ["s001"],
         "turns": ["1"], "triggers": []},
        {"id": "i0002", "kind": "atomic", "text": "Ida dwells in Turin.", "scenes": ["s002"],
         "turns": ["2"], "supersedes": ["i0001"], "triggers": []}],
    "personas": []}"#;

#[test]
fn what_changed_is_told_with_its_dates_and_as_of_an_earlier_day_it_still_holds() {
    let home = Home::new();
    home.file("moves.json", MOVED);
    home.run(&["import", "moves.json"]).exits(0);
    let facts = |args: &[&str]| {
        let ran = home.run(&[&["recall", "Where is the flat?", "--no-scenes"], args].concat());
        let out = ran.exits(0).out();
        let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("- ")).collect();
        lines.join("\n")
    };
    let now = "- Ida dwells in Turin. (since 2024-06-10) [2]\n\
               - Ida has her flat in Lyon. (until 2024-06-10) [1]";
    assert_eq!(facts(&[]), now);
    assert_eq!(facts(&["--at", "2024-06-10"]), now, "the whole day counts");
    assert_eq!(
        facts(&["--at", "2024-06-09"]),
        "- Ida has her flat in Lyon. [1]"
    );
    home.run(&["show", "items"])
        .exits(0)
        .says("i0002 in its place since 2024-06-10")
        .says("in place of i0001 since 2024-06-10");
    home.run(&["stats"]).says("2 items, 1 out of date");
    home.run(&["forget", "--item", "moves/i0001"]).exits(0);
    home.run(&["show", "items"])
        .exits(0)
        .says("from s002 (2), 0 triggers\n");
}

#[test]
fn an_encoder_that_fails_leaves_words_and_shows_no_key() {
    let server = Server::start(|_, _| Act::Status(401));
    let home = home()
        .env("TMEM_EMBED_KIND", "openai")
        .env("TMEM_EMBED_BASE_URL", server.url())
        .env("OPENAI_API_KEY", "sk-test-0001")
        .env("RUST_LOG", "trace");
    let ran = home.run(&["recall", "tomatoes"]).exits(0);
    assert!(!ran.err().contains("sk-test-0001"));
    ran.says("frost").warns("words alone").warns("401");
}

#[test]
fn whoever_nobody_knows_is_told_who_there_is() {
    let home = home();
    home.run(&["recall", "tomatoes", "--speaker", "Ivan"])
        .exits(0)
        .says("frost")
        .warns("nobody is called \"Ivan\"; there are: Ivo, Nela");
    let known = home
        .run(&["recall", "tomatoes", "--speaker", "Ivo"])
        .exits(0);
    assert!(!known.err().contains("nobody"), "{}", known.err());
}

#[cfg(unix)]
#[test]
fn a_memory_that_cannot_be_written_is_read() {
    let home = home();
    let shared = home.data().join("tmem.sqlite3-shm");
    std::os::unix::fs::symlink("nowhere/at/all", shared).unwrap();
    for command in [&["recall", "tomatoes"][..], &["show", "turns"], &["export"]] {
        home.run(command).exits(0).says("Did the frost");
    }
    home.run(&["stats"]).exits(0).says("6 turns");
    home.run(&["cost"]).exits(0);
    home.run(&["doctor"]).exits(0).says("6 turns");
    home.run(&["show", "spaces"]).exits(0).says("default");
    home.run(&["forget", "--turn", "S1:1"])
        .exits(1)
        .warns("can only be read");
    home.run(&["recall", "tomatoes"]).exits(0).says("frost");
}
