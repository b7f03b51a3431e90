//! The language model that the settings name, with all that stands around it: the model of each
//! stage, the call log, the budget; or a recording, or a batch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tmem_llm::{CallLog, ChatModel, LoggedModel, MemoryLog, Mode, Nameplate};

use super::router::Router;
use super::{Injected, Services, Sources};
use crate::budget::Budgeted;
use crate::config::{LlmConfig, LlmKind, StageConfig};
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
    Ok(Arc::new(routed(services).await?))
}

async fn routed(services: &Services) -> Result<Router, TmemError> {
    let config = &services.config.llm;
    let mut made = Vec::new();
    let usual = config.for_stage(&StageConfig::default());
    let usual = shared(&mut made, usual, services).await?;
    let mut by_prompt = BTreeMap::new();
    for (prompt, stage) in &config.stages {
        let model = shared(&mut made, config.for_stage(stage), services).await?;
        by_prompt.insert(prompt.clone(), model);
    }
    Ok(Router { usual, by_prompt })
}

/// The model of these settings: the one that was made for them before, if there is one.
async fn shared(
    made: &mut Vec<(LlmConfig, Arc<dyn ChatModel>)>,
    config: LlmConfig,
    services: &Services,
) -> Result<Arc<dyn ChatModel>, TmemError> {
    if let Some((_, model)) = made.iter().find(|(known, _)| *known == config) {
        return Ok(Arc::clone(model));
    }
    let model = one(config.clone(), services).await?;
    made.push((config, Arc::clone(&model)));
    Ok(model)
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
        None => live(config, &services.sources).await?,
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
pub async fn language_model(
    config: LlmConfig,
    models: PathBuf,
) -> Result<Arc<dyn ChatModel>, TmemError> {
    live(config, &Sources::new(models)).await
}

async fn live(config: LlmConfig, sources: &Sources) -> Result<Arc<dyn ChatModel>, TmemError> {
    match config.kind {
        LlmKind::None => Err(TmemError::NoModel(
            "the settings name none ([llm] kind = \"none\")".to_owned(),
        )),
        LlmKind::Local => local(config, &sources.models)
            .await
            .map_err(TmemError::NoModel),
        LlmKind::OpenAi => openai(config, sources).map_err(TmemError::NoModel),
    }
}

#[cfg(feature = "local")]
async fn local(config: LlmConfig, models: &Path) -> Result<Arc<dyn ChatModel>, String> {
    use tmem_local::{LocalConfig, LocalModel};

    let mut local = LocalConfig {
        parallel: config.concurrency.get(),
        ..LocalConfig::default()
    };
    local.context = config.context_window.unwrap_or(local.context);
    let path = weights_of(models, &config.model)
        .ok_or_else(|| format!("run `tmem models pull {}`", config.model))?;
    let load = move || LocalModel::load(&path, &local);
    let loaded = tokio::task::spawn_blocking(load)
        .await
        .map_err(|error| crate::error::chain(&error))?;
    loaded
        .map(|model| Arc::new(model) as Arc<dyn ChatModel>)
        .map_err(|error| crate::error::chain(&error))
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
async fn local(_config: LlmConfig, _models: &Path) -> Result<Arc<dyn ChatModel>, String> {
    Err("this build has no embedded one; set [llm] kind = \"openai\" and base_url".to_owned())
}

#[cfg(feature = "http")]
fn openai(config: LlmConfig, sources: &Sources) -> Result<Arc<dyn ChatModel>, String> {
    let client = sources.clients.of(super::endpoint::of_llm(&config))?;
    let model = tmem_llm::OpenAiModel::new(client, config.model);
    Ok(Arc::new(model.with_context_window(config.context_window)))
}

#[cfg(not(feature = "http"))]
fn openai(_config: LlmConfig, _sources: &Sources) -> Result<Arc<dyn ChatModel>, String> {
    Err("this build cannot reach endpoints: it lacks the feature `http`".to_owned())
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;
    use crate::shelf::Shelf;
    use crate::tmem::Access;

    #[tokio::test]
    async fn stages_with_equal_settings_share_a_model() {
        let text = "[llm]\nkind = 'openai'\nmodel = 'm'\nbase_url = 'http://h'\n\
            [llm.stages.items]\nmodel = 'm'\n[llm.stages.answer]\nmodel = 'big'\n\
            [llm.stages.personas]\nmodel = 'big'";
        let mut options = Options::new("nowhere");
        options.access = Access::Scratch;
        options.config = crate::Layers::new()
            .text("test", text)
            .resolve()
            .expect("valid");
        let shelf = Arc::new(Shelf::open(&options).expect("nothing is needed"));
        let services = Services::new(&options, Injected::default(), &shelf).expect("settings");
        let router = routed(&services).await.expect("nothing is asked");
        let stage = |name| &router.by_prompt[name];
        assert!(Arc::ptr_eq(stage("items"), &router.usual));
        assert!(Arc::ptr_eq(stage("answer"), stage("personas")));
        assert_eq!((router.usual.name(), stage("answer").name()), ("m", "big"));
    }
}
