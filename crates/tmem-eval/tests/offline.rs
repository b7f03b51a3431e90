//! The whole harness on an invented benchmark: no network, no weights, recorded replies, equal bytes.

use std::sync::Arc;

use async_trait::async_trait;
use expect_test::expect;
use tmem_eval::answer::{AnswerPrompt, AnswerRun, Models};
use tmem_eval::dataset::{locomo, plus};
use tmem_eval::results::Manifest;
use tmem_eval::{
    Bench, Embed, EvalError, Memories, Quiet, Results, Sweep, TextKind, report, system,
};
use tmem_llm::{
    CallLog, ChatModel, FileLog, LoggedModel, MemoryLog, Mode, Nameplate, Reply, Request,
    ScriptedModel,
};
use tmem_retrieve::{RetrieveConfig, Switch};

const LOCOMO: &str = include_str!("../../../fixtures/eval/locomo.json");
const PLUS: &str = include_str!("../../../fixtures/eval/locomo_plus.json");
const HARBOUR: &str = include_str!("../../../fixtures/eval/memories/harbour.json");
const WORKSHOP: &str = include_str!("../../../fixtures/eval/memories/workshop.json");
const CUES: &str = include_str!("../../../fixtures/eval/memories/plus-cues.json");
const CALLS: &str = "../../fixtures/eval/calls.jsonl";

/// A bag of stems, hashed: deterministic and without weights.
struct Bags;

#[async_trait]
impl Embed for Bags {
    fn identity(&self) -> String {
        "bags of stems".to_owned()
    }

    async fn embed(&self, _: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, EvalError> {
        Ok(texts.iter().map(|text| bag(text)).collect())
    }
}

fn bag(text: &str) -> Vec<f32> {
    let mut bag = vec![0.01; 64];
    for term in tmem_model::text::terms(text) {
        let hash = term
            .bytes()
            .fold(7_u32, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(b)));
        bag[hash as usize % 64] += 1.0;
    }
    bag
}

fn memories() -> Memories {
    let mut memories = Memories::default();
    memories
        .add_conversation("harbour.json", HARBOUR)
        .expect("a good document");
    memories
        .add_conversation("workshop.json", WORKSHOP)
        .expect("a good document");
    memories
        .add_cues("plus-cues.json", CUES)
        .expect("good documents");
    memories
}

fn bench<'a>(names: &[&str], answers: Option<(Models<'a>, AnswerRun)>) -> Bench<'a> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let base = RetrieveConfig::balanced();
    Bench {
        systems: system::parse(&names, &base, 60.0).expect("known systems"),
        base,
        ablate: Vec::new(),
        sweep: Vec::new(),
        encoder: Some(&Bags),
        answers,
        controls: 2,
        pooled: true,
        seed: 7,
        progress: &Quiet,
        manifest: Manifest::default(),
    }
}

async fn run_locomo(bench: &Bench<'_>) -> Results {
    let (dialogues, _) = locomo::load(LOCOMO).expect("a good file");
    tmem_eval::bench::locomo(bench, "locomo", &dialogues, &memories())
        .await
        .expect("a run")
}

async fn run_plus(bench: &Bench<'_>) -> Results {
    let (dialogues, _) = locomo::load(LOCOMO).expect("a good file");
    let (cues, _) = plus::load(PLUS, &dialogues).expect("a good file");
    tmem_eval::bench::plus(bench, &dialogues, &cues, &memories())
        .await
        .expect("a run")
}

#[tokio::test]
async fn every_kind_of_system_runs_on_locomo_and_the_tables_say_so() {
    let names = [
        "tmem",
        "no-trigger",
        "flat-rag-turn-bm25",
        "flat-rag",
        "full-context",
    ];
    let results = run_locomo(&bench(&names, None)).await;
    let full = &results.summary["full-context"].overall;
    assert_eq!((full.evidence_recall, full.questions), (Some(1.0), 7));
    assert_eq!(
        results.manifest.counts["questions without usable evidence"],
        1
    );
    assert_eq!(
        results.manifest.counts["evidence entries that point nowhere"],
        1
    );
    assert_eq!(results.rows.len(), names.len() * 8);
    assert!(
        results
            .differences
            .iter()
            .all(|one| one.difference.clusters == 2)
    );
    assert!(report::html(&results, None).contains("Tokens against evidence recall"));
}

