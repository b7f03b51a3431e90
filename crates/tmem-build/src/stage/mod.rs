//! The stages: each says what is ready, what is asked, and what becomes of the reply.

pub(crate) mod close;
pub(crate) mod cut;
pub(crate) mod facts;
pub(crate) mod item_triggers;
pub(crate) mod items;
pub(crate) mod personas;
pub(crate) mod scene_triggers;
pub(crate) mod segment;
pub(crate) mod topics;
pub(crate) mod write;
