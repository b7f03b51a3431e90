//! `tmem show`: reads the memory, one kind at a time.

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tmem::Jobs;
use tmem::model::text::counted;
use tmem::model::{
    ConversationId, DateTime, Item, ItemId, Job, JobState, Memory, Persona, Scene, Topic, Turn,
};

use super::misfires;
use crate::args::{By, Kind, Show};
use crate::outcome::Outcome;
use crate::render::{Listing, moment, span};
use crate::session::Session;

pub(crate) fn run(args: &Show, session: &Session) -> Result<Outcome> {
    if args.kind == Kind::Spaces {
        return spaces(session);
    }
    let tmem = session.read()?;
    let memory = tmem.memory();
    let view = View::new(args, &memory)?;
    let listing = match args.kind {
        Kind::Triggers if args.by == Some(By::Misfires) => {
            misfires::listing(&view, &tmem.trigger_counts()?)
        }
        _ if args.by.is_some() => {
            bail!("--by orders triggers alone: `tmem show triggers --by misfires`")
        }
        Kind::Jobs => jobs(&tmem.jobs(), &view),
        kind => view.listing(kind),
    };
    if let Some(id) = view.id.filter(|_| listing.is_empty()) {
        bail!("nothing in this space is called {id:?}");
    }
    Ok(listing.into_outcome())
}

fn spaces(session: &Session) -> Result<Outcome> {
    let spaces = session.spaces()?;
    Ok(Outcome::new(spaces.join("\n"), &spaces))
}

/// What of a memory is wanted.
pub(crate) struct View<'a> {
    pub(crate) memory: &'a Memory,
    conversation: Option<ConversationId>,
    id: Option<&'a str>,
}

impl<'a> View<'a> {
    fn new(args: &'a Show, memory: &'a Memory) -> Result<Self> {
        let conversation = args
            .conversation
            .as_deref()
            .map(|name| super::conversation(memory, name))
            .transpose()?;
        Ok(Self {
            memory,
            conversation,
            id: args.id.as_deref(),
        })
    }

    fn listing(&self, kind: Kind) -> Listing {
        let memory = self.memory;
        match kind {
            Kind::Conversations => self.conversations(),
            Kind::Turns => self.list(memory.all_turns().filter(|t| self.wants_turn(t)), turn),
            Kind::Scenes => self.list(memory.scenes().filter(|s| self.wants_scene(s)), |s| {
                scene(memory, s)
            }),
            Kind::Topics => self.list(memory.topics().filter(|t| self.wants_topic(t)), topic),
            Kind::Items => self.list(memory.items().filter(|i| self.wants_item(i)), |i| {
                item(memory, i)
            }),
            Kind::Triggers => self.triggers(),
            Kind::Personas => {
                self.list(memory.personas().filter(|p| self.wants_persona(p)), persona)
            }
            Kind::Jobs | Kind::Spaces => unreachable!("these are listed elsewhere"),
        }
    }

    fn list<T>(
        &self,
        wanted: impl Iterator<Item = T>,
        entry: impl Fn(T) -> (String, Value),
    ) -> Listing {
        wanted.map(entry).collect()
    }

    fn conversations(&self) -> Listing {
        let wanted = self.memory.conversations().filter(|id| self.is_within(id));
        let wanted = wanted.filter(|id| self.id.is_none_or(|name| name == id.as_str()));
        wanted.map(|id| conversation(self.memory, id)).collect()
    }

    fn triggers(&self) -> Listing {
        let scenes = self.memory.scenes().filter(|scene| self.wants_scene(scene));
        let items = self.memory.items().filter(|item| self.wants_item(item));
        scenes
            .flat_map(scene_triggers)
            .chain(items.flat_map(item_triggers))
            .collect()
    }

    fn is_within(&self, conversation: &ConversationId) -> bool {
        self.conversation
            .as_ref()
            .is_none_or(|only| only == conversation)
    }

