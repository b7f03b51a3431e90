//! What wants doing: scenes, items and memberships on which no job is over.
//!
//! Kept up to date change by change, so that planning looks at what is open and not at all there is.
//! An entry says what is there and what its job says; what the settings ask for is the planner's.

use std::collections::{BTreeMap, BTreeSet};

use tmem_model::{Change, ConversationId, Item, ItemId, Memory, Scene, SceneId, Stage, TopicId};

use crate::jobs::Jobs;
use crate::step::membership;

/// Targets that are new or pending, by stage; of one conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Agenda {
    /// Scenes without a title.
    pub(crate) unwritten: BTreeSet<SceneId>,
    /// Scenes in no topic.
    pub(crate) unassigned: BTreeSet<SceneId>,
    /// Scenes in topics whose items are not extracted.
    pub(crate) memberships: BTreeSet<(TopicId, SceneId)>,
    /// Items without triggers.
    pub(crate) bare_items: BTreeSet<ItemId>,
    /// Scenes without triggers.
    pub(crate) bare_scenes: BTreeSet<SceneId>,
}

impl Agenda {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn scene(&mut self, memory: &Memory, jobs: &Jobs, id: &SceneId) {
        let scene = memory.scene(id);
        let open = |lacks: fn(&Memory, &Scene) -> bool, stage| {
            let wants = || jobs.wants(id.conversation(), stage, id.local());
            scene.is_some_and(|scene| lacks(memory, scene)) && wants()
        };
        let (unwritten, unassigned) = (
            open(is_unwritten, Stage::Write),
            open(is_unassigned, Stage::Topics),
        );
        let bare = open(is_bare, Stage::SceneTriggers);
        set(&mut self.unwritten, id, unwritten);
        set(&mut self.unassigned, id, unassigned);
        set(&mut self.bare_scenes, id, bare);
    }

    fn item(&mut self, memory: &Memory, jobs: &Jobs, id: &ItemId) {
        let bare = |item: &Item| item.triggers.is_empty();
        let open = memory.item(id).is_some_and(bare)
            && jobs.wants(id.conversation(), Stage::ItemTriggers, id.local());
        set(&mut self.bare_items, id, open);
    }

    fn membership(&mut self, memory: &Memory, jobs: &Jobs, pair: &(TopicId, SceneId)) {
        let (topic, scene) = pair;
        let target = membership(topic, scene);
        let open = is_admitted(memory, topic, scene)
            && jobs.wants(topic.conversation(), Stage::Items, &target);
        set(&mut self.memberships, pair, open);
    }
}

/// Targets that a change may have put on an agenda or taken off it.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    scenes: BTreeSet<SceneId>,
    items: BTreeSet<ItemId>,
    memberships: BTreeSet<(TopicId, SceneId)>,
    /// Memberships whose jobs change, by the name of the job.
    named: Vec<(ConversationId, String)>,
}

impl Touched {
    /// By a change that `memory` has not seen yet.
    pub(crate) fn of(memory: &Memory, change: &Change) -> Self {
        let mut touched = Self::default();
        let removed = &change.removed;
        let scenes = change.scenes.iter().map(|scene| &scene.id);
        touched
            .scenes
            .extend(scenes.chain(&removed.scenes).cloned());
        let items = change.items.iter().map(|item| &item.id);
        touched.items.extend(items.chain(&removed.items).cloned());
        for topic in &change.topics {
            touched.topic(memory, &topic.id, &topic.scenes);
        }
        for topic in &removed.topics {
            touched.topic(memory, topic, &[]);
        }
        for job in &change.jobs {
            touched.job(&job.conversation, job.stage, &job.target);
        }
        for key in &removed.jobs {
            touched.job(&key.conversation, key.stage, &key.target);
        }
        touched
    }

