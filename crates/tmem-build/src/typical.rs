//! Stand-in replies of the sizes that a capable model's replies were measured to have.

use serde_json::{Map, Value, json};
use tmem_model::{Stage, TurnId};

use crate::config::BuildConfig;
use crate::context::{Context, Inputs};
use crate::stage::items::citable;
use crate::step::{Step, TopicWork, Work};

/// Sizes of replies (characters; rates are per turn or scene). `full`: a hosted model under the
/// full prompts; `short`: an embedded one under the short ones.
struct Sizes {
    title: usize,
    summary: usize,
    narrative: usize,
    item: usize,
    items_per_turn: f64,
    concept: usize,
    bridge: usize,
    why: usize,
    attribute: usize,
    horizon: usize,
    persona: usize,
    /// Turns of an event.
    scene: usize,
    /// Memberships that a scene has beyond its first topic.
    further_topics: usize,
}

const FULL: Sizes = Sizes {
    title: 58,
    summary: 219,
    narrative: 789,
    item: 106,
    items_per_turn: 0.95,
    concept: 19,
    bridge: 49,
    why: 37,
    attribute: 79,
    horizon: 100,
    persona: 825,
    scene: 7,
    further_topics: 1,
};

const SHORT: Sizes = Sizes {
    title: 36,
    summary: 130,
    narrative: 0,
    item: 60,
    items_per_turn: 0.6,
    concept: 14,
    bridge: 36,
    why: 0,
    attribute: 50,
    horizon: 60,
    persona: 180,
    scene: 6,
    further_topics: 0,
};

/// A reply such as a capable model gives to the step.
pub(crate) fn reply(step: &Step, inputs: Inputs<'_>, config: &BuildConfig) -> Value {
    let ctx = inputs.context(&step.conversation, config);
    let sizes = if config.short_prompts { SHORT } else { FULL };
    let mut filler = Filler::new(&step.targets());
    match &step.work {
        Work::Cut(_) | Work::Close => Value::Null,
        Work::Window(window) => ends(&ctx, &window.turns, sizes.scene),
        Work::Scenes(scenes) if step.stage == Stage::Write => {
            let one = |label| scene(label, &sizes, config, &mut filler);
            json!({"scenes": (1..=scenes.len()).map(one).collect::<Vec<_>>()})
        }
        Work::Scenes(scenes) => {
            let one = |label| triggers_of_scene(label, &sizes, config, &mut filler);
            json!({"scenes": (1..=scenes.len()).map(one).collect::<Vec<_>>()})
        }
        Work::Block { scenes, offered } => {
            topics(scenes.len(), offered.len(), &sizes, config, &mut filler)
        }
        Work::Topic(work) => items(&ctx, work, &sizes, &mut filler),
        Work::Items(items) => {
            let one = |label| triggers_of_item(label, &sizes, config, &mut filler);
            json!({"items": (1..=items.len()).map(one).collect::<Vec<_>>()})
        }
        Work::Persona { .. } => {
            let most = sizes.persona.min(config.persona_chars);
            json!({"summary": filler.text(most)})
        }
    }
}

/// A closure after every `scene` turns of the conversation.
fn ends(ctx: &Context<'_>, window: &[TurnId], scene: usize) -> Value {
    let before = ctx
        .memory
        .turns(ctx.conversation)
        .position(|turn| turn.id == window[0]);
    let before = before.unwrap_or(0);
    let labels = 1..=window.len();
    let ends: Vec<usize> = labels
        .filter(|label| (before + label).is_multiple_of(scene))
        .collect();
    json!({"ends": ends})
}

fn scene(label: usize, sizes: &Sizes, config: &BuildConfig, filler: &mut Filler) -> Value {
    let (title, summary) = (filler.text(sizes.title), filler.text(sizes.summary));
    let mut scene = json!({"scene": label, "title": title, "summary": summary});
    if config.narrative {
        scene["narrative"] = json!(filler.text(sizes.narrative));
    }
    scene
}

