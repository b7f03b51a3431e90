//! Building with a model server that counts: nothing is lost, nothing is paid for twice.

use serde_json::{Value, json};

use crate::home::{GARDEN, Home, Ran};
use crate::server::{Act, Server, reply};

/// A home whose language model is at `server`.
fn home(server: &Server) -> Home {
    Home::new()
        .env("TMEM_LLM_KIND", "openai")
        .env("TMEM_LLM_BASE_URL", server.url())
        .env("TMEM_LLM_MODEL", "fake")
        .env("TMEM_LLM_MAX_RETRIES", "0")
        .env("OPENAI_API_KEY", "sk-test-0001")
}

pub(crate) fn garden(server: &Server) -> Home {
    let home = home(server);
    home.file("garden.txt", GARDEN);
    home
}

#[test]
fn a_conversation_is_built_asked_and_counted() {
    let server = Server::answering();
    let home = garden(&server);
    home.run(&["add", "garden.txt"])
        .exits(0)
        .says("6 turns stored")
        .says("built:")
        .says("the memory holds 2 scenes");
    let scenes = home.run(&["show", "scenes", "--json"]).exits(0).json();
    assert_eq!(scenes.as_array().unwrap().len(), 2, "{scenes}");
    home.run(&["show", "items"]).exits(0).says("garden/i0001");
    home.run(&["show", "triggers"])
        .exits(0)
        .says("horizon")
        .says("bridge");
    home.run(&["show", "personas"])
        .exits(0)
        .says("Ivo in garden");
    let ask = home
        .run(&["ask", "Where are the beans planted?", "--explain"])
        .exits(0);
    ask.says("Behind the shed")
        .says("I planted beans behind the shed")
        .says("scenes by");
    home.run(&["stats"]).exits(0).says("2 scenes");
    let cost = home.run(&["cost", "--json"]).exits(0).json();
    assert_eq!(cost["total"]["spent"]["calls"], server.seen().len());
}

#[test]
fn what_is_built_is_not_built_again() {
    let server = Server::answering();
    let home = garden(&server);
    home.run(&["add", "garden.txt"]).exits(0);
    let calls = server.seen().len();
    home.run(&["add", "garden.txt"])
        .exits(0)
        .says("6 there already");
    home.run(&["build"]).exits(0).says("nothing to build");
    assert_eq!(server.seen().len(), calls);
}

