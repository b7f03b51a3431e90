//! The tables as Markdown, which a terminal can show as well.

use super::{Added, Measured, Stage};

/// Published for one conversation of the same length on average (calls, thousands of tokens).
const PAPER: (u64, u64) = (969, 1_560);

/// Both tables.
pub(super) fn chapter(measured: &Measured) -> String {
    format!("{}\n{}", stages(measured), sessions(&measured.sessions))
}

fn stages(measured: &Measured) -> String {
    let mut rows = vec![
        format!("Building {} turns:\n", measured.turns),
        "| stage | calls | tokens read | tokens written | dry run: calls | tokens |".to_owned(),
        "| --- | ---: | ---: | ---: | ---: | ---: |".to_owned(),
    ];
    rows.extend(measured.stages.iter().map(row));
    let total = measured
        .stages
        .iter()
        .fold(Stage::default(), |sum, one| Stage {
            stage: "**all**",
            calls: sum.calls + one.calls,
            read: sum.read + one.read,
            written: sum.written + one.written,
            foreseen_calls: sum.foreseen_calls + one.foreseen_calls,
            foreseen_tokens: sum.foreseen_tokens + one.foreseen_tokens,
        });
    rows.push(row(&total));
    let (calls, thousands) = PAPER;
    let tokens = thousands * 1_000;
    rows.push(format!(
        "| the paper | {} | {} in all | | | |",
        grouped(calls),
        grouped(tokens)
    ));
    rows.push(format!(
        "\n{} of the paper's calls, {} of its tokens. Answered elsewhere, in batches, the same build takes {} rounds.\n",
        percent(total.calls, calls),
        percent(total.read + total.written, tokens),
        measured.batch_rounds
    ));
    rows.join("\n")
}

fn row(stage: &Stage) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} |",
        stage.stage,
        grouped(stage.calls),
        grouped(stage.read),
        grouped(stage.written),
        grouped(stage.foreseen_calls as u64),
        grouped(stage.foreseen_tokens as u64)
    )
}

fn sessions(sessions: &[Added]) -> String {
    let mut rows = vec![
        "One more session of 20 turns:\n".to_owned(),
        "| sessions before | calls | tokens read | tokens written | topics touched | time | first recall after it | any recall | time to open | first recall then |".to_owned(),
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |".to_owned(),
    ];
    let first = sessions.first();
    let times = |now: f64, of: fn(&Added) -> f64| {
        let base = first.map_or(0.0, of).max(0.001);
        format!("× {:.1}", now / base)
    };
    rows.extend(sessions.iter().map(|one| {
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            grouped(one.before as u64),
            one.calls,
            grouped(one.read),
            grouped(one.written),
            one.topics,
            times(one.seconds, |one| one.seconds),
            times(one.recall, |one| one.recall),
            times(one.again, |one| one.again),
            times(one.opening, |one| one.opening),
            times(one.indexing, |one| one.indexing)
        )
    }));
    rows.join("\n") + "\n"
}

fn percent(part: u64, whole: u64) -> String {
    format!("{} %", (part * 100 + whole / 2) / whole.max(1))
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