fn topics(
    scenes: usize,
    offered: usize,
    sizes: &Sizes,
    config: &BuildConfig,
    filler: &mut Filler,
) -> Value {
    // The more topics there are, the more scenes go on with one: about 27 topics for 68 scenes.
    let new = (scenes * 9 * 8).div_ceil(10 * (8 + offered)).max(1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); new + offered];
    for scene in 0..scenes {
        for further in 0..=sizes.further_topics {
            // The first goes to the topics opened here, so that each of them reads some scenes.
            let place = if further == 0 {
                scene % new
            } else {
                (scene * 7 + 1) % (new + offered)
            };
            members[place].push(scene + 1);
        }
    }
    let topic = |(place, mut scenes): (usize, Vec<usize>)| {
        scenes.dedup();
        let opened = place < new;
        let count = if opened {
            config.topic_keywords.min(12)
        } else {
            2
        };
        let keywords: Vec<String> = (0..count).map(|_| filler.text(12)).collect();
        let title = if opened {
            filler.text(38)
        } else {
            String::new()
        };
        let label = if opened { 0 } else { place - new + 1 };
        (!scenes.is_empty()).then(
            || json!({"topic": label, "title": title, "keywords": keywords, "scenes": scenes}),
        )
    };
    json!({"topics": members.into_iter().enumerate().filter_map(topic).collect::<Vec<_>>()})
}

/// Facts spread evenly over the turns of the scenes read here, in the speakers' names.
fn items(ctx: &Context<'_>, work: &TopicWork, sizes: &Sizes, filler: &mut Filler) -> Value {
    let mut items = Vec::new();
    let mut due = 0.0;
    for (at, (scene, turn)) in citable(ctx, work).into_iter().enumerate() {
        let asked = work.focus.as_ref().is_none_or(|focus| *focus == turn.id);
        if !work.own.contains(&scene.id) || !asked {
            continue;
        }
        due += match work.focus.is_some() {
            true => 1.0,
            false => sizes.items_per_turn,
        };
        if due >= 1.0 {
            due -= 1.0;
            let rest = sizes.item.saturating_sub(turn.speaker.len() + 1);
            let text = format!("{} {}", turn.speaker, filler.text(rest));
            items.push(if ctx.config.short_prompts {
                json!({"turn": at + 1, "text": text})
            } else {
                json!({"text": text, "turns": [at + 1], "scenes": []})
            });
        }
    }
    json!({"items": items})
}

fn triggers_of_item(
    label: usize,
    sizes: &Sizes,
    config: &BuildConfig,
    filler: &mut Filler,
) -> Value {
    let concepts = (0..config.concepts_per_item).map(|_| filler.text(sizes.concept));
    let concepts: Vec<String> = concepts.collect();
    let bridge = |_| {
        let when = filler.text(sizes.bridge);
        if config.rationale {
            json!({"when": when, "why": filler.text(sizes.why)})
        } else {
            json!(when)
        }
    };
    let bridges: Vec<Value> = (0..config.triggers_per_item).map(bridge).collect();
    json!({"item": label, "concepts": concepts, "bridges": bridges})
}

fn triggers_of_scene(
    label: usize,
    sizes: &Sizes,
    config: &BuildConfig,
    filler: &mut Filler,
) -> Value {
    let mut fields = Map::new();
    fields.insert("scene".into(), json!(label));
    for name in &config.scene_attributes {
        fields.insert(name.clone(), json!(filler.text(sizes.attribute)));
    }
    for (group, names) in [
        ("later", &config.concrete_horizons),
        ("themes", &config.plain_horizons),
    ] {
        let one = |name: &String| (name.clone(), json!(filler.text(sizes.horizon)));
        let set: Map<String, Value> = names.iter().map(one).collect();
        if !set.is_empty() {
            fields.insert(group.into(), Value::Object(set));
        }
    }
    Value::Object(fields)
}

/// Words that occur nowhere else, so that no stand-in repeats or restates another.
struct Filler(u64);

impl Filler {
    fn new(seed: &[String]) -> Self {
        let bytes = seed.iter().flat_map(|target| target.bytes());
        Self(bytes.fold(7, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(u64::from(byte))
        }))
    }

    /// About `length` characters.
    fn text(&mut self, length: usize) -> String {
        let mut text = String::new();
        while text.len() + 4 < length {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&self.word());
        }
        text
    }

    /// Six letters, different each time for a very long time.
    fn word(&mut self) -> String {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mut rest = self.0 >> 24;
        (0..6)
            .map(|_| {
                let letter = (rest % 21) as usize;
                rest /= 21;
                char::from(b"bcdfghjklmnpqrstvwxyz"[letter])
            })
            .collect()
    }
}
