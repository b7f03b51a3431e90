//! The kinds of node and edge, and what each kind of node points at.

use super::error::NodeId;
use crate::node::{Item, Persona, Scene, Topic, Turn};

/// What an edge says of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// Scene to turn.
    Holds,
    /// Topic to scene.
    Admits,
    /// Item to scene.
    Draws,
    /// Item to turn.
    Cites,
    /// Item to the earlier item that it puts out of date.
    Supersedes,
}

/// Content of a node.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Turn(Turn),
    Scene(Scene),
    Topic(Topic),
    Item(Item),
    Persona(Persona),
}

/// A kind of node: how it is stored, named, and what it points at.
pub(super) trait Kind: Clone {
    /// Which of a conversation's lists it stands in.
    const LIST: usize;
    fn id(&self) -> NodeId;
    fn wrap(self) -> Node;
    fn unwrap(node: &Node) -> Option<&Self>;
    /// What it refers to, list by list.
    fn links(&self) -> Vec<(Link, NodeId)>;
}

macro_rules! kind {
    ($kind:ident, $list:literal, $id:expr, $links:expr) => {
        impl Kind for $kind {
            const LIST: usize = $list;

            fn id(&self) -> NodeId {
                let id: fn(&$kind) -> NodeId = $id;
                id(self)
            }

            fn wrap(self) -> Node {
                Node::$kind(self)
            }

            fn unwrap(node: &Node) -> Option<&Self> {
                match node {
                    Node::$kind(content) => Some(content),
                    _ => None,
                }
            }

            fn links(&self) -> Vec<(Link, NodeId)> {
                let links: fn(&$kind) -> Vec<(Link, NodeId)> = $links;
                links(self)
            }
        }
    };
}

kind!(Turn, 0, |turn| turn.id.clone().into(), |_| Vec::new());
kind!(Scene, 1, |scene| scene.id.clone().into(), |scene| all(
    Link::Holds,
    &scene.turns
));
kind!(Topic, 2, |topic| topic.id.clone().into(), |topic| all(
    Link::Admits,
    &topic.scenes
));
kind!(Item, 3, |item| item.id.clone().into(), |item| {
    let mut links = all(Link::Draws, &item.scenes);
    links.extend(all(Link::Cites, &item.turns));
    links.extend(all(Link::Supersedes, &item.supersedes));
    links
});
kind!(Persona, 4, Persona::node_id, |_| Vec::new());

fn all<I: Clone + Into<NodeId>>(link: Link, ids: &[I]) -> Vec<(Link, NodeId)> {
    ids.iter().map(|id| (link, id.clone().into())).collect()
}

impl Persona {
    /// Its id among all nodes: conversation and speaker.
    #[must_use]
    pub fn node_id(&self) -> NodeId {
        NodeId::Persona(self.conversation.clone(), self.speaker.clone())
    }
}

impl Node {
    pub(super) fn id(&self) -> NodeId {
        match self {
            Self::Turn(turn) => turn.id(),
            Self::Scene(scene) => scene.id(),
            Self::Topic(topic) => topic.id(),
            Self::Item(item) => item.id(),
            Self::Persona(persona) => persona.id(),
        }
    }

    pub(super) fn list(&self) -> usize {
        match self {
            Self::Turn(_) => Turn::LIST,
            Self::Scene(_) => Scene::LIST,
            Self::Topic(_) => Topic::LIST,
            Self::Item(_) => Item::LIST,
            Self::Persona(_) => Persona::LIST,
        }
    }
}
