//! Every table of a run: here those of retrieval.

mod answers;
mod differences;

pub(super) use differences::PUBLISHED_TITLE;

use std::collections::{BTreeMap, BTreeSet};

use super::table::{ABSENT, Table, count, main_table, percent};
use crate::results::Results;

/// Every table of `results` that has rows; `beside` is a run of the other benchmark.
#[must_use]
pub fn tables(results: &Results, beside: Option<&Results>) -> Vec<Table> {
    let all = [
        main_table(results),
        by_relation(results),
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
            "@5",
            "@10",
            "pooled @10",
        ],
    );
    if !results.is_plus() {
        return table;
    }
    for (system, summary) in results.systems() {
        for (relation, scores) in &summary.by_category {
            let control = scores
                .control
                .as_ref()
                .and_then(|control| control.cue_in_context);
            let pooled = scores.pooled.as_ref();
            table.push(vec![
                system.clone(),
                relation.clone(),
                scores.questions.to_string(),
                percent(scores.cues.cue_in_context),
                percent(control),
                percent(scores.cues.cue_recall.get(&5).copied()),
                percent(scores.cues.cue_recall.get(&10).copied()),
                percent(pooled.and_then(|p| p.cues.cue_recall.get(&10).copied())),
            ]);
        }
    }
    table.without_empty_columns()
}

fn at_k(results: &Results) -> Table {
    let mut table = Table::new(
        "Evidence recall of the first k",
        "Percent, with the share of questions whose evidence is all there in brackets. Categories 1 \
         to 4.",
        &["system, list", "@1", "@3", "@5", "@10", "@20"],
    );
    for (system, summary) in results.systems() {
        for (list, at) in &summary.overall.recall_at {
            let all = summary.overall.all_hit_at.get(list);
            let cell = |k| match (at.get(&k), all.and_then(|all| all.get(&k))) {
                (Some(recall), Some(all)) => {
                    format!("{} ({})", percent(Some(*recall)), percent(Some(*all)))
                }
                (Some(recall), None) => percent(Some(*recall)),
                (None, _) => ABSENT.to_owned(),
            };
            let cells = [1, 3, 5, 10, 20].map(cell);
            table.push(
                [format!("{system}, {list}")]
                    .into_iter()
                    .chain(cells)
                    .collect(),
            );
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
