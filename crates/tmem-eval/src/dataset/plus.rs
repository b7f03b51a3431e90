//! LoCoMo-Plus (`locomo_plus.json`, xjtuleeyf/Locomo-Plus): a cue hidden in a LoCoMo conversation
//! and, long after, a query that bears on it without resembling it.
//!
//! There is no gold answer. The query is never part of a memory: [`stitch`] places the cue alone.

mod gap;
mod stitch;
#[cfg(test)]
mod tests;

pub use gap::Gap;
pub use stitch::{Placed, stitch};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tmem_model::ConversationId;

use super::Dialogue;
use crate::error::EvalError;

const FILE: &str = "LoCoMo-Plus";

/// LoCoMo's ten conversations in file order; item `i` of LoCoMo-Plus is hosted by number `i mod 10`.
pub const HOSTS: [&str; 10] = [
    "conv-26", "conv-30", "conv-41", "conv-42", "conv-43", "conv-44", "conv-47", "conv-48",
    "conv-49", "conv-50",
];

/// What ties a query to its cue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The cue is the cause.
    Causal,
    /// The cue tells a lasting state.
    State,
    /// The cue tells a goal.
    Goal,
    /// The cue tells a value.
    Value,
}

impl Relation {
    /// All four, in the order of the file.
    pub const ALL: [Self; 4] = [Self::Causal, Self::State, Self::Goal, Self::Value];

    fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|relation| relation.to_string() == text)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Causal => "causal",
            Self::State => "state",
            Self::Goal => "goal",
            Self::Value => "value",
        })
    }
}

/// Which of the host's two speakers talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `speaker_a`.
    A,
    /// `speaker_b`.
    B,
}

impl Side {
    /// The host's speaker on this side.
    #[must_use]
    pub fn speaker(self, host: &Dialogue) -> &str {
        let place = usize::from(self == Self::B);
        host.speakers.get(place).map_or("", String::as_str)
    }
}

/// How the lines of a cue were run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunTogether {
    /// A backslash and an `n` stand for the line break.
    Literal,
    /// The second speaker's label stands in the middle of a line.
    Inline,
}

/// One item: a cue and its query.
#[derive(Clone, Debug, PartialEq)]
pub struct Cue {
    /// Its place in the full file.
    pub index: usize,
    /// The conversation that hosts it.
    pub host: ConversationId,
    /// What ties the query to it.
    pub relation: Relation,
    /// What is said; never empty.
    pub lines: Vec<(Side, String)>,
    /// Whether the lines had to be taken apart.
    pub run_together: Option<RunTogether>,
    /// Who asks, later.
    pub query_side: Side,
    /// The query, without its label.
    pub query: String,
    /// How much later.
    pub gap: Gap,
}

impl Cue {
    /// Whether two cues say the same, so that finding one is finding the other.
    #[must_use]
    pub fn same_cue(&self, other: &Self) -> bool {
        self.lines == other.lines
    }
}

/// Counts of LoCoMo-Plus and of its dirt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PlusAudit {
    /// Items.
    pub items: usize,
    /// Items by relation.
    pub by_relation: BTreeMap<Relation, usize>,
    /// Cues that hold a literal backslash-n.
    pub literal_breaks: Vec<usize>,
    /// Cues with both speakers on one line.
    pub inline_breaks: Vec<usize>,
    /// Forms of time gap.
    pub gap_forms: usize,
    /// Gaps that name no number, with the items; the official reading takes them as 0 days.
    pub unparsed_gaps: BTreeMap<String, Vec<usize>>,
    /// Pairs of equal cues.
    pub repeated_cues: Vec<(usize, usize)>,
    /// Cues with a character outside ASCII.
    pub non_ascii_cues: usize,
    /// Queries with a character outside ASCII.
    pub non_ascii_queries: usize,
    /// Items whose host is not among the conversations.
    pub without_host: usize,
    /// By the official dates: cues before the first session.
    pub before_first: usize,
    /// By the official dates: cues at or after the last session, next to the query.
    pub after_last: usize,
    /// By the official dates: cues at the time of a session.
    pub at_a_session: usize,
    /// Cues moved in front of the last session, so that none is next to its query.
    pub moved: usize,
}

/// Reads the file's text; `dialogues` are the hosts.
///
/// An item's host is its own `host`, otherwise number `index mod 10` of LoCoMo.
///
/// # Errors
/// [`EvalError::Format`] naming the item and field.
pub fn load(text: &str, dialogues: &[Dialogue]) -> Result<(Vec<Cue>, PlusAudit), EvalError> {
    let file: Value = serde_json::from_str(text).map_err(|e| fault("file", &e.to_string()))?;
    let items = file
        .as_array()
        .ok_or_else(|| fault("file", "not a list of items"))?;
    let cues = items
        .iter()
        .enumerate()
        .map(|(place, item)| cue(place, item, dialogues));
    let cues = cues.collect::<Result<Vec<_>, _>>()?;
    let audit = audit(&cues, dialogues);
    Ok((cues, audit))
}

