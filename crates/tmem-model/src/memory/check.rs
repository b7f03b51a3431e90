//! Holds a change against the invariants before anything is touched.

use std::collections::{HashMap, HashSet};

use super::change::Change;
use super::error::{ModelError, NodeId};
use super::graph::Graph;
use super::kind::Link;
use crate::id::{ConversationId, ItemId, SceneId, TurnId};
use crate::node::{Item, ItemKind, Scene, Topic};

/// Refuses a change that would break an invariant.
pub(super) fn check(graph: &Graph, change: &Change) -> Result<(), ModelError> {
    let after = After::new(graph, change)?;
    let mut claims = HashMap::new();
    change
        .scenes
        .iter()
        .try_for_each(|scene| after.scene(scene, &mut claims))?;
    change
        .topics
        .iter()
        .try_for_each(|topic| after.topic(topic))?;
    change.items.iter().try_for_each(|item| after.item(item))?;
    change
        .removed
        .nodes()
        .try_for_each(|id| after.no_referrer(&id))
}

/// The memory as it would be.
struct After<'a> {
    graph: &'a Graph,
    written: HashSet<NodeId>,
    gone: HashSet<NodeId>,
    closed: HashSet<&'a ConversationId>,
    /// The new turns of each conversation: the first, and who follows whom.
    first: HashMap<&'a ConversationId, &'a TurnId>,
    next: HashMap<&'a TurnId, &'a TurnId>,
    items: HashMap<&'a ItemId, &'a Item>,
}

impl<'a> After<'a> {
    fn new(graph: &'a Graph, change: &'a Change) -> Result<Self, ModelError> {
        let mut after = Self {
            graph,
            written: HashSet::new(),
            gone: change.removed.nodes().collect(),
            closed: change.removed.conversations.iter().collect(),
            first: HashMap::new(),
            next: HashMap::new(),
            items: change.items.iter().map(|item| (&item.id, item)).collect(),
        };
        for id in change.written() {
            after.write(id)?;
        }
        after.chain(change);
        Ok(after)
    }

    fn write(&mut self, id: NodeId) -> Result<(), ModelError> {
        if self.gone.contains(&id) {
            Err(ModelError::Contradiction(id))
        } else if self.written.contains(&id) {
            Err(ModelError::Duplicate(id))
        } else {
            self.written.insert(id);
            Ok(())
        }
    }

    /// Notes the order of the new turns.
    fn chain(&mut self, change: &'a Change) {
        let mut last: HashMap<&ConversationId, &TurnId> = HashMap::new();
        for turn in &change.turns {
            if self.stays(&turn.id.clone().into()) {
                continue;
            }
            let conversation = turn.id.conversation();
            if let Some(previous) = last.insert(conversation, &turn.id) {
                self.next.insert(previous, &turn.id);
            } else {
                self.first.insert(conversation, &turn.id);
            }
        }
    }

    /// Whether a node of the memory is neither removed nor in a removed conversation.
    fn stays(&self, id: &NodeId) -> bool {
        let gone = self.gone.contains(id) || self.closed.contains(id.conversation());
        self.graph.contains(id) && !gone
    }

    fn scene(
        &self,
        scene: &'a Scene,
        claims: &mut HashMap<&'a TurnId, &'a SceneId>,
    ) -> Result<(), ModelError> {
        if scene.turns.is_empty() {
            return Err(ModelError::EmptyScene(scene.id.clone()));
        }
        self.refers(&scene.id.clone().into(), &scene.turns)?;
        for turn in &scene.turns {
            let rival = claims.insert(turn, &scene.id).or_else(|| self.holder(turn));
            if let Some(rival) = rival.filter(|rival| **rival != scene.id) {
                return Err(shared(turn, rival, &scene.id));
            }
        }
        scene
            .turns
            .windows(2)
            .try_for_each(|pair| self.adjacent(&scene.id, &pair[0], &pair[1]))
    }

