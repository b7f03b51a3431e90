//! One space's memory as a typed graph: what it holds and how it is read.
//!
//! Nodes are turns, scenes, topics, items and personas; edges say which scene holds a turn, which
//! topic admits a scene, which scenes and turns an item draws on, and which it puts out of date. Every list has a stated
//! order. Writing goes through [`Memory::apply`] alone, which keeps the invariants.

mod apply;
mod change;
mod check;
mod error;
mod graph;
mod ids;
mod kind;

pub use change::{Change, Heading, Removed};
pub use error::{ModelError, NodeId};
pub use ids::Ids;

use jiff::civil::DateTime;

use crate::id::{ConversationId, ItemId, SceneId, TopicId, TurnId};
use crate::node::{Item, Persona, Scene, Topic, Turn, Validity};
use graph::Graph;
use kind::Link;

/// The memory of one space: any number of conversations.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    graph: Graph,
}

impl Memory {
    /// A memory that holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Conversations, in order of first arrival.
    pub fn conversations(&self) -> impl Iterator<Item = &ConversationId> {
        self.graph.headings().map(|heading| &heading.conversation)
    }

    /// What is known of a conversation as a whole.
    #[must_use]
    pub fn heading(&self, conversation: &ConversationId) -> Option<&Heading> {
        self.graph.heading(conversation)
    }

    /// The ids given so far in a conversation, to hand out the next ones; removal gives none back.
    #[must_use]
    pub fn ids(&self, conversation: &ConversationId) -> Ids {
        let known = self.graph.ids(conversation).cloned();
        known.unwrap_or_else(|| Ids::new(conversation.clone()))
    }

    /// Speakers of a conversation: those its heading lists, then others in order of first word.
    #[must_use]
    pub fn speakers(&self, conversation: &ConversationId) -> Vec<&str> {
        let listed = self
            .heading(conversation)
            .into_iter()
            .flat_map(|h| &h.speakers);
        let heard = self.graph.heard(conversation);
        let mut seen = std::collections::HashSet::new();
        listed
            .map(String::as_str)
            .chain(heard)
            .filter(|name| seen.insert(*name))
            .collect()
    }

    /// Turns of one conversation, in arrival order.
    pub fn turns(&self, conversation: &ConversationId) -> impl DoubleEndedIterator<Item = &Turn> {
        self.graph.list(conversation)
    }

    /// Turns of a conversation that came before one of them, in arrival order.
    pub fn turns_before(&self, turn: &TurnId) -> impl DoubleEndedIterator<Item = &Turn> {
        self.graph.before(turn)
    }

    /// Turns of a conversation that came after one of them, in arrival order.
    pub fn turns_after(&self, turn: &TurnId) -> impl DoubleEndedIterator<Item = &Turn> {
        self.graph.after(turn)
    }

    /// What one speaker says in a conversation, in arrival order.
    pub fn said_by(
        &self,
        conversation: &ConversationId,
        speaker: &str,
    ) -> impl DoubleEndedIterator<Item = &Turn> {
        self.graph.said_by(conversation, speaker)
    }

    /// Scenes of one conversation, in arrival order.
    pub fn scenes_in(
        &self,
        conversation: &ConversationId,
    ) -> impl DoubleEndedIterator<Item = &Scene> {
        self.graph.list(conversation)
    }

    /// Topics of one conversation, by first scene, ties by id.
    pub fn topics_in(
        &self,
        conversation: &ConversationId,
    ) -> impl DoubleEndedIterator<Item = &Topic> {
        self.graph.list(conversation)
    }

    /// Items of one conversation, by first scene, then id.
    pub fn items_in(
        &self,
        conversation: &ConversationId,
    ) -> impl DoubleEndedIterator<Item = &Item> {
        self.graph.list(conversation)
    }

    /// Personas of one conversation, by speaker.
    pub fn personas_in(
        &self,
        conversation: &ConversationId,
    ) -> impl DoubleEndedIterator<Item = &Persona> {
        self.graph.list(conversation)
    }

    /// All turns: by conversation, then arrival.
    pub fn all_turns(&self) -> impl Iterator<Item = &Turn> {
        self.conversations().flat_map(|c| self.turns(c))
    }

    /// All scenes: by conversation, then arrival.
    pub fn scenes(&self) -> impl Iterator<Item = &Scene> {
        self.conversations().flat_map(|c| self.scenes_in(c))
    }

    /// All topics: by conversation, first scene, id.
    pub fn topics(&self) -> impl Iterator<Item = &Topic> {
        self.conversations().flat_map(|c| self.topics_in(c))
    }

