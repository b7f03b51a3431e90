//! Missing memories of the invented benchmark: built by a scripted model, from its recording, in batches.

use clap::Parser;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tmem::llm::{Reply, Request, ScriptedModel};
use tmem_eval::dataset::locomo;

use super::*;
use crate::bench::args::LocomoArgs;
use crate::shell;

/// Answers every prompt of construction by its schema: an element per label that the prompt shows.
fn scripted(request: &Request) -> Reply {
    let schema = &request
        .schema
        .as_ref()
        .expect("construction asks by schema")
        .schema;
    let prompt = &request.messages[1].content;
    Reply::text(filled(schema, "", prompt, 1).to_string())
}

fn filled(schema: &Value, name: &str, prompt: &str, ordinal: usize) -> Value {
    match schema["type"].as_str() {
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let field = |(name, kind): (&String, &Value)| {
                (name.clone(), filled(kind, name, prompt, ordinal))
            };
            fields.map(field).collect::<Map<_, _>>().into()
        }
        Some("array") => {
            let labels = |mark: &str| prompt.lines().filter(|line| line.starts_with(mark)).count();
            let count = match &schema["items"]["properties"] {
                of if of.get("scene").is_some() => labels("[S"),
                of if of.get("item").is_some() => labels("[I"),
                _ => 1,
            };
            let one = |n| filled(&schema["items"], name, prompt, n);
            (1..=count).map(one).collect()
        }
        Some("integer") if name == "topic" => json!(0),
        Some("integer") => json!(ordinal),
        Some("boolean") => json!(false),
        _ => json!(format!(
            "The {name} of what {} would need {ordinal} times, {} letters on",
            speaker(prompt),
            prompt.len()
        )),
    }
}

/// Who talks first in the prompt: a fact must name someone, or share a word with what was said.
fn speaker(prompt: &str) -> &str {
    let said = prompt
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("] "));
    said.filter_map(|(_, rest)| Some(rest.split_once(": ")?.0))
        .next()
        .unwrap_or("someone")
}

/// The flags of a run on the invented benchmark, none of whose memories are given.
fn shared(folder: &TempDir, more: &[&str]) -> Shared {
    let path = |name: &str| folder.path().join(name).display().to_string();
    let fixtures = shell::root().join("fixtures/eval").display().to_string();
    let (empty, out) = (path("none"), path("out"));
    fs::create_dir_all(&empty).expect("a folder");
    let words = [
        "bench-locomo",
        "--data",
        &fixtures,
        "--memories",
        &empty,
        "--out",
        &out,
        "--encoder",
        "hash",
        "--build-model",
        "scripted",
        "--quiet",
    ];
    LocomoArgs::parse_from(words.iter().chain(more)).shared
}

async fn ready_with(shared: &Shared) -> Result<(Memories, Left)> {
    let mut files = Files::new(shared)?;
    let (dialogues, _) = locomo::load(&files.locomo()?)?;
    let (cues, _) = plus::load(&files.plus()?, &dialogues)?;
    let wanted = Wanted {
        dialogues: &dialogues,
        cues: Some(&cues),
    };
    ready(shared, &mut files, &wanted, &Bars::new(true)).await
}

/// Builds with the scripted model; gives the recording of its calls.
async fn built(shared: &Shared) -> String {
    let mut files = Files::new(shared).expect("the fixtures");
    let (dialogues, _) = locomo::load(&files.locomo().expect("a file")).expect("a good file");
    let (cues, _) = plus::load(&files.plus().expect("a file"), &dialogues).expect("a good file");
    let wanted = Wanted {
        dialogues: &dialogues,
        cues: Some(&cues),
    };
    let config = shared.building().expect("settings").expect("a model");
    let folder = shared.built_by("scripted");
    let options = options(shared, config, &folder);
    let model = ScriptedModel::new(|request| Ok(scripted(request))).named("scripted");
    let tmem = Tmem::builder(options)
        .chat(model)
        .open()
        .expect("a new memory");
    let workshop = Workshop { tmem, folder };
    let mut memories = Memories::default();
    let missing = Missing::of(&wanted, &memories);
    let summary = workshop
        .build(&missing, &Bars::new(true))
        .await
        .expect("a build");
    assert!(summary.is_complete(), "{:?}", summary.problems);
    workshop
        .keep(&missing, &summary, &mut memories)
        .expect("documents");
    workshop.tmem.recording().expect("a log").0
}

fn document(shared: &Shared, name: &str) -> String {
    let path = shared.built_by("scripted").join(name);
    fs::read_to_string(path).expect("a document was kept")
}

#[tokio::test]
async fn what_was_built_is_found_by_the_next_run_without_a_call() {
    let folder = TempDir::new().expect("a folder");
    let shared = shared(&folder, &[]);
    let before = built(&shared).await.lines().count();
    assert!(before > 10, "construction asked {before} times");
    // There is no model behind the name now: any call would fail.
    let (memories, left) = ready_with(&shared).await.expect("documents");
    assert_eq!(
        (memories.conversations().count(), left.failed, left.calls),
        (2, 0, 0)
    );
    assert_eq!(left.model.as_deref(), Some("scripted"));
    let cues: Vec<Value> = serde_json::from_str(&document(&shared, CUES)).expect("JSON");
    assert_eq!(cues.len(), 4);
    assert_eq!(cues[0]["scenes"][0]["id"], "cue1-s1");
    assert_eq!(cues[0]["items"][0]["scenes"][0], "cue1-s1");
}

#[tokio::test]
async fn a_recording_builds_the_same_and_one_that_lacks_a_call_fails() {
    let (first, second) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let live = shared(&first, &[]);
    let recording = built(&live).await;
    let file = first.path().join("calls.jsonl");
    let replay = ["--replay", file.to_str().expect("a plain path")];
    let replayed = shared(&second, &replay);
    fs::write(&file, &recording).expect("a file");
    let (memories, _) = ready_with(&replayed).await.expect("a whole recording");
    assert_eq!(memories.conversations().count(), 2);
    for name in ["harbour.json", CUES] {
        assert_eq!(document(&live, name), document(&replayed, name));
    }
    let lines: Vec<&str> = recording.lines().collect();
    fs::write(&file, lines[..lines.len() - 1].join("\n") + "\n").expect("a file");
    fs::remove_dir_all(replayed.built_by("scripted")).expect("it was kept");
    let error = ready_with(&replayed).await.expect_err("a call is missing");
    assert!(error.to_string().contains("lack a call"), "{error}");
}

#[tokio::test]
async fn in_a_batch_all_that_can_be_asked_waits_and_nothing_is_scored() {
    let folder = TempDir::new().expect("a folder");
    let lines = folder.path().join("batch.jsonl");
    let log = folder.path().join("log.jsonl");
    let [lines, log] = [lines, log].map(|path| path.display().to_string());
    let shared = shared(&folder, &["--batch-export", &lines, "--log", &log]);
    let (memories, left) = ready_with(&shared).await.expect("a batch");
    assert_eq!(memories.conversations().count(), 0);
    assert_eq!(left.waiting.lines().count(), left.calls);
    assert!(left.calls >= 2, "one window of each conversation at least");
}
