//! Means over questions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::answer::Outcome;
use crate::stat::Difference;

/// Fractions between 0 and 1, and mean tokens. What was not measured is absent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Scores {
    /// Questions in the denominators.
    pub questions: usize,
    /// Share of the evidence turns in the assembled context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_recall: Option<f64>,
    /// Questions whose evidence is all there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_evidence_hit: Option<f64>,
    /// Mean tokens of the evidence in the context (words times 1.3; personas apart).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<f64>,
    /// Mean tokens of the personas, which no budget counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona_tokens: Option<f64>,
    /// Evidence recall of the first k, by list (`scenes`, `items`, `turns`, …) and k.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recall_at: BTreeMap<String, BTreeMap<usize, f64>>,
    /// All-evidence hit of the first k, by list and k.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub all_hit_at: BTreeMap<String, BTreeMap<usize, f64>>,
    /// Evidence recall of a ranking cut at a number of tokens, by that number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recall_at_tokens: BTreeMap<usize, f64>,
    /// Cues, each alone in its host conversation.
    #[serde(flatten)]
    pub cues: CueScores,
    /// The same with queries of other samples: what form alone gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<CueScores>,
    /// `cue_in_context` minus its control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift: Option<f64>,
    /// The same, cue by cue against the mean of its controls, with intervals; overall only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift_interval: Option<Difference>,
    /// All cues and conversations in one memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled: Option<Pooled>,
    /// Questions that were to be answered: the denominators of what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_questions: Option<usize>,
    /// Share of answers that the lenient judge (LoCoMo-Plus: the awareness judge) calls right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<f64>,
    /// Standard deviation of `judge` over runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_deviation: Option<f64>,
    /// Share of answers that the strict judge calls right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_strict: Option<f64>,
    /// Standard deviation of `judge_strict` over runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_strict_deviation: Option<f64>,
    /// Token F1 as published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Token F1 with normalisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1_normalised: Option<f64>,
    /// Mean tokens of the answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_tokens: Option<f64>,
    /// Answers that could not be had; in the denominators, scored 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_failures: Option<usize>,
    /// Verdicts that could not be had; in the denominators, scored 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_failures: Option<usize>,
    /// Calls that wait for a batch: with any, the scores are not final.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<usize>,
}

/// How well cues are found.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct CueScores {
    /// Share of cues whose scene is in the assembled context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cue_in_context: Option<f64>,
    /// Share of cues among the first k of the list that is meant to find them, by k.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cue_recall: BTreeMap<usize, f64>,
    /// How the cues' ranks are spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<RankSpread>,
}

/// Quantiles of ranks; what no list holds has the rank after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct RankSpread {
    /// 25 % quantile.
    pub p25: usize,
    /// Median.
    pub median: usize,
    /// 75 % quantile.
    pub p75: usize,
    /// 90 % quantile.
    pub p90: usize,
}

/// Scores over all cues in one memory.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Pooled {
    /// As in the isolated protocol.
    #[serde(flatten)]
    pub cues: CueScores,
    /// Mean tokens of the context.
    pub context_tokens: f64,
    /// Pieces (scenes, turns, …) in the memory: chance at k is k over this.
    pub pieces: usize,
}

/// One answer and its verdicts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Answered {
    /// The prediction that was judged; empty when there is none.
    pub prediction: String,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The call waits for a batch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waiting: bool,
    /// The verdict of the published judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<Outcome>,
    /// The verdict of the strict judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_strict: Option<Outcome>,
    /// Token F1 as published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Token F1 with normalisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1_normalised: Option<f64>,
    /// Tokens of the prediction.
    pub tokens: f64,
}
