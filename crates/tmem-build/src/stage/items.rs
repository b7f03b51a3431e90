//! Atomic and connected items of a topic in one call; facts of a scene under its first topic only.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use tmem_llm::{Message, ReplySchema};
use tmem_model::{ItemId, Scene, SceneId, Stage, Topic, TopicId, Turn, text};

use super::write;
use crate::context::Context;
use crate::frame::{self, Frame};
use crate::prompts::Prompts;
use crate::schema;
use crate::stems::{Stemmed, stems};
use crate::step::{TopicWork, Work, fact_target, membership};

/// Longest item (characters).
pub(crate) const TEXT: usize = 400;
/// The same under the short prompts.
const SHORT: usize = 200;
/// Most turns or scenes that one item cites, for the bounds of the lists.
const CITES: usize = 12;
/// Earlier turns shown when facts are asked turn by turn (count).
const BEFORE: usize = 3;
/// The same under the short prompts: of more, a small model tells instead of the one.
const BEFORE_SHORT: usize = 1;

/// Topics with scenes whose items are not extracted yet.
pub(crate) fn ready(ctx: &Context<'_>) -> Vec<(u32, Work)> {
    let agenda = ctx.jobs.agenda(ctx.conversation).into_iter();
    let mut waiting: BTreeMap<&TopicId, Vec<&Scene>> = BTreeMap::new();
    for (topic, scene) in agenda.flat_map(|agenda| &agenda.memberships) {
        let scene = ctx.scene(scene);
        waiting.entry(topic).or_default().extend(scene);
    }
    let topics = waiting.into_iter();
    let topics = topics.filter_map(|(id, scenes)| Some((ctx.memory.topic(id)?, scenes)));
    let mut topics: Vec<_> = topics.collect();
    topics.sort_by_cached_key(|(topic, _)| (ctx.place(&topic.id), &topic.id));
    let works = topics.into_iter();
    let works = works.flat_map(|(topic, scenes)| of_topic(ctx, topic, scenes));
    works
        .map(|(level, work)| (level, Work::Topic(work)))
        .collect()
}

/// The calls of a topic in which `waiting` scenes have no items yet.
fn of_topic(ctx: &Context<'_>, topic: &Topic, mut waiting: Vec<&Scene>) -> Vec<(u32, TopicWork)> {
    waiting.retain(|scene| is_asked(ctx, topic, scene));
    waiting.sort_by_cached_key(|scene| (ctx.place(&scene.id), &scene.id));
    let mut open: BTreeMap<u32, Vec<&SceneId>> = BTreeMap::new();
    for scene in waiting {
        let level = ctx.level(Stage::Items, &membership(&topic.id, &scene.id));
        open.entry(level).or_default().push(&scene.id);
    }
    // One call per topic at a time: what the first one finds, the next one knows.
    let Some((level, scenes)) = open.pop_first() else {
        return Vec::new();
    };
    let size = (ctx.config.items_scenes >> level.min(31)).max(1);
    let count = if ctx.config.known_items == 0 {
        scenes.len()
    } else {
        size.min(scenes.len())
    };
    let members: Vec<&Scene> = ctx.memory.scenes_of(&topic.id).collect();
    let chunks = scenes[..count].chunks(size);
    let calls = chunks.map(|chunk| (level, chunk_of(ctx, topic, &members, chunk)));
    if ctx.config.facts_by_turn {
        return calls
            .flat_map(|(level, work)| by_turn(ctx, level, &work))
            .collect();
    }
    calls.collect()
}

/// Whether a membership wants a call: the scene's first topic reads its facts, the others only look
/// for relations, for which it takes two scenes.
fn is_asked(ctx: &Context<'_>, topic: &Topic, scene: &Scene) -> bool {
    let relations = ctx.config.context_scenes > 0 && topic.scenes.len() > 1;
    relations || is_first(ctx, &topic.id, &scene.id)
}

/// Whether `topic` is the one under which the facts of `scene` are extracted.
pub(crate) fn is_first(ctx: &Context<'_>, topic: &TopicId, scene: &SceneId) -> bool {
    ctx.memory.topics_of(scene).map(|topic| &topic.id).min() == Some(topic)
}

