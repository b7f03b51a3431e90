//! Tables of answers and verdicts.

use crate::report::table::{ABSENT, Table, count, percent, whole};
use crate::results::{Results, Row, Scores};

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

pub(super) fn answers(results: &Results) -> Table {
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

pub(super) fn by_category(results: &Results) -> Table {
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
