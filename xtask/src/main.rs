//! Tasks of this workspace: `cargo xtask --help` lists them.
//!
//! The light tasks live in the plain build; the benchmarks link the engine and are built on first
//! use, behind the feature `bench`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tasks talk to the terminal"
)]

mod ci;
mod demo;
mod layers;
mod shell;
mod small;

#[cfg(feature = "bench")]
mod bench;
#[cfg(feature = "bench")]
mod record;
#[cfg(feature = "bench")]
mod scale;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

#[derive(Parser)]
#[command(
    bin_name = "cargo xtask",
    about = "Tasks of the tmem workspace",
    version
)]
enum Task {
    /// Fetch models, build the memory of an invented conversation, ask it questions.
    #[command(after_help = "Example: cargo xtask demo --recorded")]
    Demo(demo::Args),
    /// What CI runs, in its order: format, clippy, features alone, layers, tests, doc tests.
    #[command(after_help = "Example: cargo xtask ci --skip features")]
    Ci(ci::Args),
    /// Hold the manifests against the table of layers.
    Layers,
    /// LoCoMo: evidence recall, baselines, ablations, answers and judges.
    #[command(disable_help_flag = true)]
    BenchLocomo(shell::Passed),
    /// LoCoMo-Plus: cue recall, isolated, with control, and pooled.
    #[command(disable_help_flag = true)]
    BenchLocomoPlus(shell::Passed),
    /// LongMemEval-S: evidence recall by question type.
    #[command(disable_help_flag = true)]
    BenchLongmemeval(shell::Passed),
    /// What construction costs by stage, and what one more session costs in memories of any size.
    #[command(disable_help_flag = true)]
    BenchScale(shell::Passed),
    /// What embedded models make of the demo's conversation: quality and time.
    #[command(after_help = "Example: cargo xtask bench-small models/*.gguf --answers")]
    BenchSmall(small::Args),
    /// For maintainers: record the vectors and answers that `demo --recorded` replays.
    #[command(disable_help_flag = true)]
    RecordDemo(shell::Passed),
}

/// These link the engine, as the benchmarks do.
const RECORD: &str = "record-demo";
const SCALE: &str = "bench-scale";

/// What fails is said in one line: it is a missing file more often than a fault of ours.
fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    match Task::parse() {
        Task::Demo(args) => demo::run(&args),
        Task::Ci(args) => ci::run(&args),
        Task::Layers => layers::run(),
        Task::BenchLocomo(args) => bench("bench-locomo", &args),
        Task::BenchLocomoPlus(args) => bench("bench-locomo-plus", &args),
        Task::BenchLongmemeval(args) => bench("bench-longmemeval", &args),
        Task::BenchScale(args) => bench(SCALE, &args),
        Task::BenchSmall(args) => small::run(&args),
        Task::RecordDemo(args) => bench(RECORD, &args),
    }
}

#[cfg(feature = "bench")]
fn bench(name: &str, args: &shell::Passed) -> Result<()> {
    match name {
        RECORD => record::run(&args.rest),
        SCALE => scale::run(&args.rest),
        _ => bench::run(name, &args.rest),
    }
}

/// Builds this program with its benchmarks, in sight of the user, and hands the call on; what it ends
/// with is what this ends with.
#[cfg(not(feature = "bench"))]
fn bench(name: &str, args: &shell::Passed) -> Result<()> {
    let xtask = [
        "run",
        "--package",
        "xtask",
        "--features",
        "bench",
        "--",
        name,
    ];
    let mut cargo = shell::cargo_command();
    let status = cargo.args(xtask).args(&args.rest).status()?;
    std::process::exit(status.code().unwrap_or(1));
}
