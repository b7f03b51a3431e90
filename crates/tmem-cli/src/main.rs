//! The command line of tmem: reads arguments, starts the runtime, prints one result, returns one
//! exit code. Everything it can do is done by the facade `tmem`.

mod args;
mod command;
mod hint;
mod outcome;
mod render;
mod session;
mod ui;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::outcome::{Exit, Outcome};
use crate::ui::Ui;

fn main() -> ExitCode {
    let cli = Cli::parse();
    log_to_stderr();
    let (json, ui) = (cli.global.json, Ui::new(cli.global.quiet));
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return code(report(&error.into(), json)),
    };
    let result = runtime.block_on(command::run(cli, &ui));
    ui.finish();
    // A model that still computes must not hold up the exit.
    runtime.shutdown_background();
    code(
        result
            .and_then(|outcome| print(&outcome, json))
            .unwrap_or_else(|e| report(&e, json)),
    )
}

fn print(outcome: &Outcome, json: bool) -> anyhow::Result<Exit> {
    outcome.print(json)?;
    Ok(outcome.exit)
}

/// The whole chain of causes and one hint, to standard error.
fn report(error: &anyhow::Error, json: bool) -> Exit {
    let hint = hint::of(error);
    if json {
        let message = format!("{error:#}");
        ui::line(&serde_json::json!({ "error": message, "hint": hint }).to_string());
    } else {
        ui::line(&format!("error: {error:#}"));
        hint.iter()
            .for_each(|hint| ui::line(&format!("hint: {hint}")));
    }
    hint::exit(error)
}

fn code(exit: Exit) -> ExitCode {
    ExitCode::from(exit as u8)
}

/// Log lines go to standard error, uncoloured when it is no terminal, and only on request: `RUST_LOG`.
fn log_to_stderr() {
    use std::io::IsTerminal;
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