    /// All items: by conversation, first scene, id.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.conversations().flat_map(|c| self.items_in(c))
    }

    /// All personas: by conversation, speaker.
    pub fn personas(&self) -> impl Iterator<Item = &Persona> {
        self.conversations().flat_map(|c| self.personas_in(c))
    }

    /// Ids of everything in a conversation, referring kinds before those they refer to.
    #[must_use]
    pub fn members(&self, conversation: &ConversationId) -> Vec<NodeId> {
        self.graph.members(conversation)
    }

    /// A turn by id.
    #[must_use]
    pub fn turn(&self, id: &TurnId) -> Option<&Turn> {
        self.graph.get(&id.clone().into())
    }

    /// A scene by id.
    #[must_use]
    pub fn scene(&self, id: &SceneId) -> Option<&Scene> {
        self.graph.get(&id.clone().into())
    }

    /// A topic by id.
    #[must_use]
    pub fn topic(&self, id: &TopicId) -> Option<&Topic> {
        self.graph.get(&id.clone().into())
    }

    /// An item by id.
    #[must_use]
    pub fn item(&self, id: &ItemId) -> Option<&Item> {
        self.graph.get(&id.clone().into())
    }

    /// The persona of a speaker.
    #[must_use]
    pub fn persona(&self, conversation: &ConversationId, speaker: &str) -> Option<&Persona> {
        self.graph
            .get(&NodeId::Persona(conversation.clone(), speaker.to_owned()))
    }

    /// The scene that holds a turn; none while the turn is open.
    #[must_use]
    pub fn scene_of(&self, turn: &TurnId) -> Option<&Scene> {
        self.graph
            .sources::<Scene>(&turn.clone().into(), Link::Holds)
            .pop()
    }

    /// Turns of a scene, in arrival order.
    pub fn scene_turns(&self, scene: &SceneId) -> impl Iterator<Item = &Turn> {
        self.graph
            .targets(&scene.clone().into(), Link::Holds)
            .into_iter()
    }

    /// Topics that admitted a scene, by first scene, ties by id.
    pub fn topics_of(&self, scene: &SceneId) -> impl Iterator<Item = &Topic> {
        self.graph
            .sources(&scene.clone().into(), Link::Admits)
            .into_iter()
    }

    /// Scenes that a topic admitted, in arrival order.
    pub fn scenes_of(&self, topic: &TopicId) -> impl Iterator<Item = &Scene> {
        self.graph
            .targets(&topic.clone().into(), Link::Admits)
            .into_iter()
    }

    /// Items that draw on a scene, by first scene, then id.
    pub fn items_of(&self, scene: &SceneId) -> impl Iterator<Item = &Item> {
        self.graph
            .sources(&scene.clone().into(), Link::Draws)
            .into_iter()
    }

    /// Scenes that an item draws on, in arrival order: one if atomic, two or more if connected.
    pub fn sources(&self, item: &ItemId) -> impl Iterator<Item = &Scene> {
        self.graph
            .targets(&item.clone().into(), Link::Draws)
            .into_iter()
    }

    /// Items that cite a turn, by first scene, then id.
    pub fn items_citing(&self, turn: &TurnId) -> impl Iterator<Item = &Item> {
        self.graph
            .sources(&turn.clone().into(), Link::Cites)
            .into_iter()
    }

    /// Later items that put an item out of date, by first scene, then id.
    pub fn superseding(&self, item: &ItemId) -> impl Iterator<Item = &Item> {
        self.graph
            .sources(&item.clone().into(), Link::Supersedes)
            .into_iter()
    }

    /// From when to when an item holds, as far as it was known at a date (`None`: today).
    #[must_use]
    pub fn validity(&self, item: &Item, at: Option<DateTime>) -> Validity {
        let known = |date: &Option<DateTime>| date.is_none() || at.is_none() || *date <= at;
        let later = self.superseding(&item.id).map(|later| self.said(later));
        let later: Vec<Option<DateTime>> = later.filter(known).collect();
        Validity {
            from: self.said(item),
            until: later.iter().flatten().min().copied(),
            supersedes: !item.supersedes.is_empty(),
            superseded: !later.is_empty(),
        }
    }

    /// When an item was known: all the turns that say it, or all its scenes, had been said.
    #[must_use]
    pub fn said(&self, item: &Item) -> Option<DateTime> {
        if item.turns.is_empty() {
            let scenes = self.sources(&item.id);
            return scenes.filter_map(|s| Some(self.span(&s.id)?.1)).max();
        }
        let turns = item.turns.iter().filter_map(|id| self.turn(id));
        turns.filter_map(|turn| turn.at).max()
    }

    /// From the earliest to the latest dated turn of a scene; `None` if no turn has a date.
    #[must_use]
    pub fn span(&self, scene: &SceneId) -> Option<(DateTime, DateTime)> {
        let times = || self.scene_turns(scene).filter_map(|turn| turn.at);
        Some((times().min()?, times().max()?))
    }

    /// Turns that are in no scene yet, in arrival order.
    pub fn open_turns(
        &self,
        conversation: &ConversationId,
    ) -> impl DoubleEndedIterator<Item = &Turn> {
        self.graph.open(conversation)
    }

    /// Where a node stands in the order of arrival: a scene with its first turn, a topic or an item
    /// with its first scene; `None` if it is not there. Only the order of these numbers means
    /// anything.
    #[must_use]
    pub fn place(&self, id: &NodeId) -> Option<u64> {
        self.graph.at(id)
    }

    /// How many items of a conversation come before those of a scene. Takes as long as there are
    /// items behind them.
    #[must_use]
    pub fn items_before(&self, scene: &SceneId) -> usize {
        let at = self.place(&scene.clone().into()).unwrap_or(u64::MAX);
        self.graph.count_before::<Item>(scene.conversation(), at)
    }

    /// Whether there is no conversation at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conversations().next().is_none()
    }

    /// Whether [`Memory::apply`] would take a change.
    ///
    /// # Errors
    /// What [`Memory::apply`] would refuse.
    pub fn check(&self, change: &Change) -> Result<(), ModelError> {
        check::check(&self.graph, change)
    }

    /// Applies a change: all of it or, on an error, none of it.
    ///
    /// Removals come first; naming something that is not there is no error. What is written
    /// replaces what has the same id, and a replaced turn keeps its place; new turns go to the end.
    ///
    /// # Errors
    /// [`ModelError`], naming both ends, if the memory would break an invariant.
    pub fn apply(&mut self, change: &Change) -> Result<(), ModelError> {
        self.check(change)?;
        apply::apply(&mut self.graph, change);
        Ok(())
    }
}
