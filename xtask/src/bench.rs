//! `bench-locomo`, `bench-locomo-plus` and `bench-longmemeval`: files and models in, tables and
//! reports out. What is measured and how is `tmem-eval`'s.

mod args;
mod bars;
mod encoder;
mod files;
mod models;
mod write;

use anyhow::{Context, Result};
use clap::Parser;
use tmem_eval::answer::{AnswerRun, EvalPrompts, Models};
use tmem_eval::dataset::{locomo, longmemeval, plus};
use tmem_eval::results::Manifest;
use tmem_eval::{Bench, Results};

use args::{LocomoArgs, LongMemEvalArgs, PlusArgs, Shared};
use files::Files;

/// Runs the benchmark of that name with the arguments that follow it. What fails is said in one line:
/// it is a missing file more often than a fault of ours.
pub(crate) fn run(name: &str, rest: &[String]) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    if let Err(error) = runtime.block_on(bench(name, rest)) {
        eprintln!("error: {error:#}");
        std::process::exit(1);
    }
    Ok(())
}

async fn bench(name: &str, rest: &[String]) -> Result<()> {
    let words = std::iter::once(name.to_owned()).chain(rest.iter().cloned());
    match name {
        "bench-locomo" => bench_locomo(LocomoArgs::parse_from(words)).await,
        "bench-locomo-plus" => bench_plus(PlusArgs::parse_from(words)).await,
        _ => bench_longmemeval(LongMemEvalArgs::parse_from(words)).await,
    }
}

async fn bench_locomo(args: LocomoArgs) -> Result<()> {
    let mut files = Files::new(&args.shared)?;
    let (mut dialogues, audit) = locomo::load(&files.locomo()?)?;
    if args.shared.audit {
        return write::audit(&audit);
    }
    args.shared.keep_named(&mut dialogues);
    let memories = files.memories(&args.shared, false)?;
    let results = with_bench(&args.shared, &files, (0, false), async |bench| {
        Ok(tmem_eval::bench::locomo(bench, "locomo", &dialogues, &memories).await?)
    });
    write::all(&args.shared, &results.await?)
}

async fn bench_plus(args: PlusArgs) -> Result<()> {
    let mut files = Files::new(&args.shared)?;
    let (mut dialogues, _) = locomo::load(&files.locomo()?)?;
    let (cues, audit) = plus::load(&files.plus()?, &dialogues)?;
    if args.shared.audit {
        return write::audit(&audit);
    }
    args.shared.keep_named(&mut dialogues);
    let memories = files.memories(&args.shared, true)?;
    let controls = if args.control { args.controls } else { 0 };
    let results = with_bench(
        &args.shared,
        &files,
        (controls, args.pooled),
        async |bench| Ok(tmem_eval::bench::plus(bench, &dialogues, &cues, &memories).await?),
    );
    write::all(&args.shared, &results.await?)
}

async fn bench_longmemeval(args: LongMemEvalArgs) -> Result<()> {
    let mut files = Files::new(&args.shared)?;
    let (mut dialogues, audit) = longmemeval::load(&files.longmemeval()?)?;
    if args.shared.audit {
        return write::audit(&audit);
    }
    args.shared.keep_named(&mut dialogues);
    let memories = files.memories(&args.shared, false)?;
    let results = with_bench(&args.shared, &files, (0, false), async |bench| {
        Ok(tmem_eval::bench::locomo(bench, "longmemeval", &dialogues, &memories).await?)
    });
    write::all(&args.shared, &results.await?)
}

/// Sets up encoder, models and systems, and hands them to `work`.
async fn with_bench(
    shared: &Shared,
    files: &Files,
    (controls, pooled): (usize, bool),
    work: impl AsyncFnOnce(&Bench<'_>) -> Result<Results>,
) -> Result<Results> {
    let base = shared.base()?;
    let encoder = encoder::open(shared).await?;
    let models = models::open(shared)?;
    let how = AnswerRun {
        prompt: shared.answer_prompt.into(),
        runs: shared.runs.max(1),
    };
    let bars = bars::Bars::new(shared.quiet);
    let answers = models.as_ref().map(|models| {
        let roles = Models {
            answer: models.answer.as_ref(),
            judge: models.judge.as_ref(),
            concurrency: shared.concurrency,
        };
        (roles, how)
    });
    let bench = Bench {
        systems: tmem_eval::system::parse(&shared.systems, &base, shared.flat_tokens)?,
        base,
        ablate: shared.switches()?,
        sweep: shared.sweeps()?,
        encoder: encoder
            .as_ref()
            .map(|encoder| encoder as &dyn tmem_eval::Embed),
        answers,
        controls,
        pooled,
        seed: shared.seed,
        progress: &bars,
        manifest: manifest(shared, files, models.as_ref()),
    };
    let results = work(&bench).await?;
    if let Some(models) = &models {
        models
            .report(shared)
            .context("writing the batch of waiting calls")?;
    }
    Ok(results)
}

fn manifest(shared: &Shared, files: &Files, models: Option<&models::Roles>) -> Manifest {
    let mut manifest = Manifest {
        commit: write::commit(),
        data_sha256: files.hashes.clone(),
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
    manifest
}
