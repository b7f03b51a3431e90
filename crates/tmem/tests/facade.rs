//! The facade with models of one's own: what a program that embeds tmem can rely on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use tmem::embed::{EmbedError, Encoder, EncoderSpec, HashEncoder, TextRole};
use tmem::ingest::{self, Conversation};
use tmem::llm::{ChatModel, Reply, ScriptedModel};
use tmem::model::{ConversationId, TurnId, text};
use tmem::{Access, Config, Options, Question, Target, Tmem};

fn options(folder: &TempDir) -> Options {
    let mut options = Options::new(folder.path());
    options.access = Access::Write;
    options.config = settings("");
    options
}

/// Settings without weights or network, and `more` of them.
fn settings(more: &str) -> Config {
    let text = format!("[embed]\nkind = 'hash'\n{more}");
    tmem::Layers::new()
        .text("test", text)
        .resolve()
        .expect("valid settings")
}

fn transcript(text: &str) -> Conversation {
    ingest::parse(text, &ingest::Options::default())
        .expect("a transcript")
        .remove(0)
}

fn conversation() -> ConversationId {
    ConversationId::new("c").expect("a name")
}

/// Opens a memory of `text` with a model that says `reply`, and gives the model too.
fn opened(folder: &TempDir, text: &str, reply: &str) -> (Tmem, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::saying(reply));
    let builder = Tmem::builder(options(folder)).chat(Arc::clone(&model));
    let tmem = builder.open().expect("a new memory");
    tmem.add(&conversation(), &transcript(text))
        .expect("stored");
    (tmem, model)
}

async fn answer(tmem: &Tmem, question: &str) -> tmem::Answer {
    let config = tmem.config().retrieve.clone();
    tmem.answer(&Question::new(question), &config)
        .await
        .expect("an answer")
}

#[tokio::test]
async fn an_answer_cites_the_turns_it_was_given_and_no_others() {
    let folder = TempDir::new().unwrap();
    let text = "Ana: the boat is green\nBo: and the oars are red\n";
    let (tmem, _) = opened(&folder, text, "Green [S1:1], I think [S9:9], [sic].");
    let answer = answer(&tmem, "Which colour has the boat?").await;
    let cited: Vec<&str> = answer.turns.iter().map(TurnId::local).collect();
    assert_eq!(cited, ["S1:1"]);
    assert!(answer.asked);
}

#[tokio::test]
async fn with_nothing_recalled_no_model_is_asked() {
    let folder = TempDir::new().unwrap();
    let (tmem, model) = opened(&folder, "Ana: the boat is green\n", "no");
    tmem.forget(&Target::Conversation(conversation()))
        .expect("forgotten");
    let answer = answer(&tmem, "Which colour has the boat?").await;
    assert_eq!(answer.text, "There is nothing in memory about that.");
    assert!(!answer.asked && model.asked().is_empty());
}

#[tokio::test]
async fn a_question_asked_again_after_more_was_said_is_asked_anew() {
    let folder = TempDir::new().unwrap();
    let (tmem, model) = opened(&folder, "Ana: my boat is new\n", "I do not know.");
    answer(&tmem, "Which colour has the boat?").await;
    answer(&tmem, "Which colour has the boat?").await;
    assert_eq!(
        model.asked().len(),
        1,
        "the same evidence is not paid for twice"
    );
    let more = transcript("Ana: my boat is new\nAna: the boat is green\n");
    assert_eq!(tmem.add(&conversation(), &more).expect("stored").stored, 1);
    answer(&tmem, "Which colour has the boat?").await;
    let last = model.asked().pop().expect("asked");
    assert!(
        last.messages
            .iter()
            .any(|message| message.content.contains("green"))
    );
}

