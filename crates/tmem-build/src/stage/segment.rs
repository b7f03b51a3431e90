//! Segmentation: overlapping windows at fixed places, each deciding where events close in it.
//!
//! A conversation is parted by flushes into stretches. Windows lie in a stretch at places that
//! depend on the turns before them alone, so it does not matter in what portions turns arrive.
//! Of two overlapping windows, the earlier decides the first half of what they share.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Value, json};
use tmem_llm::{Message, ReplySchema};
use tmem_model::{Change, Job, JobState, Stage, Turn, TurnId, text};

use crate::config::Segmenter;
use crate::context::{Context, blank};
use crate::frame::{self, Frame};
use crate::prompts::Prompts;
use crate::reply::labels_at;
use crate::schema;
use crate::step::{Window, Work};

/// Windows of fewer turns are not halved any further.
const FLOOR: usize = 8;

/// The part of a conversation between two flushes.
pub(crate) struct Stretch<'a> {
    /// Its turns that say something.
    pub(crate) turns: Vec<&'a Turn>,
    /// The last turn that a flush closed, blank or not, if a flush ends it.
    pub(crate) end: Option<TurnId>,
}

/// Stretches whose last turn is in no scene, in arrival order. Looks at no other stretch.
pub(crate) fn stretches<'a>(ctx: &Context<'a>) -> Vec<Stretch<'a>> {
    let mut open = ctx.memory.open_turns(ctx.conversation);
    let (mut all, mut next) = (Vec::new(), open.next());
    while let Some(turn) = next {
        let stretch = around(ctx, turn);
        let end = stretch.end.as_ref().and_then(|end| ctx.place(end));
        next = end.and_then(|end| open.find(|turn| ctx.place(&turn.id) > Some(end)));
        let is_open = |turn: &&Turn| ctx.memory.scene_of(&turn.id).is_none();
        if stretch.turns.last().is_some_and(is_open) {
            all.push(stretch);
        }
    }
    all
}

/// The stretch of a turn: from behind a flush to the next one.
fn around<'a>(ctx: &Context<'a>, turn: &'a Turn) -> Stretch<'a> {
    let flushed = |turn: &&Turn| ctx.is_flushed(&turn.id);
    let earlier = ctx.memory.turns_before(&turn.id).rev();
    let mut turns: Vec<&Turn> = earlier.take_while(|turn| !flushed(turn)).collect();
    turns.reverse();
    let mut end = None;
    for turn in std::iter::once(turn).chain(ctx.memory.turns_after(&turn.id)) {
        turns.push(turn);
        if flushed(&turn) {
            end = Some(turn.id.clone());
            break;
        }
    }
    turns.retain(|turn| !blank(turn));
    Stretch { turns, end }
}

/// Windows of a stretch: those that are full, and the last one if a flush ends it.
pub(crate) fn windows(ctx: &Context<'_>, stretch: &Stretch<'_>) -> Vec<Window> {
    let (mut all, mut start, mut from) = (Vec::new(), 0, 0);
    let turns = &stretch.turns;
    while start < turns.len() {
        let (end, full) = reach(ctx, turns, start);
        if !full && stretch.end.is_none() {
            break;
        }
        let last = end == turns.len() && stretch.end.is_some();
        let overlap = ctx.config.overlap.min((end - start) / 2);
        let until = if last {
            end
        } else {
            end - (overlap / 2).max(1)
        };
        if from < until {
            let ids = turns[start..end]
                .iter()
                .map(|turn| turn.id.clone())
                .collect();
            all.push(Window {
                turns: ids,
                owned: from - start..until - start,
            });
        }
        if last {
            break;
        }
        from = until.max(from);
        start = (end - overlap).max(start + 1);
    }
    all
}

/// Where a window from `start` ends, and whether it is full: more turns would not change it.
fn reach(ctx: &Context<'_>, turns: &[&Turn], start: usize) -> (usize, bool) {
    let mut tokens = 0;
    for (offset, turn) in turns[start..].iter().enumerate() {
        tokens += text::estimate_tokens(&turn.content());
        if offset == ctx.config.window.max(2) || (tokens > ctx.config.window_tokens && offset > 1) {
            return (start + offset, true);
        }
    }
    (turns.len(), turns.len() - start == ctx.config.window.max(2))
}

/// Windows that are still to be decided, halved where they were too large.
pub(crate) fn ready(ctx: &Context<'_>) -> Vec<Work> {
    let mut all = Vec::new();
    for stretch in stretches(ctx) {
        for window in windows(ctx, &stretch) {
            gather(ctx, window, &mut all);
        }
    }
    all
}

fn gather(ctx: &Context<'_>, window: Window, all: &mut Vec<Work>) {
    let target = window.target();
    let open = |turn: &TurnId| ctx.memory.scene_of(turn).is_none();
    if !window.turns[window.owned.clone()].iter().any(open) {
        return;
    }
    if ctx.jobs.level(ctx.conversation, Stage::Segment, &target) > 0 {
        halves(&window)
            .into_iter()
            .for_each(|half| gather(ctx, half, all));
    } else if ctx.wants(Stage::Segment, &target) {
        all.push(match ctx.config.segmenter {
            Segmenter::Model => Work::Window(window),
            Segmenter::Embeddings | Segmenter::Gaps => Work::Cut(window),
        });
    }
}

