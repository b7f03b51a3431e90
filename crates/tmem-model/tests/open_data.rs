//! Memories and dialogues of the open data, where `TMEM_DATA` names a folder that has them.

use std::path::{Path, PathBuf};

use tmem_model::{Document, Memory, ingest};

fn files(folder: &str) -> Vec<PathBuf> {
    let Some(data) = std::env::var_os("TMEM_DATA") else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(Path::new(&data).join(folder))
        .into_iter()
        .flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn round(json: &str) -> String {
    let document = Document::parse(json).unwrap();
    let conversation = document.conversation().clone();
    let mut memory = Memory::new();
    memory
        .apply(&document.into_change(&memory).unwrap())
        .unwrap();
    Document::of(&memory, &conversation).unwrap().to_json()
}

/// All lines of a document, sorted: what it holds in whatever order.
fn lines(json: &str) -> Vec<&str> {
    let mut lines: Vec<_> = json
        .lines()
        .map(|line| line.trim_end_matches(','))
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn every_memory_comes_back_whole_and_then_byte_by_byte() {
    let memories = files("memories")
        .into_iter()
        .map(|file| std::fs::read_to_string(file).unwrap());
    for json in memories.filter(|json| json.contains("\"tmem-memory/1\"")) {
        let once = round(&json);
        assert!(lines(&once) == lines(&json), "something is lost or added");
        assert!(round(&once) == once, "the canonical order is not stable");
    }
}

#[test]
fn every_dialogue_has_its_turns_and_dates() {
    for file in files("data/locomo")
        .iter()
        .filter(|file| file.ends_with("locomo.json"))
    {
        let text = std::fs::read_to_string(file).unwrap();
        for conversation in ingest::parse(&text, &ingest::Options::default()).unwrap() {
            assert!(
                conversation
                    .name
                    .is_some_and(|name| name.starts_with("conv-"))
            );
            assert!(conversation.turns.len() > 300);
            assert!(conversation.turns.iter().all(|turn| turn.at.is_some()));
        }
    }
}