fn fault(place: &str, message: &str) -> EvalError {
    EvalError::format(FILE, format!("{place}: {message}"))
}

fn cue(place: usize, item: &Value, dialogues: &[Dialogue]) -> Result<Cue, EvalError> {
    let index = item.get("index").and_then(Value::as_u64);
    let index = index.and_then(|n| usize::try_from(n).ok()).unwrap_or(place);
    let at = format!("item {index}");
    let text = |key: &str| {
        let text = item
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| fault(&at, &format!("no text `{key}`")))
    };
    let relation = Relation::parse(text("relation_type")?);
    let (lines, run_together) = lines(text("cue_dialogue")?);
    let (query_side, query) = unlabelled(text("trigger_query")?.trim());
    Ok(Cue {
        index,
        host: host(index, item, dialogues).ok_or_else(|| fault(&at, "no host"))?,
        relation: relation.ok_or_else(|| fault(&at, "`relation_type` is none of the four"))?,
        lines,
        run_together,
        query_side: query_side.unwrap_or(Side::A),
        query: query.to_owned(),
        gap: Gap::parse(text("time_gap")?),
    })
}

fn host(index: usize, item: &Value, dialogues: &[Dialogue]) -> Option<ConversationId> {
    if let Some(name) = item.get("host").and_then(Value::as_str) {
        return ConversationId::new(name).ok();
    }
    let official = dialogues.iter().any(|d| HOSTS.contains(&d.id.as_str()));
    if official || dialogues.is_empty() {
        return ConversationId::new(HOSTS[index % HOSTS.len()]).ok();
    }
    Some(dialogues[index % dialogues.len()].id.clone())
}

/// The lines of a cue, each with its side; lines without a label carry on the one before.
fn lines(text: &str) -> (Vec<(Side, String)>, Option<RunTogether>) {
    let mut run_together = None;
    let mut lines: Vec<(Side, String)> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        for part in apart(line, &mut run_together) {
            let (side, said) = unlabelled(part.trim());
            match (side, lines.last_mut()) {
                (None, Some((_, before))) => {
                    before.push(' ');
                    before.push_str(said);
                }
                (side, _) => lines.push((side.unwrap_or(Side::A), said.to_owned())),
            }
        }
    }
    (lines, run_together)
}

/// Cuts `line` before the other speaker's label: after a literal `\n`, or after a sentence's end.
fn apart<'a>(line: &'a str, run_together: &mut Option<RunTogether>) -> Vec<&'a str> {
    let literal: Vec<&str> = line.split("\\n").collect();
    if literal.len() > 1 {
        *run_together = Some(RunTogether::Literal);
        return literal;
    }
    let label = line
        .match_indices(" B: ")
        .find(|(at, _)| ends_sentence(&line[..*at]));
    match label {
        Some((at, _)) => {
            *run_together = Some(RunTogether::Inline);
            vec![&line[..at], &line[at..]]
        }
        None => vec![line],
    }
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches(['"', '\'', '’', '”', ')'])
        .ends_with(['.', '!', '?', '…'])
}

fn unlabelled(line: &str) -> (Option<Side>, &str) {
    let after = |label| line.strip_prefix(label).map(str::trim_start);
    match (after("A:"), after("B:")) {
        (Some(said), _) => (Some(Side::A), said),
        (_, Some(said)) => (Some(Side::B), said),
        _ => (None, line),
    }
}

fn audit(cues: &[Cue], dialogues: &[Dialogue]) -> PlusAudit {
    let having = |how| {
        let found = cues.iter().filter(|cue| cue.run_together == Some(how));
        found.map(|cue| cue.index).collect()
    };
    let mut audit = PlusAudit {
        items: cues.len(),
        literal_breaks: having(RunTogether::Literal),
        inline_breaks: having(RunTogether::Inline),
        gap_forms: cues
            .iter()
            .map(|cue| cue.gap.text())
            .collect::<BTreeSet<_>>()
            .len(),
        repeated_cues: repeated(cues),
        non_ascii_cues: cues
            .iter()
            .filter(|c| c.lines.iter().any(|l| !l.1.is_ascii()))
            .count(),
        non_ascii_queries: cues.iter().filter(|cue| !cue.query.is_ascii()).count(),
        ..PlusAudit::default()
    };
    for cue in cues {
        *audit.by_relation.entry(cue.relation).or_default() += 1;
        if cue.gap.official_days().is_none() {
            audit
                .unparsed_gaps
                .entry(cue.gap.text().to_owned())
                .or_default()
                .push(cue.index);
        }
        match dialogues.iter().find(|dialogue| dialogue.id == cue.host) {
            Some(host) => stitch::count(cue, host, &mut audit),
            None => audit.without_host += 1,
        }
    }
    audit
}

fn repeated(cues: &[Cue]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (place, cue) in cues.iter().enumerate() {
        if let Some(first) = cues[..place].iter().find(|before| before.same_cue(cue)) {
            pairs.push((first.index, cue.index));
        }
    }
    pairs
}
