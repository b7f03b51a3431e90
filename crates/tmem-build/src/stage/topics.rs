//! Which topics admit which scenes: a block of scenes in arrival order and the list of topics in
//! one call, block after block.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tmem_llm::{Message, ReplySchema};
use tmem_model::{Change, Ids, Scene, SceneId, Stage, Topic, TopicId, text};

use super::write;
use crate::context::Context;
use crate::frame::Frame;
use crate::jobs::{FLUSH, done, number};
use crate::prompts::Prompts;
use crate::reply::{Tally, elements, labels_at, text_at};
use crate::schema;
use crate::step::Work;

const TITLE: usize = 120;
const KEYWORD: usize = 60;
/// Most topics that one scene may open or join in a reply, for the bound of the list.
const PER_SCENE: usize = 4;

/// The first block that is not assigned, if it is complete or flushed and all of it is written.
pub(crate) fn ready(ctx: &Context<'_>) -> Option<(u32, Work)> {
    let size = ctx.config.topic_block.max(1);
    let scenes: Vec<&Scene> = ctx.memory.scenes_in(ctx.conversation).collect();
    let block = |scene: &Scene| number(scene.id.local()).saturating_sub(1) / size;
    let first = scenes
        .iter()
        .find(|scene| is_open(ctx, scene))
        .map(|scene| block(scene))?;
    let complete = scenes
        .iter()
        .any(|s| number(s.id.local()) >= (first + 1) * size);
    let until = if complete {
        scenes.len()
    } else {
        flushed(ctx, &scenes)
    };
    let open = |s: &&&Scene| block(s) == first && is_open(ctx, s);
    let open: Vec<&Scene> = scenes[..until].iter().filter(open).copied().collect();
    if open.is_empty() || open.iter().any(|scene| write::is_open(ctx, scene)) {
        return None;
    }
    let level = open
        .iter()
        .map(|s| ctx.level(Stage::Topics, s.id.local()))
        .max()
        .unwrap_or(0);
    let most = (size >> level.min(31)).max(1);
    let scenes: Vec<SceneId> = open
        .iter()
        .take(most)
        .map(|scene| scene.id.clone())
        .collect();
    let offered = offered(ctx, &scenes);
    Some((level, Work::Block { scenes, offered }))
}

/// Whether a scene waits for topics: a scene whose writing failed waits for that first.
fn is_open(ctx: &Context<'_>, scene: &Scene) -> bool {
    let written = !scene.title.is_empty() || write::is_open(ctx, scene);
    let admitted = ctx.memory.topics_of(&scene.id).next().is_some();
    written && !admitted && ctx.wants(Stage::Topics, scene.id.local())
}

/// How many scenes lie before the latest flush.
fn flushed(ctx: &Context<'_>, scenes: &[&Scene]) -> usize {
    let marks: BTreeSet<&str> = ctx
        .jobs
        .of_stage(ctx.conversation, Stage::Segment)
        .filter_map(|job| job.target.strip_prefix(FLUSH))
        .collect();
    let marked = |scene: &&Scene| scene.turns.iter().any(|turn| marks.contains(turn.local()));
    scenes.iter().rposition(marked).map_or(0, |at| at + 1)
}

/// The topics shown: those that share most words with the scenes, then the latest.
fn offered(ctx: &Context<'_>, scenes: &[SceneId]) -> Vec<TopicId> {
    let words: BTreeSet<String> = scenes
        .iter()
        .filter_map(|id| ctx.scene(id))
        .flat_map(|scene| text::terms(&format!("{} {}", scene.title, scene.summary)))
        .collect();
    let shared = |topic: &Topic| {
        let terms: BTreeSet<String> = topic_terms(topic).into_iter().collect();
        terms.intersection(&words).count()
    };
    let mut all: Vec<(usize, &Topic)> = ctx
        .memory
        .topics_in(ctx.conversation)
        .map(|topic| (shared(topic), topic))
        .collect();
    all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| b.1.id.cmp(&a.1.id)));
    let mut ids: Vec<TopicId> = all
        .into_iter()
        .take(ctx.config.topics_offered)
        .map(|(_, topic)| topic.id.clone())
        .collect();
    ids.sort();
    ids
}

