//! Tables as data: for the terminal, for Markdown and for HTML.

use crate::results::{Results, Scores, Summary};

/// A table: first column names, the others figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// Heads of the columns.
    pub head: Vec<String>,
    /// Rows as long as the head.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(title: &str, note: &str, head: &[&str]) -> Self {
        let head = head.iter().map(|text| (*text).to_owned()).collect();
        Self {
            title: title.to_owned(),
            note: note.to_owned(),
            head,
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.head.len());
        self.rows.push(row);
    }

    /// Drops columns in which no row says anything, the first one excepted.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let says = |column: usize| self.rows.iter().any(|row| row[column] != ABSENT);
        let keep: Vec<bool> = (0..self.head.len()).map(|c| c == 0 || says(c)).collect();
        for row in self.rows.iter_mut().chain([&mut self.head]) {
            let mut keep = keep.iter();
            row.retain(|_| *keep.next().expect("a row has a cell for every column"));
        }
        self
    }

    /// Columns of equal width, for a terminal.
    #[must_use]
    pub fn to_text(&self) -> String {
        let width = |column: usize| {
            let cells = self
                .rows
                .iter()
                .chain([&self.head])
                .map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let rule = widths.iter().map(|width| "-".repeat(*width)).collect();
        let lines = [line(&self.head), line(&rule)]
            .into_iter()
            .chain(self.rows.iter().map(line));
        format!("{}\n{}\n", self.title, lines.collect::<Vec<_>>().join("\n"))
    }

    /// A Markdown table under a heading.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let rule: Vec<String> = (0..self.head.len())
            .map(|c| if c == 0 { "---" } else { "---:" }.to_owned())
            .collect();
        let rows: String = self.rows.iter().map(line).collect();
        format!(
            "## {}\n\n{}\n\n{}{}{rows}\n",
            self.title,
            self.note,
            line(&self.head),
            line(&rule)
        )
    }
}

/// What stands where nothing was measured.
pub const ABSENT: &str = "–";

/// A fraction as a percentage with one decimal.
#[must_use]
pub fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(
        || ABSENT.to_owned(),
        |value| format!("{:.1}", value * 100.0),
    )
}

/// A mean as a whole number.
#[must_use]
pub fn whole(number: Option<f64>) -> String {
    number.map_or_else(|| ABSENT.to_owned(), |value| format!("{value:.0}"))
}

/// A count.
#[must_use]
pub fn count(number: Option<usize>) -> String {
    number.map_or_else(|| ABSENT.to_owned(), |value| value.to_string())
}

/// One line per system: what a run is about.
#[must_use]
pub fn main_table(results: &Results) -> Table {
    if results.is_plus() {
        plus_table(results)
    } else {
        locomo_table(results)
    }
}

fn locomo_table(results: &Results) -> Table {
    let mut table = Table::new(
        "Evidence in the context",
        "Percent; mean over questions with evidence. Overall is over categories 1 to 4; category 5 \
         (adversarial) stands apart, because finding its evidence is no success by itself.",
        &[
            "system",
            "n",
            "recall",
            "all",
            "multi-hop",
            "temporal",
            "open",
            "single-hop",
            "adversarial",
            "tokens",
        ],
    );
    for (system, summary) in results.systems() {
        table.push(locomo_row(system, summary));
    }
    table.without_empty_columns()
}

fn locomo_row(system: &str, summary: &Summary) -> Vec<String> {
    let of = |name: &str| {
        let category = summary.by_category.get(name);
        percent(category.and_then(|scores| scores.evidence_recall))
    };
    let all = &summary.overall;
    vec![
        system.to_owned(),
        all.questions.to_string(),
        percent(all.evidence_recall),
        percent(all.all_evidence_hit),
        of("multi-hop"),
        of("temporal"),
        of("open-domain"),
        of("single-hop"),
        of("adversarial"),
        whole(all.context_tokens),
    ]
}

fn plus_table(results: &Results) -> Table {
    let mut table = Table::new(
        "Cues found by their queries",
        "Percent. In context: the cue's scene is in the assembled context. Control: the same with the \
         queries of other samples, which is what the form of a cue alone gives; lift: points above it. \
         At k: the cue is among the first k of the list that is meant to find it. Pooled: all cues and \
         conversations in one memory.",
        &[
            "system",
            "n",
            "in context",
            "control",
            "lift",
            "@5",
            "control @5",
            "@10",
            "control @10",
            "pooled in context",
            "pooled @10",
            "median rank",
            "tokens",
        ],
    );
    for (system, summary) in results.systems() {
        table.push(plus_row(system, &summary.overall));
    }
    table.without_empty_columns()
}

fn plus_row(system: &str, scores: &Scores) -> Vec<String> {
    let control = scores.control.as_ref();
    let pooled = scores.pooled.as_ref();
    let at = |k| percent(scores.cues.cue_recall.get(&k).copied());
    let control_at = |k| percent(control.and_then(|c| c.cue_recall.get(&k).copied()));
    vec![
        system.to_owned(),
        scores.questions.to_string(),
        percent(scores.cues.cue_in_context),
        percent(control.and_then(|control| control.cue_in_context)),
        percent(scores.lift),
        at(5),
        control_at(5),
        at(10),
        control_at(10),
        percent(pooled.and_then(|pooled| pooled.cues.cue_in_context)),
        percent(pooled.and_then(|pooled| pooled.cues.cue_recall.get(&10).copied())),
        count(scores.cues.rank.map(|rank| rank.median)),
        whole(scores.context_tokens),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn table() -> Table {
        let mut table = Table::new("T", "How.", &["system", "a", "b"]);
        table.push(vec!["x".into(), percent(Some(0.5)), ABSENT.into()]);
        table.push(vec!["longer".into(), percent(None), ABSENT.into()]);
        table.without_empty_columns()
    }

    #[test]
    fn columns_line_up_and_silent_ones_go() {
        expect![[r#"
            T
            system     a
            ------  ----
            x       50.0
            longer     –
        "#]]
        .assert_eq(&table().to_text());
    }

    #[test]
    fn markdown_holds_the_same() {
        expect![[r#"
            ## T

            How.

            | system | a |
            | --- | ---: |
            | x | 50.0 |
            | longer | – |

        "#]]
        .assert_eq(&table().to_markdown());
    }
}
