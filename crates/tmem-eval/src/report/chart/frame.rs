//! Axes, ticks, legend and labels: what every chart with two axes has.

use std::fmt::Write as _;

use super::{Axis, Series, colour, dash, escape, number};

const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 48.0;
const LEGEND_ROW: f64 = 20.0;
/// Width of an average character of the legend.
const CHARACTER: f64 = 6.7;

/// Lays out a chart and knows where a value lies.
pub(super) struct Frame<'a> {
    title: &'a str,
    x: &'a Axis,
    y: &'a Axis,
    width: f64,
    height: f64,
    legend_rows: usize,
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        title: &'a str,
        x: &'a Axis,
        y: &'a Axis,
        width: f64,
        height: f64,
        legend_rows: usize,
    ) -> Self {
        Self {
            title,
            x,
            y,
            width,
            height,
            legend_rows,
        }
    }

    /// Where a value lies, in SVG units.
    pub(super) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let plot_width = self.width - LEFT - RIGHT;
        let plot_height = self.height - TOP - BOTTOM;
        let x = LEFT + 8.0 + (plot_width - 16.0) * self.x.share(x);
        (
            x,
            TOP + plot_height * (1.0 - self.y.share(y).clamp(0.0, 1.0)),
        )
    }

    /// Opens the SVG with title, grid and axes.
    pub(super) fn open(&self) -> String {
        let total = self.height + LEGEND_ROW * self.legend_rows as f64;
        let mut svg = format!(
            r#"<svg viewBox="0 0 {:.0} {total:.0}" role="img" aria-label="{title}"><text x="{LEFT}" y="18" class="title">{title}</text>"#,
            self.width,
            title = escape(self.title)
        );
        self.y_axis(&mut svg);
        self.x_axis(&mut svg);
        svg
    }

    fn y_axis(&self, svg: &mut String) {
        for tick in &self.y.ticks {
            let (_, y) = self.at((self.x.range.0, *tick));
            let _ = write!(
                svg,
                r#"<line x1="{LEFT}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}" class="grid"/><text x="{}" y="{:.1}" class="tick" text-anchor="end">{}</text>"#,
                self.width - RIGHT,
                LEFT - 7.0,
                y + 4.0,
                number(*tick)
            );
        }
        let middle = TOP + (self.height - TOP - BOTTOM) / 2.0;
        let _ = write!(
            svg,
            r#"<text transform="translate(14 {middle:.1}) rotate(-90)" class="axis" text-anchor="middle">{}</text>"#,
            escape(&self.y.title)
        );
    }

    fn x_axis(&self, svg: &mut String) {
        let bottom = self.height - BOTTOM;
        let mut last_end = f64::NEG_INFINITY;
        for tick in &self.x.ticks {
            let (x, _) = self.at((*tick, self.y.range.0));
            let _ = write!(
                svg,
                r#"<line x1="{x:.1}" x2="{x:.1}" y1="{bottom:.1}" y2="{:.1}" class="rule"/>"#,
                bottom + 4.0
            );
            let text = number(*tick);
            let half = text.len() as f64 * CHARACTER / 2.0;
            if x - half < last_end + 3.0 {
                continue;
            }
            last_end = x + half;
            let _ = write!(
                svg,
                r#"<text x="{x:.1}" y="{:.1}" class="tick" text-anchor="middle">{text}</text>"#,
                bottom + 17.0
            );
        }
        let _ = write!(
            svg,
            r#"<line x1="{LEFT}" x2="{0:.1}" y1="{bottom:.1}" y2="{bottom:.1}" class="rule"/><text x="{1:.1}" y="{2:.1}" class="axis" text-anchor="middle">{3}</text>"#,
            self.width - RIGHT,
            LEFT + (self.width - LEFT - RIGHT) / 2.0,
            self.height - 10.0,
            escape(&self.x.title)
        );
    }

    /// Names with their marks, below the chart, row by row.
    pub(super) fn legend(&self, svg: &mut String, series: &[Series]) {
        let placed = place_legend(series);
        for (one, (row, x)) in series.iter().zip(placed) {
            let y = self.height + LEGEND_ROW * row as f64 + 8.0;
            let colour = colour(one.colour);
            let _ = match one.points.len() {
                1 => write!(
                    svg,
                    r#"<circle cx="{:.1}" cy="{y:.1}" r="6" fill="{colour}"/>"#,
                    x + 12.0
                ),
                _ => write!(
                    svg,
                    r#"<line x1="{x:.1}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}" stroke="{colour}" stroke-width="2.5"{}/>"#,
                    x + 20.0,
                    dash(one.colour, one.dashed)
                ),
            };
            let _ = write!(
                svg,
                r#"<text x="{:.1}" y="{:.1}" class="legend">{}</text>"#,
                x + 26.0,
                y + 4.0,
                escape(&one.name)
            );
        }
    }

    /// Writes each name beside its point in its colour, moved up or down where two would collide.
    pub(super) fn label_points(&self, svg: &mut String, mut labels: Vec<((f64, f64), &Series)>) {
        labels.sort_by(|a, b| {
            a.0.1
                .total_cmp(&b.0.1)
                .then_with(|| a.1.name.cmp(&b.1.name))
        });
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        for ((x, y), series) in labels {
            let length = series.name.chars().count() as f64 * CHARACTER;
            let left_side = x + 9.0 + length > self.width - 2.0;
            let (start, anchor) = if left_side {
                (x - 9.0 - length, "end")
            } else {
                (x + 9.0, "start")
            };
            let mut line = y + 4.0;
            while taken
                .iter()
                .any(|t| (t.2 - line).abs() < 13.0 && start < t.1 && t.0 < start + length)
            {
                line += 3.0;
            }
            taken.push((start, start + length, line));
            let text_x = if left_side { x - 9.0 } else { x + 9.0 };
            let _ = write!(
                svg,
                r#"<text x="{text_x:.1}" y="{line:.1}" style="fill:{}" text-anchor="{anchor}">{}</text>"#,
                colour(series.colour),
                escape(&series.name)
            );
        }
    }

    pub(super) fn close(&self, mut svg: String) -> String {
        svg.push_str("</svg>");
        svg
    }
}

/// Rows that a legend of `series` takes.
pub(super) fn legend_rows(series: &[Series]) -> usize {
    place_legend(series).last().map_or(0, |(row, _)| row + 1)
}

/// Row and left edge of each entry.
fn place_legend(series: &[Series]) -> Vec<(usize, f64)> {
    let (mut row, mut x) = (0, LEFT);
    let mut placed = Vec::new();
    for one in series {
        let width = 44.0 + one.name.chars().count() as f64 * CHARACTER;
        if x > LEFT && x + width > 560.0 {
            (row, x) = (row + 1, LEFT);
        }
        placed.push((row, x));
        x += width;
    }
    placed
}
