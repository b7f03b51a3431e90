//! The seams: [`Encoder`] and [`Reranker`], and the [`EncoderSpec`] that travels with vectors.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::EmbedError;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Mean over the tokens of the attention mask.
    #[default]
    Mean,
    /// The first token.
    Cls,
}

/// What belongs to an encoder and is stored beside its vectors.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderSpec {
    /// The model's name.
    pub model: String,
    /// Length of its vectors.
    pub dimensions: usize,
    /// How token vectors become one (an endpoint does this itself).
    #[serde(default)]
    pub pooling: Pooling,
    /// Put before queries.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before stored texts.
    #[serde(default)]
    pub passage_prefix: String,
    /// Longest input (tokens, special ones included); longer text is cut.
    pub max_tokens: usize,
    /// Trigger gate τ: a fixed cosine (0.85 holds for bge-m3 alone), or `None` to calibrate it
    /// from the memory's own background.
    #[serde(default)]
    pub gate: Option<f32>,
}

impl EncoderSpec {
    /// all-MiniLM-L6-v2, the default: small, English, its gate calibrated.
    pub fn minilm() -> Self {
        Self::plain("all-MiniLM-L6-v2", 384, 256)
    }

    /// bge-m3, the paper's encoder: multilingual, long inputs, gate 0.85.
    pub fn bge_m3() -> Self {
        Self {
            pooling: Pooling::Cls,
            gate: Some(0.85),
            ..Self::plain("bge-m3", 1024, 8192)
        }
    }

    /// Mean pooling, no prefix, gate calibrated.
    pub fn plain(model: &str, dimensions: usize, max_tokens: usize) -> Self {
        Self {
            model: model.to_owned(),
            dimensions,
            pooling: Pooling::Mean,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            max_tokens,
            gate: None,
        }
    }

    /// The key of stored vectors: all that changes a vector. The gate does not, so that tuning it
    /// embeds nothing again.
    pub fn identity(&self) -> String {
        let pooling = match self.pooling {
            Pooling::Mean => "mean",
            Pooling::Cls => "cls",
        };
        format!(
            "{}/{}/{pooling}/{}/{:?}/{:?}",
            self.model, self.dimensions, self.max_tokens, self.query_prefix, self.passage_prefix
        )
    }

    /// What stands before a text of this role.
    pub fn prefix(&self, role: TextRole) -> &str {
        match role {
            TextRole::Query => &self.query_prefix,
            TextRole::Passage => &self.passage_prefix,
        }
    }
}

/// Turns texts into unit vectors.
#[async_trait]
pub trait Encoder: Send + Sync {
    /// What belongs to it.
    fn spec(&self) -> &EncoderSpec;

    /// One vector per text, in order, of `spec().dimensions` finite numbers and norm 1. A text's
    /// vector does not depend on the others of the call.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_names_all_that_changes_a_vector() {
        let base = EncoderSpec::minilm();
        assert_eq!(base.identity(), r#"all-MiniLM-L6-v2/384/mean/256/""/"""#);
        let with = |change: fn(&mut EncoderSpec)| {
            let mut spec = EncoderSpec::minilm();
            change(&mut spec);
            spec.identity()
        };
        for other in [
            with(|s| s.model = "other".into()),
            with(|s| s.dimensions = 385),
            with(|s| s.pooling = Pooling::Cls),
            with(|s| s.max_tokens = 128),
            with(|s| s.query_prefix = "query: ".into()),
            with(|s| s.passage_prefix = "query: ".into()),
        ] {
            assert_ne!(other, base.identity());
        }
        assert_eq!(with(|s| s.gate = Some(0.5)), base.identity());
    }

    #[test]
    fn a_spec_needs_name_length_and_limit_only() {
        let read = serde_json::from_str::<EncoderSpec>;
        let spec = read(r#"{"model": "m", "dimensions": 8, "max_tokens": 64}"#).unwrap();
        assert_eq!(spec, EncoderSpec::plain("m", 8, 64));
        assert!(read(r#"{"model": "m", "dimensions": 8, "max_tokens": 64, "gat": 1}"#).is_err());
    }
}
