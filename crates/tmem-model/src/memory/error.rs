//! What a memory refuses, with both ends of the breach.

use std::fmt;

use crate::id::{ConversationId, ItemId, SceneId, TopicId, TurnId};
use crate::node::ItemKind;

/// Any node by its kind and id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeId {
    /// A turn.
    Turn(TurnId),
    /// A scene.
    Scene(SceneId),
    /// A topic.
    Topic(TopicId),
    /// An item.
    Item(ItemId),
    /// The persona of a speaker.
    Persona(ConversationId, String),
}

impl NodeId {
    /// The conversation it belongs to.
    #[must_use]
    pub fn conversation(&self) -> &ConversationId {
        match self {
            Self::Turn(id) => id.conversation(),
            Self::Scene(id) => id.conversation(),
            Self::Topic(id) => id.conversation(),
            Self::Item(id) => id.conversation(),
            Self::Persona(conversation, _) => conversation,
        }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(id) => write!(f, "turn {id}"),
            Self::Scene(id) => write!(f, "scene {id}"),
            Self::Topic(id) => write!(f, "topic {id}"),
            Self::Item(id) => write!(f, "item {id}"),
            Self::Persona(conversation, speaker) => {
                write!(f, "persona of {speaker:?} in {conversation}")
            }
        }
    }
}

impl From<TurnId> for NodeId {
    fn from(id: TurnId) -> Self {
        Self::Turn(id)
    }
}

impl From<SceneId> for NodeId {
    fn from(id: SceneId) -> Self {
        Self::Scene(id)
    }
}

impl From<TopicId> for NodeId {
    fn from(id: TopicId) -> Self {
        Self::Topic(id)
    }
}

impl From<ItemId> for NodeId {
    fn from(id: ItemId) -> Self {
        Self::Item(id)
    }
}

/// Why a change was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// One id stands twice in the same change.
    #[error("{0} is given twice")]
    Duplicate(NodeId),
    /// One change writes and removes the same node.
    #[error("{0} is both written and removed")]
    Contradiction(NodeId),
    /// A reference to nothing.
    #[error("{from} refers to {to}, which does not exist")]
    Missing {
        /// What refers.
        from: NodeId,
        /// What is not there.
        to: NodeId,
    },
    /// A reference into another conversation.
    #[error("{from} refers to {to}, which belongs to another conversation")]
    Foreign {
        /// What refers.
        from: NodeId,
        /// What it refers to.
        to: NodeId,
    },
    /// The same reference twice in one list.
    #[error("{from} refers to {to} twice")]
    Repeated {
        /// What refers.
        from: NodeId,
        /// What it refers to.
        to: NodeId,
    },
    /// A turn that two scenes claim.
    #[error("turn {turn} is in scene {first} and in scene {second}")]
    Shared {
        /// The turn.
        turn: TurnId,
        /// One scene.
        first: SceneId,
        /// The other scene.
        second: SceneId,
    },
    /// Turns of a scene with others between them, or out of order.
    #[error(
        "turn {turn} does not directly follow turn {previous}, its predecessor in scene {scene}"
    )]
    Gap {
        /// The scene.
        scene: SceneId,
        /// The turn before.
        previous: TurnId,
        /// The turn that does not follow.
        turn: TurnId,
    },
    /// A scene of nothing.
    #[error("scene {0} has no turns")]
    EmptyScene(SceneId),
    /// A topic that admitted nothing.
    #[error("topic {0} has no scenes")]
    EmptyTopic(TopicId),
    /// An item whose kind does not fit its number of scenes.
    #[error(
        "item {item} is {kind:?} and has {scenes} scenes: atomic takes one, connected two or more"
    )]
    Sources {
        /// The item.
        item: ItemId,
        /// Its kind.
        kind: ItemKind,
        /// How many scenes it names.
        scenes: usize,
    },
    /// An item that supersedes itself, over others or at once.
    #[error("item {0} supersedes itself")]
    Cycle(ItemId),
}