fn topic_terms(topic: &Topic) -> Vec<String> {
    text::terms(&format!("{} {}", topic.title, topic.keywords.join(" ")))
}

pub(crate) fn messages(
    ctx: &Context<'_>,
    scenes: &[SceneId],
    offered: &[TopicId],
    prompts: &Prompts,
) -> Vec<Message> {
    let scenes: Vec<&Scene> = scenes.iter().filter_map(|id| ctx.scene(id)).collect();
    let topics: Vec<&Topic> = offered
        .iter()
        .filter_map(|id| ctx.memory.topic(id))
        .collect();
    let texts = scenes.iter().map(|scene| scene.summary.as_str());
    let frame = Frame::around(texts.chain(topics.iter().map(|topic| topic.title.as_str())));
    let list = |(at, topic): (usize, &&Topic)| {
        let (label, words) = (frame.node('T', at + 1), topic.keywords.join(", "));
        format!("{label} {} ({words})\n", topic.title)
    };
    let topics: String = topics.iter().enumerate().map(list).collect();
    let shown = scenes
        .iter()
        .enumerate()
        .map(|(at, s)| write::digest(ctx, &frame, at + 1, s));
    let (shown, most) = (
        shown.collect::<String>(),
        ctx.config.topic_keywords.to_string(),
    );
    let values = [
        ("topics", &*topics),
        ("scenes", &*shown),
        ("keywords", &*most),
    ];
    prompts
        .get("topics", ctx.config.short_prompts)
        .fill(&values)
}

pub(crate) fn shape(ctx: &Context<'_>, scenes: usize, offered: usize) -> ReplySchema {
    let bounded = |least, most| ctx.config.bounded_labels.then_some((least, most));
    let topic = schema::object(vec![
        ("topic", schema::label(bounded(0, offered))),
        ("title", schema::text(TITLE)),
        (
            "keywords",
            schema::list(schema::text(KEYWORD), ctx.config.topic_keywords),
        ),
        (
            "scenes",
            schema::list(schema::label(bounded(1, scenes)), scenes),
        ),
    ]);
    let most = if ctx.config.short_prompts {
        scenes
    } else {
        scenes * PER_SCENE
    };
    schema::named(
        "topics",
        schema::object(vec![("topics", schema::list(topic, most))]),
    )
}

/// Carries out assignments, updates and openings; a scene that none admits opens its own topic.
pub(crate) fn accept(
    ctx: &Context<'_>,
    scenes: &[SceneId],
    offered: &[TopicId],
    reply: &Value,
) -> Result<Change, String> {
    let mut draft = Draft::new(ctx, scenes);
    for element in elements(reply, "topics")? {
        draft.take(offered, element);
    }
    Ok(draft.change())
}

/// The topics as they will be, and what was made of the reply.
struct Draft<'a> {
    ctx: &'a Context<'a>,
    scenes: &'a [SceneId],
    known: BTreeMap<TopicId, Topic>,
    touched: BTreeSet<TopicId>,
    ids: Ids,
    tally: Tally,
}

impl<'a> Draft<'a> {
    fn new(ctx: &'a Context<'a>, scenes: &'a [SceneId]) -> Self {
        let topics = ctx.memory.topics_in(ctx.conversation);
        let known: BTreeMap<TopicId, Topic> = topics
            .map(|topic| (topic.id.clone(), topic.clone()))
            .collect();
        let (ids, touched) = (ctx.ids(), BTreeSet::new());
        Self {
            ctx,
            scenes,
            known,
            touched,
            ids,
            tally: Tally::default(),
        }
    }

