//! Which topics admit which scenes: a block of scenes in arrival order and the list of topics in
//! one call, block after block.

use std::collections::BTreeMap;

use serde_json::Value;
use tmem_llm::{Message, ReplySchema};
use tmem_model::{Change, Ids, Scene, SceneId, Stage, Topic, TopicId, text};

use super::write;
use crate::context::Context;
use crate::frame::Frame;
use crate::jobs::{done, number};
use crate::prompts::Prompts;
use crate::reply::{Tally, elements, labels_at, text_at};
use crate::schema;
use crate::stems::{Stemmed, stems};
use crate::step::Work;

const TITLE: usize = 120;
const KEYWORD: usize = 60;
/// Most topics that one scene may open or join in a reply, for the bound of the list.
const PER_SCENE: usize = 4;

/// The first block that is not assigned, if it is complete or flushed and all of it is written.
pub(crate) fn ready(ctx: &Context<'_>) -> Option<(u32, Work)> {
    let size = ctx.config.topic_block.max(1);
    let block = |scene: &Scene| number(scene.id.local()).saturating_sub(1) / size;
    let mut open = ctx.listed(|agenda| &agenda.unassigned);
    open.retain(|scene| is_open(ctx, scene));
    let first = block(open.first()?);
    if ctx.ids().scenes < ((first + 1) * size) as u64 {
        let until = flushed(ctx, open[0]);
        open.retain(|scene| ctx.place(&scene.id) <= until);
    }
    open.retain(|scene| block(scene) == first);
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

/// Whether a scene in no topic waits for one: a scene whose writing failed waits for that first.
fn is_open(ctx: &Context<'_>, scene: &Scene) -> bool {
    !scene.title.is_empty() || write::is_open(ctx, scene)
}

/// The place of the latest scene, from `first` on, after which a flush came.
fn flushed(ctx: &Context<'_>, first: &Scene) -> Option<u64> {
    let from = ctx.place(&first.id);
    let scenes = ctx.memory.scenes_in(ctx.conversation).rev();
    let mut places = scenes.map(|scene| (ctx.place(&scene.id), scene));
    let is_flushed = |scene: &Scene| scene.turns.iter().any(|turn| ctx.is_flushed(turn));
    let mut late = places.by_ref().take_while(|(place, _)| *place >= from);
    late.find(|(_, scene)| is_flushed(scene))
        .and_then(|(place, _)| place)
}

/// The topics shown: those that share most words with the scenes, then the latest.
fn offered(ctx: &Context<'_>, scenes: &[SceneId]) -> Vec<TopicId> {
    let told: Stemmed = scenes
        .iter()
        .filter_map(|id| ctx.scene(id))
        .flat_map(|scene| stems(&format!("{} {}", scene.title, scene.summary)))
        .collect();
    let stems_of = |topic: &Topic| {
        let text = format!("{} {}", topic.title, topic.keywords.join(" "));
        ctx.jobs.stems().of(&text)
    };
    let shared = |topic: &Topic| stems_of(topic).intersection(&told).count();
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

/// The topics that change, as they will be, and what was made of the reply.
struct Draft<'a> {
    ctx: &'a Context<'a>,
    scenes: &'a [SceneId],
    touched: BTreeMap<TopicId, Topic>,
    ids: Ids,
    tally: Tally,
}

impl<'a> Draft<'a> {
    fn new(ctx: &'a Context<'a>, scenes: &'a [SceneId]) -> Self {
        Self {
            ctx,
            scenes,
            touched: BTreeMap::new(),
            ids: ctx.ids(),
            tally: Tally::default(),
        }
    }

    fn take(&mut self, offered: &[TopicId], element: &Value) {
        let (labels, bad) = labels_at(element, "scenes", self.scenes.len());
        for label in bad {
            let note = format!("topics: `scenes` cites {label}, which was not offered");
            self.tally.refuse_noting("scene not offered", note);
        }
        if labels.is_empty() {
            return self.tally.refuse("no scene");
        }
        let Some(id) = self.target(offered, element) else {
            return;
        };
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
        let wanted = form(title);
        let known = self.ctx.memory.topics_in(self.ctx.conversation);
        let topics = known.chain(self.touched.values());
        let same = topics.filter(|topic| form(&topic.title) == wanted);
        if let Some(id) = same.map(|topic| &topic.id).min() {
            return id.clone();
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
        self.touched.insert(id.clone(), topic);
        id
    }

    /// The topic as it will be.
    fn topic(&mut self, id: &TopicId) -> &mut Topic {
        let known = || self.ctx.memory.topic(id).cloned();
        let topic = self.touched.entry(id.clone());
        topic.or_insert_with(|| known().expect("targets are known topics or new ones"))
    }

    fn admit(&mut self, id: &TopicId, scenes: &[SceneId], keywords: Vec<String>) {
        let most = self.ctx.config.topic_keywords;
        let topic = self.topic(id);
        let before = topic.scenes.len();
        for scene in scenes {
            if !topic.scenes.contains(scene) {
                topic.scenes.push(scene.clone());
            }
        }
        let kept = topic.scenes.len() - before;
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
        self.tally.kept += kept;
    }

    fn change(mut self) -> Change {
        for id in self.scenes {
            // None was in a topic before.
            let mut topics = self.touched.values();
            if !topics.any(|topic| topic.scenes.contains(id)) {
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
        Change {
            topics: self.touched.into_values().collect(),
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