#[tokio::test]
async fn cues_are_scored_alone_under_control_and_pooled() {
    let results = run_plus(&bench(&["tmem", "flat-rag-turn-dense"], None)).await;
    let overall = &results.summary["tmem"].overall;
    assert_eq!(overall.questions, 4);
    assert!(overall.control.is_some() && overall.lift.is_some());
    assert_eq!(
        overall.pooled.as_ref().map(|pooled| pooled.pieces),
        Some(11)
    );
    let protocols = |name: &str| {
        results
            .rows
            .iter()
            .filter(|row| row.protocol == name)
            .count()
    };
    // One other cue per host, so that a control of two finds but one.
    assert_eq!(
        (
            protocols("isolated"),
            protocols("control"),
            protocols("pooled")
        ),
        (8, 8, 8)
    );
    let shown = results
        .rows
        .iter()
        .find(|row| row.question == 1)
        .expect("a row");
    assert_eq!(shown.evidence, ["CUE1:1", "CUE1:2"]);
    assert!(!results.reach["tmem"].channel.is_empty());
}

#[tokio::test]
async fn the_fields_that_other_tools_read_are_there() {
    let json = |results: &Results| serde_json::to_value(results).expect("plain data");
    let locomo = json(&run_locomo(&bench(&["tmem"], None)).await);
    for field in ["evidence_recall", "all_evidence_hit", "context_tokens"] {
        assert!(
            locomo["summary"]["tmem"]["overall"][field].is_number(),
            "{field}"
        );
        assert!(
            locomo["summary"]["tmem"]["by_category"]["temporal"][field].is_number(),
            "{field}"
        );
    }
    let plus = json(&run_plus(&bench(&["tmem"], None)).await);
    let overall = &plus["summary"]["tmem"]["overall"];
    for scores in [
        overall,
        &overall["control"],
        &plus["summary"]["tmem"]["by_category"]["goal"],
    ] {
        assert!(scores["cue_in_context"].is_number() && scores["cue_recall"]["10"].is_number());
    }
    assert!(overall["pooled"]["cue_recall"]["10"].is_number());
}

#[tokio::test]
async fn all_switches_and_budgets_are_measured_against_the_whole_system() {
    let mut bench = bench(&["tmem"], None);
    bench.ablate = Switch::ALL.to_vec();
    bench.sweep = vec![Sweep::Scenes];
    let results = run_locomo(&bench).await;
    let switches: Vec<_> = results
        .ablations
        .iter()
        .map(|one| one.switch.as_str())
        .collect();
    assert_eq!(
        switches,
        ["SL", "IC", "ET+BT", "PS", "TF", "ST", "HT", "ST+HT"]
    );
    let personas = &results.ablations[3].difference;
    assert_eq!((personas.mean, personas.pairs), (0.0, 7));
    assert_eq!(
        results.sweeps.iter().filter(|point| point.default).count(),
        1
    );
    let page = report::html(&results, Some(&run_plus(&bench).await));
    assert!(page.contains("Gap between the benchmarks") && page.contains("without HT"));
}

/// What stands in for a language model: answers with a word it knows, judges by comparing.
fn scripted(request: &Request) -> Reply {
    let text = &request.messages[1].content;
    let right = match request.prompt.name.as_str() {
        "eval-judge-lenient" => field(text, "Reference").contains(&field(text, "Answer")),
        "eval-judge-strict" => field(text, "Reference") == field(text, "Answer"),
        "eval-judge-refusal" => field(text, "Answer") == "not mentioned",
        "eval-judge-aware" => field(text, "Earlier").contains(&field(text, "Reply")),
        _ => {
            let asked = text.rsplit("</memory>").next().unwrap_or_default();
            let words = [
                ("boat", "Puffin"),
                ("hens", "4"),
                ("teach", "Petra"),
                ("dinner", "shellfish"),
            ];
            let known = words
                .into_iter()
                .find(|(asked_for, _)| asked.contains(asked_for));
            return Reply::text(known.map_or("not mentioned", |(_, word)| word));
        }
    };
    let label = if right { "CORRECT" } else { "WRONG" };
    Reply::text(format!(
        r#"{{"reason": "by comparison", "label": "{label}"}}"#
    ))
}

/// The JSON string on the line that `name` begins.
fn field(prompt: &str, name: &str) -> String {
    let line = prompt
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name}: ")));
    serde_json::from_str(line.expect("a line of the prompt")).expect("an escaped value")
}

async fn answered(log: Arc<dyn CallLog>, mode: Mode, prompt: AnswerPrompt) -> (Results, Results) {
    let model = |name: &str| -> Box<dyn ChatModel> {
        match mode {
            Mode::Live => {
                let model = ScriptedModel::new(|request| Ok(scripted(request))).named(name);
                Box::new(LoggedModel::new(model, log.clone(), mode))
            }
            _ => Box::new(LoggedModel::new(
                Nameplate(name.to_owned()),
                log.clone(),
                mode,
            )),
        }
    };
    let (answer, judge) = (model("answerer"), model("judge"));
    let models = Models {
        answer: answer.as_ref(),
        judge: judge.as_ref(),
        concurrency: 4,
    };
    let how = AnswerRun { prompt, runs: 2 };
    let locomo = run_locomo(&bench(&["tmem"], Some((models, how)))).await;
    (
        locomo,
        run_plus(&bench(&["tmem"], Some((models, how)))).await,
    )
}

