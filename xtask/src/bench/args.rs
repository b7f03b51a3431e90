//! What the benchmarks take on the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{ArgAction, Args, Parser, ValueEnum};
use tmem::config::{LlmConfig, LlmKind};
use tmem::retrieve::{Preset, RetrieveConfig, Switch};
use tmem::{Config, Layers};
use tmem_eval::Sweep;
use tmem_eval::answer::AnswerPrompt;
use tmem_eval::dataset::{Dialogue, Half, Selection};
use tmem_eval::system::{self, Named};

const SOURCES: &str = "\
Data (nothing is fetched, nothing of it is in this repository):
  locomo.json or locomo10.json   LoCoMo, https://github.com/snap-research/locomo, data/locomo10.json;
                                 CC BY-NC 4.0
  locomo_plus.json               LoCoMo-Plus, https://github.com/xjtuleeyf/Locomo-Plus,
                                 data/locomo_plus.json; no licence stated
  longmemeval_s.json             LongMemEval-S, https://github.com/xiaowu0162/LongMemEval; MIT
  <conversation>.json,           memory documents (tmem-memory/1), as `tmem export` writes them, and
  plus-cues.json                 memories of the cues; those that are missing are built with --build or
                                 --build-model, else skipped and counted

Without --data, the folder is $TMEM_DATA/data/locomo; without --memories, $TMEM_DATA/memories.
Vectors are kept by encoder and text in --cache, so that a second run encodes nothing.

Models: NAME is asked at --base-url, local:NAME is the embedded one (`tmem models list`). With --config the
roles are [llm] for building, [llm.stages.answer] and [llm.stages.judge].

Exit codes: 0 done, 1 failed (also: a recording lacks a call), 2 usage, 3 done but for calls that wait for
a batch or failed.";

/// LoCoMo: evidence recall by category, baselines, ablations, sweeps, answers and judges.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask bench-locomo", after_help = SOURCES)]
pub(super) struct LocomoArgs {
    #[command(flatten)]
    pub(super) shared: Shared,
}

/// LoCoMo-Plus: cue recall by relation, each cue alone in its host, with control, and pooled.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask bench-locomo-plus", after_help = SOURCES)]
pub(super) struct PlusArgs {
    #[command(flatten)]
    pub(super) shared: Shared,
    /// Also search all cues and conversations in one memory.
    #[arg(long)]
    pub(super) pooled: bool,
    /// Ask queries of other samples too (`--control=false` leaves it out: no figure without it).
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_value_t = true, default_missing_value = "true")]
    pub(super) control: bool,
    /// Queries of other samples per cue.
    #[arg(long, default_value_t = 5)]
    pub(super) controls: usize,
}

/// LongMemEval-S: evidence recall by question type.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask bench-longmemeval", after_help = SOURCES)]
pub(super) struct LongMemEvalArgs {
    #[command(flatten)]
    pub(super) shared: Shared,
}

/// Which answer prompt LoCoMo's questions get.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Protocol {
    /// At most six words.
    Short,
    /// Seven open steps, then the answer.
    Cot,
}

impl From<Protocol> for AnswerPrompt {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Short => Self::Short,
            Protocol::Cot => Self::Cot,
        }
    }
}

