//! Every table of a run: here those of retrieval.

mod answers;
mod differences;

pub(super) use differences::PUBLISHED_TITLE;

use std::collections::{BTreeMap, BTreeSet};

use super::table::{Table, count, main_table, percent, whole};
use crate::results::{CueScores, Results, Scores};

/// Every table of `results` that has rows; `beside` is a run of the other benchmark.
#[must_use]
pub fn tables(results: &Results, beside: Option<&Results>) -> Vec<Table> {
    let all = [
        main_table(results),
        by_relation(results),
        by_category(results),
        at_k(results),
        at_tokens(results),
        ranks(results),
        reach(results),
        answers::answers(results),
        answers::by_category(results),
        differences::ablations(results),
        differences::sweeps(results),
        differences::differences(results),
        differences::lifts(results),
        differences::gaps(results, beside),
        differences::published(results),
    ];
    all.into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// Tables beside the main one that belong on a terminal.
#[must_use]
pub fn extra_tables(results: &Results) -> Vec<Table> {
    let all = [
        answers::answers(results),
        differences::ablations(results),
        differences::sweeps(results),
    ];
    all.into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

fn by_relation(results: &Results) -> Table {
    let mut table = Table::new(
        "By relation",
        "Percent of cues in the context, and among the first 10 pooled.",
        &[
            "system",
            "relation",
            "n",
            "in context",
            "control",
            "lift",
            "@5",
            "control @5",
            "@10",
            "control @10",
            "pooled @10",
        ],
    );
    if !results.is_plus() {
        return table;
    }
    for (system, summary) in results.systems() {
        for (relation, scores) in &summary.by_category {
            let mut row = vec![system.clone(), relation.clone()];
            row.extend(relation_cells(scores));
            table.push(row);
        }
    }
    table.without_empty_columns()
}

fn relation_cells(scores: &Scores) -> [String; 9] {
    let control = scores.control.as_ref();
    let pooled = scores.pooled.as_ref().map(|pooled| &pooled.cues);
    let at = |cues: Option<&CueScores>, k| {
        percent(cues.and_then(|cues| cues.cue_recall.get(&k).copied()))
    };
    [
        scores.questions.to_string(),
        percent(scores.cues.cue_in_context),
        percent(control.and_then(|control| control.cue_in_context)),
        percent(scores.lift),
        at(Some(&scores.cues), 5),
        at(control, 5),
        at(Some(&scores.cues), 10),
        at(control, 10),
        at(pooled, 10),
    ]
}

/// The table that is too long for a chapter.
pub(super) const BY_CATEGORY: &str = "Evidence by category";

fn by_category(results: &Results) -> Table {
    let mut table = Table::new(
        BY_CATEGORY,
        "Percent. In the context, with all of a question's evidence there in brackets; and of the first \
         5 and 10 of each list that a system ranks (pieces are turns, windows, chunks or sessions).",
        &[
            "system, category",
            "n",
            "context",
            "tokens",
            "scenes @5",
            "scenes @10",
            "items @5",
            "items @10",
            "pieces @5",
            "pieces @10",
        ],
    );
    if results.is_plus() {
        return table;
    }
    for (system, summary) in results.systems() {
        for (category, scores) in &summary.by_category {
            let list = |list: &str, k| pair(scores, list, k);
            table.push(vec![
                format!("{system}, {category}"),
                scores.questions.to_string(),
                with_all(scores.evidence_recall, scores.all_evidence_hit),
                whole(scores.context_tokens),
                list("scenes", 5),
                list("scenes", 10),
                list("items", 5),
                list("items", 10),
                list("pieces", 5),
                list("pieces", 10),
            ]);
        }
    }
    table.without_empty_columns()
}

/// Recall of the first `k` of a list, and in brackets how often all of it is there.
fn pair(scores: &Scores, list: &str, k: usize) -> String {
    let of = |map: &BTreeMap<String, BTreeMap<usize, f64>>| map.get(list)?.get(&k).copied();
    with_all(of(&scores.recall_at), of(&scores.all_hit_at))
}

fn with_all(recall: Option<f64>, all: Option<f64>) -> String {
    match (recall, all) {
        (Some(_), Some(_)) => format!("{} ({})", percent(recall), percent(all)),
        _ => percent(recall),
    }
}

fn at_k(results: &Results) -> Table {
    let mut table = Table::new(
        "Evidence recall of the first k",
        "Percent, with the share of questions whose evidence is all there in brackets. Categories 1 \
         to 4.",
        &["system, list", "@1", "@3", "@5", "@10", "@20"],
    );
    for (system, summary) in results.systems() {
        for list in summary.overall.recall_at.keys() {
            let cells = [1, 3, 5, 10, 20].map(|k| pair(&summary.overall, list, k));
            let name = [format!("{system}, {list}")];
            table.push(name.into_iter().chain(cells).collect());
        }
    }
    table
}

fn at_tokens(results: &Results) -> Table {
    let mut table = Table::new(
        "Evidence recall under a token budget",
        "Percent. Pieces in rank order, turn by turn, each turn once, up to the first that does not fit.",
        &["system", "500", "1000", "2000", "4000"],
    );
    for (system, summary) in results.systems() {
        let at = &summary.overall.recall_at_tokens;
        if !at.is_empty() {
            let cells = [500, 1000, 2000, 4000].map(|budget| percent(at.get(&budget).copied()));
            table.push([system.clone()].into_iter().chain(cells).collect());
        }
    }
    table
}

fn ranks(results: &Results) -> Table {
    let mut table = Table::new(
        "Ranks of cues",
        "Quantiles of the rank in the list that is meant to find the cue, alone in its host \
         conversation, under the control, and pooled.",
        &["system, protocol", "25 %", "median", "75 %", "90 %"],
    );
    for (system, summary) in results.systems() {
        let all = &summary.overall;
        let control = all.control.as_ref().and_then(|control| control.rank);
        let pooled = all.pooled.as_ref().and_then(|pooled| pooled.cues.rank);
        for (name, rank) in [
            ("isolated", all.cues.rank),
            ("control", control),
            ("pooled", pooled),
        ] {
            if let Some(rank) = rank {
                let cells = [rank.p25, rank.median, rank.p75, rank.p90].map(|n| n.to_string());
                table.push(
                    [format!("{system}, {name}")]
                        .into_iter()
                        .chain(cells)
                        .collect(),
                );
            }
        }
    }
    table
}

fn reach(results: &Results) -> Table {
    let mut table = Table::new(
        "What reached the cues",
        "Isolated protocol. First: cues of the context that this list ranked best of all lists. Ten: \
         cues among its first ten. Through: cues that this channel put into the context (several may).",
        &["system, list or channel", "first", "ten", "through"],
    );
    for (system, reach) in &results.reach {
        let names = reach
            .best_view
            .keys()
            .chain(reach.in_first_ten.keys())
            .chain(reach.channel.keys());
        for name in names.collect::<BTreeSet<_>>() {
            let of = |map: &BTreeMap<String, usize>| count(map.get(name).copied());
            table.push(vec![
                format!("{system}, {name}"),
                of(&reach.best_view),
                of(&reach.in_first_ten),
                of(&reach.channel),
            ]);
        }
    }
    table
}
