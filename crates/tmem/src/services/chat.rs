//! The language model that the settings name, with all that stands around it: the model of each
//! stage, the call log, the budget; or a recording, or a batch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tmem_llm::{CallLog, ChatModel, LoggedModel, MemoryLog, Mode, Nameplate};

use super::router::Router;
use super::{Injected, Services};
use crate::budget::Budgeted;
use crate::config::{LlmConfig, LlmKind};
use crate::error::TmemError;
use crate::tmem::Options;

/// Where answers come from.
pub(super) enum Plan {
    /// The model.
    Live,
    /// Somebody else, later.
    Batch,
    /// A recording.
    Replay(Arc<MemoryLog>),
}

impl Plan {
    pub(super) fn new(options: &Options) -> Result<Self, TmemError> {
        match (&options.replay, options.batch) {
            (Some(path), _) => Ok(Self::Replay(Arc::new(recording(path)?))),
            (None, true) => Ok(Self::Batch),
            (None, false) => Ok(Self::Live),
        }
    }
}

fn recording(path: &Path) -> Result<MemoryLog, TmemError> {
    let wrong = |message: String| TmemError::Recording {
        path: path.to_owned(),
        message,
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    MemoryLog::from_jsonl(&text).map_err(wrong)
}

/// The model of each stage behind the log, or the recording in its place.
pub(super) async fn assemble(services: &Services) -> Result<Arc<dyn ChatModel>, TmemError> {
    if let Plan::Replay(recording) = &services.plan {
        return Ok(Arc::new(replayed(recording)));
    }
    let config = &services.config.llm;
    let usual = one(config.clone(), services).await?;
    let mut by_prompt = BTreeMap::new();
    for (prompt, stage) in &config.stages {
        by_prompt.insert(
            prompt.clone(),
            one(config.for_stage(stage), services).await?,
        );
    }
    Ok(Arc::new(Router { usual, by_prompt }))
}

/// Each prompt with the model that answered it when it was recorded.
fn replayed(recording: &Arc<MemoryLog>) -> Router {
    let model = |name: &str| -> Arc<dyn ChatModel> {
        let log = Arc::clone(recording) as Arc<dyn CallLog>;
        Arc::new(LoggedModel::new(
            Nameplate(name.to_owned()),
            log,
            Mode::Replay,
        ))
    };
    let calls = recording.calls();
    let by_prompt = calls
        .iter()
        .map(|call| (call.request.prompt.name.clone(), model(&call.model)));
    let usual = calls.first().map_or("recorded", |call| call.model.as_str());
    Router {
        usual: model(usual),
        by_prompt: by_prompt.collect(),
    }
}

/// One model behind the log; in a batch, its name alone.
async fn one(config: LlmConfig, services: &Services) -> Result<Arc<dyn ChatModel>, TmemError> {
    let log: Arc<dyn CallLog> = Arc::clone(&services.shelf) as Arc<dyn CallLog>;
    let Injected { chat, .. } = &services.injected;
    if matches!(services.plan, Plan::Batch) {
        let name = chat
            .as_ref()
            .map_or(config.model, |model| model.name().to_owned());
        return Ok(Arc::new(LoggedModel::new(
            Nameplate(name),
            log,
            Mode::Batch,
        )));
    }
    let model = match chat {
        Some(model) => Arc::clone(model),
        None => live(config, services.models.clone()).await?,
    };
    let budgeted = Budgeted {
        model,
        budget: Arc::clone(&services.budget),
    };
    Ok(Arc::new(LoggedModel::new(budgeted, log, Mode::Live)))
}

/// The language model that `config` names, alone: without call log, budget or stages. `models` is the
/// folder of the weights.
///
/// # Errors
/// [`TmemError::NoModel`] if there is none, or it cannot be had.
pub async fn live(config: LlmConfig, models: PathBuf) -> Result<Arc<dyn ChatModel>, TmemError> {
    match config.kind {
        LlmKind::None => Err(TmemError::NoModel(
            "the settings name none ([llm] kind = \"none\")".to_owned(),
        )),
        LlmKind::Local => local(config, models).await.map_err(TmemError::NoModel),
        LlmKind::OpenAi => openai(config).map_err(TmemError::NoModel),
    }
}

#[cfg(feature = "local")]
async fn local(config: LlmConfig, models: PathBuf) -> Result<Arc<dyn ChatModel>, String> {
    use tmem_local::{LocalConfig, LocalModel};

    let mut local = LocalConfig {
        parallel: config.concurrency.get(),
        ..LocalConfig::default()
    };
    local.context = config.context_window.unwrap_or(local.context);
    let path = weights_of(&models, &config.model)
        .ok_or_else(|| format!("run `tmem models pull {}`", config.model))?;
    let load = move || LocalModel::load(&path, &local);
    let loaded = tokio::task::spawn_blocking(load)
        .await
        .map_err(|error| error.to_string())?;
    loaded
        .map(|model| Arc::new(model) as Arc<dyn ChatModel>)
        .map_err(|error| error.to_string())
}

/// The weights of that name in the models folder, or at that path.
pub(crate) fn weights_of(models: &Path, name: &str) -> Option<PathBuf> {
    if Path::new(name).extension().is_some_and(|end| end == "gguf") {
        return Some(PathBuf::from(name));
    }
    let entries = std::fs::read_dir(models.join(name)).ok()?.flatten();
    let files = entries.map(|entry| entry.path());
    files
        .filter(|path| path.extension().is_some_and(|end| end == "gguf"))
        .min()
}

#[cfg(not(feature = "local"))]
async fn local(_config: LlmConfig, _models: PathBuf) -> Result<Arc<dyn ChatModel>, String> {
    Err("this build has no embedded one; set [llm] kind = \"openai\" and base_url".to_owned())
}

#[cfg(feature = "http")]
fn openai(config: LlmConfig) -> Result<Arc<dyn ChatModel>, String> {
    let client = tmem_http::Client::new(super::endpoint::of_llm(&config));
    let client = client.map_err(|error| error.to_string())?;
    let model = tmem_llm::OpenAiModel::new(client, config.model);
    Ok(Arc::new(model.with_context_window(config.context_window)))
}

#[cfg(not(feature = "http"))]
fn openai(_config: LlmConfig) -> Result<Arc<dyn ChatModel>, String> {
    Err("this build cannot reach endpoints: it lacks the feature `http`".to_owned())
}