/// What all benchmarks take.
#[derive(Debug, Args)]
pub(super) struct Shared {
    /// Folder of the data files.
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Folder of the memory documents.
    #[arg(long, value_name = "DIR")]
    pub(super) memories: Option<PathBuf>,
    /// Only these conversations.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    conversations: Vec<String>,
    /// Print what the loader counted, and stop.
    #[arg(long)]
    pub(super) audit: bool,
    /// Only every other question of each conversation, or every other cue of each host: what is chosen
    /// by one half is reported on the other.
    #[arg(long, value_name = "even|odd")]
    half: Option<Half>,
    /// Only so many questions or cues, drawn by --seed: for trying out, not for figures.
    #[arg(long, value_name = "N")]
    pub(super) sample: Option<usize>,
    /// Score retrieval alone, which needs no language model (so it is without --answer-model).
    #[arg(long, conflicts_with_all = ["answers", "answer_model", "judge_model"])]
    retrieval_only: bool,
    /// Systems: tmem, tmem-paper, tmem-wide, presets, no-trigger, full-context, flat-rag,
    /// flat-rag-<turn|window|chunk|session>-<bm25|dense|rrf>, flat-rag-all, all.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "tmem,tmem-paper,tmem-wide,no-trigger,flat-rag,full-context"
    )]
    pub(super) systems: Vec<String>,
    /// Settings: a `tmem.toml`, of which `[retrieve]` (of the system `tmem`), `[llm]` and `[build]` are read.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Preset of the system `tmem`, where --config does not say otherwise.
    #[arg(long, default_value = "balanced")]
    preset: Preset,
    /// Components of the system `tmem` to leave out: SL, IC, ET+BT, PS, TF, ST, HT, ST+HT.
    #[arg(long, value_delimiter = ',')]
    without: Vec<Switch>,
    /// Switch components off one at a time: `all`, or some of the names above.
    #[arg(long, value_delimiter = ',')]
    ablate: Vec<String>,
    /// Change budgets one at a time: `all` (kT, kS, kI, R), or some of them, or kA.
    #[arg(long, value_delimiter = ',')]
    sweep: Vec<String>,
    /// Also the system `tmem` with one setting of `[retrieve]` at each of these values, as in
    /// `association_floor=0.7,0.8,0.9`.
    #[arg(long, value_name = "SETTING=VALUES")]
    vary: Vec<String>,
    /// Tokens that flat systems may put into the context.
    #[arg(long, default_value_t = tmem_eval::system::FLAT_BUDGET)]
    pub(super) flat_tokens: f64,
    /// Folder of the encoder's files, as `tmem models pull` lays them out.
    #[arg(long, env = "TMEM_MODELS", value_name = "DIR")]
    pub(super) models: Option<PathBuf>,
    /// all-MiniLM-L6-v2, bge-m3, hash (for tests), or none (words alone).
    #[arg(long, default_value = "all-MiniLM-L6-v2")]
    pub(super) encoder: String,
    /// Folder in which vectors are kept.
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Option<PathBuf>,
    /// Build memories that are missing with the model of --config (else the embedded one). They are kept
    /// in --built, so that the next run finds them.
    #[arg(long)]
    build: bool,
    /// Build memories that are missing with this model.
    #[arg(long, value_name = "NAME")]
    build_model: Option<String>,
    /// Folder of the memories that are built here, one folder a model [default: memories, in --out].
    #[arg(long, value_name = "DIR")]
    built: Option<PathBuf>,
    /// Also score answers, by the roles `answer` and `judge` of --config.
    #[arg(long)]
    answers: bool,
    /// Model that answers; with it, answers are scored too.
    #[arg(long, value_name = "NAME", requires = "judge_model")]
    answer_model: Option<String>,
    /// Model that judges.
    #[arg(long, value_name = "NAME", requires = "answer_model")]
    judge_model: Option<String>,
    /// OpenAI-compatible endpoint of the models.
    #[arg(long, env = "TMEM_LLM_BASE_URL", value_name = "URL")]
    base_url: Option<String>,
    /// Another endpoint for the judge.
    #[arg(long, value_name = "URL")]
    judge_base_url: Option<String>,
    /// Environment variable that holds the key.
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// Calls under way at a time.
    #[arg(long, default_value = "8")]
    pub(super) concurrency: NonZeroUsize,
    /// Answer protocol.
    #[arg(long, value_enum, default_value = "short")]
    pub(super) answer_prompt: Protocol,
    /// Independent runs; their deviation is printed.
    #[arg(long, default_value_t = 1)]
    pub(super) runs: usize,
    /// Log of all calls (JSON Lines): what it answers is not asked again.
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Answer from this log alone; a call that it lacks is an error.
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    pub(super) replay: Option<PathBuf>,
    /// Ask no model: write calls that wait to this file, in the OpenAI Batch format.
    #[arg(long, value_name = "FILE", requires = "log")]
    pub(super) batch_export: Option<PathBuf>,
    /// Read answers of such a batch into the log first.
    #[arg(long, value_name = "FILE", requires = "log")]
    pub(super) batch_import: Option<PathBuf>,
    /// Results of the other benchmark, for figures that need both.
    #[arg(long, value_name = "RESULTS_JSON")]
    pub(super) beside: Option<PathBuf>,
    /// Folder for results.json, report.md and report.html.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub(super) out: PathBuf,
    /// Also write the tables into this Markdown file, between the marks of this benchmark.
    #[arg(long, value_name = "FILE")]
    pub(super) docs: Option<PathBuf>,
    /// Seed of the intervals.
    #[arg(long, default_value_t = 7)]
    pub(super) seed: u64,
    /// No progress bars.
    #[arg(long)]
    pub(super) quiet: bool,
}

