//! `tmem add`: files in, turns stored, memory built.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use tmem::ingest::{self, Conversation};
use tmem::model::ConversationId;
use tmem::model::text::counted;
use tmem::{Added, Tmem, TmemError};

use super::{batch, build};
use crate::args::Add;
use crate::hint;
use crate::outcome::{Exit, Outcome};
use crate::session::Session;
use crate::ui::{self, Ui};

/// A conversation read from a file, under the name it will have.
type Named = (ConversationId, Conversation);

pub(crate) async fn run(args: &Add, session: Session, ui: &Ui) -> Result<Outcome> {
    let session = session
        .with("llm.concurrency", args.spending.concurrency)
        .with("budget.run_tokens", args.spending.budget);
    let input = Input::read(args);
    input.warn();
    if args.dry_run {
        return input.estimate(args, &session);
    }
    ensure!(!input.good.is_empty(), input.nothing());
    let tmem = session.write()?;
    let stored = input.store(&tmem)?;
    stored.tell(ui);
    let built = match args.no_build {
        true => None,
        false => built(&tmem, args, &stored, ui).await?,
    };
    drop(tmem);
    let unbuilt = !args.no_build && built.is_none();
    let older = match &args.batch_older {
        Some(file) if !unbuilt => Some(batch::older(&session, file, ui).await?),
        _ => None,
    };
    let outcome = outcome(&input, &stored, built, older);
    Ok(if unbuilt {
        outcome.exit(Exit::Unfinished)
    } else {
        outcome
    })
}

/// What was built; `None` if there is no model to build with. The turns are stored either way.
async fn built(tmem: &Tmem, args: &Add, stored: &Stored, ui: &Ui) -> Result<Option<build::Built>> {
    let error = match build::work(tmem, &build::Order::from(args), ui).await {
        Ok(built) => return Ok(Some(built)),
        Err(error) => error,
    };
    let modelless = matches!(error.downcast_ref(), Some(TmemError::NoModel(_)));
    if !modelless {
        stored.lines().iter().for_each(|line| ui.note(line));
        return Err(error);
    }
    ui::line(&format!("error: nothing was built: {error:#}"));
    hint::of(&error)
        .iter()
        .for_each(|hint| ui::line(&format!("hint: {hint}")));
    Ok(None)
}

/// What was read and what could not be.
struct Input {
    good: Vec<(PathBuf, Vec<Named>)>,
    bad: Vec<(PathBuf, anyhow::Error)>,
}

impl Input {
    fn read(args: &Add) -> Self {
        let mut input = Self {
            good: Vec::new(),
            bad: Vec::new(),
        };
        for path in &args.files {
            match conversations(path, args) {
                Ok(named) => input.good.push((path.clone(), named)),
                Err(error) => input.bad.push((path.clone(), error)),
            }
        }
        input
    }

    /// Errors are told even under `--quiet`.
    fn warn(&self) {
        for (path, error) in &self.bad {
            ui::line(&format!("error: {}: {error:#}", path.display()));
        }
    }

    fn nothing(&self) -> anyhow::Error {
        anyhow!(
            "nothing was stored: no file could be read ({} tried)",
            self.bad.len()
        )
    }

    fn conversations(&self) -> impl Iterator<Item = &Named> {
        self.good.iter().flat_map(|(_, named)| named)
    }

    fn estimate(&self, args: &Add, session: &Session) -> Result<Outcome> {
        ensure!(!self.good.is_empty(), self.nothing());
        let tmem = session.scratch()?;
        for (id, conversation) in self.conversations() {
            tmem.add(id, conversation)?;
        }
        build::estimate(&tmem, &build::Order::from(args))
    }

    fn store(&self, tmem: &Tmem) -> Result<Stored> {
        let mut stored = Stored::default();
        for (path, named) in &self.good {
            for (id, conversation) in named {
                match tmem.add(id, conversation) {
                    Ok(added) => stored.good.push((id.clone(), added)),
                    Err(error) if error.is_refusal() => {
                        ui::line(&format!("error: {}: {error}", path.display()));
                        stored.bad.push((path.clone(), error.to_string()));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        ensure!(!stored.good.is_empty(), "nothing was stored");
        Ok(stored)
    }
}

/// What went into the store, and what it would not take.
#[derive(Default)]
struct Stored {
    good: Vec<(ConversationId, Added)>,
    bad: Vec<(PathBuf, String)>,
}

impl Stored {
    fn tell(&self, ui: &Ui) {
        for (id, added) in &self.good {
            added
                .notes
                .iter()
                .for_each(|note| ui.note(&format!("note: {id}: {note}")));
        }
    }

    fn lines(&self) -> Vec<String> {
        let line = |(id, added): &(ConversationId, Added)| match added.known {
            0 => format!("{id}: {} stored", counted(added.stored, "turn")),
            known => format!(
                "{id}: {} stored, {known} there already",
                counted(added.stored, "turn")
            ),
        };
        self.good.iter().map(line).collect()
    }

    fn json(&self) -> serde_json::Value {
        let entry = |(id, added): &(ConversationId, Added)| {
            json!({ "conversation": id, "stored": added.stored, "known": added.known,
                    "notes": added.notes })
        };
        self.good.iter().map(entry).collect()
    }
}

fn outcome(
    input: &Input,
    stored: &Stored,
    built: Option<build::Built>,
    older: Option<(String, Value)>,
) -> Outcome {
    let mut lines = stored.lines();
    lines.extend(built.iter().flat_map(|built| built.lines()));
    let (told, batch) = older.unzip();
    lines.extend(told);
    let read = input
        .bad
        .iter()
        .map(|(path, error)| (path, format!("{error:#}")));
    let refused = stored.bad.iter().map(|(path, error)| (path, error.clone()));
    let errors: Vec<_> = read.chain(refused).collect();
    let exit = match (&built, errors.is_empty()) {
        (_, false) => Exit::Unfinished,
        (Some(built), true) => built.exit(),
        (None, true) => Exit::Done,
    };
    let errors: Vec<_> = errors
        .iter()
        .map(|(path, error)| json!({ "file": path, "error": error }))
        .collect();
    let built = built.as_ref().map(build::Built::json);
    let json = json!({ "stored": stored.json(), "errors": errors, "build": built, "batch": batch });
    Outcome::new(lines.join("\n"), json).exit(exit)
}

fn conversations(path: &Path, args: &Add) -> Result<Vec<Named>> {
    let name = args.conversation.as_deref();
    let text = super::read(path)?;
    let options = ingest::Options {
        skip: args.skip.clone(),
    };
    let parsed = ingest::parse(&text, &options)?;
    ensure!(
        name.is_none() || parsed.len() == 1,
        "it holds {} conversations, which --conversation would make one of",
        parsed.len()
    );
    let several = parsed.len() > 1;
    let numbered = parsed.into_iter().enumerate();
    numbered
        .map(|(index, conversation)| {
            let own = conversation.name.as_deref();
            let chosen = name.or(own).map(str::to_owned);
            let chosen = chosen.unwrap_or_else(|| file_name(path, several.then_some(index + 1)));
            let id = ConversationId::new(&chosen);
            Ok((
                id.context("give the conversation a name with --conversation")?,
                conversation,
            ))
        })
        .collect()
}

/// The file's name without its extension; `conversation` for standard input.
fn file_name(path: &Path, number: Option<usize>) -> String {
    let stem = path.file_stem().filter(|stem| *stem != "-");
    let stem = stem.map_or("conversation".into(), |stem| stem.to_string_lossy());
    number.map_or(stem.to_string(), |number| format!("{stem}-{number}"))
}
