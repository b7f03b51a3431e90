//! Which figures a run has, and what each one says.

use std::collections::BTreeMap;

use super::chart::{Axis, Dot, Polygon, Series, dots, lines, points, radar};
use super::gap::gaps;
use super::published;
use crate::results::{Ablation, Results, Scores, Summary, SweepPoint};

/// A figure with what a reader needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// One sentence on what it shows and how to read it.
    pub caption: String,
    /// Its charts, side by side where there is room.
    pub charts: Vec<String>,
}

/// All figures of `results`; `beside` holds a run of the other benchmark, if there is one.
#[must_use]
pub fn figures(results: &Results, beside: Option<&Results>) -> Vec<Figure> {
    let all = [
        tokens(results),
        cue_curves(results),
        pooled_curves(results),
        recall_curves(results),
        ablations(results, beside),
        differences(results),
        sweeps(results),
        gap(results, beside),
    ];
    all.into_iter().flatten().collect()
}

fn pct(fraction: f64) -> f64 {
    fraction * 100.0
}

/// The metric that stands for the benchmark, of one system.
#[must_use]
pub fn headline(results: &Results, scores: &Scores) -> Option<f64> {
    if results.is_plus() {
        scores.cues.cue_in_context
    } else {
        scores.evidence_recall
    }
}

fn headline_title(results: &Results) -> &'static str {
    if results.is_plus() {
        "cue in the context (%)"
    } else {
        "evidence recall (%)"
    }
}

/// Flat systems in a chart: more than these cannot be told apart, the tables have all.
const FLAT_SHOWN: usize = 4;

/// The systems of charts: all but the flat ones, and the best of those.
fn shown(results: &Results) -> Vec<(&String, &Summary)> {
    let score = |name: &&String| headline(results, &results.summary[*name].overall).unwrap_or(0.0);
    let is_flat = |name: &String| name.starts_with("flat-rag-");
    let mut flat: Vec<&String> = results
        .systems()
        .map(|(name, _)| name)
        .filter(|name| is_flat(name))
        .collect();
    flat.sort_by(|a, b| score(b).total_cmp(&score(a)));
    flat.truncate(FLAT_SHOWN);
    results
        .systems()
        .filter(|(name, _)| !is_flat(name) || flat.contains(name))
        .collect()
}

/// What the context costs and what it holds; with answers, also what they score.
fn tokens(results: &Results) -> Option<Figure> {
    let held = against_tokens(results, headline_title(results), |scores| {
        headline(results, scores)
    });
    let judged = against_tokens(results, "answers judged right (%)", |scores| scores.judge);
    let charts: Vec<String> = held.into_iter().chain(judged).collect();
    (!charts.is_empty()).then(|| Figure {
        caption: "Further up is better, further left is cheaper. Tokens are words times 1.3; the \
                  axis is logarithmic. Charts show the four best of many flat systems, the tables all."
            .into(),
        charts,
    })
}

/// One point per system: its mean tokens and a score.
fn against_tokens(
    results: &Results,
    score_title: &str,
    score: impl Fn(&Scores) -> Option<f64>,
) -> Option<String> {
    let point = |(colour, (name, summary)): (usize, (&String, &Summary))| {
        let tokens = summary.overall.context_tokens?;
        Some(Series {
            name: name.clone(),
            points: vec![(tokens, pct(score(&summary.overall)?))],
            colour,
            ..Series::default()
        })
    };
    let systems = shown(results).into_iter().enumerate();
    let series: Vec<Series> = systems.filter_map(point).collect();
    let x = Axis::log(
        "mean tokens of context (log scale)",
        series.iter().map(|s| s.points[0].0),
    );
    let least = series.iter().map(|s| s.points[0].1).fold(100.0, f64::min);
    let y = Axis::percent(score_title, (least - 5.0).max(0.0));
    let title = format!("Tokens against {score_title}");
    (series.len() > 1).then(|| points(&title, &x, &y, &series))
}

fn recall_curves(results: &Results) -> Option<Figure> {
    let title = |list: &str| match list {
        "tokens" => (
            "Evidence recall of a ranking cut at a token budget".to_owned(),
            "tokens",
        ),
        list => (
            format!("Evidence recall of the first k {list}"),
            "k (count)",
        ),
    };
    let lists = results
        .summary
        .values()
        .flat_map(|summary| summary.overall.recall_at.keys());
    let lists: std::collections::BTreeSet<&str> = lists.map(String::as_str).collect();
    let charts = lists.into_iter().filter_map(|list| {
        let curve = |scores: &Scores| scores.recall_at.get(list).cloned().unwrap_or_default();
        let (title, x) = title(list);
        curves(results, &title, (x, "evidence recall (%)"), curve)
    });
    let budget = |scores: &Scores| scores.recall_at_tokens.clone();
    let (budget_title, unit) = title("tokens");
    let charts: Vec<String> = charts
        .chain(curves(
            results,
            &budget_title,
            (unit, "evidence recall (%)"),
            budget,
        ))
        .collect();
    (!charts.is_empty()).then(|| Figure {
        caption: "Mean share of a question's evidence turns among the first pieces of each list. \
                  Pieces differ in size from list to list: compare within a chart, and across \
                  charts by tokens. Systems with equal lines share one."
            .into(),
        charts,
    })
}