    /// The scene that holds `turn` now and is neither rewritten nor removed.
    fn holder(&self, turn: &TurnId) -> Option<&'a SceneId> {
        let scene = self
            .graph
            .sources::<Scene>(&turn.clone().into(), Link::Holds)
            .pop()?;
        let id: NodeId = scene.id.clone().into();
        (self.stays(&id) && !self.written.contains(&id)).then_some(&scene.id)
    }

    fn adjacent(&self, scene: &SceneId, a: &TurnId, b: &TurnId) -> Result<(), ModelError> {
        if self.follower(a).as_ref() == Some(b) {
            return Ok(());
        }
        Err(ModelError::Gap {
            scene: scene.clone(),
            previous: a.clone(),
            turn: b.clone(),
        })
    }

    fn follower(&self, turn: &TurnId) -> Option<TurnId> {
        let id: NodeId = turn.clone().into();
        if !self.stays(&id) {
            return self.next.get(turn).copied().cloned();
        }
        let mut later = self.graph.after(turn).map(|later| &later.id);
        let stays = |later: &&TurnId| self.stays(&NodeId::from((*later).clone()));
        let next = later.find(stays);
        next.or_else(|| self.first.get(turn.conversation()).copied())
            .cloned()
    }

    fn topic(&self, topic: &Topic) -> Result<(), ModelError> {
        if topic.scenes.is_empty() {
            return Err(ModelError::EmptyTopic(topic.id.clone()));
        }
        self.refers(&topic.id.clone().into(), &topic.scenes)
    }

    fn item(&self, item: &Item) -> Result<(), ModelError> {
        let (id, scenes) = (NodeId::from(item.id.clone()), item.scenes.len());
        self.refers(&id, &item.scenes)?;
        self.refers(&id, &item.turns)?;
        self.refers(&id, &item.supersedes)?;
        self.acyclic(item)?;
        let fits = match item.kind {
            ItemKind::Atomic => scenes == 1,
            ItemKind::Connected => scenes >= 2,
        };
        let (item, kind) = (item.id.clone(), item.kind);
        if fits {
            Ok(())
        } else {
            Err(ModelError::Sources { item, kind, scenes })
        }
    }

    /// No item supersedes itself, over however many others.
    fn acyclic(&self, item: &Item) -> Result<(), ModelError> {
        let (mut open, mut seen) = (vec![item], HashSet::new());
        while let Some(later) = open.pop() {
            if later.supersedes.contains(&item.id) {
                return Err(ModelError::Cycle(item.id.clone()));
            }
            let earlier = later.supersedes.iter().filter(|id| seen.insert(*id));
            open.extend(earlier.filter_map(|id| self.item_by(id)));
        }
        Ok(())
    }

    fn item_by(&self, id: &ItemId) -> Option<&Item> {
        let written = self.items.get(id).copied();
        written.or_else(|| self.graph.get(&id.clone().into()))
    }

    /// Every reference exists, once, in the same conversation.
    fn refers<I: Clone + Into<NodeId>>(&self, from: &NodeId, ids: &[I]) -> Result<(), ModelError> {
        let mut seen = HashSet::new();
        for to in ids.iter().map(|id| id.clone().into()) {
            let from = from.clone();
            if to.conversation() != from.conversation() {
                return Err(ModelError::Foreign { from, to });
            } else if !self.written.contains(&to) && !self.stays(&to) {
                return Err(ModelError::Missing { from, to });
            } else if !seen.insert(to.clone()) {
                return Err(ModelError::Repeated { from, to });
            }
        }
        Ok(())
    }

    /// Nothing that stays as it is refers to the removed `to`.
    fn no_referrer(&self, to: &NodeId) -> Result<(), ModelError> {
        let referrers = self.graph.referrers(to).into_iter();
        let mut left = referrers.filter(|id| self.stays(id) && !self.written.contains(id));
        left.next().map_or(Ok(()), |from| {
            Err(ModelError::Missing {
                from,
                to: to.clone(),
            })
        })
    }
}

fn shared(turn: &TurnId, first: &SceneId, second: &SceneId) -> ModelError {
    ModelError::Shared {
        turn: turn.clone(),
        first: first.clone(),
        second: second.clone(),
    }
}
