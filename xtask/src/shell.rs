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
    run(cargo_command().args(args))
}

/// Cargo in the workspace's root, without what `cargo run` tells this program of its own package:
/// build scripts that look at that would build their crates anew.
pub(crate) fn cargo_command() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    let own = std::env::vars_os().map(|(name, _)| name);
    for name in own.filter(|name| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        cargo.env_remove(name);
    }
    for name in [
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
        "CARGO_MANIFEST_LINKS",
    ] {
        cargo.env_remove(name);
    }
    cargo
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
