//! The encoder behind a cache of vectors on disk.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use tmem::embed::{Encoder, EncoderSpec, HashEncoder, OnnxEncoder, OnnxFiles, TextRole, text_hash};
use tmem::store::Store;
use tmem_eval::{Embed, EvalError, TextKind};

use super::args::Shared;

/// An encoder whose vectors are kept by its identity and the text.
pub(super) struct Cached {
    spec: EncoderSpec,
    encoder: Option<Arc<dyn Encoder>>,
    missing: String,
    store: Store,
}

/// The encoder that `--encoder` names; `None` for words alone.
///
/// Weights that are not there are an error only when a vector is missing from the cache.
pub(super) async fn open(shared: &Shared) -> Result<Option<Cached>> {
    let spec = match shared.encoder.as_str() {
        "none" => return Ok(None),
        "all-MiniLM-L6-v2" => EncoderSpec::minilm(),
        "bge-m3" => EncoderSpec::bge_m3(),
        "hash" => HashEncoder::new(256).spec().clone(),
        other => {
            bail!("no encoder is called {other:?}; there are all-MiniLM-L6-v2, bge-m3, hash, none")
        }
    };
    let folder = shared
        .cache
        .clone()
        .unwrap_or_else(|| PathBuf::from("target/bench-cache"));
    let store = Store::open(&folder).with_context(|| format!("the cache {}", folder.display()))?;
    let loaded = load(shared, &spec).await;
    let missing = loaded
        .as_ref()
        .err()
        .map(|error| format!("{error:#}"))
        .unwrap_or_default();
    Ok(Some(Cached {
        spec,
        encoder: loaded.ok(),
        missing,
        store,
    }))
}

async fn load(shared: &Shared, spec: &EncoderSpec) -> Result<Arc<dyn Encoder>> {
    if shared.encoder == "hash" {
        return Ok(Arc::new(HashEncoder::new(256)));
    }
    let models = shared.models.clone().context(
        "no folder of models: give --models DIR or set TMEM_MODELS, and fetch the weights with \
         `tmem models pull`",
    )?;
    let files = OnnxFiles::in_models(&models, &spec.model);
    let spec = spec.clone();
    let encoder = tokio::task::spawn_blocking(move || OnnxEncoder::load(&files, spec)).await??;
    Ok(Arc::new(encoder))
}

impl Cached {
    fn lost(&self, what: impl std::fmt::Display) -> EvalError {
        EvalError::Encoder(format!("{}: {what}", self.spec.model))
    }
}

#[async_trait]
impl Embed for Cached {
    fn identity(&self) -> String {
        self.spec.identity()
    }

    fn gate(&self) -> Option<f32> {
        self.spec.gate
    }

    async fn embed(&self, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, EvalError> {
        let role = match kind {
            TextKind::Query => TextRole::Query,
            TextKind::Passage => TextRole::Passage,
        };
        let identity = self.identity();
        let hashes: Vec<String> = texts.iter().map(|text| text_hash(role, text)).collect();
        let kept = self
            .store
            .vectors(&identity, &hashes)
            .map_err(|e| self.lost(e))?;
        let new: Vec<usize> = (0..texts.len())
            .filter(|place| kept[*place].is_none())
            .collect();
        let mut vectors = kept;
        if !new.is_empty() {
            let encoder = self
                .encoder
                .as_ref()
                .ok_or_else(|| self.lost(&self.missing))?;
            let asked: Vec<String> = new.iter().map(|place| texts[*place].clone()).collect();
            let made = encoder
                .encode(role, &asked)
                .await
                .map_err(|e| self.lost(e))?;
            let keep: Vec<_> = new
                .iter()
                .zip(&made)
                .map(|(place, v)| (hashes[*place].clone(), v.clone()))
                .collect();
            self.store
                .put_vectors(&identity, &keep)
                .map_err(|e| self.lost(e))?;
            for (place, vector) in new.into_iter().zip(made) {
                vectors[place] = Some(vector);
            }
        }
        let all: Option<Vec<Vec<f32>>> = vectors.into_iter().collect();
        all.ok_or_else(|| self.lost("it gave fewer vectors than texts"))
    }
}
