//! How far each system falls from one benchmark to the other, where both were run.

use crate::results::{Results, Row};
use crate::score;
use crate::stat::Difference;

/// One system on both benchmarks.
pub(super) struct Gap {
    pub(super) system: String,
    /// Evidence recall on LoCoMo.
    pub(super) locomo: f64,
    /// Cue in the context on LoCoMo-Plus.
    pub(super) plus: f64,
    /// LoCoMo minus LoCoMo-Plus, over the conversations of both.
    pub(super) difference: Difference,
}

/// Systems of both runs, in the order of the LoCoMo tables; none without `beside`.
pub(super) fn gaps(results: &Results, beside: Option<&Results>) -> Vec<Gap> {
    let Some(beside) = beside else {
        return Vec::new();
    };
    let (locomo, plus) = match results.is_plus() {
        true => (beside, results),
        false => (results, beside),
    };
    let gap = |system: &String| {
        Some(Gap {
            system: system.clone(),
            locomo: locomo.summary.get(system)?.overall.evidence_recall?,
            plus: plus.summary.get(system)?.overall.cues.cue_in_context?,
            difference: score::gap(
                &rows(locomo, system),
                &rows(plus, system),
                results.manifest.seed,
            )?,
        })
    };
    locomo
        .systems()
        .filter_map(|(system, _)| gap(system))
        .collect()
}

fn rows<'a>(results: &'a Results, system: &str) -> Vec<&'a Row> {
    let rows = results.rows.iter();
    rows.filter(|row| row.system == system).collect()
}
