//! What every figure must have.

use super::*;

fn series() -> Vec<Series> {
    vec![
        Series {
            name: "a < b".into(),
            points: vec![(1.0, 20.0), (10.0, 90.0)],
            ..Series::default()
        },
        Series {
            name: "control".into(),
            points: vec![(1.0, 5.0)],
            dashed: true,
            ..Series::default()
        },
    ]
}

#[test]
fn axes_carry_titles_with_units_and_names_are_escaped() {
    let x = Axis::values("k (scenes)", [1.0, 10.0]);
    let svg = lines("Recall", &x, &Axis::percent("recall (%)", 0.0), &series());
    for part in [
        "k (scenes)",
        "recall (%)",
        "a &lt; b",
        "stroke-dasharray",
        "aria-label=\"Recall\"",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    assert!(!svg.contains("NaN"));
}

#[test]
fn a_logarithmic_axis_has_ticks_that_people_write() {
    let axis = Axis::log("tokens", [180.0, 26_000.0]);
    assert_eq!(
        axis.ticks,
        [200.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 10_000.0, 20_000.0]
    );
    assert!((axis.share(axis.range.0)).abs() < 1e-9);
    assert!((axis.share(axis.range.1) - 1.0).abs() < 1e-9);
}

#[test]
fn intervals_are_drawn_and_zero_is_always_in_range() {
    let dot = Dot {
        name: "HT".into(),
        value: -12.0,
        interval: Some((-14.0, -9.0)),
        reference: Some(-12.5),
    };
    let svg = dots("Without", "points", &[dot]);
    assert!(svg.contains(">0<") && svg.contains("−10") && svg.contains("points"));
}

#[test]
fn a_chart_without_points_is_still_a_chart() {
    let svg = lines(
        "Empty",
        &Axis::values("k", []),
        &Axis::percent("%", 60.0),
        &[],
    );
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>") && !svg.contains("NaN"));
    let svg = radar("Empty", &["A".into()], &[]);
    assert!(!svg.contains("NaN"));
}
