//! Scene and Horizon triggers from the narratives of several scenes a call.

use std::collections::BTreeSet;

use serde_json::Value;
use tmem_llm::{Message, ReplySchema};
use tmem_model::{Change, HorizonTrigger, Scene, SceneId, SceneTrigger, Stage, Turn, text};

use super::write::in_batches;
use crate::context::Context;
use crate::frame::{self, Frame};
use crate::hygiene::{Host, refusal, words};
use crate::jobs::done;
use crate::prompts::Prompts;
use crate::reply::{Tally, elements, label_at, text_at};
use crate::schema;
use crate::step::Work;

/// Longest attribute and horizon sentence (characters).
const SENTENCE: usize = 260;
/// The same under the short prompts.
const SHORT: usize = 110;

/// What is asked for under each dimension; others are asked for by their name alone.
const CONCRETE: &[(&str, &str)] = &[
    ("consequence", "what it leads to, for better or worse"),
    (
        "goal",
        "someone goes after what they wanted here, or something gets in its way",
    ),
    ("state", "what stays true of someone shows itself"),
    ("value", "a choice puts to the test what someone holds dear"),
    ("contrast", "something runs against it"),
    (
        "feeling",
        "something quite different brings the same feeling back",
    ),
];
const PLAIN: &[(&str, &str)] = &[
    ("theme", "what it is about at bottom"),
    ("change", "what is different from before"),
    ("lapse", "how it slips back or is given up"),
    ("outcome", "how it turns out well"),
    ("doubt", "the worry or second thought that comes with it"),
    ("habit", "what becomes usual"),
    ("feeling", "how it feels when it comes up again"),
];

/// Batches of written scenes that have no triggers yet.
pub(crate) fn ready(ctx: &Context<'_>) -> Vec<(u32, Work)> {
    let config = ctx.config;
    let asked = [
        &config.scene_attributes,
        &config.concrete_horizons,
        &config.plain_horizons,
    ];
    let mut scenes = ctx.listed(|agenda| &agenda.bare_scenes);
    scenes.retain(|scene| !scene.title.is_empty());
    if asked.iter().all(|fields| fields.is_empty()) {
        return Vec::new();
    }
    in_batches(
        ctx,
        Stage::SceneTriggers,
        config.scene_trigger_batch,
        scenes,
    )
}

pub(crate) fn messages(ctx: &Context<'_>, scenes: &[SceneId], prompts: &Prompts) -> Vec<Message> {
    let scenes: Vec<&Scene> = scenes.iter().filter_map(|id| ctx.scene(id)).collect();
    let told: Vec<String> = scenes.iter().map(|scene| told(ctx, scene)).collect();
    let frame = Frame::around(told.iter().map(String::as_str));
    let line = |(at, told): (usize, &String)| format!("{} {told}\n", frame.node('S', at + 1));
    let shown: String = told.iter().enumerate().map(line).collect();
    let dimensions = dimensions(ctx);
    let values = [("scenes", &*shown), ("dimensions", &*dimensions)];
    prompts
        .get("scene-triggers", ctx.config.short_prompts)
        .fill(&values)
}

/// A scene as its triggers are written from it: its narrative with the dates; under the short
/// prompts its turns, since a small model's narratives mix people up, and repeats any date it sees.
fn told(ctx: &Context<'_>, scene: &Scene) -> String {
    if ctx.config.short_prompts {
        return said(ctx, scene);
    }
    match &*frame::interval(ctx.memory.span(&scene.id)) {
        "" => scene.narrative.clone(),
        dates => format!("({dates}) {}", scene.narrative),
    }
}

/// The turns of a scene, a line each.
fn said(ctx: &Context<'_>, scene: &Scene) -> String {
    let clip = ctx.config.turn_chars;
    let line = |turn: &Turn| {
        format!(
            "{}: {}",
            turn.speaker,
            text::ellipsis(&turn.content(), clip)
        )
    };
    let lines: Vec<String> = ctx.spoken(&scene.id).into_iter().map(line).collect();
    lines.join("\n")
}

/// The dimensions in words; they belong to the constant part, so prefixes can be reused.
fn dimensions(ctx: &Context<'_>) -> String {
    let told = |table: &[(&str, &str)], names: &[String]| {
        let what = |name: &String| {
            table
                .iter()
                .find(|(known, _)| known == name)
                .map(|pair| pair.1)
        };
        let one =
            |name: &String| what(name).map_or(name.clone(), |what| format!("{name} ({what})"));
        names.iter().map(one).collect::<Vec<_>>().join("; ")
    };
    let later = told(CONCRETE, &ctx.config.concrete_horizons);
    let themes = told(PLAIN, &ctx.config.plain_horizons);
    let line = |name: &str, text: &str| format!("- {name}: {text}.");
    let lines = [("later", later), ("themes", themes)];
    let lines = lines.iter().filter(|(_, text)| !text.is_empty());
    lines
        .map(|(name, text)| line(name, text))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Under the short prompts without the words of the scenes: a small model would only repeat them.
pub(crate) fn shape(ctx: &Context<'_>, scenes: &[SceneId]) -> ReplySchema {
    let range = ctx.config.bounded_labels.then_some((1, scenes.len()));
    let short = ctx.config.short_prompts;
    let longest = if short { SHORT } else { SENTENCE };
    let shown = scenes.iter().filter_map(|id| ctx.scene(id));
    let without = shown
        .filter(|_| short)
        .flat_map(|scene| words(&said(ctx, scene)));
    let sentences = |names: &[String]| {
        let fields = names
            .iter()
            .map(|name| (key(ctx, name), schema::text(longest)));
        schema::object(fields.collect())
    };
    let mut fields = vec![("scene", schema::label(range))];
    let attributes = ctx.config.scene_attributes.iter();
    fields.extend(attributes.map(|name| (name.as_str(), schema::text(longest))));
    for (name, list) in groups(ctx) {
        fields.push((name, sentences(list)));
    }
    let list = schema::list(schema::object(fields), scenes.len());
    ReplySchema {
        without: without.collect(),
        ..schema::named("scene_triggers", schema::object(vec![("scenes", list)]))
    }
}

/// What a dimension is called in a reply: its name, under the short prompts what is asked for, since
/// a small model goes by the names of fields.
fn key<'a>(ctx: &Context<'_>, name: &'a str) -> &'a str {
    let mut known = PLAIN
        .iter()
        .chain(CONCRETE)
        .filter(|_| ctx.config.short_prompts);
    known
        .find(|(known, _)| *known == name)
        .map_or(name, |(_, what)| what)
}

/// The sets of dimensions that are asked for.
fn groups<'a>(ctx: &Context<'a>) -> Vec<(&'static str, &'a [String])> {
    let config = ctx.config;
    let all = [
        ("later", &config.concrete_horizons[..]),
        ("themes", &config.plain_horizons[..]),
    ];
    all.into_iter()
        .filter(|(_, names)| !names.is_empty())
        .collect()
}

