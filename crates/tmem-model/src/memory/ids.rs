//! Ids for new scenes, topics and items: counted per conversation and never given twice.

use serde::{Deserialize, Serialize};

use crate::id::{ConversationId, ItemId, SceneId, TopicId};

/// The highest number given so far to each kind in one conversation; outlives what it was given
/// to. Hands out the next ones.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ids {
    /// The conversation.
    pub conversation: ConversationId,
    /// Highest scene number.
    pub scenes: u64,
    /// Highest topic number.
    pub topics: u64,
    /// Highest item number.
    pub items: u64,
}

impl Ids {
    /// Nothing has been given yet.
    #[must_use]
    pub fn new(conversation: ConversationId) -> Self {
        Self {
            conversation,
            scenes: 0,
            topics: 0,
            items: 0,
        }
    }

    /// The next scene id: `s001`, `s002`, …
    pub fn scene(&mut self) -> SceneId {
        self.scenes += 1;
        let id = SceneId::new(&self.conversation, &format!("s{:03}", self.scenes));
        id.expect("a letter and digits are a valid id")
    }

    /// The next topic id: `t01`, `t02`, …
    pub fn topic(&mut self) -> TopicId {
        self.topics += 1;
        let id = TopicId::new(&self.conversation, &format!("t{:02}", self.topics));
        id.expect("a letter and digits are a valid id")
    }

    /// The next item id: `i0001`, `i0002`, …
    pub fn item(&mut self) -> ItemId {
        self.items += 1;
        let id = ItemId::new(&self.conversation, &format!("i{:04}", self.items));
        id.expect("a letter and digits are a valid id")
    }

    /// Raises each number to that of `other`, where it is higher.
    pub fn raise(&mut self, other: &Self) {
        self.scenes = self.scenes.max(other.scenes);
        self.topics = self.topics.max(other.topics);
        self.items = self.items.max(other.items);
    }

    /// Notes a scene id that came from elsewhere.
    pub fn saw_scene(&mut self, id: &SceneId) {
        self.scenes = self.scenes.max(number(id.local()));
    }

    /// Notes a topic id that came from elsewhere.
    pub fn saw_topic(&mut self, id: &TopicId) {
        self.topics = self.topics.max(number(id.local()));
    }

    /// Notes an item id that came from elsewhere.
    pub fn saw_item(&mut self, id: &ItemId) {
        self.items = self.items.max(number(id.local()));
    }
}

/// The number at the end of an id, 0 if there is none or one too long to count on from.
fn number(local: &str) -> u64 {
    let digits = local.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits
        .parse()
        .ok()
        .filter(|number| *number < u64::MAX / 2)
        .unwrap_or(0)
}