#[test]
fn a_build_that_is_killed_goes_on_and_pays_for_no_call_twice() {
    let server = Server::start(|number, _| if number == 3 { Act::Hang } else { Act::Answer });
    let home = garden(&server).env("TMEM_LLM_CONCURRENCY", "1");
    home.file("kite.txt", "Ivo: The kite is mended.\n");
    let mut child = home
        .command(&["add", "garden.txt", "kite.txt", "--quiet"])
        .spawn()
        .unwrap();
    server.wait_for(4);
    child.kill().unwrap();
    child.wait().unwrap();
    server.release();
    home.run(&["show", "turns"])
        .exits(0)
        .says("crutches")
        .says("kite/S1:1 Ivo: The kite is mended.");
    home.run(&["build"]).exits(0);
    let twice = server.counts().into_iter().filter(|(_, count)| *count > 1);
    let hung = server.seen()[3].to_string();
    assert_eq!(twice.collect::<Vec<_>>(), [(hung, 2)]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_lets_the_calls_under_way_end_and_says_how_to_go_on() {
    let server = Server::start(|number, _| {
        if number == 2 {
            std::thread::sleep(std::time::Duration::from_secs(2));
        }
        Act::Answer
    });
    let home = garden(&server).env("TMEM_LLM_CONCURRENCY", "1");
    let mut command = home.command(&["add", "garden.txt"]);
    let piped = std::process::Stdio::piped;
    let child = command.stdout(piped()).stderr(piped()).spawn().unwrap();
    server.wait_for(3);
    let interrupt = ["-INT".to_owned(), child.id().to_string()];
    assert!(
        std::process::Command::new("kill")
            .args(interrupt)
            .status()
            .unwrap()
            .success()
    );
    let ran = Ran(child.wait_with_output().unwrap()).exits(3);
    ran.says("stopped as asked").warns("`tmem build` resumes");
    assert_eq!(server.seen().len(), 3);
    home.run(&["build"]).exits(0);
    assert!(server.counts().values().all(|count| *count == 1));
}

#[test]
fn without_a_language_model_turns_are_stored_and_the_way_to_one_is_told() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    let ran = home
        .run(&["add", "garden.txt"])
        .exits(3)
        .says("6 turns stored");
    ran.warns("nothing was built").warns("tmem models pull");
    home.run(&["recall", "crutches"]).exits(0).says("crutches");
}

#[test]
fn a_second_writer_is_told_who_writes_and_readers_go_on() {
    let server = Server::start(|_, _| Act::Hang);
    let home = garden(&server);
    let mut child = home
        .command(&["add", "garden.txt", "--quiet"])
        .spawn()
        .unwrap();
    server.wait_for(1);
    home.file("more.txt", "Ivo: more\n");
    let pid = child.id().to_string();
    home.run(&["add", "more.txt", "--no-build"])
        .exits(1)
        .warns(&pid);
    home.run(&["recall", "crutches"]).exits(0).says("crutches");
    child.kill().unwrap();
    child.wait().unwrap();
    server.release();
    home.run(&["add", "more.txt", "--no-build"]).exits(0);
}

#[test]
fn a_refused_step_is_named_and_the_rest_is_built() {
    let server = Server::start(|_, body| {
        let name = body["response_format"]["json_schema"]["name"]
            .as_str()
            .unwrap_or_default();
        if name == "persona" {
            Act::Refuse
        } else {
            Act::Answer
        }
    });
    let home = garden(&server);
    home.run(&["add", "garden.txt"])
        .exits(3)
        .says("refused")
        .says("personas Ivo of garden");
    home.run(&["show", "items"]).exits(0).says("garden/i0001");
    home.run(&["show", "jobs"]).exits(0).says("refused");
}

#[test]
fn a_step_that_was_split_on_the_way_is_counted_as_it_ended() {
    let server = Server::start(|_, body| {
        let scenes = &body["response_format"]["json_schema"]["schema"]["properties"]["scenes"];
        if scenes["maxItems"] == 2 {
            Act::Cut
        } else {
            Act::Answer
        }
    });
    let home = garden(&server);
    let ran = home.run(&["add", "garden.txt", "--json"]).exits(0).json();
    assert_eq!(ran["build"]["stages"]["write"]["done"], 2, "{ran}");
    assert_eq!(ran["build"]["stages"]["write"]["pending"], 0, "{ran}");
}

#[test]
fn what_failed_is_tried_again_when_asked_for() {
    for status in [400, 500] {
        let server = Server::start(move |number, _| {
            if number < 2 {
                Act::Status(status)
            } else {
                Act::Answer
            }
        });
        let home = garden(&server);
        home.run(&["add", "garden.txt"])
            .exits(3)
            .says("6 turns stored")
            .says("failed")
            .says("--retry-failed");
        home.run(&["build"]).exits(3).says("--retry-failed");
        home.run(&["build", "--retry-failed"]).exits(0);
        home.run(&["show", "items"]).exits(0).says("garden/i0001");
    }
}

#[test]
fn an_outage_stops_the_build_and_the_next_one_goes_on() {
    for status in [401, 402, 429, 503] {
        let server = Server::start(move |number, _| {
            if number < 2 {
                Act::Status(status)
            } else {
                Act::Answer
            }
        });
        let home = garden(&server).env("TMEM_LLM_CONCURRENCY", "1");
        home.run(&["add", "garden.txt"])
            .exits(3)
            .says("1 pending")
            .says("cannot be asked now");
        home.run(&["build"]).exits(3).says("cannot be asked now");
        assert_eq!(server.seen().len(), 2, "no call after the one that failed");
        home.run(&["build"]).exits(0);
        home.run(&["show", "items"]).exits(0).says("garden/i0001");
    }
}

#[test]
fn a_budget_stops_cleanly_and_the_next_build_goes_on() {
    let server = Server::answering();
    let home = garden(&server).env("TMEM_LLM_CONCURRENCY", "1");
    home.run(&["add", "garden.txt", "--budget", "200"])
        .exits(3)
        .says("the budget is spent");
    assert_eq!(server.seen().len(), 2);
    home.run(&["build"]).exits(0);
    assert!(server.counts().values().all(|count| *count == 1));
}

#[test]
fn the_key_is_never_shown() {
    let server = Server::start(|_, _| Act::Status(401));
    let home = garden(&server).env("RUST_LOG", "trace");
    for args in [
        &["add", "garden.txt"][..],
        &["doctor"],
        &["config"],
        &["build", "--json"],
    ] {
        let ran = home.run(args);
        let said = format!("{}{}", ran.out(), ran.err());
        assert!(!said.contains("sk-test-0001"), "{args:?}");
    }
    assert!(home.files_with("sk-test-0001").is_empty());
}

#[test]
fn calls_can_be_answered_elsewhere_round_by_round() {
    let server = Server::answering();
    let home = garden(&server);
    home.run(&["add", "garden.txt", "--no-build"]).exits(0);
    home.run(&["doctor"])
        .exits(0)
        .says("in no scene yet: `tmem build`");
    let mut rounds = 0;
    loop {
        home.run(&["batch", "export", "calls.jsonl"]);
        let calls = std::fs::read_to_string(home.data().with_file_name("calls.jsonl")).unwrap();
        if calls.is_empty() {
            break;
        }
        rounds += 1;
        assert!(rounds <= 12, "{calls}");
        home.file(
            "answers.jsonl",
            calls.lines().map(answered).collect::<String>(),
        );
        home.run(&["batch", "import", "answers.jsonl"]);
    }
    home.run(&["build"]).exits(0).says("nothing to build");
    home.run(&["show", "items"]).exits(0).says("garden/i0001");
    assert!(server.seen().is_empty());
}

#[test]
fn requests_without_a_file_go_to_standard_output() {
    let home = garden(&Server::answering());
    home.run(&["add", "garden.txt", "--no-build"]).exits(0);
    let lines = home.run(&["batch", "export"]).exits(0).out();
    let json = home.run(&["batch", "export", "--json"]).exits(0).json();
    let requests = json["requests"].as_array().unwrap();
    assert_eq!(json["waiting"], requests.len());
    let said: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!said.is_empty());
    assert_eq!(said, *requests);
}

