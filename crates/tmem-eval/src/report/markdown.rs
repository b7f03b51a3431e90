//! `report.md`: every table of a run.

use super::published::{ABLATIONS, ABLATIONS_SOURCE, PUBLISHED};
use super::table::{ABSENT, Table, count, main_table, percent, whole};
use crate::results::{Results, Row, Scores};
use crate::stat::Difference;

const PUBLISHED_TITLE: &str = "Published figures";

/// The report as Markdown.
#[must_use]
pub fn markdown(results: &Results) -> String {
    let tables: String = tables(results).iter().map(Table::to_markdown).collect();
    format!("# {}\n\n{}\n{tables}", title(results), protocol(results))
}

/// The tables alone, as a chapter of a larger document.
#[must_use]
pub fn chapter(results: &Results) -> String {
    let tables = tables(results)
        .into_iter()
        .filter(|table| table.title != PUBLISHED_TITLE);
    let tables: String = tables
        .map(|table| format!("#{}", table.to_markdown()))
        .collect();
    format!("{}\n{tables}", protocol(results))
}

/// Tables beside the main one that belong on a terminal.
#[must_use]
pub fn extra_tables(results: &Results) -> Vec<Table> {
    let all = [answers(results), ablations(results), sweeps(results)];
    all.into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// What the report is called.
#[must_use]
pub fn title(results: &Results) -> String {
    let name = match results.manifest.benchmark.as_str() {
        "locomo" => "LoCoMo",
        "locomo-plus" => "LoCoMo-Plus",
        "longmemeval" => "LongMemEval-S",
        other => other,
    };
    let kind = if results.manifest.models.is_empty() {
        "retrieval"
    } else {
        "retrieval and answers"
    };
    format!("{name}: {kind}")
}

fn protocol(results: &Results) -> String {
    let manifest = &results.manifest;
    let mut lines: Vec<String> = manifest.protocol.clone();
    lines.push(format!(
        "Code {}, configuration {}.",
        manifest.commit,
        short(&manifest.config_sha256)
    ));
    lines.push(format!(
        "Encoder {}; seed {}.",
        manifest.encoder, manifest.seed
    ));
    for (role, model) in &manifest.models {
        lines.push(format!("Model for {role}: {model}."));
    }
    for (name, hash) in &manifest.prompts_sha256 {
        lines.push(format!("Prompt {name}: {}.", short(hash)));
    }
    for (file, hash) in &manifest.data_sha256 {
        lines.push(format!("Data {file}: {}.", short(hash)));
    }
    let counts = manifest
        .counts
        .iter()
        .map(|(name, count)| format!("{name} {count}"));
    lines.push(format!(
        "Counts: {}.",
        counts.collect::<Vec<_>>().join(", ")
    ));
    lines.iter().map(|line| format!("- {line}\n")).collect()
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// Every table of `results` that has rows.
#[must_use]
pub fn tables(results: &Results) -> Vec<Table> {
    let all = [
        main_table(results),
        by_relation(results),
        at_k(results),
        at_tokens(results),
        ranks(results),
        reach(results),
        answers(results),
        answers_by_category(results),
        ablations(results),
        sweeps(results),
        differences(results),
        published(results),
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
        for name in names.collect::<std::collections::BTreeSet<_>>() {
            let of =
                |map: &std::collections::BTreeMap<String, usize>| count(map.get(name).copied());
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

fn answer_cells(scores: &Scores) -> Vec<String> {
    let with = |value: Option<f64>, deviation: Option<f64>| match deviation {
        Some(_) => format!("{} ± {}", percent(value), percent(deviation)),
        None => percent(value),
    };
    vec![
        count(scores.answer_questions),
        with(scores.judge, scores.judge_deviation),
        with(scores.judge_strict, scores.judge_strict_deviation),
        percent(scores.f1),
        percent(scores.f1_normalised),
        whole(scores.answer_tokens),
        whole(scores.context_tokens),
        count(scores.answer_failures),
        count(scores.judge_failures),
        count(scores.waiting),
    ]
}

const ANSWER_HEAD: [&str; 11] = [
    "system",
    "n",
    "judge",
    "strict",
    "F1",
    "F1 normalised",
    "answer tokens",
    "context tokens",
    "no answer",
    "no verdict",
    "waiting",
];

fn answers(results: &Results) -> Table {
    let mut table = Table::new(
        "Answers",
        "Percent. Judge: LoCoMo's generous rule, or awareness of the cue on LoCoMo-Plus; strict: \
         everything the gold answer says and nothing against it. What failed is in the denominator. \
         Overall is over categories 1 to 4. Always refusing scores 0 there and 100 in category 5 \
         where no answer exists, which is why 5 stands apart.",
        &ANSWER_HEAD,
    );
    for (system, summary) in results.systems() {
        if summary.overall.judge.is_some() {
            table.push(
                [system.clone()]
                    .into_iter()
                    .chain(answer_cells(&summary.overall))
                    .collect(),
            );
        }
    }
    if results.manifest.benchmark == "locomo" && !table.rows.is_empty() {
        table.push(refusing("always refusing", answer_rows(results, None)));
    }
    table.without_empty_columns()
}

/// The answered rows of the first system, of one category or (`None`) of 1 to 4.
fn answer_rows<'a>(
    results: &'a Results,
    category: Option<&'a str>,
) -> impl Iterator<Item = &'a Row> {
    let first = results.manifest.order.first();
    let rows = results
        .rows
        .iter()
        .filter(move |row| Some(&row.system) == first);
    let rows = rows.filter(|row| !row.answers.is_empty());
    rows.filter(move |row| match category {
        Some(category) => row.category == category,
        None => row.category_number != Some(5),
    })
}

/// What a system would score that says `not mentioned` to everything: right where no answer exists.
fn refusing<'a>(name: &str, rows: impl Iterator<Item = &'a Row>) -> Vec<String> {
    let right = |row: &Row| f64::from(u8::from(row.answers.iter().all(|a| a.f1.is_none())));
    let scores: Vec<f64> = rows
        .map(|row| {
            if row.category_number == Some(5) {
                right(row)
            } else {
                0.0
            }
        })
        .collect();
    let share = percent(crate::metric::mean(scores.iter().copied()));
    let mut cells = vec![
        name.to_owned(),
        scores.len().to_string(),
        share.clone(),
        share,
    ];
    cells.resize(ANSWER_HEAD.len(), ABSENT.to_owned());
    cells
}

fn answers_by_category(results: &Results) -> Table {
    let mut head = ANSWER_HEAD;
    head[0] = "system, category";
    let mut table = Table::new("Answers by category", "As above.", &head);
    for (system, summary) in results.systems() {
        for (category, scores) in &summary.by_category {
            if scores.judge.is_some() {
                let name = format!("{system}, {category}");
                table.push([name].into_iter().chain(answer_cells(scores)).collect());
            }
        }
    }
    if !table.rows.is_empty() && results.manifest.benchmark == "locomo" {
        let rows = answer_rows(results, Some("adversarial"));
        table.push(refusing("always refusing, adversarial", rows));
    }
    table.without_empty_columns()
}

fn ablations(results: &Results) -> Table {
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
        let score = super::figures::headline(results, &one.scores);
        let published = ABLATIONS.iter().find(|(switch, ..)| *switch == one.switch);
        let points = |value: Option<f64>| value.map_or(ABSENT.to_owned(), |v| format!("{v:+.2}"));
        let mut row = vec![one.switch.clone(), percent(score)];
        row.extend(difference_cells(&one.difference));
        row.push(whole(one.scores.context_tokens));
        row.push(points(published.map(|p| p.1)));
        row.push(points(published.map(|p| p.2)));
        table.push(row);
    }
    table
}

fn sweeps(results: &Results) -> Table {
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
            percent(super::figures::headline(results, &point.scores)),
            interval,
            whole(point.scores.context_tokens),
        ]);
    }
    table
}

fn difference_cells(difference: &Difference) -> [String; 3] {
    let points = |value: f64| format!("{:+.1}", value * 100.0);
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

fn differences(results: &Results) -> Table {
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

fn published(results: &Results) -> Table {
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
