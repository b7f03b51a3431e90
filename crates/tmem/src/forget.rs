//! Deletion with its cascade: what was derived from something goes with it.
//!
//! What depends on a turn is `tmem-build`'s to say; this finds the turns, and every trace of what
//! went: logged calls that mention it, vectors of its texts, bytes on the disk.

use std::collections::BTreeSet;

use serde::Serialize;
use tmem_build::{Jobs, touched};
use tmem_model::{
    Change, ConversationId, DateTime, Heading, Item, ItemId, Job, Memory, Scene, SceneId, Stage,
    Topic, Turn, TurnId,
};

use crate::error::TmemError;
use crate::tmem::Tmem;

/// What to forget.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Target {
    /// One turn.
    Turn(TurnId),
    /// One scene with its turns.
    Scene(SceneId),
    /// One item; what was said stays.
    Item(ItemId),
    /// All that one person said, in every conversation of the space.
    Speaker(String),
    /// One conversation.
    Conversation(ConversationId),
    /// Turns before a date; undated ones stay.
    Before(DateTime),
}

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Conversations.
    pub conversations: usize,
    /// Turns.
    pub turns: usize,
    /// Scenes that lost all their turns.
    pub scenes: usize,
    /// Scenes that lost some, whose texts the next build writes anew.
    pub scenes_to_rewrite: usize,
    /// Items.
    pub items: usize,
    /// Triggers, of items and of scenes.
    pub triggers: usize,
    /// Topics that lost all their scenes.
    pub topics: usize,
    /// Personas, to be written anew if the speaker has turns left.
    pub personas: usize,
    /// Vectors.
    pub vectors: usize,
    /// Logged model calls that mentioned any of it.
    pub calls: usize,
}

impl Tmem {
    /// What [`forget`](Self::forget) would take; vectors and logged calls are not counted.
    ///
    /// # Errors
    /// [`TmemError::NothingToForget`] if there is no such thing.
    pub fn would_forget(&self, target: &Target) -> Result<Forgotten, TmemError> {
        Ok(self.worked_out(target)?.1.report)
    }

    /// Deletes `target` with everything derived from it, logged calls and vectors included, and
    /// clears the bytes from the disk.
    ///
    /// # Errors
    /// [`TmemError::NothingToForget`] if there is no such thing; [`TmemError::Store`].
    pub fn forget(&self, target: &Target) -> Result<Forgotten, TmemError> {
        let (change, losses) = self.worked_out(target)?;
        self.commit(&change)?;
        let mut report = losses.report;
        report.calls = self.shelf.redact_calls(&losses.texts)?;
        report.vectors = self.drop_unused_vectors()?;
        self.shelf.purge()?;
        Ok(report)
    }

    fn worked_out(&self, target: &Target) -> Result<(Change, Losses), TmemError> {
        let (memory, jobs) = self.snapshot();
        let change = change(&memory, &jobs, target);
        let change = change.ok_or_else(|| TmemError::NothingToForget {
            what: target.to_string(),
        })?;
        let losses = Losses::of(&memory, &change);
        Ok((change, losses))
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Turn(id) => write!(f, "turn {id}"),
            Self::Scene(id) => write!(f, "scene {id}"),
            Self::Item(id) => write!(f, "item {id}"),
            Self::Speaker(name) => write!(f, "turn of {name}"),
            Self::Conversation(id) => write!(f, "conversation {id}"),
            Self::Before(date) => write!(f, "turn before {date}"),
        }
    }
}

