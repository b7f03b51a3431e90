//! `tmem forget` leaves nothing behind.

use crate::home::{GARDEN, Home};

#[test]
fn a_forgotten_conversation_leaves_no_byte_behind() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    home.file(
        "secret.txt",
        "Ivo: the word is zyxomma\nNela: zyxomma it is\n",
    );
    home.run(&["add", "garden.txt", "secret.txt", "--no-build"])
        .exits(0);
    home.run(&["recall", "zyxomma"]).exits(0).says("zyxomma");
    assert!(!home.files_with("zyxomma").is_empty());
    home.run(&["forget", "--conversation", "secret"])
        .exits(0)
        .says("2 turns");
    assert_eq!(home.files_with("zyxomma"), Vec::<std::path::PathBuf>::new());
    home.run(&["recall", "tomatoes"]).exits(0).says("frost");
}

#[test]
fn a_forgotten_turn_is_not_found_and_the_others_are() {
    let home = Home::new();
    home.file(
        "t.txt",
        "Ivo: beans are in\nNela: zyxomma\nIvo: peas are in\n",
    );
    home.run(&["add", "t.txt", "--no-build"]).exits(0);
    home.run(&["forget", "--turn", "S1:2"])
        .exits(0)
        .says("1 turn");
    home.run(&["show", "turns"])
        .exits(0)
        .says("beans")
        .says("peas");
    assert!(home.files_with("zyxomma").is_empty());
    home.run(&["forget", "--turn", "S1:2"])
        .exits(1)
        .warns("there is no turn");
}

#[test]
fn a_speaker_or_a_time_can_be_forgotten() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    home.run(&["add", "garden.txt", "--no-build"]).exits(0);
    home.run(&["forget", "--before", "2024-06-01", "--dry-run"])
        .exits(0)
        .says("3 turns");
    home.run(&["forget", "--before", "2024-06-01"])
        .exits(0)
        .says("gone: 3 turns");
    home.run(&["forget", "--speaker", "Nela"])
        .exits(0)
        .says("2 turns");
    let left = home.run(&["show", "turns"]).exits(0).out();
    assert_eq!(left.lines().count(), 1, "{left}");
}
