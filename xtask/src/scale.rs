//! `bench-scale`: what building a conversation costs by stage, and what one more session costs in
//! memories of very different sizes.
//!
//! A scripted model stands in: it reads its prompts by fixed rules and its replies have the sizes of
//! a capable model's. Calls and tokens are those of the ledger; a token is estimated from the text.
//! Vectors are short and made of words. Nothing goes over a network.

mod memory;
#[path = "../../crates/tmem-build/tests/common/script.rs"]
mod script;
mod table;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use serde::Serialize;
use tmem::{llm, model};

use crate::bench::between_marks;
use memory::{Scripted, spent};

/// The average conversation of LoCoMo.
const TURNS: usize = 588;
/// Turns of a session.
const SESSION: usize = 20;
/// Sessions that are added one by one at each size, for the least of their times.
const TIMES: usize = 3;

/// Measures what construction costs with a scripted model: no network, no weights.
#[derive(Parser)]
#[command(
    name = "bench-scale",
    after_help = "Example: cargo xtask bench-scale --sessions 10,100 --docs docs/construction.md"
)]
struct Args {
    /// Sizes of the memories that one more session is added to.
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "10,100,1000"
    )]
    sessions: Vec<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Put the tables between the marks of this file.
    #[arg(long, value_name = "FILE")]
    docs: Option<PathBuf>,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Measured {
    turns: usize,
    stages: Vec<Stage>,
    /// Rounds that a build needs whose every call is answered elsewhere.
    batch_rounds: usize,
    sessions: Vec<Added>,
}

/// What one stage of a whole conversation took, and what was foreseen.
#[derive(Debug, Default, Serialize)]
struct Stage {
    stage: &'static str,
    calls: u64,
    read: u64,
    written: u64,
    foreseen_calls: usize,
    foreseen_tokens: usize,
}

/// What one more session took.
#[derive(Debug, Serialize)]
struct Added {
    /// Sessions that were there before.
    before: usize,
    calls: u64,
    read: u64,
    written: u64,
    /// Topics that its scenes were admitted to.
    topics: usize,
    /// Wall time of adding and building it (seconds).
    seconds: f64,
    /// Wall time of the first recall afterwards, by a process that recalled before (seconds).
    recall: f64,
    /// Wall time of the next one (seconds).
    again: f64,
    /// Wall time of opening the memory afterwards (seconds).
    opening: f64,
    /// Wall time of the first recall after opening, which makes all indices (seconds).
    indexing: f64,
}

pub(crate) fn run(rest: &[String]) -> Result<()> {
    let words = std::iter::once("bench-scale".to_owned()).chain(rest.iter().cloned());
    let args = Args::parse_from(words);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let start = Instant::now();
    let measured = runtime.block_on(measure(&args.sessions))?;
    eprintln!("measured in {} s", start.elapsed().as_secs());
    if let Some(docs) = &args.docs {
        between_marks(docs, "bench-scale", &table::chapter(&measured))?;
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&measured)?);
    } else {
        println!("{}", table::chapter(&measured));
    }
    Ok(())
}

async fn measure(sizes: &[usize]) -> Result<Measured> {
    let (stages, batch_rounds) = (whole().await?, rounds().await?);
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    sizes.dedup();
    Ok(Measured {
        turns: TURNS,
        stages,
        batch_rounds,
        sessions: one_more(&sizes).await?,
    })
}

