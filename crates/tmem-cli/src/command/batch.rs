//! `tmem batch`: calls go out, answers come back, until nothing is pending.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tmem::Tmem;
use tmem::llm::batch::Imported;
use tmem::model::text::counted;

use super::build::{Built, Order, work};
use crate::args::Batch;
use crate::outcome::{Exit, Outcome};
use crate::session::Session;
use crate::ui::Ui;

/// How many odd lines of a kind are shown.
const SHOWN: usize = 10;

pub(crate) async fn run(args: &Batch, session: &Session, ui: &Ui) -> Result<Outcome> {
    match args {
        Batch::Export { file, keep_open } => {
            let tmem = session.batch()?;
            let built = work(&tmem, &Order::batch(*keep_open), ui).await?;
            match file {
                Some(path) => exported(&tmem, &built, path),
                None => printed(&tmem, &built, ui),
            }
        }
        Batch::Import { file, keep_open } => {
            let tmem = session.batch()?;
            let answers = super::read(file).with_context(|| file.display().to_string())?;
            let imported = tmem.batch_import(&answers)?;
            let built = work(&tmem, &Order::batch(*keep_open), ui).await?;
            Ok(taken(&tmem, &built, &imported)?)
        }
        Batch::Record { file } => recorded(&session.read()?, file),
    }
}

/// The requests go to standard output: as lines, or within the one JSON value.
fn printed(tmem: &Tmem, built: &Built, ui: &Ui) -> Result<Outcome> {
    let (lines, count) = tmem.batch_export()?;
    built.lines().iter().for_each(|line| ui.note(line));
    let requests = lines.lines().map(serde_json::from_str::<Value>);
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    let json = json!({ "waiting": count, "requests": requests, "build": built.json() });
    Ok(Outcome::new(lines, json))
}

fn exported(tmem: &Tmem, built: &Built, path: &Path) -> Result<Outcome> {
    let (lines, count) = tmem.batch_export()?;
    write(path, &lines)?;
    let calls = counted(count, "call");
    let text = format!("{}{calls} written to {}", told(built), path.display());
    Ok(Outcome::new(
        text,
        json!({ "waiting": count, "file": path, "build": built.json() }),
    ))
}

/// Writes the calls of what a build of the newest session left out: in words and as JSON.
pub(crate) async fn older(session: &Session, file: &Path, ui: &Ui) -> Result<(String, Value)> {
    let tmem = session.batch()?;
    work(&tmem, &Order::batch(false), ui).await?;
    let (lines, count) = tmem.batch_export()?;
    write(file, &lines)?;
    let told = format!(
        "{count} calls of what was said before written to {}: `tmem batch import` reads the answers",
        file.display()
    );
    Ok((told, json!({ "waiting": count, "file": file })))
}

fn taken(tmem: &Tmem, built: &Built, imported: &Imported) -> Result<Outcome> {
    let (_, waiting) = tmem.batch_export()?;
    let mut lines = odd(imported);
    lines.insert(
        0,
        format!("{} taken in", counted(imported.answered, "answer")),
    );
    lines.extend(built.lines());
    lines.push(match waiting {
        0 => "nothing is waiting".to_owned(),
        count => format!(
            "{} to be answered: `tmem batch export` writes them",
            counted(count, "call")
        ),
    });
    let json = json!({ "imported": imported, "waiting": waiting, "build": built.json() });
    let exit = match imported.unreadable.is_empty() {
        true => built.exit(),
        false => Exit::Unfinished,
    };
    Ok(Outcome::new(lines.join("\n"), json).exit(exit))
}

/// What of an import is not simply an answer, the named parts of it by name.
fn odd(imported: &Imported) -> Vec<String> {
    let lines = |list: &[String], what: &str| {
        let shown = list.iter().take(SHOWN).map(|one| format!("\n  {one}"));
        let more = list.len().saturating_sub(SHOWN);
        let more = (more > 0).then(|| format!("\n  and {more} more"));
        let count = list.len();
        (count > 0).then(|| format!("{count} {what}:{}", shown.chain(more).collect::<String>()))
    };
    let count = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let all = [
        lines(
            &imported.failed,
            "with an error, asked again in the next round",
        ),
        count(imported.missing, "still without an answer"),
        count(imported.repeated, "answered before"),
        count(imported.foreign, "of another run, left alone"),
        lines(&imported.unreadable, "not readable"),
    ];
    all.into_iter().flatten().collect()
}

fn recorded(tmem: &Tmem, path: &PathBuf) -> Result<Outcome> {
    let (lines, count) = tmem.recording()?;
    write(path, &lines)?;
    let calls = counted(count, "call");
    let text = format!("{calls} recorded in {}", path.display());
    Ok(Outcome::new(text, json!({ "calls": count, "file": path })))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

fn told(built: &Built) -> String {
    built
        .lines()
        .first()
        .map(|line| format!("{line}\n"))
        .unwrap_or_default()
}
