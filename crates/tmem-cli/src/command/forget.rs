//! `tmem forget`: deletion with its cascade.

use anyhow::{Result, bail};
use tmem::model::Memory;
use tmem::model::text::counted;
use tmem::{Forgotten, Target};

use crate::args::Forget;
use crate::outcome::Outcome;
use crate::session::Session;

pub(crate) fn run(args: &Forget, session: &Session) -> Result<Outcome> {
    let tmem = match args.dry_run {
        true => session.read()?,
        false => session.existing()?,
    };
    let target = target(args, &tmem.memory())?;
    let gone = match args.dry_run {
        true => tmem.would_forget(&target)?,
        false => tmem.forget(&target)?,
    };
    let verb = if args.dry_run { "would go" } else { "gone" };
    Ok(Outcome::new(format!("{verb}: {}", said(&gone)), &gone))
}

fn target(args: &Forget, memory: &Memory) -> Result<Target> {
    if let Some(id) = &args.turn {
        let locals = memory.all_turns().map(|turn| &turn.id);
        return Ok(Target::Turn(unique("turn", id, locals, |turn| {
            turn.local()
        })?));
    }
    if let Some(id) = &args.scene {
        let locals = memory.scenes().map(|scene| &scene.id);
        return Ok(Target::Scene(unique("scene", id, locals, |scene| {
            scene.local()
        })?));
    }
    if let Some(id) = &args.item {
        let locals = memory.items().map(|item| &item.id);
        return Ok(Target::Item(unique("item", id, locals, |item| {
            item.local()
        })?));
    }
    if let Some(name) = &args.conversation {
        return Ok(Target::Conversation(super::conversation(memory, name)?));
    }
    match (&args.speaker, &args.before) {
        (Some(name), _) => Ok(Target::Speaker(name.clone())),
        (None, Some(date)) => Ok(Target::Before(*date)),
        (None, None) => bail!("say what to forget"),
    }
}

/// The one id that is called `name`, in full or by its local part.
fn unique<'a, T: Clone + ToString + 'a>(
    kind: &str,
    name: &str,
    ids: impl Iterator<Item = &'a T>,
    local: impl Fn(&T) -> &str,
) -> Result<T> {
    let found: Vec<&T> = ids
        .filter(|id| id.to_string() == name || local(id) == name)
        .collect();
    match found[..] {
        [id] => Ok(id.clone()),
        [] => bail!("there is no {kind} {name:?} in this space"),
        [first, ..] => bail!(
            "{} conversations have a {kind} {name:?}: name it in full, as in {:?}",
            found.len(),
            first.to_string()
        ),
    }
}

fn said(gone: &Forgotten) -> String {
    let counts = [
        (gone.conversations, "conversation"),
        (gone.turns, "turn"),
        (gone.scenes, "scene"),
        (gone.items, "item"),
        (gone.triggers, "trigger"),
        (gone.topics, "topic"),
        (gone.personas, "persona"),
        (gone.vectors, "vector"),
        (gone.calls, "logged call"),
    ];
    let said = counts.iter().filter(|(count, _)| *count > 0);
    let mut text: Vec<String> = said.map(|(count, what)| counted(*count, what)).collect();
    if gone.scenes_to_rewrite > 0 {
        text.push(format!(
            "the texts of {} that `tmem build` writes anew",
            counted(gone.scenes_to_rewrite, "more scene")
        ));
    }
    text.join(", ")
}
