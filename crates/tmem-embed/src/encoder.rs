//! The seams: [`Encoder`] and [`Reranker`].

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// Whether a text is looked for or looked up; some encoders prefix the two differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TextRole {
    /// A query.
    Query,
    /// A stored text.
    Passage,
}

/// How token vectors become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Mean over the tokens of the attention mask.
    Mean,
    /// The first token.
    Cls,
}

/// What belongs to an encoder and is stored beside its vectors.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct EncoderSpec {
    /// The model's name.
    pub model: String,
    /// Length of its vectors.
    pub dimensions: usize,
    /// How token vectors become one.
    pub pooling: Pooling,
    /// Put before queries.
    pub query_prefix: String,
    /// Put before stored texts.
    pub passage_prefix: String,
    /// Longest input (tokens, special ones included); longer text is cut.
    pub max_tokens: usize,
    /// Trigger gate τ: a fixed cosine (0.85 holds for bge-m3 alone), or `None` to calibrate it
    /// from the memory's own background.
    pub gate: Option<f32>,
}

/// Turns texts into unit vectors.
#[async_trait]
pub trait Encoder: Send + Sync {
    /// What belongs to it.
    fn spec(&self) -> &EncoderSpec;

    /// One vector per text, in order, of `spec().dimensions` finite numbers and norm 1.
    ///
    /// # Errors
    /// [`EmbedError`]; a blank text is a caller's fault ([`EmbedError::Blank`]), never a zero vector.
    async fn encode(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Scores texts against a query; higher is better. Off by default.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// One finite score per text, in order.
    ///
    /// # Errors
    /// [`EmbedError`] if the model cannot be run or reached.
    async fn score(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError>;
}

/// Why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A text without a visible character.
    #[error("text {index} of the batch is blank")]
    Blank {
        /// Its position.
        index: usize,
    },
    /// The model answered something other than one finite vector per text.
    #[error("{model}: {message}")]
    BadVectors {
        /// The model.
        model: String,
        /// What is wrong.
        message: String,
    },
}
