//! A radar: one axis per switch, radius what is left of the score without that component.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use super::{colour, escape};

/// One closed line.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// Its name.
    pub name: String,
    /// A value per axis, percent of the full score.
    pub values: Vec<f64>,
}

const SIZE: f64 = 460.0;
const WIDTH: f64 = 560.0;
/// Height of a row of the legend.
const ROW: f64 = 20.0;
const RADIUS: f64 = 150.0;
const CENTRE: (f64, f64) = (280.0, 220.0);

/// A radar over `axes`; rings every 20 (or 10, or 5) percent, the outer one at 100.
#[must_use]
pub fn radar(title: &str, axes: &[String], polygons: &[Polygon]) -> String {
    let radius = Radius::of(polygons, axes.len());
    let height = SIZE + ROW * polygons.len() as f64 - ROW;
    let mut svg = format!(
        r#"<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}"><text x="8" y="18" class="title">{title}</text>"#,
        title = escape(title)
    );
    radius.rings(&mut svg);
    radius.spokes(&mut svg, axes);
    for (place, polygon) in polygons.iter().enumerate() {
        radius.outline(&mut svg, axes, polygon, place);
        legend(&mut svg, &polygon.name, place);
    }
    svg.push_str("</svg>");
    svg
}

/// How far from the centre a value lies, and in which direction an axis.
struct Radius {
    axes: usize,
    inner: f64,
    step: f64,
    most: f64,
}

impl Radius {
    fn of(polygons: &[Polygon], axes: usize) -> Self {
        let values = || polygons.iter().flat_map(|p| &p.values).copied();
        let (inner, step) = inner_ring(values().fold(100.0, f64::min));
        Self {
            axes,
            inner,
            step,
            most: values().fold(100.0, f64::max),
        }
    }

    fn at(&self, axis: usize, value: f64) -> (f64, f64) {
        let share = ((value - self.inner) / (self.most - self.inner)).clamp(0.0, 1.0);
        let angle = TAU * axis as f64 / self.axes as f64 - TAU / 4.0;
        (
            CENTRE.0 + RADIUS * share * angle.cos(),
            CENTRE.1 + RADIUS * share * angle.sin(),
        )
    }

    fn rings(&self, svg: &mut String) {
        let count = ((100.0 - self.inner) / self.step).round() as usize;
        for value in (1..=count).map(|n| self.inner + self.step * n as f64) {
            let ring: Vec<_> = (0..self.axes).map(|axis| self.at(axis, value)).collect();
            let class = if value >= 100.0 { "rule" } else { "grid" };
            let _ = write!(
                svg,
                r#"<polygon points="{}" fill="none" class="{class}"/>"#,
                join(&ring)
            );
            let (x, y) = self.at(0, value);
            let _ = write!(
                svg,
                r#"<text x="{:.1}" y="{:.1}" class="tick">{value:.0}</text>"#,
                x + 4.0,
                y + 11.0
            );
        }
    }

    fn spokes(&self, svg: &mut String, axes: &[String]) {
        for (place, axis) in axes.iter().enumerate() {
            let (x, y) = self.at(place, 100.0);
            let (dx, dy) = ((x - CENTRE.0) / RADIUS, (y - CENTRE.1) / RADIUS);
            let anchor = match dx {
                dx if dx > 0.2 => "start",
                dx if dx < -0.2 => "end",
                _ => "middle",
            };
            let _ = write!(
                svg,
                r#"<line x1="{}" y1="{}" x2="{x:.1}" y2="{y:.1}" class="grid"/><text x="{:.1}" y="{:.1}" class="legend" text-anchor="{anchor}">{}</text>"#,
                CENTRE.0,
                CENTRE.1,
                x + dx * 14.0,
                y + dy * 14.0 + 4.0,
                escape(axis)
            );
        }
    }

    fn outline(&self, svg: &mut String, axes: &[String], polygon: &Polygon, place: usize) {
        let values = polygon.values.iter().enumerate();
        let points: Vec<_> = values.map(|(axis, value)| self.at(axis, *value)).collect();
        let _ = write!(
            svg,
            r#"<polygon points="{}" fill="{1}" fill-opacity="0.12" stroke="{1}" stroke-width="2"/>"#,
            join(&points),
            colour(place)
        );
        for ((x, y), (axis, value)) in points.into_iter().zip(axes.iter().zip(&polygon.values)) {
            let _ = write!(
                svg,
                r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{}"><title>{} without {}: {value:.1} %</title></circle>"#,
                colour(place),
                escape(&polygon.name),
                escape(axis)
            );
        }
    }
}

fn legend(svg: &mut String, name: &str, place: usize) {
    let y = SIZE - 34.0 + ROW * place as f64;
    let _ = write!(
        svg,
        r#"<line x1="20" x2="40" y1="{y}" y2="{y}" stroke="{}" stroke-width="2.5"/><text x="46" y="{}" class="legend">{}</text>"#,
        colour(place),
        y + 4.0,
        escape(name)
    );
}

/// The value at the centre and the distance of rings.
fn inner_ring(least: f64) -> (f64, f64) {
    let choices = [(90.0, 2.0), (80.0, 5.0), (60.0, 10.0), (0.0, 20.0)];
    choices
        .into_iter()
        .find(|(inner, _)| least >= inner + 1.0)
        .unwrap_or((0.0, 20.0))
}

fn join(points: &[(f64, f64)]) -> String {
    points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect::<Vec<_>>()
        .join(" ")
}
