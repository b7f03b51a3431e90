//! Memories that no document holds: built through the facade, and kept as documents for the next run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tmem::ingest::{Conversation, RawTurn};
use tmem::model::{ConversationId, JobState, Turn};
use tmem::{Access, BuildOptions, Config, Event, Options, Summary, Tmem};
use tmem_eval::dataset::{Cue, Dialogue, plus};
use tmem_eval::{Memories, Progress, memories};

use super::args::Shared;
use super::bars::Bars;
use super::files::{BUILT, CUES, Files};

/// Prompts of a recording's missing calls that are shown.
pub(super) const SHOWN: usize = 3;

/// What building left.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Calls that wait for answers from elsewhere, in the OpenAI Batch format.
    pub(super) waiting: String,
    /// How many.
    pub(super) calls: usize,
    /// Steps that failed or were refused.
    pub(super) failed: usize,
    /// The model that built; `None` if memories are only read.
    pub(super) model: Option<String>,
}

/// What memories are wanted of.
pub(super) struct Wanted<'a> {
    pub(super) dialogues: &'a [Dialogue],
    pub(super) cues: Option<&'a [Cue]>,
}

/// The memories of all that is wanted: given ones, those of earlier runs, and, if a model is to build,
/// the missing ones.
pub(super) async fn ready(
    shared: &Shared,
    files: &mut Files,
    wanted: &Wanted<'_>,
    bars: &Bars,
) -> Result<(Memories, Left)> {
    let config = shared.building()?;
    let folder = config
        .as_ref()
        .map(|config| shared.built_by(&config.llm.model));
    let mut memories = files.memories(shared, wanted.cues.is_some(), folder.as_deref())?;
    let missing = Missing::of(wanted, &memories);
    let (Some(config), Some(folder)) = (config, folder) else {
        missing.tell();
        return Ok((memories, Left::default()));
    };
    let model = Some(config.llm.model.clone());
    if missing.is_empty() {
        return Ok((
            memories,
            Left {
                model,
                ..Left::default()
            },
        ));
    }
    let tmem = Tmem::builder(options(shared, config, &folder)).open()?;
    let workshop = Workshop { tmem, folder };
    if let Some(path) = &shared.batch_import {
        let lines = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        workshop.tmem.batch_import(&lines)?;
    }
    let summary = workshop.build(&missing, bars).await?;
    if shared.replay.is_some() {
        complete_replay(&summary)?;
    }
    for (name, text) in workshop.keep(&missing, &summary, &mut memories)? {
        files.note(&(name + BUILT), &text);
    }
    Ok((memories, workshop.left(&summary, model)?))
}

fn options(shared: &Shared, config: Config, folder: &Path) -> Options {
    let mut options = Options::new(folder);
    options.config = config;
    options.replay.clone_from(&shared.replay);
    options.batch = shared.batch_export.is_some();
    options.models.clone_from(&shared.models);
    options.access = match options.replay {
        Some(_) => Access::Scratch,
        None => Access::Write,
    };
    options
}

/// A memory with holes where the recording has none is not worth a score.
fn complete_replay(summary: &Summary) -> Result<()> {
    if summary.is_complete() {
        return Ok(());
    }
    let reasons = summary
        .problems
        .iter()
        .filter_map(|problem| problem.reason.as_ref());
    for reason in reasons.take(SHOWN) {
        eprintln!("{reason}\n");
    }
    let failed = summary.problems.len();
    bail!("the recording does not build the missing memories: {failed} steps lack a call")
}

/// What has no document.
struct Missing<'a> {
    dialogues: Vec<&'a Dialogue>,
    cues: Vec<(&'a Cue, &'a Dialogue)>,
}

impl<'a> Missing<'a> {
    fn of(wanted: &Wanted<'a>, memories: &Memories) -> Self {
        let built = |dialogue: &&Dialogue| memories.conversation(&dialogue.id).is_none();
        let host = |cue: &'a Cue| {
            let host = wanted
                .dialogues
                .iter()
                .find(|dialogue| dialogue.id == cue.host);
            Some((cue, host?))
        };
        let cues = wanted.cues.into_iter().flatten();
        let cues = cues.filter(|cue| {
            !memories.has_cue(cue) && !tmem_eval::bench::EXCLUDED.contains(&cue.index)
        });
        Self {
            dialogues: wanted.dialogues.iter().filter(built).collect(),
            cues: cues.filter_map(host).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.dialogues.is_empty() && self.cues.is_empty()
    }

    /// Says what is left out, and how to have it.
    fn tell(&self) {
        if self.is_empty() {
            return;
        }
        let names = self.dialogues.iter().map(|dialogue| dialogue.id.as_str());
        let names: Vec<&str> = names.collect();
        let cues = match self.cues.len() {
            0 => String::new(),
            count => format!("; cues without one: {count}"),
        };
        eprintln!(
            "conversations without a memory: {}{cues}. They are left out of systems that need one; \
             --build-model NAME has them built (or --build, by the model of --config).",
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        );
    }
}

/// Where memories are built, and the documents they become.
struct Workshop {
    tmem: Tmem,
    folder: PathBuf,
}

