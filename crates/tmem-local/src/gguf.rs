//! Reading a GGUF file.

/// Values of `general.architecture` that the decoder runs.
pub(crate) const ARCHITECTURES: &[&str] = &["qwen2", "llama"];
