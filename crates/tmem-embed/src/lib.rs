//! Text encoders and rerankers behind two small traits: ONNX models on this machine (`onnx`), or
//! any OpenAI-compatible endpoint (`http`).
//!
//! Pooling, prefixes, dimensions, token limit and trigger gate belong to the encoder. Where weights
//! come from is left to the facade, what is done with vectors to `tmem-index`, and keeping them to
//! whoever stores: [`text_hash`] and [`cache_key`] name them.

#[cfg(feature = "onnx")]
mod batch;
mod check;
pub mod encoder;
mod error;
pub mod hash;
#[cfg(feature = "http")]
pub mod http;
pub mod key;
#[cfg(feature = "onnx")]
pub mod onnx;
pub mod recorded;

pub use check::is_blank;
pub use encoder::{Encoder, EncoderSpec, Pooling, Reranker, TextRole};
pub use error::EmbedError;
pub use hash::HashEncoder;
#[cfg(feature = "http")]
pub use http::{HttpEncoder, HttpOptions, HttpReranker};
pub use key::{cache_key, text_hash};
#[cfg(feature = "onnx")]
pub use onnx::{OnnxEncoder, OnnxFiles, OnnxOptions, OnnxReranker};
pub use recorded::RecordedEncoder;