/// Asks of a memory of `text` with a window of 4,000 tokens: the answer and the tokens it took.
async fn asked_in_a_small_window(text: &str) -> (tmem::Answer, usize) {
    let folder = TempDir::new().unwrap();
    let model = Arc::new(ScriptedModel::saying("Far."));
    let mut options = options(&folder);
    options.config = settings("[llm]\ncontext_window = 4000");
    let builder = Tmem::builder(options).chat(Arc::clone(&model));
    let tmem = builder.open().expect("a new memory");
    tmem.add(&conversation(), &transcript(text))
        .expect("stored");
    let answer = answer(&tmem, "Where do boats sail?").await;
    let request = model.asked().pop().expect("asked");
    let tokens = request
        .messages
        .iter()
        .map(|message| text::estimate_tokens(&message.content));
    (
        answer,
        tokens.sum::<usize>() + request.params.max_tokens as usize,
    )
}

#[tokio::test]
async fn evidence_and_answer_fit_the_window_of_the_model() {
    let turn = |i: usize| format!("Ana: boat {i} {}\n", "sails far out to sea ".repeat(40));
    let (answer, tokens) = asked_in_a_small_window(&(0..8).map(turn).collect::<String>()).await;
    assert!(
        answer.recalled.trace.over_budget > 0,
        "what was left out is counted"
    );
    assert!(tokens <= 4000, "{tokens}");
}

#[tokio::test]
async fn a_single_turn_that_fills_the_window_is_cut_and_asked_about() {
    let turn = format!("Ana: boats {}\n", "sail far out to sea ".repeat(3000));
    let (answer, tokens) = asked_in_a_small_window(&turn).await;
    assert!(answer.asked && tokens <= 4000, "{tokens}");
}

#[tokio::test]
async fn an_empty_answer_is_an_error_and_not_an_answer() {
    let folder = TempDir::new().unwrap();
    let (tmem, _) = opened(&folder, "Ana: the boat is green\n", "  ");
    let config = tmem.config().retrieve.clone();
    let question = Question::new("Which colour has the boat?");
    let error = tmem
        .answer(&question, &config)
        .await
        .expect_err("nothing was said");
    assert!(error.to_string().contains("empty reply"), "{error}");
}

#[test]
fn parallel_adds_of_the_same_turns_store_them_once() {
    let folder = TempDir::new().unwrap();
    let (tmem, _) = opened(&folder, "Ana: hello\n", "");
    let file = transcript("Ana: hello\nBo: hi\nAna: how are you?\n");
    std::thread::scope(|scope| {
        let add = || tmem.add(&conversation(), &file).expect("stored");
        let adds: Vec<_> = (0..20).map(|_| scope.spawn(add)).collect();
        adds.into_iter().for_each(|add| drop(add.join()));
    });
    assert_eq!(tmem.memory().turns(&conversation()).count(), 3);
}

#[test]
fn what_was_opened_for_reading_is_not_written() {
    let folder = TempDir::new().unwrap();
    drop(opened(&folder, "Ana: hello\n", ""));
    let mut options = options(&folder);
    options.access = Access::Read;
    let tmem = Tmem::open(options).expect("it is there");
    let error = tmem.add(&conversation(), &transcript("Ana: hello\nBo: hi\n"));
    assert!(
        error
            .expect_err("refused")
            .to_string()
            .contains("reading only")
    );
}

#[test]
fn what_was_opened_from_scratch_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let mut options = options(&folder);
    options.access = Access::Scratch;
    let tmem = Tmem::open(options).expect("nothing is needed");
    tmem.add(&conversation(), &transcript("Ana: hello\n"))
        .expect("taken");
    assert_eq!(tmem.memory().all_turns().count(), 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn spaces_share_nothing() {
    let folder = TempDir::new().unwrap();
    let (tmem, _) = opened(&folder, "Ana: the boat is green\n", "");
    drop(tmem);
    let mut options = options(&folder);
    options.space = "other".to_owned();
    let other = Tmem::open(options).expect("a new space");
    other
        .add(&conversation(), &transcript("Bo: the boat is red\n"))
        .expect("stored");
    let config = other.config().retrieve.clone();
    let recalled = other
        .recall(&Question::new("boat"), &config)
        .await
        .expect("evidence");
    let said = recalled.context.render();
    assert!(said.contains("red") && !said.contains("green"), "{said}");
}

/// A model that has a name only.
struct Silent;

#[async_trait::async_trait]
impl ChatModel for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    async fn complete(&self, _: &tmem::llm::Request) -> Result<Reply, tmem::llm::LlmError> {
        panic!("nobody asks")
    }
}