    /// Whether `full` (`conversation/local`) is what was asked for, whole or by its local part.
    fn names(&self, full: &str) -> bool {
        self.id.is_none_or(|id| {
            id == full || full.split_once('/').is_some_and(|(_, local)| local == id)
        })
    }

    fn wants_turn(&self, turn: &Turn) -> bool {
        let scene = self.memory.scene_of(&turn.id);
        self.is_within(turn.id.conversation())
            && (self.names(&turn.id.to_string())
                || scene.is_some_and(|scene| self.names(&scene.id.to_string())))
    }

    pub(crate) fn wants_scene(&self, scene: &Scene) -> bool {
        self.is_within(scene.id.conversation())
            && (self.names(&scene.id.to_string())
                || self
                    .memory
                    .topics_of(&scene.id)
                    .any(|topic| self.names(&topic.id.to_string())))
    }

    fn wants_topic(&self, topic: &Topic) -> bool {
        self.is_within(topic.id.conversation())
            && (self.names(&topic.id.to_string())
                || topic
                    .scenes
                    .iter()
                    .any(|scene| self.names(&scene.to_string())))
    }

    pub(crate) fn wants_item(&self, item: &Item) -> bool {
        self.is_within(item.id.conversation())
            && (self.names(&item.id.to_string())
                || item
                    .scenes
                    .iter()
                    .any(|scene| self.names(&scene.to_string()))
                || item.turns.iter().any(|turn| self.names(&turn.to_string())))
    }

    fn wants_persona(&self, persona: &Persona) -> bool {
        self.is_within(&persona.conversation) && self.id.is_none_or(|name| name == persona.speaker)
    }

    fn wants_job(&self, job: &Job) -> bool {
        self.is_within(&job.conversation) && self.id.is_none_or(|target| target == job.target)
    }
}

fn conversation(memory: &Memory, id: &ConversationId) -> (String, Value) {
    let (turns, open) = (memory.turns(id).count(), memory.open_turns(id).count());
    let (scenes, items) = (memory.scenes_in(id).count(), memory.items_in(id).count());
    let speakers = memory.speakers(id);
    let text = format!(
        "{id}: {} ({open} in no scene yet), {}, {}; {}",
        counted(turns, "turn"),
        counted(scenes, "scene"),
        counted(items, "item"),
        speakers.join(", ")
    );
    let json = json!({
        "conversation": id, "speakers": speakers, "turns": turns, "open_turns": open,
        "scenes": scenes, "items": items,
    });
    (text, json)
}

fn turn(turn: &Turn) -> (String, Value) {
    let at = turn
        .at
        .map(|at| format!(" [{}]", moment(at)))
        .unwrap_or_default();
    (
        format!("{}{at} {}: {}", turn.id, turn.speaker, turn.content()),
        json!(turn),
    )
}

fn scene(memory: &Memory, scene: &Scene) -> (String, Value) {
    let title = if scene.title.is_empty() {
        "(not written yet)"
    } else {
        &scene.title
    };
    let (first, last) = (&scene.turns[0], &scene.turns[scene.turns.len() - 1]);
    let when = memory
        .span(&scene.id)
        .map(|within| format!(" [{}]", span(within)));
    let text = format!(
        "{}{} {title} ({}, {} to {})\n    {}",
        scene.id,
        when.unwrap_or_default(),
        counted(scene.turns.len(), "turn"),
        first.local(),
        last.local(),
        scene.summary
    );
    (text.trim_end().to_owned(), json!(scene))
}

fn topic(topic: &Topic) -> (String, Value) {
    let scenes: Vec<&str> = topic.scenes.iter().map(|scene| scene.local()).collect();
    let text = format!(
        "{} {} ({})\n    in {}",
        topic.id,
        topic.title,
        topic.keywords.join(", "),
        scenes.join(", ")
    );
    (text, json!(topic))
}

