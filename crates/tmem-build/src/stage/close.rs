//! Forms scenes from the closures found so far: a partition of the turns, in arrival order.

use std::collections::BTreeSet;

use tmem_model::{Change, Scene, SceneId, Turn, TurnId};

use super::segment::{frontier, stretches};
use crate::context::Context;
use crate::frame;

/// A run of turns that becomes a scene, with the last turn it takes along, blank or not.
type Run<'a> = (Vec<&'a Turn>, TurnId);

/// The scenes that can be formed now; empty if there are none.
pub(crate) fn scenes(ctx: &Context<'_>) -> Change {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for stretch in stretches(ctx) {
        let (ends, range) = frontier(ctx, &stretch);
        let flushed = stretch
            .end
            .clone()
            .filter(|_| range.end == stretch.turns.len());
        split(
            ctx,
            &stretch.turns[range],
            &ends,
            flushed.as_ref(),
            &mut runs,
        );
        if flushed.is_none() {
            break; // later scenes wait, so that scenes are numbered in arrival order
        }
    }
    formed(ctx, &runs)
}

/// Runs of turns between closures; what no closure ends stays open unless a flush ends it.
fn split<'a>(
    ctx: &Context<'_>,
    turns: &[&'a Turn],
    ends: &BTreeSet<TurnId>,
    flushed: Option<&TurnId>,
    runs: &mut Vec<Run<'a>>,
) {
    let mut run = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        run.push(*turn);
        let flush = flushed.filter(|_| at + 1 == turns.len());
        if flush.is_some() || ends.contains(&turn.id) {
            let end = flush.unwrap_or(&turn.id).clone();
            let rest = under_ceiling(ctx, std::mem::take(&mut run), runs);
            runs.push((rest, end));
        }
    }
    under_ceiling(ctx, run, runs);
}

/// Cuts off scenes from a run that is too long and gives back the rest.
fn under_ceiling<'a>(
    ctx: &Context<'_>,
    mut run: Vec<&'a Turn>,
    runs: &mut Vec<Run<'a>>,
) -> Vec<&'a Turn> {
    while run.len() > ctx.config.scene_max.max(1) {
        let rest = run.split_off(ceiling(ctx, &run));
        let scene = std::mem::replace(&mut run, rest);
        let end = scene
            .last()
            .expect("a cut leaves a turn on either side")
            .id
            .clone();
        runs.push((scene, end));
    }
    run
}

/// Where a run that is too long is cut: at the widest silence in the second half of what is
/// allowed, else at the limit. Looks at no turn beyond the limit but the one behind it.
fn ceiling(ctx: &Context<'_>, run: &[&Turn]) -> usize {
    let most = ctx.config.scene_max.max(1);
    let silence = |end: usize| match (run[end - 1].at, run[end].at) {
        (Some(a), Some(b)) => frame::hours(a, b),
        _ => 0,
    };
    (most.div_ceil(2)..=most)
        .max_by_key(|&end| (silence(end), end))
        .unwrap_or(most)
}

/// Scenes of the runs. A blank turn goes to the scene that follows it; blank ones at the end of a
/// flushed stretch go to the scene before.
fn formed(ctx: &Context<'_>, runs: &[Run<'_>]) -> Change {
    let mut ids = ctx.ids();
    let mut open = ctx.memory.open_turns(ctx.conversation);
    let mut change = Change::default();
    for (_, end) in runs {
        let mut turns: Vec<TurnId> = Vec::new();
        for turn in open.by_ref() {
            turns.push(turn.id.clone());
            if turn.id == *end {
                break;
            }
        }
        change.scenes.push(scene(ids.scene(), turns));
    }
    change
}

fn scene(id: SceneId, turns: Vec<TurnId>) -> Scene {
    Scene {
        id,
        turns,
        title: String::new(),
        summary: String::new(),
        narrative: String::new(),
        scene_trigger: None,
        horizon_triggers: Vec::new(),
        extra: Default::default(),
    }
}
