//! `tmem batch`: calls go out, answers come back, until nothing is pending.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tmem::Tmem;
use tmem::llm::batch::Imported;

use super::build::{Built, Order, work};
use crate::args::Batch;
use crate::outcome::{Exit, Outcome};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn run(args: &Batch, session: &Session, ui: &Ui) -> Result<Outcome> {
    match args {
        Batch::Export { file, keep_open } => {
            let tmem = session.batch()?;
            let built = work(&tmem, &Order::batch(*keep_open), ui).await?;
            exported(&tmem, &built, file.as_deref())
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

fn exported(tmem: &Tmem, built: &Built, file: Option<&Path>) -> Result<Outcome> {
    let (lines, count) = tmem.batch_export()?;
    let Some(path) = file else {
        return Ok(Outcome::new(lines, json!({ "waiting": count })));
    };
    write(path, &lines)?;
    let text = format!("{}{count} calls written to {}", told(built), path.display());
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
    let mut lines = vec![format!("{} answers taken in", imported.answered)];
    let others = [
        (
            imported.failed.len(),
            "came back with an error and are asked again",
        ),
        (imported.missing, "are still without an answer"),
        (imported.repeated, "were answered before"),
        (imported.foreign, "belong to another run"),
        (imported.unreadable.len(), "lines could not be read"),
    ];
    let others = others.iter().filter(|(count, _)| *count > 0);
    lines.extend(others.map(|(count, what)| format!("{count} {what}")));
    lines.extend(built.lines());
    lines.push(match waiting {
        0 => "nothing is waiting".to_owned(),
        count => format!("{count} calls wait: `tmem batch export` writes them"),
    });
    let json = json!({ "imported": imported, "waiting": waiting, "build": built.json() });
    let exit = if built.exit() == Exit::Done {
        Exit::Done
    } else {
        Exit::Unfinished
    };
    Ok(Outcome::new(lines.join("\n"), json).exit(exit))
}

fn recorded(tmem: &Tmem, path: &PathBuf) -> Result<Outcome> {
    let (lines, count) = tmem.recording()?;
    write(path, &lines)?;
    let text = format!("{count} calls recorded in {}", path.display());
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