#[tokio::test]
async fn another_encoder_is_refused_before_any_model_is_asked() {
    let folder = TempDir::new().unwrap();
    let (tmem, _) = opened(&folder, "Ana: the boat is green\n", "");
    tmem.embed(&|_| ()).await.expect("vectors");
    drop(tmem);
    let mut options = options(&folder);
    options.config.embed.dimensions = Some(64);
    let tmem = Tmem::builder(options).chat(Silent).open().expect("opened");
    let error = tmem
        .build(&tmem::BuildOptions::default(), &|_| ())
        .await
        .expect_err("refused");
    assert!(
        matches!(error, tmem::TmemError::EncoderMismatch { .. }),
        "{error}"
    );
    let done = tmem.reindex(&|_| ()).await.expect("made anew");
    assert_eq!((done.vectors, done.dropped), (1, 1));
    tmem.recall(&Question::new("boat"), &tmem.config().retrieve)
        .await
        .expect("evidence");
}

/// An encoder that fails from its second call on.
struct Tired(HashEncoder, AtomicUsize);

#[async_trait::async_trait]
impl Encoder for Tired {
    fn spec(&self) -> &EncoderSpec {
        self.0.spec()
    }

    async fn encode(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.1.fetch_add(1, Ordering::Relaxed) == 0 {
            return self.0.encode(role, texts).await;
        }
        Err(EmbedError::BadVectors {
            model: "hash".to_owned(),
            message: "tired".to_owned(),
        })
    }
}

#[tokio::test]
async fn vectors_that_could_not_all_be_made_anew_leave_the_old_ones_in_use() {
    let folder = TempDir::new().unwrap();
    let text: String = (0..100).map(|i| format!("Ana: boat {i}\n")).collect();
    let (tmem, _) = opened(&folder, &text, "");
    tmem.embed(&|_| ()).await.expect("vectors");
    drop(tmem);
    let tired = Tired(HashEncoder::new(64), AtomicUsize::new(0));
    let builder = Tmem::builder(options(&folder)).encoder(tired);
    let tmem = builder.open().expect("opened");
    tmem.reindex(&|_| ()).await.expect_err("it tires half-way");
    drop(tmem);
    let tmem = Tmem::open(options(&folder)).expect("opened");
    let recalled = tmem
        .recall(&Question::new("boat 77"), &tmem.config().retrieve)
        .await
        .expect("evidence");
    assert!(recalled.context.render().contains("boat 77"));
    assert_eq!(recalled.notes, Vec::<String>::new());
}

#[tokio::test]
async fn what_somebody_else_said_in_the_same_words_is_not_forgotten() {
    let folder = TempDir::new().unwrap();
    let (tmem, _) = opened(&folder, "Ana: the boat is green\n", "");
    let other = ConversationId::new("d").expect("a name");
    tmem.add(&other, &transcript("Ana: the boat is green\n"))
        .expect("stored");
    tmem.embed(&|_| ()).await.expect("vectors");
    let gone = tmem
        .forget(&Target::Conversation(conversation()))
        .expect("forgotten");
    assert_eq!((gone.turns, gone.vectors), (1, 0));
    let recalled = tmem
        .recall(&Question::new("boat"), &tmem.config().retrieve)
        .await
        .expect("evidence");
    assert_eq!(recalled.context.turns.len(), 1);
}

#[tokio::test]
async fn texts_without_a_visible_character_cost_the_others_nothing() {
    let folder = TempDir::new().unwrap();
    let (tmem, _) = opened(&folder, "Leo: I have a parrot\n", "");
    let picture = r#"{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}"#;
    let blank = ingest::parse(picture, &ingest::Options::default()).expect("a chat");
    let other = ConversationId::new("d").expect("a name");
    tmem.add(&other, &blank[0]).expect("stored");
    let notes = tmem.embed(&|_| ()).await.expect("vectors");
    assert_eq!(notes, Vec::<String>::new());
    let recalled = tmem
        .recall(&Question::new("parrot"), &tmem.config().retrieve)
        .await
        .expect("evidence");
    assert!(recalled.context.render().contains("parrot"));
}

