//! Running other programs, in sight of the user.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Arguments handed on as they are.
#[derive(clap::Args)]
pub(crate) struct Passed {
    /// See `--help` of the task.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) rest: Vec<String>,
}

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .expect("xtask lies in the workspace")
        .to_owned()
}

/// Runs cargo in the workspace's root; its output goes to the terminal.
pub(crate) fn cargo(args: impl IntoIterator<Item = String>) -> Result<()> {
    let args: Vec<String> = args.into_iter().collect();
    run(Command::new(env!("CARGO")).args(&args).current_dir(root()))
}

/// Runs a command and fails with its text if it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("starting {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// A binary of this workspace, as the plain `cargo build` leaves it.
pub(crate) fn binary(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
