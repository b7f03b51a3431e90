//! [`TriggerId`]: which trigger, by its host and its place there.

use crate::id::{ItemId, SceneId};

/// Which trigger. Triggers have no ids of their own: a host's triggers are written all at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TriggerId {
    /// An attribute of a scene's trigger, by its position among the four.
    Attribute(SceneId, usize),
    /// A horizon sentence of a scene.
    Horizon(SceneId, usize),
    /// Entity and Bridge of an item.
    Item(ItemId, usize),
}
