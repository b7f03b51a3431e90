//! The typed graph itself: the only place that names petgraph.
//!
//! A node knows its place (`at`): a turn the number of its arrival, a scene that of its first turn,
//! a topic or an item that of its first scene. Lists are kept sorted by place, then id.

use std::collections::{BTreeMap, HashMap};

use petgraph::Direction::{self, Incoming, Outgoing};
use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use petgraph::visit::EdgeRef;

use super::change::Heading;
use super::error::NodeId;
use super::ids::Ids;
use super::kind::{Kind, Link, Node};
use crate::id::{ConversationId, TurnId};
use crate::node::Turn;

#[derive(Clone, Debug)]
struct Entry {
    at: u64,
    node: Node,
}

type List = BTreeMap<(u64, NodeId), NodeIndex>;

#[derive(Clone, Debug)]
struct Chat {
    heading: Heading,
    ids: Ids,
    lists: [List; 5],
}

/// Nodes, edges and the lists over them.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    graph: StableDiGraph<Entry, Link>,
    index: HashMap<NodeId, NodeIndex>,
    chats: Vec<Chat>,
    places: HashMap<ConversationId, usize>,
    arrivals: u64,
}

/// Reading.
impl Graph {
    pub(super) fn headings(&self) -> impl Iterator<Item = &Heading> {
        self.chats.iter().map(|chat| &chat.heading)
    }

    pub(super) fn heading(&self, conversation: &ConversationId) -> Option<&Heading> {
        self.chat(conversation).map(|chat| &chat.heading)
    }

    pub(super) fn ids(&self, conversation: &ConversationId) -> Option<&Ids> {
        self.chat(conversation).map(|chat| &chat.ids)
    }

    pub(super) fn list<K: Kind + 'static>(
        &self,
        conversation: &ConversationId,
    ) -> impl Iterator<Item = &K> {
        let list = self
            .chat(conversation)
            .into_iter()
            .flat_map(|chat| &chat.lists[K::LIST]);
        list.map(|(_, ix)| self.content(*ix))
    }

    /// Ids of everything in a conversation, referring kinds before those they refer to.
    pub(super) fn members(&self, conversation: &ConversationId) -> Vec<NodeId> {
        let chat = self.chat(conversation).into_iter();
        let lists = chat.flat_map(|chat| chat.lists.iter().rev());
        lists.flatten().map(|((_, id), _)| id.clone()).collect()
    }

    pub(super) fn contains(&self, id: &NodeId) -> bool {
        self.index.contains_key(id)
    }

    pub(super) fn get<K: Kind>(&self, id: &NodeId) -> Option<&K> {
        self.index.get(id).map(|ix| self.content(*ix))
    }

    /// Nodes that `id` points at by `link`, by place, then id.
    pub(super) fn targets<K: Kind>(&self, id: &NodeId, link: Link) -> Vec<&K> {
        self.linked(id, link, Outgoing)
    }

    /// Nodes that point at `id` by `link`, by place, then id.
    pub(super) fn sources<K: Kind>(&self, id: &NodeId, link: Link) -> Vec<&K> {
        self.linked(id, link, Incoming)
    }

    pub(super) fn is_held(&self, turn: &TurnId) -> bool {
        let ix = self.index.get(&turn.clone().into());
        ix.is_some_and(|ix| {
            self.graph
                .edges_directed(*ix, Incoming)
                .any(|edge| *edge.weight() == Link::Holds)
        })
    }

    /// Ids of all nodes that refer to `id`, in id order.
    pub(super) fn referrers(&self, id: &NodeId) -> Vec<NodeId> {
        let ix = self.index.get(id).into_iter();
        let sources = ix.flat_map(|ix| self.graph.neighbors_directed(*ix, Incoming));
        let mut ids: Vec<_> = sources.map(|ix| self.id(ix)).collect();
        ids.sort();
        ids
    }

    /// Turns of a conversation that arrived after `turn`, in arrival order.
    pub(super) fn after(&self, turn: &NodeId) -> impl Iterator<Item = &NodeId> {
        let at = self
            .index
            .get(turn)
            .map_or(u64::MAX, |ix| self.graph[*ix].at);
        let list = self
            .chat(turn.conversation())
            .map(|chat| &chat.lists[Turn::LIST]);
        let later = list
            .into_iter()
            .flat_map(move |l| l.range((at, turn.clone())..).skip(1));
        later.map(|((_, id), _)| id)
    }

    fn linked<K: Kind>(&self, id: &NodeId, link: Link, direction: Direction) -> Vec<&K> {
        let ix = self.index.get(id).into_iter();
        let edges = ix.flat_map(|ix| self.graph.edges_directed(*ix, direction));
        let edges = edges.filter(|edge| *edge.weight() == link);
        let mut ends: Vec<_> = edges
            .map(|edge| {
                if direction == Incoming {
                    edge.source()
                } else {
                    edge.target()
                }
            })
            .map(|ix| (self.graph[ix].at, self.id(ix), ix))
            .collect();
        ends.sort();
        ends.into_iter().map(|(.., ix)| self.content(ix)).collect()
    }

    fn chat(&self, conversation: &ConversationId) -> Option<&Chat> {
        self.places
            .get(conversation)
            .map(|place| &self.chats[*place])
    }

    fn content<K: Kind>(&self, ix: NodeIndex) -> &K {
        K::unwrap(&self.graph[ix].node).expect("lists, ids and links are kept by kind")
    }

    fn id(&self, ix: NodeIndex) -> NodeId {
        self.graph[ix].node.id()
    }
}