    /// Everything in a conversation.
    pub(crate) fn all(memory: &Memory, conversation: &ConversationId) -> Self {
        let mut touched = Self::default();
        let scenes = memory.scenes_in(conversation);
        touched.scenes.extend(scenes.map(|scene| scene.id.clone()));
        let items = memory.items_in(conversation);
        touched.items.extend(items.map(|item| item.id.clone()));
        for topic in memory.topics_in(conversation) {
            let of_topic = topic
                .scenes
                .iter()
                .map(|scene| (topic.id.clone(), scene.clone()));
            touched.memberships.extend(of_topic);
        }
        touched
    }

    /// Scenes that join or leave a topic.
    fn topic(&mut self, memory: &Memory, topic: &TopicId, after: &[SceneId]) {
        let before = memory.topic(topic).map_or(&[][..], |topic| &topic.scenes);
        let (before, after): (BTreeSet<_>, BTreeSet<_>) =
            (before.iter().collect(), after.iter().collect());
        for &scene in before.symmetric_difference(&after) {
            self.scenes.insert(scene.clone());
            self.memberships.insert((topic.clone(), scene.clone()));
        }
    }

    fn job(&mut self, conversation: &ConversationId, stage: Stage, target: &str) {
        match stage {
            Stage::Segment | Stage::Personas => {}
            Stage::Items => self.named.push((conversation.clone(), target.to_owned())),
            Stage::ItemTriggers => self.items.extend(ItemId::new(conversation, target)),
            Stage::Write | Stage::Topics | Stage::SceneTriggers => {
                self.scenes.extend(SceneId::new(conversation, target));
            }
        }
    }

    /// Puts what was touched on the agendas, or takes it off them, as `memory` and `jobs` now are.
    pub(crate) fn note(
        &self,
        memory: &Memory,
        jobs: &Jobs,
        agendas: &mut BTreeMap<ConversationId, Agenda>,
    ) {
        let mut of = |conversation: &ConversationId, note: &dyn Fn(&mut Agenda)| {
            note(agendas.entry(conversation.clone()).or_default());
        };
        for id in &self.scenes {
            of(id.conversation(), &|agenda| agenda.scene(memory, jobs, id));
        }
        for id in &self.items {
            of(id.conversation(), &|agenda| agenda.item(memory, jobs, id));
        }
        let named = self.named.iter();
        let named = named.flat_map(|(of, target)| memberships(memory, of, target));
        for pair in named.chain(self.memberships.iter().cloned()) {
            let note = |agenda: &mut Agenda| agenda.membership(memory, jobs, &pair);
            of(pair.0.conversation(), &note);
        }
    }
}

fn is_unwritten(_: &Memory, scene: &Scene) -> bool {
    scene.title.is_empty()
}

fn is_unassigned(memory: &Memory, scene: &Scene) -> bool {
    memory.topics_of(&scene.id).next().is_none()
}

fn is_bare(_: &Memory, scene: &Scene) -> bool {
    scene.scene_trigger.is_none() && scene.horizon_triggers.is_empty()
}

fn is_admitted(memory: &Memory, topic: &TopicId, scene: &SceneId) -> bool {
    memory.topics_of(scene).any(|of| of.id == *topic)
}

/// The memberships that a job of that name is about: ids may hold the mark between them.
fn memberships(
    memory: &Memory,
    conversation: &ConversationId,
    target: &str,
) -> Vec<(TopicId, SceneId)> {
    let cuts = target.match_indices('/');
    let pairs = cuts.filter_map(|(at, _)| {
        let topic = TopicId::new(conversation, &target[..at]).ok()?;
        Some((topic, SceneId::new(conversation, &target[at + 1..]).ok()?))
    });
    pairs
        .filter(|(topic, scene)| is_admitted(memory, topic, scene))
        .collect()
}

/// Whether a list has an entry.
pub(crate) fn set<T: Clone + Ord>(list: &mut BTreeSet<T>, entry: &T, open: bool) {
    if open {
        list.insert(entry.clone());
    } else {
        list.remove(entry);
    }
}
