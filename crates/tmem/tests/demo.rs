//! The recorded demo: what is in the repository builds and answers without weights and network.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tmem::model::text::terms;
use tmem::model::{ConversationId, Turn};
use tmem::{Access, Answer, BuildOptions, Layers, Options, Question, Summary, Tmem};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/demo")
        .join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(fixture(name)).expect("a fixture")
}

fn questions() -> Vec<String> {
    read("questions.txt").lines().map(str::to_owned).collect()
}

/// The demo's memory in `folder`, built from the recording alone.
async fn replayed(folder: &Path) -> (Tmem, Summary) {
    let mut options = Options::new(folder);
    options.access = Access::Write;
    options.config = Layers::new().replayed(true).resolve().expect("settings");
    options.replay = Some(fixture("replies.jsonl"));
    options.models = Some(folder.join("no models"));
    let tmem = Tmem::open(options).expect("a memory");
    let given = tmem::ingest::parse(&read("conversation.txt"), &Default::default());
    let given = given
        .expect("a transcript")
        .pop()
        .expect("one conversation");
    tmem.add(&ConversationId::new("demo").expect("an id"), &given)
        .expect("new turns");
    let summary = tmem
        .build(&BuildOptions::default(), &|_| ())
        .await
        .expect("a build");
    (tmem, summary)
}

async fn answered(tmem: &Tmem, question: &str) -> Answer {
    let answer = tmem
        .answer(&Question::new(question), &tmem.config().retrieve)
        .await;
    answer.expect("a recorded answer; `cargo xtask record-demo` renews the recording")
}

/// The words of the turns that an answer cites.
fn cited(tmem: &Tmem, answer: &Answer) -> Vec<Turn> {
    let memory = tmem.memory();
    answer
        .turns
        .iter()
        .map(|id| memory.turn(id).expect("a cited turn").clone())
        .collect()
}

#[tokio::test]
async fn the_recording_builds_the_whole_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tmem, summary) = replayed(folder.path()).await;
    let total = summary.total();
    assert_eq!(summary.problems, []);
    assert_eq!(summary.notes, Vec::<String>::new());
    assert_eq!((total.failed, total.refused, total.pending), (0, 0, 0));
    let memory = tmem.memory();
    assert_eq!((memory.scenes().count(), memory.items().count()), (6, 20));
}

#[tokio::test]
async fn every_question_is_answered_with_turns_as_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tmem, _) = replayed(folder.path()).await;
    for (question, word) in questions().iter().zip(["Monday", "Juno", "elevator"]) {
        let answer = answered(&tmem, question).await;
        assert_eq!(answer.recalled.notes, Vec::<String>::new(), "{question}");
        let turns = cited(&tmem, &answer);
        assert!(
            turns.iter().any(|turn| turn.text.contains(word)),
            "{question}: {turns:?}"
        );
    }
}

#[tokio::test]
async fn the_last_question_shares_no_word_with_the_turns_that_answer_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tmem, _) = replayed(folder.path()).await;
    let question = questions().pop().expect("three questions");
    let asked: BTreeSet<String> = terms(&question).into_iter().collect();
    let answer = answered(&tmem, &question).await;
    let turns = cited(&tmem, &answer);
    assert!(!turns.is_empty());
    for turn in turns {
        let said: BTreeSet<String> = terms(&turn.text).into_iter().collect();
        assert_eq!(asked.intersection(&said).count(), 0, "{}", turn.text);
    }
}
