//! Charts as SVG text: lines, points, dots with intervals, radar.
//!
//! Colours are CSS variables of the page (`--s1` …, `--ink`, `--muted`, `--grid`), so that one figure
//! serves a light and a dark page. Every axis has a title with its unit.

mod dots;
mod frame;
mod radar;
#[cfg(test)]
mod tests;

pub use dots::{Dot, dots};
pub use radar::{Polygon, radar};

use std::fmt::Write as _;

use frame::Frame;

/// Colours of series; a chart with more repeats them with another dash.
const COLOURS: usize = 6;

/// How values are spread along the x axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; values are positive.
    Log,
}

/// An axis: its title with unit, its range and its ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Title, with the unit in brackets.
    pub title: String,
    /// Least and greatest value.
    pub range: (f64, f64),
    /// Where a value is written.
    pub ticks: Vec<f64>,
    /// Linear or logarithmic.
    pub scale: Scale,
}

impl Axis {
    /// Percentages from `from` to 100.
    #[must_use]
    pub fn percent(title: &str, from: f64) -> Self {
        let step = if from >= 60.0 { 10.0 } else { 20.0 };
        let first = (from / step).floor() * step;
        let count = ((100.0 - first) / step).round() as usize;
        let ticks = (0..=count).map(|n| first + n as f64 * step).collect();
        Self {
            title: title.to_owned(),
            range: (first, 100.0),
            ticks,
            scale: Scale::Linear,
        }
    }

    /// A linear axis whose ticks are the values shown.
    #[must_use]
    pub fn values(title: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let mut ticks: Vec<f64> = values.into_iter().collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let range = (
            ticks.first().copied().unwrap_or(0.0),
            ticks.last().copied().unwrap_or(1.0),
        );
        Self {
            title: title.to_owned(),
            range,
            ticks,
            scale: Scale::Linear,
        }
    }

    /// A logarithmic axis around `values`, with ticks at 1, 2 and 5 times powers of ten.
    #[must_use]
    pub fn log(title: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|value| *value > 0.0).collect();
        let low = values
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min)
            .min(1e9)
            * 0.8;
        let high = values.iter().copied().fold(1.0, f64::max) * 1.25;
        let ticks = (0..7).flat_map(|power| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powi(power)));
        let ticks = ticks.filter(|tick| (low..=high).contains(tick)).collect();
        Self {
            title: title.to_owned(),
            range: (low.min(high / 2.0), high),
            ticks,
            scale: Scale::Log,
        }
    }

    /// Where `value` lies between 0 and 1.
    fn share(&self, value: f64) -> f64 {
        let place = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(1e-9).ln(),
        };
        let (low, high) = (place(self.range.0), place(self.range.1));
        if high > low {
            (place(value) - low) / (high - low)
        } else {
            0.5
        }
    }
}

/// A named line or set of points, with an interval at each point if there is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name, in the legend or beside its points.
    pub name: String,
    /// `(x, y)`.
    pub points: Vec<(f64, f64)>,
    /// `(low, high)` per point, or empty.
    pub intervals: Vec<(f64, f64)>,
    /// Which colour it has, counted from 0; equal systems have equal colours in all charts.
    pub colour: usize,
    /// A control or a published figure: drawn dashed.
    pub dashed: bool,
}

/// A chart of lines with marks and a legend below.
#[must_use]
pub fn lines(title: &str, x: &Axis, y: &Axis, series: &[Series]) -> String {
    let frame = Frame::new(title, x, y, 560.0, 320.0, frame::legend_rows(series));
    let mut svg = frame.open();
    for one in series {
        line(&mut svg, &frame, one);
    }
    frame.legend(&mut svg, series);
    frame.close(svg)
}

/// A chart of single points, each with its name beside it.
#[must_use]
pub fn points(title: &str, x: &Axis, y: &Axis, series: &[Series]) -> String {
    let frame = Frame::new(title, x, y, 640.0, 400.0, 0);
    let mut svg = frame.open();
    let mut labels = Vec::new();
    for one in series {
        interval_bars(&mut svg, &frame, one);
        marks(&mut svg, &frame, one, 5.0);
        labels.extend(one.points.iter().map(|point| (frame.at(*point), one)));
    }
    frame.label_points(&mut svg, labels);
    frame.close(svg)
}

fn line(svg: &mut String, frame: &Frame<'_>, series: &Series) {
    let points: Vec<String> = series
        .points
        .iter()
        .map(|point| frame.at(*point))
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    interval_bars(svg, frame, series);
    let _ = write!(
        svg,
        r#"<polyline points="{}" fill="none" stroke="{}" stroke-width="2"{}/>"#,
        points.join(" "),
        colour(series.colour),
        dash(series.colour, series.dashed)
    );
    let radius = if series.points.len() == 1 { 6.0 } else { 3.5 };
    marks(svg, frame, series, radius);
}

fn marks(svg: &mut String, frame: &Frame<'_>, series: &Series, radius: f64) {
    // Colours come round again: what repeats one is hollow.
    let (fill, stroke) = match series.dashed || series.colour >= COLOURS {
        true => ("var(--page)".to_owned(), colour(series.colour)),
        false => (colour(series.colour), "var(--page)".to_owned()),
    };
    for point in &series.points {
        let (x, y) = frame.at(*point);
        let _ = write!(
            svg,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" fill="{fill}" stroke="{stroke}" stroke-width="1.5"><title>{}: {}, {}</title></circle>"#,
            escape(&series.name),
            number(point.0),
            number(point.1)
        );
    }
}

fn interval_bars(svg: &mut String, frame: &Frame<'_>, series: &Series) {
    for (point, (low, high)) in series.points.iter().zip(&series.intervals) {
        let (x, bottom) = frame.at((point.0, *low));
        let (_, top) = frame.at((point.0, *high));
        let _ = write!(
            svg,
            r#"<path d="M{x:.1} {bottom:.1}V{top:.1}M{0:.1} {bottom:.1}h8M{0:.1} {top:.1}h8" stroke="{1}" stroke-width="1.5" fill="none" opacity="0.6"/>"#,
            x - 4.0,
            colour(series.colour)
        );
    }
}

/// The colour of the series in that place.
fn colour(place: usize) -> String {
    format!("var(--s{})", place % COLOURS + 1)
}

fn dash(place: usize, dashed: bool) -> &'static str {
    match (dashed, place / COLOURS) {
        (true, _) => r#" stroke-dasharray="5 4""#,
        (false, 0) => "",
        (false, _) => r#" stroke-dasharray="2 3""#,
    }
}

/// A number for an axis: whole numbers plain, large ones with a thin space.
fn number(value: f64) -> String {
    if value >= 10_000.0 {
        return format!("{}k", (value / 1_000.0).round());
    }
    if (value - value.round()).abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// Text for SVG and HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
