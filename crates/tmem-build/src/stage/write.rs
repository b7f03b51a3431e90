//! Titles, summaries and narratives of scenes, several scenes a call.

use serde_json::Value;
use tmem_llm::{Message, ReplySchema};
use tmem_model::{Change, JobState, Scene, SceneId, Stage, Turn};

use crate::context::{Context, batches};
use crate::frame::{self, Frame};
use crate::jobs::number;
use crate::prompts::Prompts;
use crate::reply::{elements, label_at, text_at};
use crate::schema;
use crate::step::Work;

/// Longest fields of a scene (characters).
const TITLE: usize = 160;
const SUMMARY: usize = 900;
const NARRATIVE: usize = 2_400;

/// Batches of scenes that are not written yet.
pub(crate) fn ready(ctx: &Context<'_>) -> Vec<(u32, Work)> {
    let scenes = ctx.listed(|agenda| &agenda.unwritten);
    in_batches(ctx, Stage::Write, ctx.config.write_batch, scenes)
}

/// The scenes that a stage still has to see, several a call.
pub(crate) fn in_batches(
    ctx: &Context<'_>,
    stage: Stage,
    size: usize,
    scenes: Vec<&Scene>,
) -> Vec<(u32, Work)> {
    let targets = scenes.into_iter().map(|scene| {
        let place = number(scene.id.local()).saturating_sub(1);
        (place, ctx.level(stage, scene.id.local()), scene.id.clone())
    });
    let calls = batches(targets.collect(), size).into_iter();
    calls
        .map(|(level, scenes)| (level, Work::Scenes(scenes)))
        .collect()
}

/// Whether a scene waits to be written.
pub(crate) fn is_open(ctx: &Context<'_>, scene: &Scene) -> bool {
    scene.title.is_empty() && ctx.wants(Stage::Write, scene.id.local())
}

pub(crate) fn messages(
    ctx: &Context<'_>,
    scenes: &[SceneId],
    level: u32,
    prompts: &Prompts,
) -> Vec<Message> {
    let turns: Vec<Vec<&Turn>> = scenes.iter().map(|scene| ctx.spoken(scene)).collect();
    let frame = frame_of(&turns);
    let look = ctx.look(level, ctx.config.write_batch);
    let (mut shown, mut first) = (String::new(), 1);
    for (at, turns) in turns.iter().enumerate() {
        let body = frame::turns(&frame, turns, first, look);
        shown.push_str(&format!("{}\n{body}", frame.node('S', at + 1)));
        first += turns.len();
    }
    prompts
        .get("write", ctx.config.short_prompts)
        .fill(&[("scenes", &shown)])
}

/// A frame around the turns of several scenes.
pub(crate) fn frame_of(scenes: &[Vec<&Turn>]) -> Frame {
    let texts: Vec<String> = scenes.iter().flatten().map(|turn| turn.content()).collect();
    Frame::around(texts.iter().map(String::as_str))
}

pub(crate) fn shape(ctx: &Context<'_>, scenes: &[SceneId]) -> ReplySchema {
    let range = ctx.config.bounded_labels.then_some((1, scenes.len()));
    let (title, summary) = if ctx.config.narrative {
        (TITLE, SUMMARY)
    } else {
        (90, 320)
    };
    // A small model that begins with a name is kept from inventing what its bearer is.
    let summary = match ctx.config.short_prompts {
        true => schema::about(&speakers(ctx, scenes), summary),
        false => schema::text(summary),
    };
    let mut fields = vec![
        ("scene", schema::label(range)),
        ("title", schema::text(title)),
        ("summary", summary),
    ];
    if ctx.config.narrative {
        fields.push(("narrative", schema::text(NARRATIVE)));
    }
    let list = schema::list(schema::object(fields), scenes.len());
    schema::named("write", schema::object(vec![("scenes", list)]))
}

/// Who speaks in the scenes, in the order of their first words.
fn speakers<'a>(ctx: &Context<'a>, scenes: &[SceneId]) -> Vec<&'a str> {
    let turns = scenes.iter().flat_map(|scene| ctx.spoken(scene));
    let mut names: Vec<&str> = Vec::new();
    for turn in turns {
        if !names.contains(&&*turn.speaker) {
            names.push(&turn.speaker);
        }
    }
    names
}

/// Takes each scene that has a title and a summary; what was left out goes again, in a smaller call.
pub(crate) fn accept(ctx: &Context<'_>, scenes: &[SceneId], level: u32, reply: &Value) -> Change {
    let mut change = Change::default();
    let list = elements(reply, "scenes");
    let why = list.as_ref().err().cloned();
    for element in list.unwrap_or_default() {
        let label = label_at(element, "scene", scenes.len());
        let scene = label.and_then(|label| written(ctx, &scenes[label], element));
        let known = |scene: &Scene| change.scenes.iter().any(|old| old.id == scene.id);
        change.scenes.extend(scene.filter(|scene| !known(scene)));
    }
    for id in scenes {
        let done = change.scenes.iter().any(|scene| scene.id == *id);
        let why = why.as_deref().unwrap_or("the reply left the scene out");
        change.jobs.push(if done {
            ctx.job(Stage::Write, id.local(), JobState::Done)
        } else {
            ctx.again(Stage::Write, id.local(), level, ctx.config.write_batch, why)
        });
    }
    change
}

fn written(ctx: &Context<'_>, id: &SceneId, element: &Value) -> Option<Scene> {
    let mut scene = ctx.scene(id)?.clone();
    let (title, summary) = (
        text_at(element, "title", TITLE),
        text_at(element, "summary", SUMMARY),
    );
    let narrative = text_at(element, "narrative", NARRATIVE);
    scene.title = if title.is_empty() {
        first_words(&summary)
    } else {
        title
    };
    scene.narrative = if narrative.is_empty() {
        summary.clone()
    } else {
        narrative
    };
    scene.summary = if summary.is_empty() {
        scene.narrative.clone()
    } else {
        summary
    };
    (!scene.summary.is_empty()).then_some(scene)
}

/// A title for a scene that has only a summary.
fn first_words(summary: &str) -> String {
    summary
        .split_whitespace()
        .take(10)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A scene as topics and items see it: label, dates, title, summary.
pub(crate) fn digest(ctx: &Context<'_>, frame: &Frame, label: usize, scene: &Scene) -> String {
    let dates = frame::interval(ctx.memory.span(&scene.id));
    let dates = if dates.is_empty() {
        dates
    } else {
        format!(" ({dates})")
    };
    format!(
        "{} {}{dates}: {}\n",
        frame.node('S', label),
        scene.title,
        scene.summary
    )
}
