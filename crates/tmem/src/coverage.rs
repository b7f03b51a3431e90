//! What has no trigger or no use: what is still to be built, and the holes that building left.

use std::collections::BTreeMap;

use serde::Serialize;
use tmem_build::Jobs;
use tmem_model::{ConversationId, Item, JobState, Memory, Scene, Stage, Topic};

/// What has no trigger or no use yet, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Scenes without a title.
    pub scenes_unwritten: Vec<String>,
    /// Scenes without a scene trigger.
    pub scenes_without_trigger: Vec<String>,
    /// Scenes without a horizon trigger.
    pub scenes_without_horizon: Vec<String>,
    /// Scenes in no topic.
    pub scenes_without_topic: Vec<String>,
    /// Items without a bridge.
    pub items_without_bridge: Vec<String>,
    /// Topics without an item.
    pub topics_without_item: Vec<String>,
    /// How many of these are holes: the work on them is over, done or failed, and left nothing.
    pub holes: usize,
}

impl Coverage {
    /// Of a memory and the work on it.
    pub(crate) fn of(memory: &Memory, jobs: &Jobs) -> Self {
        let mut survey = Survey { jobs, holes: 0 };
        let mut scenes = |stage, lacks: &dyn Fn(&Scene) -> bool| {
            let lacking = memory.scenes().filter(|scene| lacks(scene));
            let named = lacking.map(|scene| (scene.id.conversation(), scene.id.local()));
            survey.named(stage, named)
        };
        let coverage = Self {
            scenes_unwritten: scenes(Stage::Write, &|scene| scene.title.trim().is_empty()),
            scenes_without_trigger: scenes(Stage::SceneTriggers, &|scene| {
                scene.scene_trigger.is_none()
            }),
            scenes_without_horizon: scenes(Stage::SceneTriggers, &|scene| {
                scene.horizon_triggers.is_empty()
            }),
            scenes_without_topic: scenes(Stage::Topics, &|scene| {
                memory.topics_of(&scene.id).next().is_none()
            }),
            ..Self::default()
        };
        let itemless: Vec<&Topic> = memory.topics().filter(|t| is_itemless(memory, t)).collect();
        let bridgeless = memory.items().filter(|item| is_bridgeless(item));
        let bridgeless = bridgeless.map(|item| (item.id.conversation(), item.id.local()));
        Self {
            items_without_bridge: survey.named(Stage::ItemTriggers, bridgeless),
            topics_without_item: survey.topics(&itemless),
            holes: survey.holes,
            ..coverage
        }
    }
}

fn is_bridgeless(item: &Item) -> bool {
    let mut triggers = item.triggers.iter();
    triggers.all(|trigger| trigger.bridge.trim().is_empty())
}

fn is_itemless(memory: &Memory, topic: &Topic) -> bool {
    let mut scenes = memory.scenes_of(&topic.id);
    scenes.all(|scene| memory.items_of(&scene.id).next().is_none())
}

/// Whether all extraction under a topic is over, by conversation and topic; a topic on which there
/// was no work yet is not among them.
fn item_work(jobs: &Jobs) -> BTreeMap<(&ConversationId, &str), bool> {
    let mut work = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.stage == Stage::Items) {
        let topic = job.target.split('/').next().unwrap_or_default();
        let over = work.entry((&job.conversation, topic)).or_insert(true);
        *over &= job.state != JobState::Pending;
    }
    work
}

/// Names what lacks something and counts the holes among it.
struct Survey<'a> {
    jobs: &'a Jobs,
    holes: usize,
}

impl Survey<'_> {
    fn named<'b>(
        &mut self,
        stage: Stage,
        lacking: impl Iterator<Item = (&'b ConversationId, &'b str)>,
    ) -> Vec<String> {
        let mut names = Vec::new();
        for (conversation, local) in lacking {
            let job = self.jobs.get(conversation, stage, local);
            self.holes += usize::from(job.is_some_and(|job| job.state != JobState::Pending));
            names.push(format!("{conversation}/{local}"));
        }
        names
    }

    fn topics(&mut self, lacking: &[&Topic]) -> Vec<String> {
        if lacking.is_empty() {
            return Vec::new();
        }
        let work = item_work(self.jobs);
        let is_over =
            |topic: &&&Topic| work.get(&(topic.id.conversation(), topic.id.local())) == Some(&true);
        self.holes += lacking.iter().filter(is_over).count();
        lacking.iter().map(|topic| topic.id.to_string()).collect()
    }
}