fn chunk_of(ctx: &Context<'_>, topic: &Topic, members: &[&Scene], chunk: &[&SceneId]) -> TopicWork {
    let (own, joined): (Vec<_>, Vec<_>) = chunk
        .iter()
        .map(|id| (*id).clone())
        .partition(|scene| is_first(ctx, &topic.id, scene));
    let others = members
        .iter()
        .rev()
        .filter(|scene| !chunk.contains(&&scene.id));
    let most = ctx.config.context_scenes;
    let mut context: Vec<SceneId> = others.take(most).map(|scene| scene.id.clone()).collect();
    context.reverse();
    TopicWork {
        topic: topic.id.clone(),
        own,
        joined,
        context,
        known: known(ctx, &topic.id, chunk),
        focus: None,
    }
}

/// A call for each informative turn of the work's own scenes.
fn by_turn(ctx: &Context<'_>, level: u32, work: &TopicWork) -> Vec<(u32, TopicWork)> {
    let mut calls = Vec::new();
    for scene in &work.own {
        for turn in informative(ctx, scene) {
            if ctx.wants(Stage::Items, &fact_target(&work.topic, scene, &turn.id)) {
                let (topic, focus) = (work.topic.clone(), Some(turn.id.clone()));
                let (own, known) = (vec![scene.clone()], work.known.clone());
                let (joined, context) = (vec![], vec![]);
                calls.push((
                    level,
                    TopicWork {
                        topic,
                        own,
                        joined,
                        context,
                        known,
                        focus,
                    },
                ));
            }
        }
    }
    calls
}

/// The turns of a scene that state the most, in their order.
fn informative<'a>(ctx: &Context<'a>, scene: &SceneId) -> Vec<&'a Turn> {
    let turns = ctx.spoken(scene).into_iter();
    let turns = turns.map(|turn| (stated(&turn.content()), turn));
    let mut turns: Vec<(usize, (usize, &Turn))> = turns.enumerate().collect();
    turns.retain(|(_, (stated, _))| *stated >= ctx.config.fact_terms);
    turns.sort_by_key(|(at, (stated, _))| (Reverse(*stated), *at));
    turns.truncate(ctx.config.items_per_scene);
    turns.sort_by_key(|(at, _)| *at);
    turns.into_iter().map(|(_, (_, turn))| turn).collect()
}

/// Informative words outside of questions (count).
fn stated(said: &str) -> usize {
    let ends = |c| ['.', '!', '?', '。', '！', '？'].contains(&c);
    let sentences = said.split_inclusive(ends);
    let stated = sentences.filter(|sentence| !sentence.ends_with(['?', '？']));
    stated.map(|sentence| text::terms(sentence).len()).sum()
}

/// Turns that may be cited, in the order of their labels, each with its scene.
pub(crate) fn citable<'a>(ctx: &Context<'a>, work: &TopicWork) -> Vec<(&'a Scene, &'a Turn)> {
    let scenes = work
        .own
        .iter()
        .chain(&work.joined)
        .filter_map(|id| ctx.scene(id));
    let all = scenes.flat_map(|scene| ctx.spoken(&scene.id).into_iter().map(move |t| (scene, t)));
    let all: Vec<(&Scene, &Turn)> = all.collect();
    let before = match ctx.config.short_prompts {
        true => BEFORE_SHORT,
        false => BEFORE,
    };
    match work
        .focus
        .as_ref()
        .and_then(|focus| all.iter().position(|(_, t)| t.id == *focus))
    {
        Some(at) => all[at.saturating_sub(before)..=at].to_vec(),
        None => all,
    }
}

pub(crate) fn messages(
    ctx: &Context<'_>,
    work: &TopicWork,
    level: u32,
    prompts: &Prompts,
) -> Vec<Message> {
    let turns = citable(ctx, work);
    let said: Vec<String> = turns.iter().map(|(_, turn)| turn.content()).collect();
    let known = work.known.iter().filter_map(|id| ctx.memory.item(id));
    let known: Vec<&str> = known.map(|item| item.text.as_str()).collect();
    let frame = Frame::around(said.iter().map(String::as_str).chain(known.iter().copied()));
    let (own, joined) = (work.own.len(), work.joined.len());
    let shown = |scenes: &[SceneId], before| whole(ctx, scenes, before, &turns, &frame, level);
    let (scenes, mut context) = (shown(&work.own, 0), shown(&work.joined, own));
    let short = work
        .context
        .iter()
        .filter_map(|id| ctx.scene(id))
        .enumerate();
    context.extend(short.map(|(at, s)| write::digest(ctx, &frame, own + joined + at + 1, s)));
    let known: String = known
        .iter()
        .enumerate()
        .map(|(at, text)| format!("{} {text}\n", frame.node('I', at + 1)))
        .collect();
    let topic = ctx
        .memory
        .topic(&work.topic)
        .map_or("", |topic| topic.title.as_str());
    let values = [
        ("topic", topic),
        ("known", &known),
        ("scenes", &scenes),
        ("context", &context),
    ];
    prompts.get("items", ctx.config.short_prompts).fill(&values)
}

