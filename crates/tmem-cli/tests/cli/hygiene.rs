//! What a build leaves bare, which triggers prove to be noise, and building the newest first.

use serde_json::json;

use crate::build::{answered, garden};
use crate::home::Home;
use crate::server::{Act, Server};

/// A server that writes no bridge for any item.
fn without_bridges() -> Server {
    Server::start(|_, body| {
        let shape = &body["response_format"]["json_schema"];
        let items = shape["schema"]["properties"]["items"]["maxItems"].as_u64();
        if shape["name"] != "item_triggers" {
            return Act::Answer;
        }
        let bare = |label| json!({"item": label, "concepts": [], "bridges": []});
        let items: Vec<_> = (1..=items.unwrap_or(0)).map(bare).collect();
        Act::Say(json!({ "items": items }).to_string())
    })
}

#[test]
fn a_finished_build_that_left_items_bare_says_so_and_stats_exits_with_3() {
    let home = garden(&without_bridges());
    home.run(&["add", "garden.txt"])
        .exits(0)
        .says("`tmem stats` names them");
    home.run(&["stats"])
        .exits(3)
        .says("items without a bridge: garden/i0001");
    let stats = home.run(&["stats", "--json"]).exits(3).json();
    let bare = stats["coverage"]["items_without_bridge"]
        .as_array()
        .unwrap();
    assert_eq!(stats["coverage"]["holes"], bare.len(), "{stats}");
}

#[test]
fn what_is_still_to_be_built_is_listed_and_no_hole() {
    let server = Server::answering();
    let home = garden(&server).env("TMEM_LLM_CONCURRENCY", "1");
    home.run(&["add", "garden.txt", "--budget", "400"]).exits(3);
    home.run(&["stats"])
        .exits(0)
        .says("scenes without a horizon trigger");
    home.run(&["build"]).exits(0);
    home.run(&["stats"]).exits(0);
}

/// All counts together: fired, used.
fn counts(home: &Home) -> (u64, u64) {
    let listed = home
        .run(&["show", "triggers", "--by", "misfires", "--json"])
        .exits(0)
        .json();
    let sum = |key: &str| {
        listed
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one[key].as_u64().unwrap())
            .sum()
    };
    (sum("fired"), sum("used"))
}

#[test]
fn triggers_that_fire_for_nothing_are_listed_by_how_often() {
    let server = Server::answering();
    let home = garden(&server);
    home.run(&["add", "garden.txt"]).exits(0);
    assert_eq!(counts(&home), (0, 0));
    let triggers = home.run(&["show", "triggers", "--json"]).exits(0).json();
    let bridge = triggers
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["family"] == "item");
    let bridge = bridge.expect("an item has one")["trigger"]["bridge"]
        .as_str()
        .unwrap()
        .to_owned();
    let nothing = ["recall", &bridge, "--no-items", "--no-scenes"];
    home.run(&nothing).exits(0);
    home.run(&nothing).exits(0);
    home.run(&["show", "triggers", "--by", "misfires"])
        .exits(0)
        .says("    2 misfires (2 fired, 0 used) garden/i")
        .says(&bridge);
    let before = counts(&home);
    assert!(before.0 >= 2 && before.1 == 0, "{before:?}");
    let silent = home
        .command(&nothing)
        .env("TMEM_TRIGGERS_COUNT", "false")
        .status();
    assert!(silent.expect("it runs").success());
    assert_eq!(counts(&home), before);
    assert!(!home.run(&["export"]).exits(0).out().contains("fired"));
    home.run(&["show", "items", "--by", "misfires"])
        .exits(1)
        .warns("orders triggers alone");
    home.run(&["forget", "--conversation", "garden"]).exits(0);
    assert_eq!(counts(&home), (0, 0));
}

#[test]
fn the_newest_session_is_built_at_once_and_the_rest_in_batch() {
    let server = Server::answering();
    let home = garden(&server);
    let file = home.data().with_file_name("calls.jsonl");
    let file = file.to_str().unwrap();
    home.run(&["add", "garden.txt", "--batch-older", file])
        .exits(0)
        .says("written to");
    let scenes = home.run(&["show", "scenes", "--json"]).exits(0).json();
    let turns: Vec<_> = scenes
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|scene| scene["turns"].as_array().unwrap())
        .collect();
    assert_eq!(
        turns,
        ["garden/S1:4", "garden/S1:5", "garden/S1:6"],
        "{scenes}"
    );
    home.run(&["show", "triggers"]).exits(0).says("horizon");
    let asked = server.seen();
    assert!(asked.iter().all(|body| !body.to_string().contains("beans")));
    home.run(&["recall", "beans"])
        .exits(0)
        .says("I planted beans behind the shed");

    let mut calls = std::fs::read_to_string(file).unwrap();
    assert!(calls.contains("beans"), "{calls}");
    for _ in 0..12 {
        let answers: String = calls.lines().map(answered).collect();
        home.file("answers.jsonl", answers);
        home.run(&["batch", "import", "answers.jsonl"]);
        calls = home.run(&["batch", "export"]).exits(0).out();
        if calls.trim().is_empty() {
            break;
        }
    }
    assert_eq!(server.seen().len(), asked.len(), "the rest asks no server");
    let counts = &home.run(&["stats", "--json"]).json()["counts"];
    assert_eq!(
        (&counts["turns"], &counts["open_turns"]),
        (&json!(6), &json!(0))
    );
    home.run(&["show", "items"]).exits(0).says("garden/i0001");
    home.run(&["build"]).exits(0).says("nothing to build");
    home.run(&["show", "personas"])
        .exits(0)
        .says("Ivo in garden");
}
