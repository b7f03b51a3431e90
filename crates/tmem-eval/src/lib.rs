//! Benchmarks that cannot flatter: LoCoMo, LoCoMo-Plus and LongMemEval-S, with controls, pooled
//! memories, baselines, ablations, judges and reports.
//!
//! Retrieval is scored without a model. What needs one (answers, verdicts) goes through the call
//! log of `tmem-llm` and can be replayed. Files are read by loaders, never fetched; encoders come
//! in through [`Embed`], memories through documents or a closure of the caller.

pub mod answer;
pub mod bench;
pub mod dataset;
pub mod embed;
pub mod error;
pub mod flat;
pub mod memories;
pub mod metric;
pub mod progress;
pub mod rank;
pub mod report;
pub mod results;
pub mod score;
pub mod stat;
pub mod system;
pub mod world;

pub use bench::{Bench, Sweep};
pub use embed::{Embed, TextKind, Vectors};
pub use error::EvalError;
pub use memories::Memories;
pub use progress::{Progress, Quiet};
pub use results::Results;
