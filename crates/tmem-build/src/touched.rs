//! What depends on turns that are edited or taken away: nothing derived from them stays as it is.
//!
//! A derived node whose sources are gone goes; one with other sources is emptied or removed and its
//! jobs reopened, so that the next build derives it anew. Ids of what is not touched stay.

use std::collections::BTreeSet;

use tmem_model::{
    Change, ConversationId, Item, ItemId, JobKey, Memory, Scene, SceneId, Stage, Topic, TopicId,
    Turn, TurnId, text,
};

use crate::jobs::{FLUSH, Jobs, done};
use crate::step::membership;

/// What happens to turns: `edited` replace those of the same id, `removed` go. Gives the change
/// that carries it out together with everything that follows from it. Turns that the memory does
/// not know are left alone.
#[must_use]
pub fn touched(memory: &Memory, jobs: &Jobs, edited: Vec<Turn>, removed: &[TurnId]) -> Change {
    let known = |id: &&TurnId| memory.turn(id).is_some();
    let removed: BTreeSet<TurnId> = removed.iter().filter(known).cloned().collect();
    let differs = |turn: &Turn| memory.turn(&turn.id).is_some_and(|old| old != turn);
    let edited: Vec<Turn> = edited
        .into_iter()
        .filter(|turn| differs(turn) && !removed.contains(&turn.id))
        .collect();
    let mut cascade = Cascade::new(memory, jobs, &edited, removed);
    cascade.scenes();
    cascade.items();
    cascade.topics();
    cascade.speakers(&edited);
    cascade.windows();
    cascade.marks();
    cascade.change.removed.turns = cascade.removed.iter().cloned().collect();
    cascade.change.turns = edited;
    cascade.change.release_superseded(memory);
    cascade.change
}

struct Cascade<'a> {
    memory: &'a Memory,
    jobs: &'a Jobs,
    removed: BTreeSet<TurnId>,
    /// Removed or edited.
    changed: BTreeSet<TurnId>,
    /// Scenes that lose their contents, or go.
    scenes: BTreeSet<SceneId>,
    gone: BTreeSet<SceneId>,
    change: Change,
}

impl<'a> Cascade<'a> {
    fn new(memory: &'a Memory, jobs: &'a Jobs, edited: &[Turn], removed: BTreeSet<TurnId>) -> Self {
        let changed: BTreeSet<TurnId> = edited
            .iter()
            .map(|turn| turn.id.clone())
            .chain(removed.iter().cloned())
            .collect();
        let scenes = changed.iter().filter_map(|turn| memory.scene_of(turn));
        let scenes = scenes.map(|scene| scene.id.clone()).collect();
        let (gone, change) = (BTreeSet::new(), Change::default());
        Self {
            memory,
            jobs,
            removed,
            changed,
            scenes,
            gone,
            change,
        }
    }

    /// A scene that loses all its turns goes; one that keeps some is to be written anew.
    fn scenes(&mut self) {
        for id in self.scenes.clone() {
            let Some(scene) = self.memory.scene(&id) else {
                continue;
            };
            let keeps = |turn: &&TurnId| !self.removed.contains(turn);
            let turns: Vec<TurnId> = scene.turns.iter().filter(keeps).cloned().collect();
            if turns.is_empty() {
                self.gone.insert(id.clone());
                self.change.removed.scenes.push(id.clone());
            } else {
                self.change.scenes.push(emptied(scene, turns));
            }
            for stage in [Stage::Write, Stage::Topics, Stage::SceneTriggers] {
                self.reopen(id.conversation(), stage, id.local());
            }
        }
    }

    /// Items that cite a changed turn, draw on a scene that goes, or relate a scene that is written
    /// anew to others, go; the calls that brought them are reopened with their scene.
    fn items(&mut self) {
        let mut going: BTreeSet<ItemId> = BTreeSet::new();
        let mut reopened: Vec<JobKey> = Vec::new();
        for id in &self.scenes {
            let items = self.memory.items_of(id).filter(|item| self.depends(item));
            going.extend(items.map(|item| item.id.clone()));
            let topics = self.memory.topics_of(id);
            reopened.extend(topics.flat_map(|topic| self.memberships(&topic.id, id)));
        }
        self.change.removed.jobs.extend(reopened);
        for id in &going {
            self.reopen(id.conversation(), Stage::ItemTriggers, id.local());
        }
        self.change.removed.items = going.into_iter().collect();
    }

    fn depends(&self, item: &Item) -> bool {
        item.turns.iter().any(|turn| self.changed.contains(turn))
            || item.scenes.len() > 1
            || item.turns.is_empty()
            || item.scenes.iter().any(|scene| self.gone.contains(scene))
    }

