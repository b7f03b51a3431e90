//! The encoder that the settings name.

use std::path::Path;
use std::sync::Arc;

use tmem_embed::{Encoder, EncoderSpec, HashEncoder, RecordedEncoder};

use super::Services;
use crate::config::{EmbedConfig, EmbedKind};
use crate::error::TmemError;

/// Length of hashed vectors unless the settings say otherwise.
const HASH_DIMENSIONS: usize = 256;

/// What the encoder will be; `None` if there is to be none.
pub(crate) fn spec(config: &EmbedConfig) -> Option<EncoderSpec> {
    let mut spec = match config.kind {
        EmbedKind::None => return None,
        EmbedKind::Hash => return Some(hash(config).spec().clone()),
        EmbedKind::Onnx | EmbedKind::OpenAi => named(&config.model),
    };
    spec.dimensions = config.dimensions.unwrap_or(spec.dimensions);
    spec.max_tokens = config.max_tokens.unwrap_or(spec.max_tokens);
    spec.gate = config.gate.or(spec.gate);
    Some(spec)
}

fn named(model: &str) -> EncoderSpec {
    match model.to_lowercase().as_str() {
        "all-minilm-l6-v2" => EncoderSpec::minilm(),
        "bge-m3" | "baai/bge-m3" => EncoderSpec {
            model: model.to_owned(),
            ..EncoderSpec::bge_m3()
        },
        "text-embedding-3-large" => EncoderSpec::plain(model, 3072, 8191),
        "text-embedding-3-small" => EncoderSpec::plain(model, 1536, 8191),
        _ => EncoderSpec::plain(model, 1024, 512),
    }
}

fn hash(config: &EmbedConfig) -> HashEncoder {
    HashEncoder::new(config.dimensions.unwrap_or(HASH_DIMENSIONS))
}

/// The vectors that lie beside a recording of calls: `demo.vectors.jsonl` beside `demo.jsonl`.
pub(super) fn recorded(calls: &Path) -> Result<Option<Arc<dyn Encoder>>, TmemError> {
    let path = calls.with_extension("vectors.jsonl");
    let wrong = |message: String| TmemError::Recording {
        path: path.clone(),
        message,
    };
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    Ok(Some(Arc::new(
        RecordedEncoder::parse(&text).map_err(wrong)?,
    )))
}

/// The encoder, or why there is none, with the way out.
pub(super) async fn load(services: &Services) -> Result<Arc<dyn Encoder>, String> {
    let config = &services.config.embed;
    match config.kind {
        EmbedKind::None => Err("the settings name no encoder ([embed] kind = \"none\")".to_owned()),
        EmbedKind::Hash => Ok(Arc::new(hash(config))),
        EmbedKind::Onnx => onnx(config, &services.sources.models).await,
        EmbedKind::OpenAi => http(services),
    }
}

#[cfg(feature = "onnx")]
async fn onnx(config: &EmbedConfig, models: &Path) -> Result<Arc<dyn Encoder>, String> {
    use tmem_embed::{OnnxEncoder, OnnxFiles};

    let spec = spec(config).expect("an ONNX encoder has a spec");
    let files = OnnxFiles::in_models(models, &spec.model);
    let load = move || OnnxEncoder::load(&files, spec);
    let loaded = tokio::task::spawn_blocking(load)
        .await
        .map_err(|error| crate::error::chain(&error))?;
    loaded
        .map(|encoder| Arc::new(encoder) as Arc<dyn Encoder>)
        .map_err(|error| crate::error::chain(&error))
}

#[cfg(not(feature = "onnx"))]
async fn onnx(_config: &EmbedConfig, _models: &Path) -> Result<Arc<dyn Encoder>, String> {
    Err("this build runs no ONNX models: it lacks the feature `onnx`".to_owned())
}

#[cfg(feature = "http")]
fn http(services: &Services) -> Result<Arc<dyn Encoder>, String> {
    use tmem_embed::{HttpEncoder, HttpOptions};

    let config = &services.config.embed;
    let spec = spec(config).expect("an endpoint's encoder has a spec");
    let client = services
        .sources
        .clients
        .of(super::endpoint::of_encoder(config))?;
    let options = HttpOptions {
        batch: config.batch,
        send_dimensions: config.dimensions.is_some(),
    };
    Ok(Arc::new(HttpEncoder::with_options(client, spec, options)))
}

#[cfg(not(feature = "http"))]
fn http(_services: &Services) -> Result<Arc<dyn Encoder>, String> {
    Err("this build cannot reach endpoints: it lacks the feature `http`".to_owned())
}
