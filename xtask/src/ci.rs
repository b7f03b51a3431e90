//! What CI runs, in its order. Each step is a command that a person can type as well.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use crate::{layers, shell};

type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
    ("format", format),
    ("clippy", clippy),
    ("layers", layers::run),
    ("features", features),
    ("docs", docs),
    ("test", test),
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Steps to leave out: format, clippy, layers, features, docs, test.
    #[arg(long, value_delimiter = ',')]
    skip: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let unknown = args
        .skip
        .iter()
        .find(|name| STEPS.iter().all(|(step, _)| step != name));
    ensure!(
        unknown.is_none(),
        "there is no step {:?}",
        unknown.expect("checked")
    );
    for (name, step) in STEPS
        .iter()
        .filter(|(name, _)| args.skip.iter().all(|s| s != name))
    {
        println!("== {name}");
        step().with_context(|| format!("step {name}"))?;
    }
    Ok(())
}

fn cargo(line: &str) -> Result<()> {
    shell::cargo(line.split(' ').map(str::to_owned))
}

fn format() -> Result<()> {
    cargo("fmt --all --check")
}

fn clippy() -> Result<()> {
    cargo("clippy --workspace --all-targets --all-features -- -D warnings")
}

fn docs() -> Result<()> {
    let mut cargo = shell::cargo_command();
    cargo.env("RUSTDOCFLAGS", "-D warnings");
    shell::run(cargo.args("doc --workspace --all-features --no-deps --quiet".split(' ')))
}

/// The README's test command.
fn test() -> Result<()> {
    cargo("test --workspace --all-features")
}

/// Every crate alone and every feature alone: a build of the whole workspace merges them and hides
/// gaps.
fn features() -> Result<()> {
    for (package, features) in packages()? {
        cargo(&format!("check --quiet -p {package} --no-default-features"))?;
        for feature in features {
            cargo(&format!(
                "check --quiet -p {package} --no-default-features --features {feature}"
            ))?;
        }
        println!("{package} builds alone");
    }
    Ok(())
}

/// Packages of the workspace with their features.
fn packages() -> Result<BTreeMap<String, Vec<String>>> {
    let mut cargo = shell::cargo_command();
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: serde_json::Value = serde_json::from_slice(&cargo.output()?.stdout)?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists packages")?;
    Ok(packages
        .iter()
        .map(|package| (text(&package["name"]), features_of(package)))
        .collect())
}

fn features_of(package: &serde_json::Value) -> Vec<String> {
    let features = package["features"]
        .as_object()
        .into_iter()
        .flat_map(|map| map.keys());
    features.cloned().collect()
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