/// The change that forgets `target`; `None` if there is no such thing.
fn change(memory: &Memory, jobs: &Jobs, target: &Target) -> Option<Change> {
    let without = |turns: &[TurnId]| touched(memory, jobs, Vec::new(), turns);
    let mut change = match target {
        Target::Turn(id) => without(&[memory.turn(id)?.id.clone()]),
        Target::Scene(id) => without(&memory.scene(id)?.turns),
        Target::Item(id) => without_item(memory.item(id)?, memory, jobs),
        Target::Conversation(id) => without_conversation(memory.heading(id)?),
        Target::Speaker(name) => without(&turns(memory, |turn| turn.speaker == *name)?),
        Target::Before(date) => {
            without(&turns(memory, |turn| turn.at.is_some_and(|at| at < *date))?)
        }
    };
    if let Target::Speaker(name) = target {
        change.headings.extend(unlisted(memory, name));
    }
    let hushed = hushed(jobs, &change);
    change.jobs.extend(hushed);
    Some(change)
}

fn turns(memory: &Memory, test: impl Fn(&Turn) -> bool) -> Option<Vec<TurnId>> {
    let found = memory
        .all_turns()
        .filter(|turn| test(turn))
        .map(|turn| turn.id.clone());
    let found: Vec<TurnId> = found.collect();
    (!found.is_empty()).then_some(found)
}

fn without_item(item: &Item, memory: &Memory, jobs: &Jobs) -> Change {
    let mut change = Change::default();
    let (conversation, local) = (item.id.conversation(), item.id.local());
    let job = jobs.get(conversation, Stage::ItemTriggers, local);
    change.removed.jobs.extend(job.map(Job::key));
    change.removed.items.push(item.id.clone());
    change.release_superseded(memory);
    change
}

fn without_conversation(heading: &Heading) -> Change {
    let mut change = Change::default();
    change
        .removed
        .conversations
        .push(heading.conversation.clone());
    change
}

/// Headings that list a speaker, without them.
fn unlisted<'a>(memory: &'a Memory, name: &'a str) -> impl Iterator<Item = Heading> + 'a {
    let headings = memory.conversations().filter_map(|id| memory.heading(id));
    let listing = headings.filter(move |heading| heading.speakers.iter().any(|who| who == name));
    listing.cloned().map(move |mut heading| {
        heading.speakers.retain(|who| who != name);
        heading
    })
}

/// Jobs that stay, without their reasons: those may quote what was said.
fn hushed(jobs: &Jobs, change: &Change) -> Vec<Job> {
    let gone: BTreeSet<_> = change.removed.jobs.iter().collect();
    let written: BTreeSet<_> = change.jobs.iter().map(Job::key).collect();
    let dropped = &change.removed.conversations;
    let stays = |job: &&Job| {
        let key = job.key();
        !gone.contains(&key) && !written.contains(&key) && !dropped.contains(&job.conversation)
    };
    let quoting = jobs.iter().filter(|job| job.reason.is_some()).filter(stays);
    quoting
        .map(|job| Job {
            reason: None,
            ..job.clone()
        })
        .collect()
}

/// What a change takes away: counted, and every text of it.
#[derive(Debug, Default)]
struct Losses {
    report: Forgotten,
    texts: Vec<String>,
}

impl Losses {
    fn of(memory: &Memory, change: &Change) -> Self {
        let mut losses = Self::default();
        let removed = &change.removed;
        removed
            .conversations
            .iter()
            .for_each(|id| losses.conversation(memory, id));
        removed
            .turns
            .iter()
            .filter_map(|id| memory.turn(id))
            .for_each(|turn| losses.turn(turn));
        removed
            .items
            .iter()
            .filter_map(|id| memory.item(id))
            .for_each(|item| losses.item(item));
        for scene in removed.scenes.iter().filter_map(|id| memory.scene(id)) {
            losses.report.scenes += 1;
            losses.scene(scene);
        }
        for topic in removed.topics.iter().filter_map(|id| memory.topic(id)) {
            losses.report.topics += 1;
            losses.topic(topic, None);
        }
        for (conversation, speaker) in &removed.personas {
            losses.report.personas += 1;
            let persona = memory.persona(conversation, speaker);
            losses
                .texts
                .extend(persona.map(|persona| persona.summary.clone()));
        }
        losses.rewritten(memory, change);
        losses
    }