/// Writing; the change has been checked.
impl Graph {
    pub(super) fn set_heading(&mut self, heading: &Heading) {
        let place = self.register(&heading.conversation);
        self.chats[place].heading = heading.clone();
    }

    pub(super) fn raise(&mut self, ids: &Ids) {
        let place = self.register(&ids.conversation);
        self.chats[place].ids.raise(ids);
    }

    /// Inserts or replaces nodes that may refer to each other.
    pub(super) fn put_all<K: Kind>(&mut self, contents: &[K]) {
        for content in contents {
            let id = content.id();
            if !self.contains(&id) {
                self.insert(&id, content);
            }
        }
        contents.iter().for_each(|content| self.put(content));
    }

    /// Inserts or replaces a node, its edges and its place.
    pub(super) fn put<K: Kind>(&mut self, content: &K) {
        let id = content.id();
        let ix = self.index.get(&id).copied();
        let ix = ix.unwrap_or_else(|| self.insert(&id, content));
        self.graph[ix].node = content.clone().wrap();
        self.relink(ix, &content.links());
        self.settle(ix, &id);
        for id in self.referrers(&id) {
            self.settle(self.index[&id], &id);
        }
    }

    pub(super) fn remove(&mut self, id: &NodeId) {
        if let Some(ix) = self.index.remove(id) {
            self.unlist(ix, id);
            self.graph.remove_node(ix);
        }
    }

    /// Forgets a conversation and everything in it.
    pub(super) fn remove_conversation(&mut self, conversation: &ConversationId) {
        for id in self.members(conversation) {
            self.remove(&id);
        }
        if let Some(place) = self.places.remove(conversation) {
            self.chats.remove(place);
            self.places
                .values_mut()
                .filter(|p| **p > place)
                .for_each(|p| *p -= 1);
        }
    }

    fn insert<K: Kind>(&mut self, id: &NodeId, content: &K) -> NodeIndex {
        self.register(id.conversation());
        self.arrivals += 1;
        let entry = Entry {
            at: self.arrivals,
            node: content.clone().wrap(),
        };
        let ix = self.graph.add_node(entry);
        self.index.insert(id.clone(), ix);
        self.note(id);
        ix
    }

    fn note(&mut self, id: &NodeId) {
        let place = self.register(id.conversation());
        let ids = &mut self.chats[place].ids;
        match id {
            NodeId::Scene(id) => ids.saw_scene(id),
            NodeId::Topic(id) => ids.saw_topic(id),
            NodeId::Item(id) => ids.saw_item(id),
            NodeId::Turn(_) | NodeId::Persona(..) => {}
        }
    }

    fn register(&mut self, conversation: &ConversationId) -> usize {
        *self.places.entry(conversation.clone()).or_insert_with(|| {
            let heading = Heading::new(conversation.clone());
            let ids = Ids::new(conversation.clone());
            self.chats.push(Chat {
                ids,
                heading,
                lists: Default::default(),
            });
            self.chats.len() - 1
        })
    }

    fn relink(&mut self, ix: NodeIndex, links: &[(Link, NodeId)]) {
        let old: Vec<_> = self.graph.edges(ix).map(|edge| edge.id()).collect();
        for edge in old {
            self.graph.remove_edge(edge);
        }
        for (link, id) in links {
            self.graph.add_edge(ix, self.index[id], *link);
        }
    }

    /// Lists a node at the place that its links now give it.
    fn settle(&mut self, ix: NodeIndex, id: &NodeId) {
        self.unlist(ix, id);
        let at = self.place(ix);
        self.graph[ix].at = at;
        self.list_of(ix, id).insert((at, id.clone()), ix);
    }

    fn unlist(&mut self, ix: NodeIndex, id: &NodeId) {
        let key = (self.graph[ix].at, id.clone());
        self.list_of(ix, id).remove(&key);
    }

    fn place(&self, ix: NodeIndex) -> u64 {
        if let Node::Persona(_) = self.graph[ix].node {
            return 0;
        }
        let edges = self
            .graph
            .edges(ix)
            .filter(|edge| !matches!(edge.weight(), Link::Cites | Link::Supersedes));
        let first = edges.map(|edge| self.graph[edge.target()].at).min();
        first.unwrap_or(self.graph[ix].at)
    }

    fn list_of(&mut self, ix: NodeIndex, id: &NodeId) -> &mut List {
        let list = self.graph[ix].node.list();
        let place = self.places[id.conversation()];
        &mut self.chats[place].lists[list]
    }
}