fn recording() -> MemoryLog {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(CALLS);
    let text = std::fs::read_to_string(path).expect("the recording is in the fixtures");
    MemoryLog::from_jsonl(&text).expect("a good recording")
}

#[tokio::test]
async fn recorded_replies_give_equal_bytes_on_a_second_run() {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(CALLS);
        let _ = std::fs::remove_file(&path);
        let log = FileLog::open(&path).expect("the fixtures can be written");
        answered(Arc::new(log), Mode::Live, AnswerPrompt::Short).await;
    }
    let run = || answered(Arc::new(recording()), Mode::Replay, AnswerPrompt::Short);
    let ((locomo, plus), (locomo_again, plus_again)) = (run().await, run().await);
    assert_eq!(locomo.to_json(), locomo_again.to_json());
    assert_eq!(plus.to_json(), plus_again.to_json());
    assert_eq!(
        report::html(&plus, Some(&locomo)),
        report::html(&plus_again, Some(&locomo_again))
    );
    let shown = |results: &Results| {
        let s = &results.summary["tmem"].overall;
        format!(
            "n {:?} judge {:?} strict {:?} deviation {:?} failures {:?} {:?} waiting {:?}",
            s.answer_questions,
            s.judge.map(|j| (j * 100.0).round()),
            s.judge_strict.map(|j| (j * 100.0).round()),
            s.judge_deviation,
            s.answer_failures,
            s.judge_failures,
            s.waiting
        )
    };
    expect!["n Some(8) judge Some(38.0) strict Some(25.0) deviation Some(0.0) failures Some(0) Some(0) waiting Some(0)"].assert_eq(&shown(&locomo));
    expect!["n Some(4) judge Some(25.0) strict None deviation Some(0.0) failures Some(0) Some(0) waiting Some(0)"].assert_eq(&shown(&plus));
}

#[tokio::test]
async fn a_run_without_models_waits_with_its_batch_and_finishes_when_it_is_answered() {
    let log = Arc::new(MemoryLog::default());
    let (first, _) = answered(log.clone(), Mode::Batch, AnswerPrompt::Short).await;
    let waiting = first.summary["tmem"].overall.waiting;
    assert_eq!(
        waiting,
        first.summary["tmem"]
            .overall
            .answer_questions
            .map(|n| n * 2)
    );
    // Answers first, then verdicts: two rounds.
    for _ in 0..2 {
        for mut call in log.waiting().expect("a log in memory") {
            call.reply = Some(scripted(&call.request));
            log.record(&call).expect("a log in memory");
        }
        answered(log.clone(), Mode::Batch, AnswerPrompt::Short).await;
    }
    let (last, plus) = answered(log.clone(), Mode::Batch, AnswerPrompt::Short).await;
    let (live, _) = answered(
        Arc::new(MemoryLog::default()),
        Mode::Live,
        AnswerPrompt::Short,
    )
    .await;
    assert_eq!(last.summary["tmem"].overall.waiting, Some(0));
    assert_eq!(plus.summary["tmem"].overall.waiting, Some(0));
    assert_eq!(
        last.summary["tmem"].overall.judge,
        live.summary["tmem"].overall.judge
    );
}

#[tokio::test]
async fn a_replay_that_lacks_a_call_counts_it_as_failed_and_keeps_the_denominator() {
    let empty = Arc::new(MemoryLog::default());
    let (results, _) = answered(empty, Mode::Replay, AnswerPrompt::Cot).await;
    let overall = &results.summary["tmem"].overall;
    assert_eq!(
        (overall.answer_questions, overall.judge),
        (Some(8), Some(0.0))
    );
    assert_eq!(overall.answer_failures, Some(16));
}

#[tokio::test]
async fn a_benchmark_without_memories_says_what_is_missing() {
    let (dialogues, _) = locomo::load(LOCOMO).expect("a good file");
    let none = Memories::default();
    let (tmem, flat) = (bench(&["tmem"], None), bench(&["flat-rag"], None));
    let run = tmem_eval::bench::locomo(&tmem, "locomo", &dialogues, &none);
    let error = run.await.expect_err("no memories").to_string();
    assert!(error.contains("--memories"), "{error}");
    let run = tmem_eval::bench::locomo(&flat, "locomo", &dialogues, &none);
    let results = run.await.expect("flat systems need none");
    assert_eq!(results.manifest.counts["conversations scored"], 2);
}