/// Takes the triggers of each scene; a scene that was left out goes again, in a smaller call.
pub(crate) fn accept(ctx: &Context<'_>, scenes: &[SceneId], level: u32, reply: &Value) -> Change {
    let list = elements(reply, "scenes");
    let why = list.as_ref().err().cloned();
    let list = list.unwrap_or_default();
    let mut change = Change::default();
    for (at, id) in scenes.iter().enumerate() {
        let of = |element: &&Value| label_at(element, "scene", scenes.len()) == Some(at);
        let why = why.as_deref().unwrap_or("the reply left the scene out");
        let batch = ctx.config.scene_trigger_batch;
        match list.iter().find(of).zip(ctx.scene(id)) {
            Some((element, scene)) => take(ctx, scene, element, &mut change),
            None => {
                change
                    .jobs
                    .push(ctx.again(Stage::SceneTriggers, id.local(), level, batch, why))
            }
        }
    }
    change
}

fn take(ctx: &Context<'_>, scene: &Scene, element: &Value, change: &mut Change) {
    let mut tally = Tally::default();
    let attributes = attributes(element);
    let horizons = horizons(ctx, scene, element, &mut tally);
    let mut job = done(
        ctx.conversation,
        Stage::SceneTriggers,
        scene.id.local(),
        None,
    );
    tally.kept = horizons.len() + usize::from(attributes.is_some());
    if tally.kept == 0 {
        job.reason = Some("no trigger was fit to keep".to_owned());
    } else {
        let (scene_trigger, horizon_triggers) = (attributes, horizons);
        change.scenes.push(Scene {
            scene_trigger,
            horizon_triggers,
            ..scene.clone()
        });
    }
    job.result = tally.result();
    change.jobs.push(job);
}

fn attributes(element: &Value) -> Option<SceneTrigger> {
    let text = |key: &str| text_at(element, key, SENTENCE);
    let trigger = SceneTrigger {
        situation: text("situation"),
        object: text("object"),
        event: text("event"),
        emotion: text("emotion"),
        extra: Default::default(),
    };
    let any = trigger.attributes().next().is_some();
    any.then_some(trigger)
}

/// The sentences that pass, set by set, in the order of the dimensions.
fn horizons(
    ctx: &Context<'_>,
    scene: &Scene,
    element: &Value,
    tally: &mut Tally,
) -> Vec<HorizonTrigger> {
    let speakers = ctx.memory.speakers(ctx.conversation);
    let turns = ctx.spoken(&scene.id).into_iter().map(|turn| turn.content());
    let text = turns
        .chain([scene.narrative.clone()])
        .collect::<Vec<_>>()
        .join("\n");
    let (rules, words_of) = (ctx.config.hygiene, words(&scene.narrative));
    let restates = rules.horizon_restates;
    let host = Host {
        words: words_of,
        text: &text,
        speakers: &speakers,
        restates,
    };
    let mut kept: Vec<BTreeSet<String>> = Vec::new();
    let mut all = Vec::new();
    for (dimension, text) in sentences(ctx, element) {
        match refusal(&text, &host, &kept, rules) {
            Some(_) if text.is_empty() => {} // no ground: as asked
            Some(why) => tally.refuse(why.reason()),
            None => {
                kept.push(words(&text));
                let (confidence, extra) = (None, Default::default());
                all.push(HorizonTrigger {
                    dimension,
                    text,
                    confidence,
                    extra,
                });
            }
        }
    }
    all
}

/// The sentence of a dimension, under what it is called or its own name.
fn sentence(ctx: &Context<'_>, fields: &Value, name: &str) -> String {
    let called = text_at(fields, key(ctx, name), SENTENCE);
    match called.is_empty() {
        true => text_at(fields, name, SENTENCE),
        false => called,
    }
}

fn sentences(ctx: &Context<'_>, element: &Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (group, names) in groups(ctx) {
        let Some(fields) = element.get(group) else {
            continue;
        };
        all.extend(
            names
                .iter()
                .map(|name| (name.clone(), sentence(ctx, fields, name))),
        );
    }
    all
}