/// A whole conversation in one go, by stage.
async fn whole() -> Result<Vec<Stage>> {
    let folder = memory::folder("whole")?;
    let tmem = memory::open(&folder, Scripted::default())?;
    memory::add(&tmem, &script::dialogue(TURNS))?;
    let foreseen = tmem.estimate(&tmem::BuildOptions::default())?;
    memory::build(&tmem).await?;
    let ledger = tmem.cost()?;
    let stage = |(stage, prompt): &(model::Stage, &str)| {
        let lines = ledger.lines.iter().filter(|line| line.prompt == *prompt);
        let mut spent = llm::Spent::default();
        lines.for_each(|line| spent += line.spent);
        let foreseen = foreseen.stages.get(stage).copied().unwrap_or_default();
        Stage {
            stage: stage.name(),
            calls: spent.calls,
            read: spent.prompt_tokens,
            written: spent.completion_tokens,
            foreseen_calls: foreseen.calls,
            foreseen_tokens: foreseen.tokens(),
        }
    };
    Ok(STAGES.iter().map(stage).collect())
}

/// The stages with the names of their prompts.
const STAGES: [(model::Stage, &str); 7] = [
    (model::Stage::Segment, "segment"),
    (model::Stage::Write, "write"),
    (model::Stage::Topics, "topics"),
    (model::Stage::Items, "items"),
    (model::Stage::ItemTriggers, "item-triggers"),
    (model::Stage::SceneTriggers, "scene-triggers"),
    (model::Stage::Personas, "persona"),
];

/// How often calls go out when each is answered only after all that can go out have.
async fn rounds() -> Result<usize> {
    let folder = memory::folder("batch")?;
    let model = Scripted::late();
    let tmem = memory::open(&folder, model.clone())?;
    memory::add(&tmem, &script::dialogue(TURNS))?;
    let mut rounds = 0;
    while memory::build(&tmem).await? {
        rounds += 1;
        model.next_round();
    }
    Ok(rounds)
}

/// One more session, in memories of each size; the least time of some that follow each other.
async fn one_more(sizes: &[usize]) -> Result<Vec<Added>> {
    let folder = memory::folder("growing")?;
    let mut tmem = memory::open(&folder, Scripted::default())?;
    let turns = script::dialogue((sizes.last().copied().unwrap_or(0) + TIMES) * SESSION);
    let (mut all, mut there) = (Vec::new(), 0);
    for &before in sizes {
        ensure!(
            there <= before,
            "{before}: sizes lie {TIMES} sessions apart"
        );
        if there < before {
            memory::add(&tmem, &turns[there * SESSION..before * SESSION])?;
            memory::build(&tmem).await?;
        }
        there = before + TIMES;
        let mut sessions = turns[before * SESSION..there * SESSION].chunks(SESSION);
        let first = sessions.next().expect("it is measured at least once");
        let mut least = add_one(&tmem, before, first).await?;
        for session in sessions {
            least.keep_least(&add_one(&tmem, before, session).await?);
        }
        drop(tmem);
        let start = Instant::now();
        tmem = memory::open(&folder, Scripted::default())?;
        least.opening = seconds(start.elapsed());
        least.indexing = seconds(memory::recall(&tmem).await?);
        all.push(least);
    }
    Ok(all)
}

async fn add_one(tmem: &tmem::Tmem, before: usize, session: &[model::Turn]) -> Result<Added> {
    memory::recall(tmem).await?;
    let (earlier, start) = (spent(tmem)?, Instant::now());
    memory::add(tmem, session)?;
    memory::build(tmem).await?;
    let took = start.elapsed();
    let recall = memory::recall(tmem).await?;
    let again = memory::recall(tmem).await?;
    let now = spent(tmem)?;
    Ok(Added {
        before,
        calls: now.calls - earlier.calls,
        read: now.prompt_tokens - earlier.prompt_tokens,
        written: now.completion_tokens - earlier.completion_tokens,
        topics: memory::topics_of(tmem, session),
        seconds: seconds(took),
        recall: seconds(recall),
        again: seconds(again),
        opening: 0.0,
        indexing: 0.0,
    })
}

impl Added {
    /// Takes over the lesser times of another session.
    fn keep_least(&mut self, other: &Self) {
        self.seconds = self.seconds.min(other.seconds);
        self.recall = self.recall.min(other.recall);
        self.again = self.again.min(other.again);
    }
}

fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}