impl Shared {
    fn layers(&self) -> Result<Layers> {
        match &self.config {
            Some(path) => Ok(Layers::new().file(path)?),
            None => Ok(Layers::new().flag("retrieve.preset", self.preset.name())),
        }
    }

    /// The configuration of the system `tmem`.
    pub(super) fn base(&self) -> Result<RetrieveConfig> {
        let config = self.layers()?.resolve();
        let config = config.context("reading the settings of tmem")?;
        Ok(self
            .without
            .iter()
            .fold(config.retrieve, |config, switch| config.without(*switch)))
    }

    /// The systems of the tables.
    pub(super) fn systems(&self) -> Result<Vec<Named>> {
        let base = self.base()?;
        let mut systems = system::parse(&self.systems, &base, self.flat_tokens)?;
        for spec in &self.vary {
            systems.extend(system::varied(spec, &base)?);
        }
        Ok(systems)
    }

    /// The settings by which missing memories are built; `None` if they are not to be.
    pub(super) fn building(&self) -> Result<Option<Config>> {
        if !self.build && self.build_model.is_none() {
            return Ok(None);
        }
        let encoder = match self.encoder.as_str() {
            "none" | "hash" => ("embed.kind", self.encoder.as_str()),
            model => ("embed.model", model),
        };
        let concurrency = self.concurrency.to_string();
        let mut flags = vec![encoder, ("llm.concurrency", concurrency.as_str())];
        if let Some(name) = &self.build_model {
            let (kind, model) = kind_and_model(name);
            let kind = if kind == LlmKind::Local {
                "local"
            } else {
                "openai"
            };
            flags.extend([("llm.kind", kind), ("llm.model", model)]);
        }
        flags.extend(self.base_url.as_deref().map(|url| ("llm.base_url", url)));
        flags.extend(
            self.api_key_env
                .as_deref()
                .map(|name| ("llm.api_key_env", name)),
        );
        let layers = flags
            .into_iter()
            .fold(self.layers()?, |layers, (key, value)| {
                layers.flag(key, value)
            });
        Ok(Some(layers.resolve()?))
    }

    /// Where memories built by `model` are kept.
    pub(super) fn built_by(&self, model: &str) -> PathBuf {
        let plain = |c: char| {
            if c.is_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        };
        let built = self
            .built
            .clone()
            .unwrap_or_else(|| self.out.join("memories"));
        built.join(model.chars().map(plain).collect::<String>())
    }

    /// The models that answer and judge; `None` for retrieval alone.
    pub(super) fn roles(&self) -> Result<Option<(LlmConfig, LlmConfig)>> {
        if !self.answers && self.answer_model.is_none() {
            return Ok(None);
        }
        let llm = self.layers()?.resolve()?.llm;
        let role = |stage: &str, name: &Option<String>, url: &Option<String>| {
            let of_stage = llm.stages.get(stage).cloned().unwrap_or_default();
            let mut role = llm.for_stage(&of_stage);
            if let Some(name) = name {
                let (kind, model) = kind_and_model(name);
                (role.kind, role.model) = (kind, model.to_owned());
            }
            role.base_url = url.clone().unwrap_or(role.base_url);
            role.api_key_env = self.api_key_env.clone().unwrap_or(role.api_key_env);
            role.concurrency = self.concurrency;
            role
        };
        let judge_url = self
            .judge_base_url
            .clone()
            .or_else(|| self.base_url.clone());
        Ok(Some((
            role("answer", &self.answer_model, &self.base_url),
            role("judge", &self.judge_model, &judge_url),
        )))
    }

