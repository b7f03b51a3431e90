//! The sections that belong to the facade; construction, indices and retrieval bring their own.

use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};

use serde::{Deserialize, Serialize};

/// Where language comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LlmKind {
    /// The embedded model (feature `local`).
    #[default]
    Local,
    /// Any OpenAI-compatible endpoint (feature `http`).
    OpenAi,
    /// No model: adding, recalling and importing work, building and answering do not.
    None,
}

/// The language model.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmConfig {
    /// Where it comes from.
    pub kind: LlmKind,
    /// Its name at the endpoint; for the embedded model a name that `tmem models list` shows, or
    /// the path of a GGUF file.
    pub model: String,
    /// The endpoint, up to and including `/v1`.
    #[serde(serialize_with = "shown")]
    pub base_url: String,
    /// Name of the environment variable that holds the key; empty for none.
    pub api_key_env: String,
    /// Longest a whole call may take (seconds, at least 1).
    pub timeout_secs: NonZeroU64,
    /// Longest a connection may take to open (seconds, at least 1).
    pub connect_timeout_secs: NonZeroU64,
    /// Repeats after a passing failure (count).
    pub max_retries: u32,
    /// Most calls under way at once (count, at least 1).
    pub concurrency: NonZeroUsize,
    /// Tokens of prompt and reply together, if the endpoint has less than the prompts may need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<usize>,
    /// `off` for no proxy, a URL for one, nothing for what the environment says.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "shown_if_any"
    )]
    pub proxy: Option<String>,
    /// Price of a million prompt tokens, in any currency; for estimates and `tmem cost`.
    pub prompt_price: f64,
    /// Price of a million reply tokens.
    pub reply_price: f64,
    /// Another model for some stages, by the name of the prompt (`segment`, `items`, `answer`, …).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stages: BTreeMap<String, StageConfig>,
}

impl Default for LlmConfig {
    fn default() -> Self {
        Self {
            kind: LlmKind::default(),
            model: "qwen2.5-coder-1.5b".to_owned(),
            base_url: "https://api.openai.com/v1".to_owned(),
            api_key_env: "OPENAI_API_KEY".to_owned(),
            timeout_secs: at_least_one(180),
            connect_timeout_secs: at_least_one(10),
            max_retries: 5,
            concurrency: NonZeroUsize::new(8).expect("eight is not zero"),
            context_window: None,
            proxy: None,
            prompt_price: 0.0,
            reply_price: 0.0,
            stages: BTreeMap::new(),
        }
    }
}

fn at_least_one(seconds: u64) -> NonZeroU64 {
    NonZeroU64::new(seconds).expect("the defaults are not zero")
}

/// What differs for one stage; the rest is as in `[llm]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct StageConfig {
    /// Where the model comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<LlmKind>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The endpoint.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "shown_if_any"
    )]
    pub base_url: Option<String>,
    /// The variable that holds its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
}

impl LlmConfig {
    /// These settings with what `stage` changes.
    #[must_use]
    pub fn for_stage(&self, stage: &StageConfig) -> Self {
        let or = |changed: &Option<String>, base: &String| changed.as_ref().unwrap_or(base).clone();
        Self {
            kind: stage.kind.unwrap_or(self.kind),
            model: or(&stage.model, &self.model),
            base_url: or(&stage.base_url, &self.base_url),
            api_key_env: or(&stage.api_key_env, &self.api_key_env),
            stages: BTreeMap::new(),
            ..self.clone()
        }
    }
}

/// Where vectors come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedKind {
    /// An ONNX model of the models folder (feature `onnx`).
    #[default]
    Onnx,
    /// An OpenAI-compatible `/v1/embeddings` endpoint (feature `http`).
    OpenAi,
    /// Hashed bags of words: no meaning, no weights; for tests and first tries.
    Hash,
    /// No vectors: recall goes by words alone.
    None,
}

/// The text encoder.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbedConfig {
    /// Where it comes from.
    pub kind: EmbedKind,
    /// `minilm` (all-MiniLM-L6-v2) or `bge-m3`; at an endpoint, its own name.
    pub model: String,
    /// The endpoint, up to and including `/v1`.
    #[serde(serialize_with = "shown")]
    pub base_url: String,
    /// Name of the environment variable that holds the key; empty for none.
    pub api_key_env: String,
    /// Length of the endpoint's vectors (needed for models that are not known by name).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<usize>,
    /// Longest input (tokens); longer text is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,
    /// Trigger gate: a fixed cosine; nothing to calibrate it from the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<f32>,
    /// Most texts of one request (count, at least 1).
    pub batch: NonZeroUsize,
    /// Longest a request may take (seconds, at least 1).
    pub timeout_secs: NonZeroU64,
}

impl Default for EmbedConfig {
    fn default() -> Self {
        Self {
            kind: EmbedKind::default(),
            model: "all-MiniLM-L6-v2".to_owned(),
            base_url: "https://api.openai.com/v1".to_owned(),
            api_key_env: "OPENAI_API_KEY".to_owned(),
            dimensions: None,
            max_tokens: None,
            gate: None,
            batch: NonZeroUsize::new(64).expect("sixty-four is not zero"),
            timeout_secs: at_least_one(60),
        }
    }
}

/// Where second opinions on a ranking come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RerankKind {
    /// Nowhere.
    #[default]
    None,
    /// An ONNX cross-encoder (feature `onnx`).
    Onnx,
    /// A `/v1/rerank` endpoint (feature `http`).
    Http,
}

/// The reranker.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RerankConfig {
    /// Where it comes from.
    pub kind: RerankKind,
    /// Its name at the endpoint, or the folder of the ONNX model.
    pub model: String,
    /// The endpoint, up to and including `/v1`.
    #[serde(serialize_with = "shown")]
    pub base_url: String,
    /// Name of the environment variable that holds the key; empty for none.
    pub api_key_env: String,
    /// Longest a request may take (seconds, at least 1).
    pub timeout_secs: NonZeroU64,
}

impl Default for RerankConfig {
    fn default() -> Self {
        Self {
            kind: RerankKind::default(),
            model: String::new(),
            base_url: String::new(),
            api_key_env: String::new(),
            timeout_secs: at_least_one(60),
        }
    }
}

/// Answering. How long an answer may be is `[build.caps] answer`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnswerConfig {
    /// Most tokens of evidence in the prompt; nothing for as much as suits the model. Its window,
    /// less the reply, is a limit in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<usize>,
}

/// What is noted about triggers.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct TriggersConfig {
    /// Whether recalls count which triggers fired and which of them led to evidence. The counts
    /// stay in the data folder; a recall that cannot write them is answered all the same.
    pub count: bool,
}

impl Default for TriggersConfig {
    fn default() -> Self {
        Self { count: true }
    }
}

/// What may be spent; nothing for no limit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetConfig {
    /// Most tokens of one run, prompts and replies together; calls answered from the log are free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_tokens: Option<u64>,
    /// Most tokens of one day (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_tokens: Option<u64>,
}

/// An address as settings show it.
fn shown<S: serde::Serializer>(url: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&without_password(url))
}

fn shown_if_any<S: serde::Serializer>(
    url: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    url.as_deref().map(without_password).serialize(serializer)
}

/// `url` without a user's name and password.
pub(crate) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}{path}")
}
