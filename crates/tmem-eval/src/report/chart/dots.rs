//! Values in rows, each a dot with its interval: for differences and for bars with names.

use std::fmt::Write as _;

use super::{colour, escape};

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// A value of somebody else's, hollow: published or of a control.
    pub reference: Option<f64>,
}

const ROW: f64 = 24.0;
const WIDTH: f64 = 560.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 46.0;

/// A chart of rows around zero; `unit` is the title of the x axis.
#[must_use]
pub fn dots(title: &str, unit: &str, rows: &[Dot]) -> String {
    let names = rows
        .iter()
        .map(|row| row.name.chars().count())
        .max()
        .unwrap_or(0);
    let left = 14.0 + names as f64 * 7.0;
    let (low, high, step) = range(rows);
    let x = |value: f64| left + (WIDTH - left - 20.0) * (value - low) / (high - low);
    let height = TOP + ROW * rows.len() as f64 + BOTTOM;
    let bottom = height - BOTTOM;
    let mut svg = format!(
        r#"<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}"><text x="8" y="18" class="title">{title}</text>"#,
        title = escape(title)
    );
    let count = ((high - low) / step).round() as usize;
    for value in (0..=count).map(|n| low + n as f64 * step) {
        let class = if value.abs() < 1e-9 { "rule" } else { "grid" };
        let _ = write!(
            svg,
            r#"<line x1="{0:.1}" x2="{0:.1}" y1="{TOP}" y2="{bottom}" class="{class}"/><text x="{0:.1}" y="{1}" class="tick" text-anchor="middle">{2}</text>"#,
            x(value),
            bottom + 16.0,
            signed(value, step)
        );
    }
    for (place, row) in rows.iter().enumerate() {
        write_row(&mut svg, row, TOP + ROW * (place as f64 + 0.5), left, &x);
    }
    let _ = write!(
        svg,
        r#"<text x="{}" y="{}" class="axis" text-anchor="middle">{}</text></svg>"#,
        left + (WIDTH - left - 20.0) / 2.0,
        height - 9.0,
        escape(unit)
    );
    svg
}

fn write_row(svg: &mut String, row: &Dot, y: f64, left: f64, x: &impl Fn(f64) -> f64) {
    let _ = write!(
        svg,
        r#"<text x="{}" y="{}" class="legend" text-anchor="end">{}</text>"#,
        left - 10.0,
        y + 4.0,
        escape(&row.name)
    );
    if let Some((low, high)) = row.interval {
        let _ = write!(
            svg,
            r#"<path d="M{0:.1} {y}H{1:.1}M{0:.1} {2}v8M{1:.1} {2}v8" stroke="{3}" stroke-width="2" fill="none" opacity="0.6"/>"#,
            x(low),
            x(high),
            y - 4.0,
            colour(0)
        );
    }
    if let Some(reference) = row.reference {
        let _ = write!(
            svg,
            r#"<circle cx="{:.1}" cy="{y}" r="5" fill="var(--page)" stroke="{}" stroke-width="2"/>"#,
            x(reference),
            colour(1)
        );
    }
    let _ = write!(
        svg,
        r#"<circle cx="{:.1}" cy="{y}" r="5" fill="{}"><title>{}: {:+.1}</title></circle>"#,
        x(row.value),
        colour(0),
        escape(&row.name),
        row.value
    );
}

/// A range that holds all rows and zero, in steps that can be read.
fn range(rows: &[Dot]) -> (f64, f64, f64) {
    let all = rows.iter().flat_map(|row| {
        let (low, high) = row.interval.unwrap_or((row.value, row.value));
        [row.value, low, high, row.reference.unwrap_or(row.value)]
    });
    let (low, high) = all.fold((0.0_f64, 0.0_f64), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    let steps = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
    let step = steps
        .into_iter()
        .find(|step| (high - low) / step <= 8.0)
        .unwrap_or(100.0);
    let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
    if high > low {
        (low, high, step)
    } else {
        (-step, step, step)
    }
}

fn signed(value: f64, step: f64) -> String {
    let places = usize::from(step < 1.0);
    if value.abs() < 1e-9 {
        "0".to_owned()
    } else {
        format!("{value:+.places$}").replace('-', "−")
    }
}