/// Scenes with all their turns, a label line each under the full prompts; `before`: how many scenes
/// were labelled already.
fn whole(
    ctx: &Context<'_>,
    scenes: &[SceneId],
    before: usize,
    turns: &[(&Scene, &Turn)],
    frame: &Frame,
    level: u32,
) -> String {
    let look = ctx.look(level, ctx.config.items_scenes);
    let mut shown = String::new();
    for (at, id) in scenes.iter().enumerate() {
        let first = turns
            .iter()
            .position(|(scene, _)| scene.id == *id)
            .unwrap_or(0);
        let of = turns.iter().filter(|(scene, _)| scene.id == *id);
        let of: Vec<&Turn> = of.map(|(_, turn)| *turn).collect();
        if !ctx.config.short_prompts {
            shown.push_str(&format!("{}\n", frame.node('S', before + at + 1)));
        }
        shown.push_str(&frame::turns(frame, &of, first + 1, look));
    }
    shown
}

/// Items of scenes that the topic is done with, in their order. Of more than fit, those that share
/// the most words with the scenes to read, the later ones first: a fact that changes is among them
/// however long ago it was told.
fn known(ctx: &Context<'_>, topic: &TopicId, reading: &[&SceneId]) -> Vec<ItemId> {
    let done = |scene: &&Scene| !ctx.wants(Stage::Items, &membership(topic, &scene.id));
    let (mut items, mut seen) = (Vec::new(), HashSet::new());
    for scene in ctx.memory.scenes_of(topic).filter(done) {
        let new = ctx.memory.items_of(&scene.id);
        items.extend(new.filter(|item| seen.insert(&item.id)));
    }
    let mut places: Vec<usize> = (0..items.len()).collect();
    if items.len() > ctx.config.known_items {
        let said = reading.iter().flat_map(|scene| ctx.spoken(scene));
        let said: Stemmed = said.flat_map(|turn| stems(&turn.content())).collect();
        let stems_of = |at: &usize| ctx.jobs.stems().of(&items[*at].text);
        let shared = |at: &usize| stems_of(at).intersection(&said).count();
        places.sort_by_cached_key(|at| Reverse((shared(at), *at)));
        places.truncate(ctx.config.known_items);
        places.sort_unstable();
    }
    places.into_iter().map(|at| items[at].id.clone()).collect()
}

pub(crate) fn shape(ctx: &Context<'_>, work: &TopicWork) -> ReplySchema {
    let offered = citable(ctx, work);
    let turns = offered.len();
    let scenes = work.own.len() + work.joined.len() + work.context.len();
    let short = ctx.config.short_prompts;
    let most = match work.focus.is_some() {
        true if short => 1,
        true => 3,
        false => ctx.config.items_per_scene * scenes,
    };
    let label = |most| schema::label(ctx.config.bounded_labels.then_some((1, most)));
    let (turn, scene, fact) = (label(turns), label(scenes), label(work.known.len() + most));
    let item = match (short, work.focus.is_some(), offered.last()) {
        (true, true, Some((_, turn))) => vec![("text", schema::about(&[&turn.speaker], SHORT))],
        (true, ..) => vec![("turn", turn), ("text", schema::text(SHORT))],
        _ => vec![
            ("text", schema::text(TEXT)),
            ("turns", schema::list(turn, CITES)),
            ("scenes", schema::list(scene, CITES)),
            ("replaces", schema::list(fact, CITES)),
        ],
    };
    let item = schema::object(item);
    schema::named(
        "items",
        schema::object(vec![("items", schema::list(item, most))]),
    )
}
