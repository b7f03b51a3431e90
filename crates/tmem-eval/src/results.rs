//! What a run leaves behind: `results.json`, whose field names other tools read.
//!
//! Nothing of a data set but ids stands in it, no time of day and no path of this machine: equal
//! runs give equal bytes.

mod scores;

pub use scores::{Answered, CueScores, Pooled, RankSpread, Scores};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::stat::Difference;

/// Everything a run found out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Results {
    /// What was run on what.
    pub manifest: Manifest,
    /// Scores by system.
    pub summary: BTreeMap<String, Summary>,
    /// Differences of systems, each with its interval.
    pub differences: Vec<Comparison>,
    /// One switch off at a time.
    pub ablations: Vec<Ablation>,
    /// One budget changed at a time.
    pub sweeps: Vec<SweepPoint>,
    /// Which trigger family and view reached the cues, by system.
    pub reach: BTreeMap<String, Reach>,
    /// One per question, system and protocol.
    pub rows: Vec<Row>,
}

/// What was run on what: enough to tell whether two tables may be compared.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Manifest {
    /// `locomo`, `locomo-plus` or `longmemeval`.
    pub benchmark: String,
    /// Commit of the code, with `-dirty` if it was changed since.
    pub commit: String,
    /// SHA-256 of the configurations of all systems.
    pub config_sha256: String,
    /// Names of the systems in the order of the tables.
    #[serde(default)]
    pub order: Vec<String>,
    /// The configurations.
    pub systems: BTreeMap<String, serde_json::Value>,
    /// SHA-256 of each data file, by its role.
    pub data_sha256: BTreeMap<String, String>,
    /// What decides the vectors; `none` without an encoder.
    pub encoder: String,
    /// Models by role; empty for retrieval alone.
    pub models: BTreeMap<String, String>,
    /// SHA-256 of each prompt used.
    pub prompts_sha256: BTreeMap<String, String>,
    /// How the figures were made, in words.
    pub protocol: Vec<String>,
    /// Seed of every interval.
    pub seed: u64,
    /// What was scored and what was left out.
    pub counts: BTreeMap<String, usize>,
}

/// Scores of one system.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Summary {
    /// Over all scored questions; on LoCoMo without category 5.
    pub overall: Scores,
    /// By category, or by relation type on LoCoMo-Plus.
    pub by_category: BTreeMap<String, Scores>,
}

/// A difference between two systems on one metric.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Comparison {
    /// What it is measured from.
    pub from: String,
    /// What is compared.
    pub to: String,
    /// The metric.
    pub metric: String,
    /// `to` minus `from`.
    pub difference: Difference,
}

/// The system with one component off.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Ablation {
    /// The paper's name of the switch, as in `HT`.
    pub switch: String,
    /// The metric that stands for the benchmark.
    pub metric: String,
    /// Scores without it.
    pub scores: Scores,
    /// Score without minus score with.
    pub difference: Difference,
}

/// The system with one budget changed.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct SweepPoint {
    /// The paper's name of the budget: kT, kS, kI or R.
    pub parameter: String,
    /// Its value.
    pub value: usize,
    /// Whether it is the value of the configuration.
    pub default: bool,
    /// Scores with it.
    pub scores: Scores,
    /// 95 % interval of the metric that stands for the benchmark.
    pub interval: Option<(f64, f64)>,
}

/// How often each family and view brought a cue in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Reach {
    /// Cues in the context.
    pub reached: usize,
    /// By view (`horizon`, `dialogue`, …) whose list ranked the cue best; a cue counts once.
    pub best_view: BTreeMap<String, usize>,
    /// By view: cues that it ranked among its first ten.
    pub in_first_ten: BTreeMap<String, usize>,
    /// By channel that put the cue into the context; one cue may have several.
    pub channel: BTreeMap<String, usize>,
}

/// One question asked of one system.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Row {
    /// The system.
    pub system: String,
    /// `plain`, `isolated`, `control` or `pooled`.
    pub protocol: String,
    /// The conversation.
    pub conversation: String,
    /// Place of the question in its conversation, or index of the LoCoMo-Plus item asked for.
    pub question: usize,
    /// In a control: the item whose query was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<usize>,
    /// The category's number, where the data set numbers them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category_number: Option<u8>,
    /// Category or relation type.
    pub category: String,
    /// Turns to be found.
    pub evidence: Vec<String>,
    /// What came back, best first.
    pub retrieved: RetrievedIds,
    /// Rank of each evidence turn's best piece, from 1; `null` if no list has it.
    pub ranks: Vec<Option<usize>>,
    /// Estimated tokens of the context.
    pub tokens: f64,
    /// Estimated tokens of the personas.
    #[serde(default)]
    pub persona_tokens: f64,
    /// Share of the evidence in the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_recall: Option<f64>,
    /// Whether all of it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_evidence_hit: Option<bool>,
    /// LoCoMo-Plus: whether the cue's scene is in the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cue_in_context: Option<bool>,
    /// LoCoMo-Plus: the cue's rank in the list that is meant to find it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cue_rank: Option<usize>,
    /// Rank of the cue in every list, by view.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub view_ranks: BTreeMap<String, usize>,
    /// Channels that put the cue into the context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
    /// Recall of the first k of each list, by list and k.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recall_at: BTreeMap<String, BTreeMap<usize, f64>>,
    /// Recall of the first list cut at a number of tokens (flat systems).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recall_at_tokens: BTreeMap<usize, f64>,
    /// Answers and verdicts, one per run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answered>,
}

/// Ids of what came back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct RetrievedIds {
    /// Scenes of the context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenes: Vec<String>,
    /// Items of the context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// Turns of the context that no scene of it names (flat systems).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<String>,
}

/// Hex SHA-256, as the manifest gives it for data and configurations.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl Results {
    /// JSON with a blank of indent and a line feed at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        let indent = serde_json::ser::PrettyFormatter::with_indent(b" ");
        let mut writer = serde_json::Serializer::with_formatter(&mut out, indent);
        self.serialize(&mut writer).expect("results are plain data");
        out.push(b'\n');
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    /// Systems with their scores, in the order of the tables.
    pub fn systems(&self) -> impl Iterator<Item = (&String, &Summary)> {
        let known = self.manifest.order.iter();
        known.filter_map(|name| self.summary.get_key_value(name))
    }

    /// The metric that stands for the benchmark where one is needed.
    #[must_use]
    pub fn headline(&self) -> &'static str {
        if self.is_plus() {
            "cue_in_context"
        } else {
            "evidence_recall"
        }
    }

    /// Whether this is LoCoMo-Plus.
    #[must_use]
    pub fn is_plus(&self) -> bool {
        self.manifest.benchmark == "locomo-plus"
    }
}