/// The two halves of a window; the border between them is decided by the first.
fn halves(window: &Window) -> [Window; 2] {
    let (middle, owned) = (window.turns.len() / 2, &window.owned);
    let first = owned.start.min(middle)..owned.end.min(middle);
    let second = owned.start.max(middle) - middle..owned.end.max(middle) - middle;
    [
        Window {
            turns: window.turns[..middle].to_vec(),
            owned: first,
        },
        Window {
            turns: window.turns[middle..].to_vec(),
            owned: second,
        },
    ]
}

/// The turns after which an event closes, as far as `window` decides; `None` while it is open.
pub(crate) fn decided(ctx: &Context<'_>, window: &Window) -> Option<BTreeSet<TurnId>> {
    if window.owned.is_empty() {
        return Some(BTreeSet::new());
    }
    let job = ctx
        .jobs
        .get(ctx.conversation, Stage::Segment, &window.target())?;
    let result = job.result.as_ref()?;
    if result.get("split").is_some() {
        let [first, second] = halves(window);
        let mut both = decided(ctx, &first)?;
        both.extend(decided(ctx, &second)?);
        return Some(both);
    }
    let ends = result.get("ends")?.as_array()?;
    let ends: BTreeSet<&str> = ends.iter().filter_map(Value::as_str).collect();
    let owned = window.turns[window.owned.clone()].iter();
    Some(
        owned
            .filter(|turn| ends.contains(turn.local()))
            .cloned()
            .collect(),
    )
}

pub(crate) fn messages(ctx: &Context<'_>, window: &Window, prompts: &Prompts) -> Vec<Message> {
    let turns: Vec<&Turn> = window
        .turns
        .iter()
        .filter_map(|id| ctx.memory.turn(id))
        .collect();
    let texts: Vec<String> = turns.iter().map(|turn| turn.content()).collect();
    let frame = Frame::around(texts.iter().map(String::as_str));
    let shown = frame::turns(&frame, &turns, 1, ctx.look(0, 1));
    prompts
        .get("segment", ctx.config.short_prompts)
        .fill(&[("turns", &shown)])
}

pub(crate) fn shape(ctx: &Context<'_>, window: &Window) -> ReplySchema {
    let range = ctx.config.bounded_labels.then_some((1, window.turns.len()));
    let ends = schema::list(schema::label(range), window.turns.len());
    schema::named("segment", schema::object(vec![("ends", ends)]))
}

/// Keeps the closures that were offered and are the window's to decide.
pub(crate) fn accept(ctx: &Context<'_>, window: &Window, reply: &Value) -> Change {
    let (ends, bad) = labels_at(reply, "ends", window.turns.len());
    let mut job = found(ctx, window, &ends.into_iter().collect());
    if !bad.is_empty() {
        job.reason = Some(format!(
            "closures at turns that were not offered: {}",
            bad.join(", ")
        ));
    }
    Change {
        jobs: vec![job],
        ..Change::default()
    }
}

/// A window whose closures are those at `ends` (positions).
pub(crate) fn found(ctx: &Context<'_>, window: &Window, ends: &BTreeSet<usize>) -> Job {
    let owned = |end: &&usize| window.owned.contains(end);
    let ends: Vec<&str> = ends
        .iter()
        .filter(owned)
        .map(|&end| window.turns[end].local())
        .collect();
    let result = Some(json!({"ends": ends}));
    Job {
        result,
        ..ctx.job(Stage::Segment, &window.target(), JobState::Done)
    }
}

/// A window that does not fit: halved, down to a floor where gaps decide.
pub(crate) fn too_large(ctx: &Context<'_>, window: &Window, why: &str) -> Job {
    if window.turns.len() < FLOOR {
        return by_gaps(ctx, window, JobState::Failed, why);
    }
    let result = Some(json!({"split": 1}));
    let why = format!("{why}; its halves are looked at instead");
    Job {
        result,
        ..ctx.because(Stage::Segment, &window.target(), JobState::Done, &why)
    }
}

/// A window that no model will decide: silences cut it, so that the rest goes on.
pub(crate) fn by_gaps(ctx: &Context<'_>, window: &Window, state: JobState, why: &str) -> Job {
    let reason = Some(format!("{why}; cut at silences instead"));
    Job {
        state,
        reason,
        ..found(ctx, window, &gaps(ctx, window))
    }
}

/// Positions before a silence.
pub(crate) fn gaps(ctx: &Context<'_>, window: &Window) -> BTreeSet<usize> {
    let at: Vec<_> = window
        .turns
        .iter()
        .map(|id| ctx.memory.turn(id).and_then(|turn| turn.at))
        .collect();
    let far = |end: &usize| frame::gap(at[*end], at[end + 1], ctx.config.gap_hours);
    (0..at.len().saturating_sub(1)).filter(far).collect()
}

/// What the frontier of a stretch is: closures per turn, up to where all windows are decided.
pub(crate) fn frontier(
    ctx: &Context<'_>,
    stretch: &Stretch<'_>,
) -> (BTreeSet<TurnId>, Range<usize>) {
    let place: BTreeMap<&TurnId, usize> = stretch
        .turns
        .iter()
        .enumerate()
        .map(|(at, turn)| (&turn.id, at))
        .collect();
    let closed = |turn: &&&Turn| ctx.memory.scene_of(&turn.id).is_some();
    let start = stretch.turns.iter().take_while(closed).count();
    let (mut ends, mut until) = (BTreeSet::new(), 0);
    for window in windows(ctx, stretch) {
        let past = place[&window.turns[0]] + window.owned.end;
        if past > start {
            let Some(found) = decided(ctx, &window) else {
                break;
            };
            ends.extend(found);
        }
        until = past;
    }
    (ends, start..until.max(start))
}