impl Workshop {
    fn left(&self, summary: &Summary, model: Option<String>) -> Result<Left> {
        let (waiting, calls) = self.tmem.batch_export()?;
        let total = summary.total();
        Ok(Left {
            waiting,
            calls,
            failed: total.failed + total.refused,
            model,
        })
    }

    async fn build(&self, missing: &Missing<'_>, bars: &Bars) -> Result<Summary> {
        for dialogue in &missing.dialogues {
            self.tmem.add(&dialogue.id, &spoken(dialogue.turns()))?;
        }
        for (cue, host) in &missing.cues {
            let placed = plus::stitch(cue, host)?;
            self.tmem.add(&of_cue(cue)?, &spoken(&placed.turns))?;
        }
        bars.open("building");
        let options = {
            let mut options = BuildOptions::default();
            options.retry_failed = true;
            options
        };
        let tell = |event: &Event| match event {
            Event::Ready { steps, .. } => bars.grow(*steps),
            Event::Finished { .. } => bars.advance(1),
            _ => {}
        };
        let summary = self.tmem.build(&options, &tell).await?;
        bars.end();
        self.tell(&summary)?;
        Ok(summary)
    }

    fn tell(&self, summary: &Summary) -> Result<()> {
        let spent = self.tmem.cost()?.total().spent;
        let total = summary.total();
        eprintln!(
            "{}: {} steps done, {} failed, {} refused, {} left; in all {} calls ({} failed, {} more \
             answered from the log), {} tokens read and {} written",
            self.folder.display(),
            total.done,
            total.failed,
            total.refused,
            total.pending,
            spent.calls,
            spent.failed,
            spent.cached,
            spent.prompt_tokens,
            spent.completion_tokens
        );
        Ok(())
    }

    /// Hands over what is built. What is whole is written down, what has failed steps is scored as it
    /// is and tried again by the next run, what waits is left out. Gives files with their texts.
    fn keep(
        &self,
        missing: &Missing<'_>,
        summary: &Summary,
        memories: &mut Memories,
    ) -> Result<Vec<(String, String)>> {
        let mut kept = Vec::new();
        for dialogue in &missing.dialogues {
            let Some(whole) = state(summary, &dialogue.id) else {
                continue;
            };
            let (name, text) = (
                format!("{}.json", dialogue.id),
                self.tmem.export(&dialogue.id)?,
            );
            memories.add_conversation(&name, &text)?;
            if whole {
                self.write(&name, &text)?;
            }
            kept.push((name, text));
        }
        kept.extend(self.keep_cues(missing, summary, memories)?);
        Ok(kept)
    }

    fn keep_cues(
        &self,
        missing: &Missing<'_>,
        summary: &Summary,
        memories: &mut Memories,
    ) -> Result<Option<(String, String)>> {
        let path = self.folder.join(CUES);
        let earlier = path
            .is_file()
            .then(|| fs::read_to_string(&path))
            .transpose()?;
        let mut whole: Vec<Value> = match &earlier {
            Some(text) => serde_json::from_str(text).with_context(|| path.display().to_string())?,
            None => Vec::new(),
        };
        let (before, mut holed) = (whole.len(), Vec::new());
        for (cue, _) in &missing.cues {
            let id = of_cue(cue)?;
            let Some(is_whole) = state(summary, &id) else {
                continue;
            };
            let document = memories::cue_document(cue, &self.tmem.export(&id)?)?;
            let list = if is_whole { &mut whole } else { &mut holed };
            list.push(document);
        }
        let text = serde_json::to_string_pretty(&whole)?;
        if whole.len() > before {
            self.write(CUES, &text)?;
        }
        whole.extend(holed);
        if whole.len() == before {
            return Ok(None);
        }
        let all = serde_json::to_string_pretty(&whole)?;
        memories.add_cues(CUES, &all)?;
        Ok(Some((CUES.to_owned(), all)))
    }

    /// Whole or not at all, so that no run finds half a document.
    fn write(&self, name: &str, text: &str) -> Result<()> {
        let (part, path) = (
            self.folder.join(format!("{name}.part")),
            self.folder.join(name),
        );
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&part, text))
            .and_then(|()| fs::rename(&part, &path))
            .with_context(|| path.display().to_string())
    }
}

/// `None` while steps wait; else whether no step failed or was refused.
fn state(summary: &Summary, id: &ConversationId) -> Option<bool> {
    let mut of_it = summary
        .problems
        .iter()
        .filter(|problem| problem.conversation == *id);
    let waits = of_it
        .clone()
        .any(|problem| problem.state == JobState::Pending);
    (!waits).then(|| of_it.next().is_none())
}

fn of_cue(cue: &Cue) -> Result<ConversationId> {
    Ok(ConversationId::new(&format!("cue-{}", cue.index))?)
}

fn spoken<'a>(turns: impl IntoIterator<Item = &'a Turn>) -> Conversation {
    let raw = |turn: &Turn| RawTurn {
        id: turn.id.local().to_owned(),
        numbered: false,
        speaker: turn.speaker.clone(),
        text: turn.text.clone(),
        at: turn.at,
        image: turn.image.clone(),
    };
    Conversation {
        turns: turns.into_iter().map(raw).collect(),
        ..Conversation::default()
    }
}

#[cfg(test)]
mod tests;