fn item(memory: &Memory, item: &Item) -> (String, Value) {
    let sources: Vec<&str> = item.scenes.iter().map(|scene| scene.local()).collect();
    let turns: Vec<&str> = item.turns.iter().map(|turn| turn.local()).collect();
    let text = format!(
        "{} {}\n    from {} ({}), {}{}",
        item.id,
        item.text,
        sources.join(", "),
        turns.join(", "),
        counted(item.triggers.len(), "trigger"),
        changes(memory, item)
    );
    let mut json = json!(item);
    json["validity"] = json!(memory.validity(item, None));
    (text, json)
}

/// A line on what an item put out of date and what put it out of date.
fn changes(memory: &Memory, item: &Item) -> String {
    let locals = |ids: &mut dyn Iterator<Item = &ItemId>| {
        let locals: Vec<&str> = ids.map(ItemId::local).collect();
        locals.join(", ")
    };
    let validity = memory.validity(item, None);
    let date = |word: &str, at: Option<DateTime>| {
        at.map_or_else(String::new, |at| format!(" {word} {}", at.date()))
    };
    let mut said = Vec::new();
    if validity.supersedes {
        let earlier = locals(&mut item.supersedes.iter());
        said.push(format!(
            "in place of {earlier}{}",
            date("since", validity.from)
        ));
    }
    if validity.superseded {
        let later = locals(&mut memory.superseding(&item.id).map(|later| &later.id));
        said.push(format!(
            "{later} in its place{}",
            date("since", validity.until)
        ));
    }
    if said.is_empty() {
        return String::new();
    }
    format!("\n    {}", said.join("; "))
}

fn persona(persona: &Persona) -> (String, Value) {
    (
        format!(
            "{} in {}: {}",
            persona.speaker, persona.conversation, persona.summary
        ),
        json!(persona),
    )
}

fn scene_triggers(scene: &Scene) -> Vec<(String, Value)> {
    let attributes = scene
        .scene_trigger
        .iter()
        .flat_map(|trigger| trigger.attributes());
    let attributes = attributes.map(|(name, text)| ("scene", name.to_owned(), text.to_owned()));
    let horizons = scene.horizon_triggers.iter();
    let horizons = horizons.map(|h| ("horizon", h.dimension.clone(), h.text.clone()));
    attributes
        .chain(horizons)
        .map(|(family, name, text)| {
            let json = json!({ "host": scene.id, "family": family, "name": name, "text": text });
            (format!("{} {family} ({name}): {text}", scene.id), json)
        })
        .collect()
}

fn item_triggers(item: &Item) -> Vec<(String, Value)> {
    let entry = |trigger: &tmem::model::ItemTrigger| {
        let parts = [
            (" entity: ", &trigger.entity),
            (" bridge: ", &trigger.bridge),
            ("\n    because ", &trigger.rationale),
        ];
        let told = parts.iter().filter(|(_, text)| !text.is_empty());
        let told: String = told.map(|(name, text)| format!("{name}{text}")).collect();
        let text = format!("{}{told}", item.id);
        let json = json!({ "host": item.id, "family": "item", "trigger": trigger });
        (text, json)
    };
    item.triggers.iter().map(entry).collect()
}

fn jobs(jobs: &Jobs, view: &View<'_>) -> Listing {
    let entry = |job: &Job| {
        let state = format!("{:?}", job.state).to_lowercase();
        let why = job
            .reason
            .as_ref()
            .map(|why| format!(": {why}"))
            .unwrap_or_default();
        let text = format!(
            "{} {} {} {state}{why}",
            job.conversation,
            job.stage.name(),
            job.target
        );
        let json = json!({
            "conversation": job.conversation, "stage": job.stage, "target": job.target,
            "state": job.state, "reason": job.reason,
        });
        (text, json)
    };
    let unfinished = jobs
        .iter()
        .filter(|job| view.id.is_some() || job.state != JobState::Done);
    unfinished
        .filter(|job| view.wants_job(job))
        .map(entry)
        .collect()
}