#[test]
fn lines_of_answers_that_cannot_be_read_are_named_by_number() {
    let home = garden(&Server::answering());
    home.run(&["add", "garden.txt", "--no-build"]).exits(0);
    let calls = home.run(&["batch", "export"]).exits(0).out();
    let answers: String = calls.lines().map(answered).collect();
    home.file("answers.jsonl", format!("{{half\n{answers}\n[1]\n"));
    let last = calls.lines().count() + 3;
    home.run(&["batch", "import", "answers.jsonl"])
        .exits(3)
        .says(&format!("2 not readable:\n  line 1\n  line {last}\n"))
        .says("taken in");
}

/// A line of the answer file for a line of the call file.
pub(crate) fn answered(line: &str) -> String {
    let call: Value = serde_json::from_str(line).unwrap();
    let message = json!({"content": reply(&call["body"])});
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
    let response = json!({"status_code": 200, "body": body});
    format!(
        "{}\n",
        json!({"custom_id": call["custom_id"], "response": response})
    )
}

#[test]
fn a_recording_replays_without_a_server_and_gives_the_same_memory() {
    let server = Server::answering();
    let home = garden(&server);
    home.run(&["add", "garden.txt"]).exits(0);
    home.run(&["batch", "record", "replies.jsonl"]).exits(0);
    let calls = server.seen().len();
    let other = Home::new().env("TMEM_LLM_KIND", "local");
    other.file("garden.txt", GARDEN);
    let replies = home.data().with_file_name("replies.jsonl");
    let replies = replies.to_str().unwrap();
    other
        .run(&["add", "garden.txt", "--replay", replies])
        .exits(0);
    assert_eq!(
        other.run(&["export"]).exits(0).out(),
        home.run(&["export"]).exits(0).out()
    );
    assert_eq!(server.seen().len(), calls);
}

