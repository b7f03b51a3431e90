//! `tmem export` and `tmem import`: memory documents.

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use tmem::Imported;
use tmem::model::text::counted;
use tmem::model::{ConversationId, Memory};

use crate::args::{Export, Import};
use crate::outcome::{Exit, Outcome};
use crate::session::Session;
use crate::ui::{self, Ui};

pub(crate) fn export(args: &Export, session: &Session) -> Result<Outcome> {
    let tmem = session.read()?;
    let id = chosen(&tmem.memory(), args.conversation.as_deref())?;
    let document = tmem.export(&id)?;
    let Some(path) = &args.out else {
        let json: serde_json::Value = serde_json::from_str(&document)?;
        return Ok(Outcome::new(document, json));
    };
    std::fs::write(path, document + "\n")
        .with_context(|| format!("{} cannot be written", path.display()))?;
    let json = json!({ "conversation": id, "file": path });
    Ok(Outcome::new(
        format!("{id}: written to {}", path.display()),
        json,
    ))
}

fn chosen(memory: &Memory, name: Option<&str>) -> Result<ConversationId> {
    if let Some(name) = name {
        return super::conversation(memory, name);
    }
    let known: Vec<&ConversationId> = memory.conversations().collect();
    match known[..] {
        [only] => Ok(only.clone()),
        [] => bail!("there is no conversation in this space"),
        _ => {
            let names: Vec<&str> = known.iter().map(|id| id.as_str()).collect();
            bail!(
                "choose a conversation with --conversation: {}",
                names.join(", ")
            )
        }
    }
}

pub(crate) async fn import(args: &Import, session: &Session, ui: &Ui) -> Result<Outcome> {
    let tmem = session.write()?;
    let (mut lines, mut good, mut bad) = (Vec::new(), Vec::new(), Vec::new());
    for path in &args.files {
        let imported = super::read(path).and_then(|text| Ok(tmem.import(&text)?));
        match imported {
            Ok(imported) => {
                lines.extend(imported.iter().map(line));
                good.extend(imported);
            }
            Err(error) => {
                let error = format!("{error:#}");
                ui::line(&format!("error: {}: {error}", path.display()));
                bad.push(json!({ "file": path, "error": error }));
            }
        }
    }
    ensure!(!good.is_empty(), "nothing was imported");
    let notes = tmem.embed(&|event| ui.event(event)).await?;
    notes
        .iter()
        .for_each(|note| ui.note(&format!("note: {note}")));
    let exit = if bad.is_empty() {
        Exit::Done
    } else {
        Exit::Unfinished
    };
    Ok(Outcome::new(lines.join("\n"), json!({ "imported": good, "errors": bad })).exit(exit))
}

fn line(imported: &Imported) -> String {
    format!(
        "{}: {}, {}, {}",
        imported.conversation,
        counted(imported.turns, "turn"),
        counted(imported.scenes, "scene"),
        counted(imported.items, "item")
    )
}
