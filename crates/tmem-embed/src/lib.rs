//! Text encoders and rerankers behind two small traits: ONNX models on this machine (`onnx`), or
//! any OpenAI-compatible endpoint (`http`).
//!
//! Pooling, prefixes, dimensions, token limit and trigger gate belong to the encoder. Where weights
//! come from is left to the facade, what is done with vectors to `tmem-index`.

pub mod encoder;

pub use encoder::{EmbedError, Encoder, EncoderSpec, Pooling, Reranker, TextRole};