#[test]
fn a_call_that_was_not_recorded_fails_with_its_prompt() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    home.file("none.jsonl", "");
    let ran = home
        .run(&["add", "garden.txt", "--replay", "none.jsonl"])
        .exits(3);
    ran.says("was not recorded").says("6 turns stored");
}

#[test]
fn a_forgotten_turn_leaves_no_trace_in_what_was_built_or_logged() {
    let server = Server::answering();
    let home = home(&server);
    home.file(
        "t.txt",
        "Ivo: beans are in the ground\nNela: zyxomma is the word\nIvo: peas too\n",
    );
    home.run(&["add", "t.txt"]).exits(0);
    assert!(!home.files_with("zyxomma").is_empty());
    home.run(&["forget", "--turn", "S1:2"])
        .exits(0)
        .says("logged calls");
    assert_eq!(home.files_with("zyxomma"), Vec::<std::path::PathBuf>::new());
    home.run(&["build"]).exits(0);
    home.run(&["stats", "--json"]).exits(0);
    assert!(home.files_with("zyxomma").is_empty());
    let cost = home.run(&["cost", "--json"]).exits(0).json();
    assert_eq!(
        cost["total"]["spent"]["calls"],
        server.seen().len(),
        "what it cost stays"
    );
}

#[test]
fn an_exported_memory_is_imported_byte_for_byte_and_counts_as_built() {
    let server = Server::answering();
    let home = garden(&server);
    home.run(&["add", "garden.txt"]).exits(0);
    home.run(&["export", "--out", "garden.json"]).exits(0);
    let calls = server.seen().len();
    home.run(&["import", "garden.json", "--space", "copy"])
        .exits(0)
        .says("6 turns, 2 scenes");
    let first = home.run(&["export"]).exits(0).out();
    assert_eq!(
        home.run(&["export", "--space", "copy"]).exits(0).out(),
        first
    );
    home.run(&["build", "--space", "copy"]).exits(0);
    assert_eq!(server.seen().len(), calls);
}

#[test]
fn how_many_calls_run_at_once_makes_no_difference_to_the_memory() {
    let exported = ["1", "8"].map(|concurrency| {
        let server = Server::answering();
        let home = garden(&server);
        home.run(&["add", "garden.txt", "--concurrency", concurrency])
            .exits(0);
        home.run(&["export"]).exits(0).out()
    });
    assert_eq!(exported[0], exported[1]);
}

#[test]
fn a_list_of_documents_is_imported_whole_or_not_at_all() {
    let home = Home::new();
    home.file("garden.txt", GARDEN);
    home.run(&["add", "garden.txt", "--no-build"]).exits(0);
    let document = home.run(&["export"]).exits(0).json();
    let mut twin = document.clone();
    twin["conversation"] = json!("twin");
    let list = json!([document, twin]).to_string();
    home.file("list.json", list);
    home.run(&["import", "list.json", "--space", "copy"])
        .exits(0)
        .says("garden: 6 turns, 0 scenes, 0 items")
        .says("twin: 6 turns");
    home.file("bad.json", json!([document, {"speaker": "A"}]).to_string());
    home.run(&["import", "bad.json", "--space", "other"])
        .exits(1)
        .warns("document 2 of the list: format: nothing is not supported")
        .warns("tmem add");
    home.file("none.json", "[]");
    home.run(&["import", "none.json"])
        .exits(1)
        .warns("the list is empty");
    home.run(&["show", "spaces"]).exits(0).says("copy");
    let spaces = home.run(&["show", "spaces"]).out();
    assert!(!spaces.contains("other"), "{spaces}");
}

#[test]
fn a_document_that_breaks_a_rule_is_named_and_not_taken_in() {
    let home = Home::new();
    home.file(
        "bad.json",
        r#"{"format":"tmem-memory/2","conversation":"c"}"#,
    );
    home.file("half.json", "{\"format\":");
    home.run(&["import", "bad.json"])
        .exits(1)
        .warns("bad.json")
        .warns("tmem-memory/2");
    home.run(&["import", "half.json"])
        .exits(1)
        .warns("half.json");
}
