//! Options, help, exit codes, pipes, settings.

use std::io::Read;
use std::process::Stdio;

use crate::home::{GARDEN, Home};

const COMMANDS: [&str; 15] = [
    "add", "build", "ask", "recall", "show", "export", "import", "forget", "stats", "cost",
    "batch", "reindex", "models", "doctor", "config",
];

#[test]
fn every_command_has_help() {
    let home = Home::new();
    for command in COMMANDS {
        home.run(&[command, "--help"]).exits(0).says("Usage: tmem");
    }
}

#[test]
fn commands_that_take_arguments_show_an_example() {
    let home = Home::new();
    for command in [
        "add", "build", "ask", "recall", "show", "export", "import", "forget",
    ] {
        home.run(&[command, "--help"]).exits(0).says("Example");
    }
}

#[test]
fn a_usage_error_exits_with_2() {
    let home = Home::new();
    home.run(&["remember"]).exits(2);
    home.run(&["add"]).exits(2);
    home.run(&["forget"]).exits(2);
    home.run(&["forget", "--turn", "x", "--item", "y"]).exits(2);
    home.run(&["ask", "  "]).exits(2).warns("blank");
    home.run(&["recall", ""]).exits(2).warns("blank");
    home.run(&["recall", "x", "--at", "soon"])
        .exits(2)
        .warns("2024-05-09");
    home.run(&["forget", "--before", "13/13/2024"])
        .exits(2)
        .warns("2024-05-09");
    home.run(&["show", "--space", "../x"])
        .exits(2)
        .warns("not allowed");
    home.run(&["recall", "x", "--preset", "huge"])
        .exits(2)
        .warns("paper, balanced, wide");
    for command in [&["build"][..], &["add", "x"]] {
        home.run(&[command, &["--concurrency", "0"]].concat())
            .exits(2)
            .warns("--concurrency");
    }
}

#[test]
fn global_options_may_stand_anywhere() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    home.run(&[
        "add",
        "--space",
        "work",
        "garden.txt",
        "--no-build",
        "--quiet",
    ])
    .exits(0);
    home.run(&["show", "turns", "--space", "work", "--json"])
        .exits(0)
        .json();
    home.run(&["--json", "--space", "work", "show", "turns"])
        .exits(0)
        .json();
}

#[test]
fn an_unknown_space_is_told_from_a_space_without_hits() {
    let home = Home::new();
    home.run(&["recall", "frost"])
        .exits(1)
        .warns("there is no memory in");
    home.file("garden.txt", GARDEN);
    home.run(&["add", "garden.txt", "--no-build", "--space", "team-a"])
        .exits(0);
    home.run(&["recall", "frost", "--space", "team-b"])
        .exits(1)
        .warns("there are: team-a");
    home.run(&["recall", "zyxomma", "--space", "team-a"])
        .exits(0);
}

#[test]
fn a_misspelt_setting_is_refused_with_the_nearest_one() {
    let home = Home::new();
    let file = home.file("own.toml", "[llm]\nmodle = 'x'\n");
    let file = file.to_str().unwrap();
    home.run(&["config", "--config", file])
        .exits(1)
        .warns("did you mean `model`?");
}

#[test]
fn settings_are_shown_with_what_holds_and_without_secrets() {
    let home = Home::new()
        .env("TMEM_LLM_KIND", "openai")
        .env("TMEM_LLM_BASE_URL", "http://ivo:sesame@127.0.0.1:9/v1")
        .env("OPENAI_API_KEY", "sk-test-0001");
    let shown = home.run(&["config"]).exits(0).says("kind = \"openai\"");
    let shown = shown.says("\"http://127.0.0.1:9/v1\"").out() + &home.run(&["doctor"]).out();
    assert!(!shown.contains("sk-test-0001") && !shown.contains("sesame"));
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let home = Home::new();
    let long: String = (0..20_000)
        .map(|i| format!("Ivo: line number {i}\n"))
        .collect();
    home.file("long.txt", long);
    home.run(&["add", "long.txt", "--no-build"]).exits(0);
    let mut command = home.command(&["show", "turns"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

#[test]
fn errors_are_json_too_when_json_is_wanted() {
    let home = Home::new();
    let ran = home.run(&["--json", "show"]).exits(1);
    let error: serde_json::Value = serde_json::from_str(&ran.err()).expect("JSON");
    assert!(
        error["error"]
            .as_str()
            .unwrap()
            .contains("there is no memory")
    );
}

#[test]
fn doctor_tells_what_is_there_and_what_is_not() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    home.run(&["add", "garden.txt", "--no-build"]).exits(0);
    home.run(&["doctor"]).exits(0).says("store");
}
