//! `report.md`: protocol, manifest and every table of a run.

use super::table::Table;
use super::tables::{BY_CATEGORY, PUBLISHED_TITLE, tables};
use crate::results::Results;

/// The report as Markdown; `beside` is a run of the other benchmark.
#[must_use]
pub fn markdown(results: &Results, beside: Option<&Results>) -> String {
    let tables = tables(results, beside);
    let tables: String = tables.iter().map(Table::to_markdown).collect();
    format!("# {}\n\n{}\n{tables}", title(results), protocol(results))
}

/// The tables alone, as a chapter of a larger document.
#[must_use]
pub fn chapter(results: &Results, beside: Option<&Results>) -> String {
    let tables = tables(results, beside)
        .into_iter()
        .filter(|table| ![BY_CATEGORY, PUBLISHED_TITLE].contains(&table.title.as_str()));
    let tables: String = tables
        .map(|table| format!("#{}", table.to_markdown()))
        .collect();
    format!("{}\n{tables}", protocol(results))
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
