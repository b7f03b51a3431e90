//! The recorded demo: what is in the repository builds and answers without weights and network.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tmem::model::text::terms;
use tmem::model::{ConversationId, Turn};
use tmem::retrieve::{RetrieveConfig, Switch};
use tmem::{Access, Answer, BuildOptions, Layers, Options, Question, Summary, Tmem};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/demo")
        .join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(fixture(name)).expect("a fixture")
}

/// The questions, a line each: `[2026-05-01] Mara: Where is it?`, date and speaker optional.
fn questions() -> Vec<Question> {
    read("questions.txt").lines().map(question).collect()
}

fn question(line: &str) -> Question {
    let dated = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    let (at, rest) = dated.map_or((None, line), |(at, rest)| (Some(at), rest));
    let spoken = rest.split_once(": ");
    let (speaker, text) = spoken.map_or((None, rest), |(name, text)| (Some(name), text));
    let mut question = Question::new(text);
    question.at = at.map(|at| at.parse().expect("a date"));
    question.speaker = speaker.map(str::to_owned);
    question
}

/// The question that only triggers can answer.
fn last() -> Question {
    questions().pop().expect("some questions")
}

/// The demo's memory in `folder`, built from the recording alone.
async fn replayed(folder: &Path) -> (Tmem, Summary) {
    let mut options = Options::new(folder);
    options.access = Access::Write;
    let settings = Layers::new().file(&fixture("tmem.toml")).expect("a file");
    options.config = settings.replayed(true).resolve().expect("settings");
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

async fn answered(tmem: &Tmem, question: &Question) -> Answer {
    let answer = tmem.answer(question, &tmem.config().retrieve).await;
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
    assert_eq!((memory.scenes().count(), memory.items().count()), (9, 29));
}

#[tokio::test]
async fn every_question_is_answered_with_turns_as_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tmem, _) = replayed(folder.path()).await;
    let words = ["Juno", "Canal Street", "train station", "smell nothing"];
    assert_eq!(questions().len(), words.len());
    for (question, word) in questions().iter().zip(words) {
        let answer = answered(&tmem, question).await;
        assert_eq!(answer.recalled.notes, Vec::<String>::new(), "{question:?}");
        let turns = cited(&tmem, &answer);
        assert!(
            turns.iter().any(|turn| turn.text.contains(word)),
            "{question:?}: {turns:?}"
        );
    }
}

#[tokio::test]
async fn the_last_question_shares_no_word_with_the_turns_that_answer_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tmem, _) = replayed(folder.path()).await;
    let asked: BTreeSet<String> = terms(&last().text).into_iter().collect();
    let answer = answered(&tmem, &last()).await;
    let turns = cited(&tmem, &answer);
    assert!(!turns.is_empty());
    for turn in turns {
        let said: BTreeSet<String> = terms(&turn.text).into_iter().collect();
        assert_eq!(asked.intersection(&said).count(), 0, "{}", turn.text);
    }
}

#[tokio::test]
async fn triggers_alone_reach_the_scene_that_answers_the_last_question() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tmem, _) = replayed(folder.path()).await;
    let with = tmem.config().retrieve.clone();
    let without = RetrieveConfig {
        top_scenes: with.top_scenes + with.associative_scenes,
        associative_scenes: 0,
        item_triggers: false,
        ..with.clone().without(Switch::SceneAndHorizonTriggers)
    };
    let (reached, missed) = (
        evidence(&tmem, &with).await,
        evidence(&tmem, &without).await,
    );
    assert!(reached.contains("smell nothing"), "{reached}");
    assert!(
        !missed.contains("smell") && !missed.contains("fever"),
        "{missed}"
    );
}

/// What the answering model would see of the last question's evidence.
async fn evidence(tmem: &Tmem, config: &RetrieveConfig) -> String {
    let recalled = tmem.recall(&last(), config).await.expect("a recall");
    recalled.context.render()
}
