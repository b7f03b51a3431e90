//! Long-term conversational memory that anticipates: the facade over the tmem crates.
//!
//! [`Tmem`] opens one space of a data folder and does everything with it: [`add`](Tmem::add) turns,
//! [`build`](Tmem::build) the memory, [`recall`](Tmem::recall) evidence, [`answer`](Tmem::answer)
//! from it, [`forget`](Tmem::forget). Settings are a plain struct, [`Config`]; models of your own go
//! in through [`Tmem::builder`].
//!
//! ```no_run
//! # async fn demo() -> Result<(), tmem::TmemError> {
//! let tmem = tmem::Tmem::open(tmem::Options::new("memory"))?;
//! let question = tmem::Question::new("Where did Ana grow up?");
//! println!("{}", tmem.recall(&question, &tmem.config().retrieve).await?.context.render());
//! # Ok(())
//! # }
//! ```
//!
//! It holds what the parts have in common (services from settings, the loop of construction, the
//! order of commits) and leaves the rest to them: construction to `tmem-build`, ranking to
//! `tmem-retrieve`, keeping to `tmem-store`. Features choose backends; each is passed on.

mod add;
mod answer;
mod batch;
mod budget;
mod build;
mod builder;
pub mod config;
mod cost;
mod coverage;
mod doctor;
mod error;
mod exchange;
mod firings;
mod forget;
mod hubs;
mod indexed;
mod newest;
mod progress;
mod recall;
mod reindex;
mod services;
mod shelf;
mod stats;
mod tmem;
mod vectors;
#[cfg(feature = "fetch")]
pub mod weights;

pub use tmem_build::Jobs;
pub use tmem_embed as embed;
#[cfg(feature = "http")]
pub use tmem_http as http;
pub use tmem_llm as llm;
pub use tmem_model as model;
pub use tmem_model::ingest;
pub use tmem_retrieve as retrieve;
pub use tmem_store as store;

pub use add::Added;
pub use answer::Answer;
pub use build::{BuildOptions, Listener, Stop};
pub use builder::Builder;
pub use config::{Config, ConfigError, Layers};
pub use cost::{Cost, Estimate};
pub use coverage::Coverage;
pub use doctor::{Check, Checkup, Health, examine, needed_models};
pub use error::TmemError;
pub use exchange::Imported;
pub use forget::{Forgotten, Target};
pub use progress::{Event, Problem, Stopped, Summary, Tally};
pub use recall::{Question, Recalled};
pub use reindex::Reindexed;
pub use services::language_model;
pub use shelf::spaces;
pub use stats::{Counts, Stats};
pub use tmem::{Access, Options, Tmem};
pub use tmem_store::TriggerCounts;
