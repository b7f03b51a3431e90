//! Every setting in one plain struct, read from `tmem.toml`, the environment and flags.
//!
//! Precedence: flag, then `TMEM_<SECTION>_<KEY>` from the environment, then `tmem.toml`, then the
//! default. An unknown key is an error that names the nearest known one; a secret is never a
//! setting, only the name of the variable that holds it.

mod layers;
mod near;
mod sections;

pub use layers::Layers;
pub(crate) use sections::without_password;
pub use sections::{
    AnswerConfig, BudgetConfig, EmbedConfig, EmbedKind, LlmConfig, LlmKind, RerankConfig,
    RerankKind, StageConfig, TriggersConfig,
};

use serde::Serialize;
use tmem_build::BuildConfig;
use tmem_index::IndexConfig;
use tmem_retrieve::RetrieveConfig;

/// All settings of one opened memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Config {
    /// The language model.
    pub llm: LlmConfig,
    /// The text encoder.
    pub embed: EmbedConfig,
    /// The reranker, off by default.
    pub rerank: RerankConfig,
    /// Construction. Its `profile` is `auto`, `small` or `full`: the values that missing keys take.
    pub build: BuildConfig,
    /// Retrieval. Its `preset` is `paper`, `balanced` or `wide`: the values that missing keys take.
    pub retrieve: RetrieveConfig,
    /// Indices.
    pub index: IndexConfig,
    /// Answering.
    pub answer: AnswerConfig,
    /// What is noted about triggers.
    pub triggers: TriggersConfig,
    /// What may be spent.
    pub budget: BudgetConfig,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{origin} is not valid TOML")]
    Syntax {
        /// The file.
        origin: String,
        /// Where and why.
        source: toml::de::Error,
    },
    /// A section or key that nobody reads.
    #[error("{origin}: unknown {what} `{name}`{}", near::suggestion(.near))]
    Unknown {
        /// File or variable.
        origin: String,
        /// Section or key, with its section.
        what: String,
        /// As it was written.
        name: String,
        /// The nearest known one.
        near: Option<String>,
    },
    /// A value of the wrong type or out of range.
    #[error("{origin}: [{section}]: {message}")]
    Value {
        /// File or variable.
        origin: String,
        /// The section.
        section: String,
        /// What is wrong.
        message: String,
    },
}

impl Config {
    /// The settings as TOML, every key with its effective value.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("settings hold nothing that TOML cannot say")
    }
}

#[cfg(test)]
mod tests;
