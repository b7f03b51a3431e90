//! The commands, one file per group. Each reads its arguments, calls the facade and hands back an
//! [`Outcome`]; none prints.

mod add;
mod ask;
mod batch;
mod build;
mod exchange;
mod figures;
mod forget;
mod misfires;
mod show;
mod upkeep;

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use tmem::model::{ConversationId, Memory};

use crate::args::{Cli, Command};
use crate::outcome::Outcome;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn run(cli: Cli, ui: &Ui) -> Result<Outcome> {
    let session = Session::new(&cli.global)?;
    match &cli.command {
        Command::Add(args) => add::run(args, session, ui).await,
        Command::Build(args) => build::run(args, session, ui).await,
        Command::Ask(args) => ask::ask(args, session, ui).await,
        Command::Recall(args) => ask::recall(args, session, ui).await,
        Command::Show(args) => show::run(args, &session),
        Command::Export(args) => exchange::export(args, &session),
        Command::Import(args) => exchange::import(args, &session, ui).await,
        Command::Forget(args) => forget::run(args, &session),
        Command::Stats => figures::stats(&session).await,
        Command::Cost => figures::cost(&session),
        Command::Batch(args) => batch::run(args, &session, ui).await,
        Command::Reindex => upkeep::reindex(&session, ui).await,
        Command::Models(args) => upkeep::models(args, &session, ui).await,
        Command::Doctor => upkeep::doctor(&session).await,
        Command::Config => upkeep::config(&session),
    }
}

/// A conversation of this space by name.
fn conversation(memory: &Memory, name: &str) -> Result<ConversationId> {
    let id = ConversationId::new(name)?;
    if memory.heading(&id).is_none() {
        let known: Vec<&str> = memory.conversations().map(ConversationId::as_str).collect();
        bail!(
            "there is no conversation {name:?} in this space; there are: {}",
            known.join(", ")
        );
    }
    Ok(id)
}

/// The text of a file, or of standard input for `-`. Whoever asks names the file.
fn read(path: &Path) -> Result<String> {
    let bytes = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    Ok(tmem::ingest::decode(&bytes.context("it cannot be read")?)?)
}
