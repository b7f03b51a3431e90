//! The embedded language model: a GGUF decoder with schema-constrained decoding.
//!
//! It needs no server, no key, no GPU and no system package. A [`LocalModel`] answers the same
//! requests as a remote model; a reply to a schema is always JSON of that schema, because tokens
//! that would break it cannot be chosen and the value is closed when the token cap is reached.
//! Where weights come from, and what is asked, is left to others.

mod attention;
mod cache;
mod config;
mod decoder;
mod engine;
mod error;
mod gguf;
mod grammar;
mod model;
mod prefixes;
mod sampler;
mod session;
mod template;
mod vocab;

pub use config::{LocalConfig, Progress, ProgressFn, threads};
pub use error::LocalError;
pub use model::LocalModel;

#[cfg(test)]
mod tests;