    /// What is asked of the benchmark.
    pub(super) fn selection(&self) -> Selection {
        Selection {
            half: self.half,
            sample: self.sample,
            seed: self.seed,
        }
    }

    /// The switches of `--ablate`.
    pub(super) fn switches(&self) -> Result<Vec<Switch>> {
        if self.ablate.iter().any(|name| name == "all") {
            return Ok(Switch::ALL.to_vec());
        }
        self.ablate.iter().map(|name| Ok(name.parse()?)).collect()
    }

    /// The budgets of `--sweep`; all is the paper's four.
    pub(super) fn sweeps(&self) -> Result<Vec<Sweep>> {
        if self.sweep.iter().any(|name| name == "all") {
            return Ok(Sweep::ALL[..4].to_vec());
        }
        self.sweep.iter().map(|name| Ok(name.parse()?)).collect()
    }

    /// Drops what `--conversations` does not name.
    pub(super) fn keep_named(&self, dialogues: &mut Vec<Dialogue>) {
        let named =
            |dialogue: &Dialogue| self.conversations.iter().any(|n| n == dialogue.id.as_str());
        dialogues.retain(|dialogue| self.conversations.is_empty() || named(dialogue));
    }
}

/// `local:NAME` is the embedded model, any other name one at an endpoint.
fn kind_and_model(name: &str) -> (LlmKind, &str) {
    match name.strip_prefix("local:") {
        Some(model) => (LlmKind::Local, model),
        None => (LlmKind::OpenAi, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(words: &[&str]) -> Shared {
        LocomoArgs::parse_from([&["bench-locomo"], words].concat()).shared
    }

    fn roles(words: &[&str]) -> Option<[(LlmKind, String, String); 2]> {
        let (answer, judge) = shared(words).roles().expect("settings")?;
        Some([answer, judge].map(|role| (role.kind, role.model, role.base_url)))
    }

    #[test]
    fn roles_come_from_flags_or_from_the_settings() {
        assert_eq!(roles(&[]), None);
        let folder = tempfile::TempDir::new().expect("a folder");
        let file = folder.path().join("tmem.toml");
        let text = "[llm]\nkind = 'openai'\nmodel = 'writer'\nbase_url = 'http://a/v1'\n\
                    [llm.stages.judge]\nmodel = 'judge'\nbase_url = 'http://b/v1'\n";
        std::fs::write(&file, text).expect("a file");
        let config = ["--config", file.to_str().expect("a plain path")];
        let role = |model: &str, url: &str| (LlmKind::OpenAi, model.to_owned(), url.to_owned());
        assert_eq!(
            roles(&[&config[..], &["--answers"]].concat()),
            Some([role("writer", "http://a/v1"), role("judge", "http://b/v1")])
        );
        let flags = [
            "--answer-model",
            "one",
            "--judge-model",
            "local:two",
            "--base-url",
            "http://c/v1",
        ];
        let [answer, judge] = roles(&[&config[..], &flags].concat()).expect("two roles");
        assert_eq!(answer, role("one", "http://c/v1"));
        assert_eq!((judge.0, judge.1.as_str()), (LlmKind::Local, "two"));
    }

    #[test]
    fn a_hosted_builder_has_the_full_profile_and_the_embedded_one_the_small() {
        let small = |words: &[&str]| {
            let config = shared(words).building().expect("settings")?;
            Some(config.build.short_prompts)
        };
        assert_eq!(small(&[]), None);
        assert_eq!(small(&["--build-model", "gpt-4o-mini"]), Some(false));
        assert_eq!(
            small(&["--build-model", "local:qwen2.5-coder-1.5b"]),
            Some(true)
        );
        assert_eq!(small(&["--build"]), Some(true));
        let folder = shared(&["--out", "o"]).built_by("org/model:8b");
        assert_eq!(folder, PathBuf::from("o/memories/org-model-8b"));
    }
}
