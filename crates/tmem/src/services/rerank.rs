//! The reranker that the settings name.

use std::path::Path;
use std::sync::Arc;

use tmem_embed::Reranker;

use super::Services;
use crate::config::{RerankConfig, RerankKind};
use crate::error::TmemError;

/// Longest pair of question and text (tokens); what exceeds it is cut from the longer.
#[cfg(any(feature = "onnx", feature = "http"))]
const MAX_TOKENS: usize = 512;

/// The reranker, if there is to be one.
pub(super) async fn load(services: &Services) -> Result<Option<Arc<dyn Reranker>>, TmemError> {
    let config = &services.config.rerank;
    let loaded = match config.kind {
        RerankKind::None => return Ok(None),
        RerankKind::Onnx => onnx(config, &services.sources.models).await,
        RerankKind::Http => http(services),
    };
    loaded.map(Some).map_err(TmemError::NoReranker)
}

#[cfg(feature = "onnx")]
async fn onnx(config: &RerankConfig, models: &Path) -> Result<Arc<dyn Reranker>, String> {
    use tmem_embed::{OnnxFiles, OnnxOptions, OnnxReranker};

    let files = OnnxFiles::in_models(models, &config.model);
    let load = move || OnnxReranker::load(&files, MAX_TOKENS, OnnxOptions::default());
    let loaded = tokio::task::spawn_blocking(load)
        .await
        .map_err(|error| crate::error::chain(&error))?;
    loaded
        .map(|model| Arc::new(model) as Arc<dyn Reranker>)
        .map_err(|error| crate::error::chain(&error))
}

#[cfg(not(feature = "onnx"))]
async fn onnx(_config: &RerankConfig, _models: &Path) -> Result<Arc<dyn Reranker>, String> {
    Err("this build runs no ONNX models: it lacks the feature `onnx`".to_owned())
}

#[cfg(feature = "http")]
fn http(services: &Services) -> Result<Arc<dyn Reranker>, String> {
    let config = &services.config.rerank;
    let client = services
        .sources
        .clients
        .of(super::endpoint::of_reranker(config))?;
    Ok(Arc::new(tmem_embed::HttpReranker::new(
        client,
        config.model.clone(),
        MAX_TOKENS,
    )))
}

#[cfg(not(feature = "http"))]
fn http(_services: &Services) -> Result<Arc<dyn Reranker>, String> {
    Err("this build cannot reach endpoints: it lacks the feature `http`".to_owned())
}
