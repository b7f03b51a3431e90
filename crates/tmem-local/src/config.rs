//! The few knobs of an embedded model, and the news it gives while it works.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Knobs of an embedded model. A missing key takes its default; an unknown one is an error.
///
/// The number of threads is not among them: the kernels read `CANDLE_NUM_THREADS` (or
/// `RAYON_NUM_THREADS`) when the process first computes, and otherwise use every physical core.
/// [`threads`] says what they settled on.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalConfig {
    /// Tokens of prompt and reply together; never more than the model was trained for.
    pub context: usize,
    /// Calls that are decoded side by side; a reply does not depend on it.
    pub parallel: usize,
    /// Constant prompt beginnings kept ready, so that they are not read again; 0 keeps none.
    pub kept_prefixes: usize,
}

impl Default for LocalConfig {
    fn default() -> Self {
        Self {
            context: 8192,
            parallel: 4,
            kept_prefixes: 8,
        }
    }
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Name of the prompt.
    pub prompt: String,
    /// Tokens of the prompt read so far.
    pub read: usize,
    /// Tokens of the prompt.
    pub to_read: usize,
    /// Tokens of the reply so far.
    pub written: usize,
}

/// Hears of every step of every call; called from the decoding thread, so it should be quick.
pub type ProgressFn = Arc<dyn Fn(&Progress) + Send + Sync>;

/// Threads that the kernels use.
#[must_use]
pub fn threads() -> usize {
    candle_core::utils::barrier_pool().n_workers() + 1
}
