//! Tables of differences: one component off, one budget changed, system against system, benchmark
//! against benchmark; and what others have published.

use crate::report::figures::headline;
use crate::report::gap;
use crate::report::published::{ABLATIONS, ABLATIONS_SOURCE, PUBLISHED};
use crate::report::table::{ABSENT, Table, percent, whole};
use crate::results::Results;
use crate::stat::Difference;

pub(in crate::report) const PUBLISHED_TITLE: &str = "Published figures";

pub(super) fn ablations(results: &Results) -> Table {
    let note = format!(
        "Points of {}, one component off. Published: change of judged accuracy ({ABLATIONS_SOURCE}), \
         not re-run.",
        results.headline().replace('_', " ")
    );
    let head = [
        "without",
        "score",
        "change",
        "95 % by conversation",
        "95 % by question",
        "tokens",
        "published LoCoMo",
        "published LoCoMo-Plus",
    ];
    let mut table = Table::new("Ablations", &note, &head);
    for one in &results.ablations {
        let score = headline(results, &one.scores);
        let published = ABLATIONS.iter().find(|(switch, ..)| *switch == one.switch);
        let published_points =
            |value: Option<f64>| value.map_or(ABSENT.to_owned(), |v| format!("{v:+.2}"));
        let mut row = vec![one.switch.clone(), percent(score)];
        row.extend(difference_cells(&one.difference));
        row.push(whole(one.scores.context_tokens));
        row.push(published_points(published.map(|p| p.1)));
        row.push(published_points(published.map(|p| p.2)));
        table.push(row);
    }
    table
}

pub(super) fn sweeps(results: &Results) -> Table {
    let note = format!(
        "Percent {}; * marks the configured value.",
        results.headline().replace('_', " ")
    );
    let mut table = Table::new("Sweeps", &note, &["budget", "score", "95 %", "tokens"]);
    for point in &results.sweeps {
        let mark = if point.default { " *" } else { "" };
        let interval = point.interval.map_or(ABSENT.to_owned(), |(low, high)| {
            format!("{} to {}", percent(Some(low)), percent(Some(high)))
        });
        table.push(vec![
            format!("{} = {}{mark}", point.parameter, point.value),
            percent(headline(results, &point.scores)),
            interval,
            whole(point.scores.context_tokens),
        ]);
    }
    table
}

/// Points with a sign; a zero has none.
fn points(fraction: f64) -> String {
    let text = format!("{:+.1}", fraction * 100.0);
    if ["+0.0", "-0.0"].contains(&text.as_str()) {
        return "0.0".to_owned();
    }
    text
}

fn difference_cells(difference: &Difference) -> [String; 3] {
    [
        points(difference.mean),
        format!("{} to {}", points(difference.low), points(difference.high)),
        format!(
            "{} to {}",
            points(difference.low_by_question),
            points(difference.high_by_question)
        ),
    ]
}

pub(super) fn differences(results: &Results) -> Table {
    let mut table = Table::new(
        "Differences",
        "Points, paired by question; 95 % by bootstrap over conversations and over questions.",
        &[
            "systems",
            "metric",
            "difference",
            "95 % by conversation",
            "95 % by question",
            "conversations",
        ],
    );
    for one in &results.differences {
        let mut row = vec![
            format!("{} − {}", one.to, one.from),
            one.metric.replace('_', " "),
        ];
        row.extend(difference_cells(&one.difference));
        row.push(one.difference.clusters.to_string());
        table.push(row);
    }
    table
}

pub(super) fn lifts(results: &Results) -> Table {
    let mut table = Table::new(
        "Lift over the control",
        "Points of cue in context: each cue's own query minus the mean of its controls.",
        &[
            "system",
            "lift",
            "95 % by conversation",
            "95 % by cue",
            "conversations",
        ],
    );
    for (system, summary) in results.systems() {
        let scores = &summary.overall;
        if let Some((lift, difference)) = scores.lift.zip(scores.lift_interval.as_ref()) {
            let [_, by_conversation, by_cue] = difference_cells(difference);
            let mut row = vec![system.clone(), points(lift), by_conversation, by_cue];
            row.push(difference.clusters.to_string());
            table.push(row);
        }
    }
    table
}

pub(super) fn gaps(results: &Results, beside: Option<&Results>) -> Table {
    let mut table = Table::new(
        "Gap between the benchmarks",
        "Percent: evidence recall on LoCoMo, cue in context on LoCoMo-Plus, and the points between them \
         over the conversations of both. Questions are not paired: whole conversations are drawn.",
        &[
            "system",
            "LoCoMo",
            "LoCoMo-Plus",
            "gap",
            "95 % by conversation",
            "95 % by question",
            "conversations",
        ],
    );
    for one in gap::gaps(results, beside) {
        let mut row = vec![
            one.system,
            percent(Some(one.locomo)),
            percent(Some(one.plus)),
        ];
        row.extend(difference_cells(&one.difference));
        row.push(one.difference.clusters.to_string());
        table.push(row);
    }
    table
}

pub(super) fn published(results: &Results) -> Table {
    let note = "Percent judged by a language model, as printed by their authors: not re-run here, and \
                not the metric of the retrieval tables above.";
    let head = [
        "system (published)",
        "LoCoMo",
        "multi-hop",
        "temporal",
        "open",
        "single-hop",
        "F1",
        "LoCoMo-Plus",
        "gap",
        "source",
    ];
    let mut table = Table::new(PUBLISHED_TITLE, note, &head);
    if results.manifest.benchmark == "longmemeval" {
        return table;
    }
    for row in PUBLISHED {
        let cell = |value: Option<f64>| value.map_or(ABSENT.to_owned(), |v| format!("{v:.2}"));
        let gap = row.locomo.zip(row.plus).map(|(locomo, plus)| locomo - plus);
        let figures = [row.locomo]
            .into_iter()
            .chain(row.by_category)
            .chain([row.f1, row.plus, gap]);
        let cells = figures.map(cell).chain([row.source.to_owned()]);
        table.push([row.system.to_owned()].into_iter().chain(cells).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    #[test]
    fn zero_has_no_sign() {
        let shown = [0.0, -0.000_1, 0.125, -0.071].map(super::points);
        assert_eq!(shown, ["0.0", "0.0", "+12.5", "-7.1"]);
    }
}