    /// The item jobs of a scene in a topic.
    fn memberships(&self, topic: &TopicId, scene: &SceneId) -> Vec<JobKey> {
        let prefix = membership(topic, scene);
        let jobs = self.jobs.of_stage(scene.conversation(), Stage::Items);
        let turn = format!("{prefix}/");
        let of = jobs.filter(|job| job.target == prefix || job.target.starts_with(&turn));
        of.map(tmem_model::Job::key).collect()
    }

    /// A touched scene leaves its topics, to be assigned anew; a topic without scenes goes, another
    /// keeps the keywords that its other scenes bear out.
    fn topics(&mut self) {
        let mut topics: BTreeSet<TopicId> = BTreeSet::new();
        for scene in &self.scenes {
            topics.extend(self.memory.topics_of(scene).map(|topic| topic.id.clone()));
        }
        for id in topics {
            let Some(topic) = self.memory.topic(&id) else {
                continue;
            };
            match self.remaining(topic) {
                Some(topic) => self.change.topics.push(topic),
                None => self.change.removed.topics.push(id),
            }
        }
    }

    fn remaining(&self, topic: &Topic) -> Option<Topic> {
        let stays = |id: &&SceneId| !self.scenes.contains(id);
        let scenes: Vec<SceneId> = topic.scenes.iter().filter(stays).cloned().collect();
        let first = scenes.first().and_then(|id| self.memory.scene(id))?;
        let said = self.said(&scenes);
        let borne = |text: &str| text::terms(text).iter().all(|term| said.contains(term));
        let keywords = topic
            .keywords
            .iter()
            .filter(|word| borne(word))
            .cloned()
            .collect();
        let title = if borne(&topic.title) || first.title.is_empty() {
            topic.title.clone()
        } else {
            first.title.clone()
        };
        Some(Topic {
            title,
            keywords,
            scenes,
            ..topic.clone()
        })
    }

    /// Informative words of scenes: their texts, turns and speakers.
    fn said(&self, scenes: &[SceneId]) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for scene in scenes.iter().filter_map(|id| self.memory.scene(id)) {
            words.extend(text::terms(&format!("{} {}", scene.title, scene.summary)));
            for turn in self.memory.scene_turns(&scene.id) {
                words.extend(text::terms(&format!("{} {}", turn.speaker, turn.content())));
            }
        }
        words
    }

    /// Personas of those whose words changed go and are written from what remains.
    fn speakers(&mut self, edited: &[Turn]) {
        let before = self.changed.iter().filter_map(|id| self.memory.turn(id));
        let all = before.chain(edited);
        let who: BTreeSet<(ConversationId, String)> = all
            .map(|turn| (turn.id.conversation().clone(), turn.speaker.clone()))
            .collect();
        for (conversation, speaker) in who {
            if self.memory.persona(&conversation, &speaker).is_some() {
                self.change
                    .removed
                    .personas
                    .push((conversation.clone(), speaker.clone()));
            }
            self.reopen(&conversation, Stage::Personas, &speaker);
        }
    }

    /// Windows over open turns that changed are looked at again.
    fn windows(&mut self) {
        let open = self
            .changed
            .iter()
            .filter(|turn| self.memory.scene_of(turn).is_none());
        let conversations: BTreeSet<ConversationId> =
            open.map(|turn| turn.conversation().clone()).collect();
        for conversation in conversations {
            let jobs = self.jobs.of_stage(&conversation, Stage::Segment);
            let windows = jobs.filter(|job| job.target.contains(".."));
            let keys: Vec<JobKey> = windows.map(tmem_model::Job::key).collect();
            self.change.removed.jobs.extend(keys);
        }
    }

    /// The mark of a flush after a turn that goes moves to the turn before it.
    fn marks(&mut self) {
        for id in &self.removed {
            let conversation = id.conversation();
            let target = format!("{FLUSH}{}", id.local());
            let Some(job) = self.jobs.get(conversation, Stage::Segment, &target) else {
                continue;
            };
            self.change.removed.jobs.push(job.key());
            let before = self
                .memory
                .turns(conversation)
                .take_while(|turn| turn.id != *id);
            if let Some(last) = before
                .filter(|turn| !self.removed.contains(&turn.id))
                .last()
            {
                let target = format!("{FLUSH}{}", last.id.local());
                self.change
                    .jobs
                    .push(done(conversation, Stage::Segment, &target, None));
            }
        }
    }

    fn reopen(&mut self, conversation: &ConversationId, stage: Stage, target: &str) {
        if let Some(job) = self.jobs.get(conversation, stage, target) {
            self.change.removed.jobs.push(job.key());
        }
    }
}

/// A scene with its turns alone.
fn emptied(scene: &Scene, turns: Vec<TurnId>) -> Scene {
    Scene {
        turns,
        title: String::new(),
        summary: String::new(),
        narrative: String::new(),
        scene_trigger: None,
        horizon_triggers: Vec::new(),
        ..scene.clone()
    }
}
