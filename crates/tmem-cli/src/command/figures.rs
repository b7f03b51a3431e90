//! `tmem stats` and `tmem cost`: what is there, what is missing, what it took.

use std::cmp::Reverse;

use anyhow::Result;
use serde_json::json;
use tmem::llm::Line;
use tmem::model::text::plural;
use tmem::{Coverage, Stats};

use super::build;
use crate::outcome::{Exit, Outcome};
use crate::session::Session;

pub(crate) async fn stats(session: &Session) -> Result<Outcome> {
    let stats = session.read()?.stats().await?;
    let exit = match stats.coverage.holes {
        0 => Exit::Done,
        _ => Exit::Unfinished,
    };
    Ok(Outcome::new(lines(&stats).join("\n"), &stats).exit(exit))
}

fn lines(stats: &Stats) -> Vec<String> {
    let counts = &stats.counts;
    let triggers = counts.item_triggers + counts.scene_triggers + counts.horizon_triggers;
    let mut lines = vec![
        row(counts.conversations, "conversation", ""),
        row(
            counts.turns,
            "turn",
            &format!(", {} in no scene yet", counts.open_turns),
        ),
        row(counts.scenes, "scene", ""),
        row(counts.topics, "topic", ""),
        row(
            counts.items,
            "item",
            &format!(", {} out of date", counts.superseded),
        ),
        row(counts.personas, "persona", ""),
        row(
            triggers,
            "trigger",
            &format!(
                ": {} of items, {} of scenes, {} horizons",
                counts.item_triggers, counts.scene_triggers, counts.horizon_triggers
            ),
        ),
        row(stats.vectors.values().sum(), "vector", ""),
    ];
    let jobs = stats.jobs.iter();
    lines.extend(jobs.map(|(state, count)| row(*count, "step", &format!(" {state}"))));
    lines.extend(refused(stats));
    lines.extend(gaps(&stats.coverage));
    lines.extend(build::holes(stats.coverage.holes));
    lines.extend(gate(stats));
    lines.extend(stats.notes.iter().map(|note| format!("note: {note}")));
    lines
}

/// What construction would not take of the replies, most first.
fn refused(stats: &Stats) -> Option<String> {
    let mut reasons: Vec<(&String, &u64)> = stats.refused.iter().collect();
    reasons.sort_by_key(|(_, count)| Reverse(**count));
    let told = reasons
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"));
    let told: Vec<String> = told.collect();
    let total: u64 = stats.refused.values().sum();
    (total > 0).then(|| format!("{total:>8} refused: {}", told.join(", ")))
}

/// How many there are of something, in a column, and what else there is to say of it.
fn row(count: usize, noun: &str, rest: &str) -> String {
    format!("{count:>8} {}{rest}", plural(count, noun))
}

fn gaps(coverage: &Coverage) -> impl Iterator<Item = String> {
    let gaps = [
        (&coverage.scenes_unwritten, "scene", "not written"),
        (
            &coverage.scenes_without_trigger,
            "scene",
            "without a scene trigger",
        ),
        (
            &coverage.scenes_without_horizon,
            "scene",
            "without a horizon trigger",
        ),
        (&coverage.scenes_without_topic, "scene", "in no topic"),
        (&coverage.items_without_bridge, "item", "without a bridge"),
        (&coverage.topics_without_item, "topic", "without an item"),
    ];
    let gaps = gaps.into_iter().filter(|(ids, ..)| !ids.is_empty());
    gaps.map(|(ids, noun, lack)| row(ids.len(), noun, &format!(" {lack}: {}", some(ids))))
}

/// The first few of a list.
fn some(ids: &[String]) -> String {
    let shown = ids
        .iter()
        .take(5)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if ids.len() > 5 {
        format!("{shown}, …")
    } else {
        shown
    }
}

fn gate(stats: &Stats) -> Option<String> {
    let fires = stats
        .gate_fires
        .filter(|_| stats.counts.item_triggers > 0)?
        * 100.0;
    let gate = stats.gate.map_or("each its own".to_owned(), |gate| {
        format!("cosine {gate:.3}")
    });
    Some(format!(
        "{fires:>6.0} % of turns pass the gate of item triggers ({gate})"
    ))
}

pub(crate) fn cost(session: &Session) -> Result<Outcome> {
    let ledger = session.read()?.cost()?;
    let total = ledger.total();
    let rows: Vec<String> = ledger.lines.iter().chain([&total]).map(cost_row).collect();
    let header = format!(
        "{:<20} {:>6} {:>7} {:>6} {:>7} {:>10} {:>10} {:>9}  model",
        "prompt", "calls", "cached", "failed", "waiting", "read", "written", "price"
    );
    let text = format!("{header}\n{}", rows.join("\n"));
    Ok(Outcome::new(
        text,
        json!({ "lines": ledger.lines, "total": total }),
    ))
}

fn cost_row(line: &Line) -> String {
    let spent = &line.spent;
    let price = line
        .cost
        .map_or("-".to_owned(), |cost| format!("{cost:.4}"));
    format!(
        "{:<20} {:>6} {:>7} {:>6} {:>7} {:>10} {:>10} {price:>9}  {}",
        line.prompt,
        spent.calls,
        spent.cached,
        spent.failed + spent.refused,
        line.waiting,
        spent.prompt_tokens,
        spent.completion_tokens,
        line.model
    )
}