    fn take(&mut self, offered: &[TopicId], element: &Value) {
        let (labels, bad) = labels_at(element, "scenes", self.scenes.len());
        for label in bad {
            let note = format!("topics: `scenes` cites {label}, which was not offered");
            self.tally.refuse_noting("scene not offered", note);
        }
        let Some(id) = self.target(offered, element) else {
            return;
        };
        if labels.is_empty() {
            return self.tally.refuse("no scene");
        }
        let scenes: Vec<SceneId> = labels
            .iter()
            .map(|&label| self.scenes[label].clone())
            .collect();
        let keywords = element.get("keywords").and_then(Value::as_array);
        let keywords = keywords.into_iter().flatten().filter_map(Value::as_str);
        self.admit(&id, &scenes, keywords.map(str::to_owned).collect());
    }

    /// The topic that an element means: an offered one, one of the same title, or a new one.
    fn target(&mut self, offered: &[TopicId], element: &Value) -> Option<TopicId> {
        let (known, _) = labels_at(element, "topic", offered.len());
        if let Some(&label) = known.first() {
            return Some(offered[label].clone());
        }
        let title = text_at(element, "title", TITLE);
        let zero = element
            .get("topic")
            .is_none_or(|topic| topic.as_u64() == Some(0));
        if !zero && title.is_empty() {
            let cited = element
                .get("topic")
                .map(Value::to_string)
                .unwrap_or_default();
            let note = format!("topics: `topic` cites {cited}, which was not offered");
            self.tally.refuse_noting("topic not offered", note);
            return None;
        }
        if title.is_empty() {
            self.tally.refuse("no title");
            return None;
        }
        Some(self.by_title(&title))
    }

    /// Case and form of a title never split a topic.
    fn by_title(&mut self, title: &str) -> TopicId {
        let form = |title: &str| {
            let terms = text::terms(title);
            if terms.is_empty() {
                vec![title.to_lowercase()]
            } else {
                terms
            }
        };
        let same = self
            .known
            .values()
            .find(|topic| form(&topic.title) == form(title));
        if let Some(topic) = same {
            return topic.id.clone();
        }
        let id = self.ids.topic();
        let (title, extra) = (title.to_owned(), Default::default());
        let topic = Topic {
            id: id.clone(),
            title,
            keywords: vec![],
            scenes: vec![],
            extra,
        };
        self.known.insert(id.clone(), topic);
        id
    }

    fn admit(&mut self, id: &TopicId, scenes: &[SceneId], keywords: Vec<String>) {
        let most = self.ctx.config.topic_keywords;
        let topic = self.known.get_mut(id).expect("targets are known topics");
        for scene in scenes {
            if !topic.scenes.contains(scene) {
                topic.scenes.push(scene.clone());
                self.tally.kept += 1;
            }
        }
        topic.scenes.sort();
        for keyword in keywords
            .iter()
            .map(|keyword| crate::reply::bounded(keyword, KEYWORD))
        {
            let same = |old: &String| old.to_lowercase() == keyword.to_lowercase();
            let full = topic.keywords.len() >= most;
            if !keyword.is_empty() && !full && !topic.keywords.iter().any(same) {
                topic.keywords.push(keyword);
            }
        }
        self.touched.insert(id.clone());
    }

    fn change(mut self) -> Change {
        for id in self.scenes {
            if !self.known.values().any(|topic| topic.scenes.contains(id)) {
                self.alone(id);
            }
        }
        let (ctx, result) = (self.ctx, self.tally.result());
        let job = |scene: &SceneId| {
            done(
                ctx.conversation,
                Stage::Topics,
                scene.local(),
                result.clone(),
            )
        };
        let jobs: Vec<_> = self.scenes.iter().map(job).collect();
        let (known, touched) = (self.known, self.touched);
        let topics = known
            .into_values()
            .filter(|topic| touched.contains(&topic.id))
            .collect();
        Change {
            topics,
            jobs,
            ..Change::default()
        }
    }

    /// A topic of its own for a scene that the reply left out, so that its facts are not lost.
    fn alone(&mut self, id: &SceneId) {
        let Some(scene) = self.ctx.scene(id) else {
            return;
        };
        self.tally.refuse("scene left out: opened its own topic");
        let topic = self.by_title(&scene.title);
        let words = text::terms(&scene.title);
        self.admit(&topic, std::slice::from_ref(id), words);
    }
}
