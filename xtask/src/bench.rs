//! `bench-locomo`, `bench-locomo-plus` and `bench-longmemeval`: files and models in, tables and
//! reports out. What is measured and how is `tmem-eval`'s.

mod args;
mod bars;
mod encoder;
mod ending;
mod files;
mod memory;
mod models;
mod write;

use anyhow::Result;
use clap::Parser;
use serde::Serialize;
use tmem_eval::answer::{AnswerRun, EvalPrompts, Models};
use tmem_eval::dataset::{Dialogue, locomo, longmemeval, plus};
use tmem_eval::results::Manifest;
use tmem_eval::{Bench, Embed, EvalError, Results};

use args::{LocomoArgs, LongMemEvalArgs, PlusArgs, Shared};
use bars::Bars;
use ending::Ending;
use files::Files;
use memory::{Left, Wanted};
use models::Roles;
pub(crate) use write::between_marks;

/// Runs the benchmark of that name with the arguments that follow it.
pub(crate) fn run(name: &str, rest: &[String]) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match runtime.block_on(bench(name, rest))? {
        Ending::Done => Ok(()),
        Ending::Unfinished => std::process::exit(3),
    }
}

async fn bench(name: &str, rest: &[String]) -> Result<Ending> {
    let words = std::iter::once(name.to_owned()).chain(rest.iter().cloned());
    match name {
        "bench-locomo" => bench_locomo(LocomoArgs::parse_from(words)).await,
        "bench-locomo-plus" => bench_plus(PlusArgs::parse_from(words)).await,
        _ => bench_longmemeval(LongMemEvalArgs::parse_from(words)).await,
    }
}

async fn bench_locomo(args: LocomoArgs) -> Result<Ending> {
    let mut files = Files::new(&args.shared)?;
    let (dialogues, audit) = locomo::load(&files.locomo()?)?;
    questions("locomo", &args.shared, files, dialogues, &audit).await
}

async fn bench_longmemeval(args: LongMemEvalArgs) -> Result<Ending> {
    let mut files = Files::new(&args.shared)?;
    let (dialogues, audit) = longmemeval::load(&files.longmemeval()?)?;
    questions("longmemeval", &args.shared, files, dialogues, &audit).await
}

async fn questions(
    benchmark: &str,
    shared: &Shared,
    mut files: Files,
    mut dialogues: Vec<Dialogue>,
    audit: &impl Serialize,
) -> Result<Ending> {
    if shared.audit {
        return write::audit(audit);
    }
    shared.keep_named(&mut dialogues);
    let bars = Bars::new(shared.quiet);
    let wanted = Wanted {
        dialogues: &dialogues,
        cues: None,
    };
    let (memories, left) = memory::ready(shared, &mut files, &wanted, &bars).await?;
    let setup = Setup::new(shared, &files, &bars, &left).await?;
    let bench = setup.bench(0, false)?;
    if shared.sample.is_some() && bench.needs_memory() {
        dialogues.retain(|dialogue| memories.conversation(&dialogue.id).is_some());
    }
    shared.selection().questions(&mut dialogues);
    let run = tmem_eval::bench::locomo(&bench, benchmark, &dialogues, &memories);
    setup.finish(run.await, &left)
}

async fn bench_plus(args: PlusArgs) -> Result<Ending> {
    let shared = &args.shared;
    let mut files = Files::new(shared)?;
    let (mut dialogues, _) = locomo::load(&files.locomo()?)?;
    let (all, audit) = plus::load(&files.plus()?, &dialogues)?;
    if shared.audit {
        return write::audit(&audit);
    }
    shared.keep_named(&mut dialogues);
    let bars = Bars::new(shared.quiet);
    let wanted = Wanted {
        dialogues: &dialogues,
        cues: Some(&all),
    };
    let (memories, left) = memory::ready(shared, &mut files, &wanted, &bars).await?;
    let setup = Setup::new(shared, &files, &bars, &left).await?;
    let bench = setup.bench(if args.control { args.controls } else { 0 }, args.pooled)?;
    let mut cues = all.clone();
    if shared.sample.is_some() && bench.needs_memory() {
        cues.retain(|cue| tmem_eval::bench::is_scored(cue, &memories));
    }
    let cues = shared.selection().cues(cues, &all);
    let run = tmem_eval::bench::plus(&bench, &dialogues, &cues, &memories);
    setup.finish(run.await, &left)
}

/// Encoder and models of a run.
struct Setup<'a> {
    shared: &'a Shared,
    bars: &'a Bars,
    encoder: Option<encoder::Cached>,
    models: Option<Roles>,
    manifest: Manifest,
}

impl<'a> Setup<'a> {
    async fn new(shared: &'a Shared, files: &Files, bars: &'a Bars, left: &Left) -> Result<Self> {
        let models = models::open(shared).await?;
        Ok(Self {
            shared,
            bars,
            encoder: encoder::open(shared).await?,
            manifest: manifest(shared, files, models.as_ref(), left),
            models,
        })
    }

    fn bench(&self, controls: usize, pooled: bool) -> Result<Bench<'_>> {
        let shared = self.shared;
        let how = AnswerRun {
            prompt: shared.answer_prompt.into(),
            runs: shared.runs.max(1),
        };
        let answers = self.models.as_ref().map(|models| {
            let roles = Models {
                answer: models.answer.as_ref(),
                judge: models.judge.as_ref(),
                concurrency: shared.concurrency.get(),
            };
            (roles, how)
        });
        Ok(Bench {
            systems: shared.systems()?,
            base: shared.base()?,
            ablate: shared.switches()?,
            sweep: shared.sweeps()?,
            encoder: self.encoder.as_ref().map(|encoder| encoder as &dyn Embed),
            answers,
            controls,
            pooled,
            seed: shared.seed,
            progress: self.bars,
            manifest: self.manifest.clone(),
        })
    }

    /// Writes the waiting calls and, if there are any, the results; says what is left to do.
    fn finish(&self, results: Result<Results, EvalError>, left: &Left) -> Result<Ending> {
        let waiting = ending::export(self.shared, self.models.as_ref(), left)?;
        let failed = match results {
            // All that could have been scored waits for its memory.
            Err(EvalError::Setting(_)) if left.calls > 0 => 0,
            Err(error) => return Err(error.into()),
            Ok(results) => {
                write::all(self.shared, &results)?;
                ending::failed(&results)
            }
        };
        let counts = (waiting, failed);
        ending::tell(self.shared, self.models.as_ref(), left, counts)
    }
}

fn manifest(shared: &Shared, files: &Files, models: Option<&Roles>, left: &Left) -> Manifest {
    let mut manifest = Manifest {
        commit: write::commit(),
        data_sha256: files.hashes.clone(),
        protocol: shared.selection().notes(),
        ..Manifest::default()
    };
    if let Some(models) = models {
        manifest.models = models.names();
        manifest
            .models
            .insert("answer runs".into(), shared.runs.max(1).to_string());
        let prompts = EvalPrompts::ALL.map(|prompt| (prompt.name().to_owned(), prompt.hash()));
        manifest.prompts_sha256 = prompts.into();
    }
    if let Some(model) = &left.model {
        manifest.models.insert("build".into(), model.clone());
    }
    manifest
}
