//! A run: which systems on which memories, from loaded data to [`Results`].

mod ask;
mod locomo;
mod parallel;
mod plus;
mod variant;

pub use locomo::locomo;
pub use plus::{EXCLUDED, is_scored, plus};
pub use variant::Sweep;

use std::collections::BTreeMap;

use tmem_retrieve::{RetrieveConfig, Switch};

use crate::answer::{AnswerRun, Graded, Models, run};
use crate::embed::Embed;
use crate::progress::Progress;
use crate::results::{Ablation, Comparison, Manifest, Results, Row, SweepPoint};
use crate::score;
use crate::system::Named;
use variant::{Role, Variant};

/// What to run.
pub struct Bench<'a> {
    /// The systems of the tables.
    pub systems: Vec<Named>,
    /// The configuration of `tmem`, from which ablations and sweeps start.
    pub base: RetrieveConfig,
    /// Components to switch off, one at a time.
    pub ablate: Vec<Switch>,
    /// Budgets to change, one at a time.
    pub sweep: Vec<Sweep>,
    /// Makes vectors; `None` leaves words alone.
    pub encoder: Option<&'a dyn Embed>,
    /// Answers and verdicts; `None` for retrieval alone.
    pub answers: Option<(Models<'a>, AnswerRun)>,
    /// LoCoMo-Plus: queries of other samples per cue (count; 0 for no control).
    pub controls: usize,
    /// LoCoMo-Plus: whether all cues are also searched in one memory.
    pub pooled: bool,
    /// Seed of every interval.
    pub seed: u64,
    /// Where progress is told.
    pub progress: &'a dyn Progress,
    /// Commit, data, models, prompts, and what else is to be said; the rest is filled in.
    pub manifest: Manifest,
}

/// A row and, where answers are asked for, what the answering model is to see.
pub(crate) type Asked = (Row, Option<Graded>);

