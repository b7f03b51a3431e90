//! Results on disk and on the terminal.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tmem_eval::{Results, report};

use super::args::Shared;
use super::ending::Ending;
use crate::shell;

/// Writes `results.json`, `report.md` and `report.html`, and prints the table.
pub(super) fn all(shared: &Shared, results: &Results) -> Result<()> {
    let beside = match &shared.beside {
        Some(path) => Some(other(path, results)?),
        None => None,
    };
    fs::create_dir_all(&shared.out).with_context(|| shared.out.display().to_string())?;
    let put = |name: &str, text: String| {
        let path = shared.out.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())
    };
    put("results.json", results.to_json())?;
    put("report.md", report::markdown(results, beside.as_ref()))?;
    put("report.html", report::html(results, beside.as_ref()))?;
    if let Some(path) = &shared.docs {
        let name = &results.manifest.benchmark;
        between_marks(path, name, &report::chapter(results, beside.as_ref()))?;
    }
    println!("{}", report::main_table(results).to_text());
    for table in report::extra_tables(results) {
        println!("{}", table.to_text());
    }
    println!("{}", shared.out.join("report.html").display());
    Ok(())
}

/// The results of the other benchmark.
fn other(path: &Path, than: &Results) -> Result<Results> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let results: Results = serde_json::from_str(&text)
        .with_context(|| format!("{} is no results.json", path.display()))?;
    ensure!(
        results.is_plus() != than.is_plus(),
        "--beside wants results of the other benchmark; {} holds {}",
        path.display(),
        results.manifest.benchmark
    );
    Ok(results)
}

/// Prints what a loader counted.
pub(super) fn audit(audit: &impl Serialize) -> Result<Ending> {
    println!("{}", serde_json::to_string_pretty(audit)?);
    Ok(Ending::Done)
}

/// Puts a text between the marks of a benchmark, and leaves the rest of the file alone.
pub(crate) fn between_marks(path: &Path, name: &str, chapter: &str) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let (begin, end) = (
        format!("<!-- {name}: begin -->\n"),
        format!("<!-- {name}: end -->"),
    );
    let place = text.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&end)?;
        Some(format!("{before}{begin}\n{chapter}{end}{after}"))
    });
    let written = place.with_context(|| format!("{} lacks the marks {begin}", path.display()))?;
    fs::write(path, written).with_context(|| path.display().to_string())
}

/// What decides a figure: a change elsewhere does not make a tree dirty.
const CODE: [&str; 5] = ["crates", "xtask", "prompts", "Cargo.toml", "Cargo.lock"];

/// The commit of this tree, `-dirty` if its code differs from it.
pub(super) fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(args)
            .current_dir(shell::root())
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".into();
    };
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let changed = git(&[&status[..], &CODE].concat());
    if changed.is_some_and(|changed| !changed.is_empty()) {
        format!("{commit}-dirty")
    } else {
        commit
    }
}