/// One line per system over the keys of a map; systems whose lines coincide share one.
fn curves(
    results: &Results,
    title: &str,
    (x, y): (&str, &str),
    curve: impl Fn(&Scores) -> BTreeMap<usize, f64>,
) -> Option<String> {
    let line = |(colour, (name, summary)): (usize, (&String, &Summary))| {
        let points: Vec<_> = curve(&summary.overall)
            .into_iter()
            .map(|(k, v)| (k as f64, pct(v)))
            .collect();
        (!points.is_empty()).then(|| Series {
            name: name.clone(),
            points,
            colour,
            ..Series::default()
        })
    };
    let mut series: Vec<Series> = Vec::new();
    for one in shown(results).into_iter().enumerate().filter_map(line) {
        match series.iter_mut().find(|known| known.points == one.points) {
            Some(same) => same.name = format!("{} = {}", same.name, one.name),
            None => series.push(one),
        }
    }
    let keys: Vec<f64> = series
        .iter()
        .flat_map(|s| s.points.iter().map(|p| p.0))
        .collect();
    let axis = log_when_wide(x, &keys);
    (!series.is_empty()).then(|| lines(title, &axis, &Axis::percent(y, 0.0), &series))
}

fn log_when_wide(title: &str, values: &[f64]) -> Axis {
    let mut axis = Axis::values(title, values.iter().copied());
    if axis.range.1 / axis.range.0.max(1.0) >= 8.0 && axis.range.0 > 0.0 {
        axis.scale = super::chart::Scale::Log;
        axis.title = format!("{title}, log scale");
    }
    axis
}

fn cue_curves(results: &Results) -> Option<Figure> {
    if !results.is_plus() {
        return None;
    }
    let found = curves(
        results,
        "Each cue alone in its host conversation",
        ("k (count)", "cues among the first k (%)"),
        |scores| scores.cues.cue_recall.clone(),
    );
    let control = curves(
        results,
        "Control: the same with queries of other samples",
        ("k (count)", "cues among the first k (%)"),
        |scores| {
            scores
                .control
                .as_ref()
                .map(|c| c.cue_recall.clone())
                .unwrap_or_default()
        },
    );
    let charts: Vec<String> = found.into_iter().chain(control).collect();
    (!charts.is_empty()).then(|| Figure {
        caption: "First what a method finds, then what it finds for a query that has nothing to do \
                  with the cue. Only the distance between the two is understanding; the rest is the \
                  form of a cue, two short turns among long chats."
            .into(),
        charts,
    })
}

fn pooled_curves(results: &Results) -> Option<Figure> {
    let chart = curves(
        results,
        "All cues and conversations in one memory",
        ("k (count)", "cues among the first k (%)"),
        |scores| {
            scores
                .pooled
                .as_ref()
                .map(|p| p.cues.cue_recall.clone())
                .unwrap_or_default()
        },
    )?;
    Some(Figure {
        caption:
            "The hardest form: the distractors are cues themselves, so that form says nothing."
                .into(),
        charts: vec![chart],
    })
}

fn ablations(results: &Results, beside: Option<&Results>) -> Option<Figure> {
    if results.ablations.is_empty() {
        return None;
    }
    let axes: Vec<String> = results
        .ablations
        .iter()
        .map(|one| one.switch.clone())
        .collect();
    let with = [Some(results), beside].into_iter().flatten();
    let polygons: Vec<Polygon> = with.filter_map(|results| polygon(results, &axes)).collect();
    let rows: Vec<Dot> = results
        .ablations
        .iter()
        .map(|one| ablation_dot(results, one))
        .collect();
    let unit = format!(
        "change of {}, points, 95 % interval",
        results.headline().replace('_', " ")
    );
    Some(Figure {
        caption: format!(
            "One component off at a time. Radar: what is left of the score, 100 is the whole system. \
             Dots: the change with its paired interval; hollow: the published change of judged \
             accuracy ({}), not re-run, another metric.",
            published::ABLATIONS_SOURCE
        ),
        charts: vec![
            radar(
                "Score without a component (% of the whole system)",
                &axes,
                &polygons,
            ),
            dots("Change without a component", &unit, &rows),
        ],
    })
}

