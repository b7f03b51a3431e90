//! What an imported memory has behind it: the jobs that its contents stand for.

use tmem_model::{Change, ConversationId, Job, Memory, Stage};

use crate::jobs::{FLUSH, Jobs, done};
use crate::step::membership;

/// Jobs, all done, for what a conversation of `memory` holds already and `jobs` do not know of: its
/// scenes are closed, and where a scene has items or topics, that work counts as done. What is
/// missing (a scene without triggers, say) stays to be built.
#[must_use]
pub fn settled(memory: &Memory, jobs: &Jobs, conversation: &ConversationId) -> Change {
    let mut all: Vec<Job> = Vec::new();
    let row = |stage, target: &str| done(conversation, stage, target, None);
    let mut last = None;
    for scene in memory.scenes_in(conversation) {
        last = scene.turns.last();
        let items = memory.items_of(&scene.id).next().is_some();
        for topic in memory.topics_of(&scene.id).filter(|_| items) {
            all.push(row(Stage::Items, &membership(&topic.id, &scene.id)));
        }
    }
    let target = last.map(|turn| format!("{FLUSH}{}", turn.local()));
    all.extend(target.map(|target| row(Stage::Segment, &target)));
    for persona in memory.personas_in(conversation) {
        let upto = last.map(|turn| serde_json::json!({"upto": turn.local()}));
        all.push(done(conversation, Stage::Personas, &persona.speaker, upto));
    }
    all.retain(|job| jobs.get(conversation, job.stage, &job.target).is_none());
    Change {
        jobs: all,
        ..Change::default()
    }
}
