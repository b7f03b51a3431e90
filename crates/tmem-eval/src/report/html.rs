//! `report.html`: figures and tables in one file that needs nothing else.

use super::chart::escape;
use super::figures::{Figure, figures};
use super::markdown::title;
use super::table::Table;
use super::tables::tables;
use crate::results::Results;

const STYLE: &str = include_str!("style.css");

/// The report as one page; `beside` is a run of the other benchmark.
#[must_use]
pub fn html(results: &Results, beside: Option<&Results>) -> String {
    let title = escape(&title(results));
    let mut tables = tables(results, beside).into_iter();
    let main = tables
        .next()
        .map(|table| self::table(&table))
        .unwrap_or_default();
    let figures: String = figures(results, beside).iter().map(figure).collect();
    let tables: String = tables.map(|table| self::table(&table)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body><main><h1>{title}</h1>\n{}{main}{figures}{tables}\
         {}</main></body></html>\n",
        summary(results),
        manifest(results),
    )
}

fn summary(results: &Results) -> String {
    let lines: String = results
        .manifest
        .protocol
        .iter()
        .map(|line| format!("<li>{}</li>", escape(line)))
        .collect();
    format!("<ul class=\"protocol\">{lines}</ul>\n")
}

fn figure(figure: &Figure) -> String {
    let charts: String = figure
        .charts
        .iter()
        .map(|svg| format!("<div>{svg}</div>"))
        .collect();
    let caption = escape(&figure.caption);
    format!(
        "<figure><div class=\"charts\">{charts}</div><figcaption>{caption}</figcaption></figure>\n"
    )
}

fn table(table: &Table) -> String {
    let cells = |row: &[String], tag: &str| -> String {
        row.iter()
            .map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)))
            .collect()
    };
    let rows: String = table
        .rows
        .iter()
        .map(|row| format!("<tr>{}</tr>", cells(row, "td")))
        .collect();
    format!(
        "<section><h2>{}</h2><p>{}</p><div class=\"scroll\"><table><thead><tr>{}</tr></thead>\
         <tbody>{rows}</tbody></table></div></section>\n",
        escape(&table.title),
        escape(&table.note),
        cells(&table.head, "th"),
    )
}

fn manifest(results: &Results) -> String {
    let json = serde_json::to_string_pretty(&results.manifest).expect("a manifest is plain data");
    format!(
        "<details><summary>Manifest</summary><pre>{}</pre></details>\n",
        escape(&json)
    )
}