const DOCUMENT: &str = r#"{"format": "tmem-memory/1", "conversation": "a", "speakers": ["Ida"],
  "turns": [{"id": "T1", "speaker": "Ida", "text": "The ferry was late"},
    {"id": "T2", "speaker": "Ida", "text": "I sold the green boat"}],
  "scenes": [{"id": "s1", "turns": ["T1"], "title": "A late ferry", "summary": "", "narrative": "n",
      "horizon_triggers": [{"dimension": "goal", "text": "leaving earlier for the boat"}]},
    {"id": "s2", "turns": ["T2"], "title": "The boat", "summary": "Ida sold it.", "narrative": "n",
      "horizon_triggers": []}],
  "topics": [{"id": "t1", "title": "Boats", "keywords": ["ferry"], "scenes": ["s1", "s2"]}],
  "items": [{"id": "i1", "kind": "atomic", "text": "Ida sold her green boat", "scenes": ["s2"],
    "turns": ["T2"], "triggers": [{"entity": "sale", "bridge": "somebody wants a boat", "rationale": ""}]}],
  "personas": []}"#;

#[tokio::test]
async fn after_every_change_a_recall_finds_what_a_memory_opened_anew_finds() {
    let folder = TempDir::new().unwrap();
    let (tmem, _) = opened(&folder, "Ana: the boat is green\nBo: mine is red\n", "");
    let agree = async || {
        let mut options = options(&folder);
        options.access = Access::Read;
        let anew = Tmem::open(options).expect("it is there");
        let (question, config) = (Question::new("Who sold a green boat?"), Config::default());
        let found = tmem.recall(&question, &config.retrieve).await;
        let expected = anew.recall(&question, &config.retrieve).await;
        assert_eq!(found.expect("evidence"), expected.expect("evidence"));
    };
    agree().await;
    tmem.import(DOCUMENT).expect("a document");
    agree().await;
    let more = transcript("Ana: the boat is green\nBo: mine is red\nAna: the oars are green\n");
    tmem.add(&conversation(), &more).expect("stored");
    agree().await;
    let imported = ConversationId::new("a").expect("a name");
    let turn = TurnId::new(&imported, "T2").expect("an id");
    tmem.forget(&Target::Turn(turn)).expect("forgotten");
    agree().await;
    tmem.import(DOCUMENT).expect("a document");
    tmem.forget(&Target::Conversation(imported))
        .expect("forgotten");
    agree().await;
}

/// Hashes words and counts texts.
struct Counting(HashEncoder, Arc<AtomicUsize>);

#[async_trait::async_trait]
impl Encoder for Counting {
    fn spec(&self) -> &EncoderSpec {
        self.0.spec()
    }

    async fn encode(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.1.fetch_add(texts.len(), Ordering::Relaxed);
        self.0.encode(role, texts).await
    }
}

#[tokio::test]
async fn vectors_are_made_of_what_has_none_whoever_brought_it() {
    let folder = TempDir::new().unwrap();
    let counted = Arc::new(AtomicUsize::new(0));
    let open = || {
        let encoder = Counting(HashEncoder::new(8), Arc::clone(&counted));
        let builder = Tmem::builder(options(&folder)).encoder(encoder);
        builder.open().expect("a memory")
    };
    let made = async |tmem: &Tmem| {
        let notes = tmem.embed(&|_| ()).await.expect("vectors");
        assert_eq!(notes, Vec::<String>::new());
        counted.swap(0, Ordering::Relaxed)
    };
    let said = |text| transcript(text);
    let (one, two, three) = (
        "Ana: one\n",
        "Ana: one\nBo: two\n",
        "Ana: one\nBo: two\nAna: three\n",
    );
    let tmem = open();
    tmem.add(&conversation(), &said(one)).expect("stored");
    assert_eq!((made(&tmem).await, made(&tmem).await), (1, 0));
    tmem.add(&conversation(), &said(two)).expect("stored");
    assert_eq!(made(&tmem).await, 1);
    drop(tmem);
    assert_eq!(made(&open()).await, 0);
    open().add(&conversation(), &said(three)).expect("stored");
    assert_eq!(made(&open()).await, 1, "what was added without vectors");
}