    /// What a change writes anew: its old texts go.
    fn rewritten(&mut self, memory: &Memory, change: &Change) {
        for new in &change.scenes {
            let Some(old) = memory.scene(&new.id) else {
                continue;
            };
            self.report.scenes_to_rewrite += 1;
            self.scene(old);
        }
        for new in &change.topics {
            let old = memory.topic(&new.id);
            old.into_iter().for_each(|old| self.topic(old, Some(new)));
        }
    }

    fn conversation(&mut self, memory: &Memory, id: &ConversationId) {
        self.report.conversations += 1;
        self.report.scenes += memory.scenes_in(id).count();
        self.report.topics += memory.topics_in(id).count();
        self.report.personas += memory.personas_in(id).count();
        memory.turns(id).for_each(|turn| self.turn(turn));
        memory.scenes_in(id).for_each(|scene| self.scene(scene));
        memory.items_in(id).for_each(|item| self.item(item));
        memory
            .topics_in(id)
            .for_each(|topic| self.topic(topic, None));
        self.texts.extend(
            memory
                .personas_in(id)
                .map(|persona| persona.summary.clone()),
        );
    }

    fn turn(&mut self, turn: &Turn) {
        self.report.turns += 1;
        self.texts.push(turn.text.clone());
        self.texts.extend(turn.image.clone());
    }

    fn scene(&mut self, scene: &Scene) {
        let attributes = scene
            .scene_trigger
            .iter()
            .flat_map(|trigger| trigger.attributes());
        self.texts
            .extend([&scene.title, &scene.summary, &scene.narrative].map(String::clone));
        self.texts
            .extend(attributes.map(|(_, text)| text.to_owned()));
        self.texts.extend(
            scene
                .horizon_triggers
                .iter()
                .map(|trigger| trigger.text.clone()),
        );
        self.report.triggers +=
            usize::from(scene.scene_trigger.is_some()) + scene.horizon_triggers.len();
    }

    fn item(&mut self, item: &Item) {
        self.report.items += 1;
        self.report.triggers += item.triggers.len();
        self.texts.push(item.text.clone());
        for trigger in &item.triggers {
            let texts = [&trigger.entity, &trigger.bridge, &trigger.rationale];
            self.texts.extend(texts.map(String::clone));
        }
    }

