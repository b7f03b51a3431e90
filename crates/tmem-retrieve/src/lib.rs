//! The cascade with trigger bypass: from an embedded query to typed evidence with a trace (section
//! 3.4 of the paper).
//!
//! [`Retriever::recall`] ranks topics, scenes and items by similarity, lets triggers bring in what
//! similarity cannot reach, and gives a [`Context`] (what the answering model sees: scenes, items,
//! open turns, personas; it has no place for a topic or a trigger) and a [`Trace`] (how each piece
//! got in or why it stayed out). Ranking does no I/O and does not await: the query comes embedded.
//!
//! Embedding the query, reranking and answering are left to the facade.

pub mod config;
pub mod context;
mod cue;
pub mod explain;
pub mod fuse;
pub mod preset;
pub mod query;
pub mod trace;

mod assemble;
mod brief;
mod budget;
mod cascade;
mod escape;
mod finish;
mod ranking;
mod record;
mod render;
mod scope;
mod words;

pub use cascade::{Recall, Retriever};
pub use config::{CueFusion, CueWeights, RetrieveConfig};
pub use context::{
    Context, ItemEvidence, PersonaEvidence, SceneEvidence, Shown, TurnEvidence, When,
};
pub use fuse::reciprocal_rank_fusion;
pub use preset::{Preset, Switch};
pub use query::Query;
pub use trace::{
    Candidate, Channel, Cut, Family, Fate, List, ListRank, Note, Trace, TriggerHit, Via,
};
