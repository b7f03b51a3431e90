//! Carries out a checked change on the graph.

use super::change::Change;
use super::graph::Graph;

/// Removes, then writes, referred kinds before those that refer to them.
pub(super) fn apply(graph: &mut Graph, change: &Change) {
    for conversation in &change.removed.conversations {
        graph.remove_conversation(conversation);
    }
    for id in change.removed.nodes() {
        graph.remove(&id);
    }
    change
        .headings
        .iter()
        .for_each(|heading| graph.set_heading(heading));
    change.ids.iter().for_each(|ids| graph.raise(ids));
    graph.put(&change.turns);
    graph.put(&change.scenes);
    graph.put(&change.topics);
    graph.put(&change.items);
    graph.put(&change.personas);
}
