//! `tmem reindex`, `models`, `doctor` and `config`: what keeps the rest going.

use anyhow::Result;
use serde_json::json;
use tmem::model::text::counted;
use tmem::weights::{self, Event};
use tmem::{Check, Health};

use crate::args::Models;
use crate::outcome::{Exit, Outcome};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn reindex(session: &Session, ui: &Ui) -> Result<Outcome> {
    let done = session
        .existing()?
        .reindex(&|event| ui.event(event))
        .await?;
    let text = format!(
        "{} in use, {} of other encoders dropped",
        counted(done.vectors, "vector"),
        done.dropped
    );
    Ok(Outcome::new(text, done))
}

pub(crate) async fn models(args: &Models, session: &Session, ui: &Ui) -> Result<Outcome> {
    match args {
        Models::List => Ok(list(session)),
        Models::Pull { names } => pull(names, session, ui).await,
    }
}

fn list(session: &Session) -> Outcome {
    let folder = session.models();
    let (artefacts, here) = (weights::catalog(), weights::status(&folder));
    let both = artefacts.iter().zip(&here);
    let line = |(artefact, status): (&weights::Artefact, &weights::Status)| {
        let state = match (status.complete, status.bytes) {
            (true, bytes) => format!("here, {} MB", bytes / 1_000_000),
            (false, 0) => "not here".to_owned(),
            (false, _) => "incomplete".to_owned(),
        };
        format!(
            "{:<20} {state:<16} {} ({})",
            artefact.name, artefact.about, artefact.licence
        )
    };
    let mut lines: Vec<String> = both.clone().map(line).collect();
    lines.push(format!("folder: {}", folder.display()));
    let json = both.map(|(artefact, status)| {
        json!({ "name": artefact.name, "about": artefact.about, "licence": artefact.licence,
                "complete": status.complete, "bytes": status.bytes })
    });
    let json: Vec<_> = json.collect();
    Outcome::new(
        lines.join("\n"),
        json!({ "folder": folder, "models": json }),
    )
}

async fn pull(names: &[String], session: &Session, ui: &Ui) -> Result<Outcome> {
    let folder = session.models();
    let names = if names.is_empty() {
        session.needed()?
    } else {
        names.to_vec()
    };
    let (mut lines, mut json) = (Vec::new(), Vec::new());
    for name in &names {
        let mut report = |event: Event| tell(ui, &event);
        let installed = weights::pull(&folder, name, &mut report).await?;
        let state = if installed.present_before {
            "was there already"
        } else {
            "fetched"
        };
        lines.push(format!("{name}: {state}"));
        json.push(json!({ "name": name, "files": installed.files,
                          "present_before": installed.present_before }));
    }
    Ok(Outcome::new(lines.join("\n"), json))
}

fn tell(ui: &Ui, event: &Event) {
    match event {
        Event::Notice(text) => ui.note(text),
        Event::Progress {
            file, done, total, ..
        } => ui.bytes(file, *done, *total),
        _ => {}
    }
}

pub(crate) async fn doctor(session: &Session) -> Result<Outcome> {
    let health = tmem::examine(&session.options(tmem::Access::Read)?).await;
    let lines: Vec<String> = health.checks.iter().map(check).collect();
    let exit = if health.is_well() {
        Exit::Done
    } else {
        Exit::Failed
    };
    Ok(Outcome::new(lines.join("\n"), &health).exit(exit))
}

fn check(check: &Check) -> String {
    let mark = match check.health {
        Health::Good => "ok  ",
        Health::Note => "note",
        Health::Bad => "BAD ",
    };
    format!("{mark} {:<10} {}", check.what, check.found)
}

pub(crate) fn config(session: &Session) -> Result<Outcome> {
    let config = session.config()?;
    let header = format!("# data folder: {}\n", session.data().display());
    Ok(Outcome::new(header + &config.to_toml(), &config))
}