    /// A topic's words that `kept` no longer has.
    fn topic(&mut self, old: &Topic, kept: Option<&Topic>) {
        let stays = |word: &String| {
            kept.is_some_and(|kept| kept.keywords.contains(word) || kept.title == *word)
        };
        let words = old.keywords.iter().chain([&old.title]);
        self.texts
            .extend(words.filter(|word| !stays(word)).cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{
        "format": "tmem-memory/1", "conversation": "c", "speakers": ["Ana", "Bo"],
        "turns": [
            {"id": "1", "speaker": "Ana", "text": "I sold the blue boat.", "at": "2024-01-01T10:00:00"},
            {"id": "2", "speaker": "Bo", "text": "My knee hurts.", "at": "2024-01-01T10:01:00"},
            {"id": "3", "speaker": "Ana", "text": "I bought a tent.", "at": "2024-02-01T10:00:00"}],
        "scenes": [
            {"id": "s001", "turns": ["1", "2"], "title": "Boat and knee", "summary": "A sale, a pain.",
             "narrative": "n", "scene_trigger": {"situation": "sailing"},
             "horizon_triggers": [{"dimension": "change", "text": "letting go"}]},
            {"id": "s002", "turns": ["3"], "title": "Tent", "summary": "A purchase.", "narrative": "n"}],
        "topics": [{"id": "t01", "title": "Boat", "keywords": ["boat", "tent"],
                    "scenes": ["s001", "s002"]}],
        "items": [
            {"id": "i0001", "kind": "atomic", "text": "Ana sold her boat.", "scenes": ["s001"],
             "turns": ["1"], "triggers": [{"entity": "boats", "bridge": "a trip", "rationale": "r"}]},
            {"id": "i0002", "kind": "atomic", "text": "Bo has a sore knee.", "scenes": ["s001"],
             "turns": ["2"], "triggers": []},
            {"id": "i0003", "kind": "connected", "text": "Ana trades.", "scenes": ["s001", "s002"],
             "turns": ["1", "3"], "triggers": []}],
        "personas": [{"speaker": "Ana", "summary": "Ana trades things."}]}"#;

    fn memory() -> Memory {
        let document = tmem_model::Document::parse(DOCUMENT).expect("a document");
        let mut memory = Memory::new();
        let change = document.into_change(&memory).expect("a sound document");
        memory.apply(&change).expect("a sound memory");
        memory
    }

    /// Forgets, and tells what is left and what was counted.
    #[track_caller]
    fn forget(target: &Target) -> (Memory, Losses) {
        let mut memory = memory();
        let change = change(&memory, &Jobs::default(), target).expect("it is there");
        let losses = Losses::of(&memory, &change);
        memory.apply(&change).expect("what is left holds together");
        (memory, losses)
    }

    fn turn(local: &str) -> TurnId {
        TurnId::new(&ConversationId::new("c").expect("a name"), local).expect("an id")
    }

    /// Whether any text that is left has `word`.
    fn says(memory: &Memory, word: &str) -> bool {
        let id = ConversationId::new("c").expect("a name");
        let document = tmem_model::Document::of(memory, &id);
        document.is_some_and(|document| document.to_json().to_lowercase().contains(word))
    }

    #[test]
    fn what_rests_on_a_forgotten_turn_goes_and_the_rest_stays() {
        let (memory, losses) = forget(&Target::Turn(turn("1")));
        assert!(!says(&memory, "boat") && !says(&memory, "trade"));
        let items: Vec<&str> = memory.items().map(|item| item.id.local()).collect();
        assert_eq!(items, ["i0002"]);
        let expect = Forgotten {
            turns: 1,
            scenes_to_rewrite: 1,
            items: 2,
            triggers: 3,
            personas: 1,
            ..Forgotten::default()
        };
        assert_eq!(losses.report, expect);
    }

    #[test]
    fn every_text_that_goes_is_looked_for_in_the_log() {
        let (_, losses) = forget(&Target::Turn(turn("1")));
        let gone = [
            "I sold the blue boat.",
            "sailing",
            "letting go",
            "a trip",
            "Ana trades things.",
        ];
        for text in gone {
            assert!(losses.texts.iter().any(|lost| lost == text), "{text}");
        }
    }

    #[test]
    fn a_scene_goes_with_its_turns() {
        let id = turn("3");
        let (memory, losses) = forget(&Target::Before("2024-01-15".parse().expect("a date")));
        assert_eq!((losses.report.turns, losses.report.scenes), (2, 1));
        assert!(memory.turn(&id).is_some() && !says(&memory, "knee"));
    }

    #[test]
    fn an_item_goes_alone() {
        let item = ItemId::new(&ConversationId::new("c").expect("a name"), "i0002").expect("an id");
        let (memory, losses) = forget(&Target::Item(item));
        assert_eq!((losses.report.items, losses.report.turns), (1, 0));
        assert!(says(&memory, "my knee hurts") && !says(&memory, "sore knee"));
    }

    #[test]
    fn a_forgotten_speaker_is_no_longer_listed() {
        let (memory, losses) = forget(&Target::Speaker("Ana".to_owned()));
        assert_eq!(losses.report.turns, 2);
        let id = ConversationId::new("c").expect("a name");
        assert_eq!(memory.speakers(&id), ["Bo"]);
    }

    #[test]
    fn what_is_not_there_cannot_be_forgotten() {
        let nobody = Target::Speaker("Cem".to_owned());
        assert!(change(&memory(), &Jobs::default(), &nobody).is_none());
        assert!(change(&memory(), &Jobs::default(), &Target::Turn(turn("9"))).is_none());
    }
}