fn polygon(results: &Results, axes: &[String]) -> Option<Polygon> {
    let value = |axis: &String| {
        let one = results.ablations.iter().find(|one| one.switch == *axis)?;
        let without = headline(results, &one.scores)?;
        let whole = without - one.difference.mean;
        Some(if whole > 0.0 {
            pct(without / whole)
        } else {
            100.0
        })
    };
    let values = axes.iter().map(value).collect::<Option<Vec<f64>>>()?;
    Some(Polygon {
        name: format!(
            "{} ({})",
            results.manifest.benchmark,
            results.headline().replace('_', " ")
        ),
        values,
    })
}

fn ablation_dot(results: &Results, one: &Ablation) -> Dot {
    let published = published::ABLATIONS
        .iter()
        .find(|(switch, ..)| *switch == one.switch);
    let reference =
        published.map(|(_, locomo, plus)| if results.is_plus() { *plus } else { *locomo });
    let d = &one.difference;
    Dot {
        name: format!("without {}", one.switch),
        value: pct(d.mean),
        interval: Some((pct(d.low), pct(d.high))),
        reference,
    }
}

fn differences(results: &Results) -> Option<Figure> {
    let headline = results.headline();
    let shown = results
        .differences
        .iter()
        .filter(|one| one.metric == headline);
    let rows: Vec<Dot> = shown
        .map(|one| Dot {
            name: format!("{} − {}", one.to, one.from),
            value: pct(one.difference.mean),
            interval: Some((pct(one.difference.low), pct(one.difference.high))),
            reference: None,
        })
        .collect();
    let unit = format!(
        "difference of {}, points, 95 % interval",
        headline.replace('_', " ")
    );
    (!rows.is_empty()).then(|| Figure {
        caption: "Differences between systems question by question; intervals by paired bootstrap \
                  over conversations. An interval over fewer than five conversations says little: \
                  the table has the one over questions beside it."
            .into(),
        charts: vec![dots("Differences between systems", &unit, &rows)],
    })
}

fn sweeps(results: &Results) -> Option<Figure> {
    let mut parameters: Vec<&str> = Vec::new();
    for point in &results.sweeps {
        if !parameters.contains(&point.parameter.as_str()) {
            parameters.push(&point.parameter);
        }
    }
    let least = results
        .sweeps
        .iter()
        .filter_map(|point| headline(results, &point.scores));
    let least = pct(least.fold(1.0, f64::min));
    let charts: Vec<String> = parameters
        .into_iter()
        .map(|parameter| sweep(results, parameter, least))
        .collect();
    (!charts.is_empty()).then(|| Figure {
        caption: "One budget changed at a time, the others at their configured values; the large \
                  dot marks the configured value. Bars are 95 % intervals."
            .into(),
        charts,
    })
}

fn sweep(results: &Results, parameter: &str, least: f64) -> String {
    let points: Vec<&SweepPoint> = results
        .sweeps
        .iter()
        .filter(|point| point.parameter == parameter)
        .collect();
    let at =
        |point: &&SweepPoint| Some((point.value as f64, pct(headline(results, &point.scores)?)));
    let interval = |point: &&SweepPoint| point.interval.map(|(l, h)| (pct(l), pct(h)));
    let series = Series {
        name: parameter.to_owned(),
        points: points.iter().filter_map(at).collect(),
        intervals: points.iter().filter_map(interval).collect(),
        ..Series::default()
    };
    let default = points
        .iter()
        .filter(|point| point.default)
        .filter_map(at)
        .collect();
    let marked = Series {
        name: "configured".into(),
        points: default,
        colour: 1,
        ..Series::default()
    };
    let lows = series
        .intervals
        .iter()
        .map(|(low, _)| *low)
        .fold(least, f64::min);
    let x = Axis::values(
        &format!("{parameter} (count)"),
        points.iter().map(|p| p.value as f64),
    );
    let y = Axis::percent(headline_title(results), (lows - 3.0).max(0.0));
    lines(&format!("Budget {parameter}"), &x, &y, &[series, marked])
}

/// How far a system falls from one benchmark to the other.
fn gap(results: &Results, beside: Option<&Results>) -> Option<Figure> {
    let ours = gaps(results, beside);
    if ours.is_empty() {
        return None;
    }
    let mut rows: Vec<Dot> = ours
        .into_iter()
        .map(|one| Dot {
            name: one.system,
            value: pct(one.difference.mean),
            interval: Some((pct(one.difference.low), pct(one.difference.high))),
            reference: None,
        })
        .collect();
    for one in published::PUBLISHED {
        if let (Some(here), Some(there)) = (one.locomo, one.plus) {
            let name = format!("{} (published)", one.system);
            rows.push(Dot {
                name,
                value: here - there,
                interval: None,
                reference: Some(here - there),
            });
        }
    }
    Some(Figure {
        caption: "LoCoMo minus LoCoMo-Plus. Ours: evidence recall minus cue in the context, over the \
                  conversations of both, with intervals by bootstrap over conversations. Published ones \
                  (hollow): judged accuracy on both, not re-run."
            .into(),
        charts: vec![dots("Gap between the benchmarks", "points", &rows)],
    })
}
