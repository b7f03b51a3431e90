//! The memory of conversations as one typed graph: turns, scenes, items, topics, triggers and
//! personas, and the exchange format that carries them between programs.
//!
//! Everything here is pure: no I/O, no async, no clock. Searching is left to `tmem-index`, writing
//! scenes and triggers to `tmem-build`, keeping them to `tmem-store`.

pub mod document;
pub mod id;
pub mod ingest;
pub mod memory;
pub mod node;
pub mod text;
pub mod time;
pub mod trigger;
pub mod work;

pub use document::{Document, DocumentError};
pub use id::{ConversationId, ItemId, SceneId, TopicId, TurnId};
pub use jiff::civil::DateTime;
pub use memory::{Change, Heading, Ids, Memory, ModelError, NodeId, Removed};
pub use node::{
    Confidence, HorizonTrigger, Item, ItemKind, ItemTrigger, Persona, Scene, SceneTrigger, Topic,
    Turn, Validity,
};
pub use trigger::TriggerId;
pub use work::{Job, JobKey, JobState, Stage};
