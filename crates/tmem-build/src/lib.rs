//! Construction: from turns to scenes, topics, items, triggers and personas.
//!
//! The core is pure. [`plan`] says which steps are ready; each is rendered ([`prepare`]), asked
//! ([`ask`], the only thing that waits) and its answer made a change of the memory ([`accept`]).
//! Whoever drives it applies and keeps each change, in the order of the plan, and plans again until
//! nothing is left:
//!
//! ```text
//! loop {
//!     let steps = plan(inputs, conversation, config);
//!     if steps.is_empty() { break }
//!     // prepare all, ask side by side (`buffered`), then for each answer, in order:
//!     //     change = accept(&asked, inputs, config, prompts); apply(&mut memory, &mut jobs, &change);
//!     // if every answer is_waiting(): stop, a batch, a budget or an endpoint has to be seen to first
//! }
//! ```
//!
//! Every target has a job with a state and a reason. Pending work goes on with the next plan; what
//! failed or was refused only when asked for. All state is in the memory and its jobs, so a build
//! may stop anywhere. Keeping them is left to `tmem-store`, the call log to `tmem-llm`, the driving
//! to the facade.

mod agenda;
mod answer;
mod config;
mod context;
mod draft;
mod error;
mod estimate;
mod frame;
mod hygiene;
mod jobs;
mod pipeline;
mod prompts;
mod reply;
mod schema;
mod settled;
mod split;
mod stage;
mod stems;
mod step;
mod touched;
mod typical;
mod when;

pub use answer::answer;
pub use config::{BuildConfig, Caps, Hygiene, Segmenter};
pub use context::{Inputs, Vectors};
pub use draft::prompt;
pub use error::BuildError;
pub use estimate::{Cost, Estimate, estimate};
pub use jobs::{Jobs, MEASURED, apply};
pub use pipeline::{Prepared, accept, ask, flush, flush_after, plan, prepare, retry, run, wanted};
pub use prompts::Prompts;
pub use settled::settled;
pub use step::{Asked, Step};
pub use touched::touched;
