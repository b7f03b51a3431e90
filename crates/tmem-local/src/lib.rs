//! The embedded language model: a GGUF decoder with schema-constrained decoding.
