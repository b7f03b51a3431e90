//! Triggers that are close to everything said: refused once their vectors are known, before any
//! index takes them in.
//!
//! What is too close is told by the utterances themselves, in whatever scale the encoder has: an
//! utterance is about something, and a trigger that is nearer to all the rest than the more
//! particular ones of them are (a quarter, by default) leads nowhere. The measure is the background
//! of `tmem-index`. No model is asked; each trigger is measured once, against what was said by then.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tmem_build::{Jobs, MEASURED};
use tmem_index::{Background, Host, Row, Vector, View, rows_of, sample};
use tmem_model::{Change, Item, ItemId, Job, Memory, Scene, SceneId, Stage};

use crate::error::TmemError;
use crate::tmem::Tmem;
use crate::vectors::{hash, joined};

/// Why such a trigger is refused, as it is counted.
const REASON: &str = "close to everything said";

impl Tmem {
    /// Refuses hubs among the triggers that were not measured yet. Without an encoder, or while too
    /// little was said to measure by, they wait for a later build.
    pub(crate) async fn refuse_hubs(&self) -> Result<(), TmemError> {
        let Some(encoder) = self.services.encoder_spec() else {
            return Ok(());
        };
        let (memory, jobs) = self.snapshot();
        let written = unmeasured(&jobs);
        let neighbours = self.config().index.background.neighbours;
        let enough = memory.all_turns().nth(2 * neighbours.max(1) - 1).is_some();
        if written.is_empty() || !enough {
            return Ok(());
        }
        let Some(rows) = self.measurable(&memory, written.keys()).await? else {
            return Ok(());
        };
        let share = self.config().build.hygiene.hub_quantile;
        let Some(hubs) = hubs(&memory, &rows, neighbours, share) else {
            return Ok(());
        };
        let texts: BTreeSet<String> = hubs.iter().map(|row| hash(&row.text)).collect();
        let change = without(&memory, &written, &hubs);
        drop((memory, jobs)); // so that committing need not copy them
        self.commit(&change)?;
        if !texts.is_empty() {
            self.shelf.remove_vectors(&encoder.identity(), &texts)?;
        }
        Ok(())
    }

    /// A sample of the turns and the triggers of `hosts`, with their vectors; `None` if no encoder
    /// can be asked.
    async fn measurable(
        &self,
        memory: &Memory,
        hosts: impl Iterator<Item = &Host>,
    ) -> Result<Option<Vec<(Row, Vector)>>, TmemError> {
        let Ok(encoder) = self.services.encoder().await else {
            return Ok(None);
        };
        let turns = memory.all_turns().map(|turn| &turn.id);
        let turns = sample(turns, self.config().index.background.sample).into_iter();
        let turns = turns.map(|turn| Host::Turn(turn.clone()));
        let hosts: Vec<Host> = turns.chain(hosts.cloned()).collect();
        let mut wanted = rows_of(memory, &hosts);
        wanted.retain(|row| matches!(row.view, View::Turn | View::Bridge | View::Horizon));
        let known = match self.vectors_of(&*encoder, &wanted, &|_| ()).await {
            Ok(known) => known,
            Err(TmemError::Embed(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let rows = joined(wanted, &known).into_iter();
        Ok(Some(
            rows.filter_map(|(row, vector)| Some((row, vector?)))
                .collect(),
        ))
    }
}

/// Hosts whose triggers were written and not measured, each with the job that wrote them.
fn unmeasured(jobs: &Jobs) -> BTreeMap<Host, &Job> {
    let new = jobs.unmeasured();
    new.filter_map(|job| Some((host(job)?, job))).collect()
}

fn host(job: &Job) -> Option<Host> {
    match job.stage {
        Stage::ItemTriggers => Some(Host::Item(
            ItemId::new(&job.conversation, &job.target).ok()?,
        )),
        Stage::SceneTriggers => Some(Host::Scene(
            SceneId::new(&job.conversation, &job.target).ok()?,
        )),
        _ => None,
    }
}

/// The triggers that are hubs; of a host that would be left with none, the least of them stays.
/// `None` if too little was said to tell.
fn hubs<'a>(
    memory: &Memory,
    rows: &'a [(Row, Vector)],
    neighbours: usize,
    share: f32,
) -> Option<Vec<&'a Row>> {
    let said = rows.iter().filter_map(|(row, vector)| match &row.host {
        Host::Turn(turn) => Some((turn, vector)),
        _ => None,
    });
    let background = Background::new(memory, said, neighbours);
    let limit = background.of_utterances(share)?;
    let triggers: Vec<&(Row, Vector)> = rows
        .iter()
        .filter(|(row, _)| row.view != View::Turn)
        .collect();
    let texts: Vec<(&Host, &Vector)> = triggers
        .iter()
        .map(|(row, vector)| (&row.host, vector))
        .collect();
    let mut by_host: BTreeMap<&Host, Vec<(f32, &Row)>> = BTreeMap::new();
    for ((row, _), close) in triggers.iter().zip(background.of(&texts)) {
        by_host.entry(&row.host).or_default().push((close, row));
    }
    let mut hubs = Vec::new();
    for mut rows in by_host.into_values() {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.ordinal.cmp(&b.1.ordinal)));
        hubs.extend(
            rows.into_iter()
                .skip(1)
                .filter(|(close, _)| *close > limit)
                .map(|(_, row)| row),
        );
    }
    Some(hubs)
}

/// The hosts without their hubs, and their jobs, which say how many those were.
fn without(memory: &Memory, written: &BTreeMap<Host, &Job>, hubs: &[&Row]) -> Change {
    let mut change = Change::default();
    for (host, job) in written {
        let gone: BTreeSet<usize> = hubs
            .iter()
            .filter(|row| row.host == *host)
            .map(|row| row.ordinal)
            .collect();
        change.jobs.push(measured(job, gone.len()));
        if gone.is_empty() {
            continue;
        }
        match host {
            Host::Item(id) => change
                .items
                .extend(memory.item(id).map(|item| kept_item(item, &gone))),
            Host::Scene(id) => change
                .scenes
                .extend(memory.scene(id).map(|scene| kept_scene(scene, &gone))),
            Host::Turn(_) | Host::Topic(_) => {}
        }
    }
    change
}

fn kept_item(item: &Item, gone: &BTreeSet<usize>) -> Item {
    Item {
        triggers: kept(&item.triggers, gone),
        ..item.clone()
    }
}

fn kept_scene(scene: &Scene, gone: &BTreeSet<usize>) -> Scene {
    Scene {
        horizon_triggers: kept(&scene.horizon_triggers, gone),
        ..scene.clone()
    }
}

fn kept<T: Clone>(all: &[T], gone: &BTreeSet<usize>) -> Vec<T> {
    let numbered = all.iter().enumerate().filter(|(at, _)| !gone.contains(at));
    numbered.map(|(_, one)| one.clone()).collect()
}

/// The job with the mark of having been measured, and what was refused counted with the rest.
fn measured(job: &Job, refused: usize) -> Job {
    let mut result = job
        .result
        .clone()
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({}));
    result[MEASURED] = json!(true);
    if refused > 0 {
        let kept = result.get("kept").and_then(Value::as_u64).unwrap_or(0);
        result["kept"] = json!(kept.saturating_sub(refused as u64));
        if !result["refused"].is_object() {
            result["refused"] = json!({});
        }
        result["refused"][REASON] = json!(refused);
    }
    Job {
        result: Some(result),
        ..job.clone()
    }
}
