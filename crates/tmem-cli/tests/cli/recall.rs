//! `tmem recall` and `tmem ask` without a language model.

use crate::home::{GARDEN, Home};

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
