//! The typed graph itself: the only place that names petgraph.
//!
//! A node knows its place (`at`): a turn the number of its arrival, a scene that of its first turn,
//! a topic or an item that of its first scene. Lists are kept sorted by place, then id; beside those
//! of the five kinds there is one of the open turns, and one of each speaker's turns.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Unbounded};

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
    /// Turns that no scene holds.
    open: List,
    /// Turns by who says them.
    voices: BTreeMap<String, List>,
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
    ) -> impl DoubleEndedIterator<Item = &K> {
        self.contents(self.chat(conversation).map(|chat| &chat.lists[K::LIST]))
    }

    pub(super) fn open(
        &self,
        conversation: &ConversationId,
    ) -> impl DoubleEndedIterator<Item = &Turn> {
        self.contents(self.chat(conversation).map(|chat| &chat.open))
    }

    /// Those who say something, in order of their first word.
    pub(super) fn heard(&self, conversation: &ConversationId) -> Vec<&str> {
        let voices = self
            .chat(conversation)
            .into_iter()
            .flat_map(|chat| &chat.voices);
        let mut heard: Vec<_> = voices
            .map(|(who, said)| (said.keys().next(), who))
            .collect();
        heard.sort();
        heard.into_iter().map(|(_, who)| who.as_str()).collect()
    }

    pub(super) fn said_by(
        &self,
        conversation: &ConversationId,
        speaker: &str,
    ) -> impl DoubleEndedIterator<Item = &Turn> {
        let chat = self.chat(conversation);
        self.contents(chat.and_then(|chat| chat.voices.get(speaker)))
    }

    fn contents<'a, K: Kind + 'a>(
        &'a self,
        list: Option<&'a List>,
    ) -> impl DoubleEndedIterator<Item = &'a K> {
        let places = list.into_iter().flatten();
        places.map(|(_, ix)| self.content(*ix))
    }

    /// The place of a node; `None` if it is not there.
    pub(super) fn at(&self, id: &NodeId) -> Option<u64> {
        self.index.get(id).map(|ix| self.graph[*ix].at)
    }

    /// How many nodes of a kind stand before `at`; looks at those behind it.
    pub(super) fn count_before<K: Kind>(&self, conversation: &ConversationId, at: u64) -> usize {
        let list = self.chat(conversation).map(|chat| &chat.lists[K::LIST]);
        list.map_or(0, |list| {
            let behind = list.keys().rev().take_while(|(place, _)| *place >= at);
            list.len() - behind.count()
        })
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

    /// Ids of all nodes that refer to `id`, in id order.
    pub(super) fn referrers(&self, id: &NodeId) -> Vec<NodeId> {
        let ix = self.index.get(id).into_iter();
        let sources = ix.flat_map(|ix| self.graph.neighbors_directed(*ix, Incoming));
        let mut ids: Vec<_> = sources.map(|ix| self.id(ix)).collect();
        ids.sort();
        ids
    }

    /// Turns of a conversation that arrived before `turn`, in arrival order.
    pub(super) fn before(&self, turn: &TurnId) -> impl DoubleEndedIterator<Item = &Turn> {
        let key = self.turn_key(turn);
        let turns = key.and_then(|key| Some((self.turns_of(turn)?, key)));
        let earlier = turns.into_iter().flat_map(|(list, key)| list.range(..key));
        earlier.map(|(_, ix)| self.content(*ix))
    }

    /// Turns of a conversation that arrived after `turn`, in arrival order.
    pub(super) fn after(&self, turn: &TurnId) -> impl DoubleEndedIterator<Item = &Turn> {
        let key = self.turn_key(turn);
        let turns = key.and_then(|key| Some((self.turns_of(turn)?, key)));
        let later = turns
            .into_iter()
            .flat_map(|(list, key)| list.range((Excluded(key), Unbounded)));
        later.map(|(_, ix)| self.content(*ix))
    }

    fn turn_key(&self, turn: &TurnId) -> Option<(u64, NodeId)> {
        let id = NodeId::from(turn.clone());
        Some((self.at(&id)?, id))
    }

    fn turns_of(&self, turn: &TurnId) -> Option<&List> {
        let chat = self.chat(turn.conversation());
        chat.map(|chat| &chat.lists[Turn::LIST])
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

    /// Inserts or replaces nodes that may refer to each other, with their edges and places.
    pub(super) fn put<K: Kind>(&mut self, contents: &[K]) {
        let nodes: Vec<_> = contents.iter().map(|content| self.store(content)).collect();
        for (content, ix) in contents.iter().zip(nodes) {
            self.relink(ix, &content.links());
            let id = content.id();
            self.settle(ix, &id);
            for id in self.referrers(&id) {
                self.settle(self.index[&id], &id);
            }
        }
    }

    /// Inserts or replaces what a node holds; it is in no list then.
    fn store<K: Kind>(&mut self, content: &K) -> NodeIndex {
        let id = content.id();
        let Some(&ix) = self.index.get(&id) else {
            return self.insert(&id, content);
        };
        self.unlist(ix, &id);
        self.graph[ix].node = content.clone().wrap();
        ix
    }

    pub(super) fn remove(&mut self, id: &NodeId) {
        if let Some(ix) = self.index.remove(id) {
            self.unlist(ix, id);
            let held = self.held(ix);
            self.graph.remove_node(ix);
            held.into_iter().for_each(|turn| self.list_open(turn));
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
                open: List::new(),
                voices: BTreeMap::new(),
            });
            self.chats.len() - 1
        })
    }

    fn relink(&mut self, ix: NodeIndex, links: &[(Link, NodeId)]) {
        let mut held = self.held(ix);
        let old: Vec<_> = self.graph.edges(ix).map(|edge| edge.id()).collect();
        for edge in old {
            self.graph.remove_edge(edge);
        }
        for (link, id) in links {
            self.graph.add_edge(ix, self.index[id], *link);
        }
        held.extend(self.held(ix));
        held.into_iter().for_each(|turn| self.list_open(turn));
    }

    /// The turns of a scene; none of anything else.
    fn held(&self, ix: NodeIndex) -> Vec<NodeIndex> {
        let edges = self.graph.edges(ix);
        let holds = edges.filter(|edge| *edge.weight() == Link::Holds);
        holds.map(|edge| edge.target()).collect()
    }

    /// Lists a turn among the open ones, or not, as its scenes now are.
    fn list_open(&mut self, ix: NodeIndex) {
        let id = self.id(ix);
        let mut edges = self.graph.edges_directed(ix, Incoming);
        let is_held = edges.any(|edge| *edge.weight() == Link::Holds);
        let key = (self.graph[ix].at, id);
        let open = &mut self.chat_of(&key.1).open;
        if is_held {
            open.remove(&key);
        } else {
            open.insert(key, ix);
        }
    }

    /// Lists a node at the place that its links now give it.
    fn settle(&mut self, ix: NodeIndex, id: &NodeId) {
        self.unlist(ix, id);
        let at = self.place(ix);
        self.graph[ix].at = at;
        let key = (at, id.clone());
        if let Node::Turn(turn) = &self.graph[ix].node {
            let speaker = turn.speaker.clone();
            let voices = &mut self.chat_of(id).voices;
            voices.entry(speaker).or_default().insert(key.clone(), ix);
            self.list_open(ix);
        }
        self.list_of(ix, id).insert(key, ix);
    }

    fn unlist(&mut self, ix: NodeIndex, id: &NodeId) {
        let key = (self.graph[ix].at, id.clone());
        self.list_of(ix, id).remove(&key);
        if let Node::Turn(turn) = &self.graph[ix].node {
            let speaker = turn.speaker.clone();
            let chat = self.chat_of(id);
            chat.open.remove(&key);
            let said = chat.voices.get_mut(&speaker);
            let is_silent = said.is_some_and(|said| said.remove(&key).is_some() && said.is_empty());
            if is_silent {
                chat.voices.remove(&speaker);
            }
        }
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
        &mut self.chat_of(id).lists[list]
    }

    fn chat_of(&mut self, id: &NodeId) -> &mut Chat {
        let place = self.places[id.conversation()];
        &mut self.chats[place]
    }
}