impl Bench<'_> {
    fn variants(&self) -> Vec<Variant> {
        variant::all(&self.systems, &self.base, &self.ablate, &self.sweep)
    }

    fn gate(&self) -> Option<f32> {
        self.encoder.and_then(Embed::gate)
    }

    /// Whether some system of it searches a memory.
    #[must_use]
    pub fn needs_memory(&self) -> bool {
        self.variants()
            .iter()
            .any(|variant| variant.named.system.needs_memory())
    }

    /// Adds answers to the rows of the tables' systems.
    async fn answer(&self, asked: &mut [Vec<Asked>]) {
        let Some((models, how)) = self.answers else {
            return;
        };
        let waiting = asked
            .iter_mut()
            .flatten()
            .filter(|(_, task)| task.is_some());
        let mut rows: Vec<&mut Asked> = waiting.collect();
        let tasks: Vec<Graded> = rows.iter_mut().filter_map(|asked| asked.1.take()).collect();
        let answers = run::all(models, &tasks, how, self.progress).await;
        for (asked, answers) in rows.into_iter().zip(answers) {
            asked.0.answers = answers;
        }
    }

    /// Scores, differences, ablations and sweeps from the rows of every variant.
    fn results(
        &self,
        benchmark: &str,
        counts: BTreeMap<String, usize>,
        protocol: Vec<String>,
        asked: Vec<Vec<Asked>>,
        pieces: &BTreeMap<String, usize>,
    ) -> Results {
        let variants = self.variants();
        let rows: Vec<Vec<Row>> = asked
            .into_iter()
            .map(|rows| rows.into_iter().map(|(row, _)| row).collect())
            .collect();
        let of = |place: usize| rows[place].iter().collect::<Vec<&Row>>();
        let mut results = Results {
            manifest: self.manifest(benchmark, counts, protocol),
            ..Results::default()
        };
        for (place, variant) in variants.iter().enumerate() {
            let pieces = pieces.get(&variant.named.name).copied().unwrap_or(0);
            if variant.role == Role::Main {
                let mut summary = score::summary(&of(place), pieces);
                summary.overall.lift_interval = score::lift(&of(place), self.seed);
                let name = variant.named.name.clone();
                if benchmark == "locomo-plus" && variant.named.system.needs_memory() {
                    results.reach.insert(name.clone(), score::reach(&of(place)));
                }
                results.summary.insert(name, summary);
            }
        }
        let headline = results.headline();
        results.differences = self.differences(&variants, &rows, headline);
        self.changes(&variants, &rows, headline, &mut results);
        let main = variants
            .iter()
            .zip(rows)
            .filter(|(variant, _)| variant.role == Role::Main);
        results.rows = main.flat_map(|(_, rows)| rows).collect();
        results
    }

    fn manifest(
        &self,
        benchmark: &str,
        counts: BTreeMap<String, usize>,
        protocol: Vec<String>,
    ) -> Manifest {
        let systems: BTreeMap<String, serde_json::Value> = self
            .systems
            .iter()
            .map(|one| (one.name.clone(), serde_json::json!(one.system)))
            .collect();
        let config = serde_json::to_string(&systems).expect("configurations are plain data");
        Manifest {
            benchmark: benchmark.to_owned(),
            config_sha256: crate::results::sha256(config.as_bytes()),
            order: self.systems.iter().map(|one| one.name.clone()).collect(),
            systems,
            encoder: self
                .encoder
                .map_or_else(|| "none".to_owned(), |encoder| encoder.identity()),
            protocol: [protocol, self.manifest.protocol.clone()].concat(),
            seed: self.seed,
            counts: counts
                .into_iter()
                .chain(self.manifest.counts.clone())
                .collect(),
            ..self.manifest.clone()
        }
    }

    /// Of the first system from every other one, on the metrics that all of them have.
    fn differences(
        &self,
        variants: &[Variant],
        rows: &[Vec<Row>],
        headline: &str,
    ) -> Vec<Comparison> {
        let of = |place: usize| main_protocol(&rows[place]);
        let main = variants
            .iter()
            .enumerate()
            .filter(|(_, variant)| variant.role == Role::Main);
        let main: Vec<_> = main.collect();
        let Some(((first, to), others)) = main.split_first() else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for (place, from) in others {
            for metric in [headline, "all_evidence_hit", "judge"] {
                let difference = score::difference(metric, &of(*place), &of(*first), self.seed);
                all.extend(difference.map(|difference| Comparison {
                    from: from.named.name.clone(),
                    to: to.named.name.clone(),
                    metric: metric.to_owned(),
                    difference,
                }));
            }
        }
        all
    }

    fn changes(
        &self,
        variants: &[Variant],
        rows: &[Vec<Row>],
        headline: &str,
        results: &mut Results,
    ) {
        let of = |place: usize| main_protocol(&rows[place]);
        let base = variants
            .iter()
            .position(|variant| variant.role == Role::Base);
        for (place, variant) in variants.iter().enumerate() {
            let scores = || score::summary(&of(place), 0).overall;
            match &variant.role {
                Role::Main | Role::Base => {}
                Role::Ablation(switch) => {
                    let base = base.map(of).unwrap_or_default();
                    let difference = score::difference(headline, &base, &of(place), self.seed);
                    let one = difference.map(|difference| Ablation {
                        switch: switch.name().to_owned(),
                        metric: headline.to_owned(),
                        scores: scores(),
                        difference,
                    });
                    results.ablations.extend(one);
                }
                Role::Sweep {
                    sweep,
                    value,
                    default,
                } => results.sweeps.push(SweepPoint {
                    parameter: sweep.name().to_owned(),
                    value: *value,
                    default: *default,
                    scores: scores(),
                    interval: score::interval(headline, &of(place), self.seed),
                }),
            }
        }
    }
}

/// Rows that are neither control nor pooled.
fn main_protocol(rows: &[Row]) -> Vec<&Row> {
    rows.iter()
        .filter(|row| ["plain", "isolated"].contains(&row.protocol.as_str()))
        .collect()
}
