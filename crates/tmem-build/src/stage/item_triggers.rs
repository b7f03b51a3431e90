//! Entity and Bridge triggers of items, about ten items a call.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use tmem_llm::{Message, ReplySchema};
use tmem_model::{Change, Item, ItemId, ItemTrigger, Scene, Stage};

use crate::context::{Context, batches};
use crate::frame::Frame;
use crate::hygiene::{Host, refusal, words};
use crate::jobs::done;
use crate::prompts::Prompts;
use crate::reply::{Tally, bounded, elements, label_at, text_at};
use crate::schema;
use crate::step::Work;

/// Longest concept, bridge and reason (characters).
const CONCEPT: usize = 80;
const BRIDGE: usize = 200;
const WHY: usize = 160;
/// What the bridges of a reply are called under the short prompts: a small model goes by the names
/// of fields, more than by what is said about them.
const MEANS: &str = "what it means for daily life";

/// Batches of items that have no triggers yet. Their places are counted by scene and text, so that
/// batches do not depend on the order in which the items were found.
pub(crate) fn ready(ctx: &Context<'_>) -> Vec<(u32, Work)> {
    if ctx.config.triggers_per_item == 0 {
        return Vec::new();
    }
    let agenda = ctx.jobs.agenda(ctx.conversation).into_iter();
    let open = agenda.flat_map(|agenda| &agenda.bare_items);
    let open: Vec<&Item> = open.filter_map(|id| ctx.memory.item(id)).collect();
    let scenes = open
        .iter()
        .filter_map(|item| ctx.memory.sources(&item.id).next());
    let scenes: BTreeMap<_, _> = scenes.map(|scene| (ctx.place(&scene.id), scene)).collect();
    let places: HashMap<&ItemId, usize> = scenes.values().flat_map(|s| places(ctx, s)).collect();
    let targets = open.iter().map(|item| {
        let level = ctx.level(Stage::ItemTriggers, item.id.local());
        (places[&item.id], level, item.id.clone())
    });
    let mut targets: Vec<(usize, u32, ItemId)> = targets.collect();
    targets.sort();
    let calls = batches(targets, ctx.config.item_trigger_batch);
    calls
        .into_iter()
        .map(|(level, items)| (level, Work::Items(items)))
        .collect()
}

/// Where the items that begin with a scene stand among all items of the conversation.
fn places<'a>(ctx: &Context<'a>, scene: &Scene) -> impl Iterator<Item = (&'a ItemId, usize)> {
    let at = ctx.place(&scene.id);
    let items = ctx.memory.items_of(&scene.id);
    let mut items: Vec<&Item> = items.filter(|item| ctx.place(&item.id) == at).collect();
    items.sort_by_key(|item| (&item.text, &item.id));
    let ids = items.into_iter().map(|item| &item.id);
    ids.zip(ctx.memory.items_before(&scene.id)..)
}

pub(crate) fn messages(ctx: &Context<'_>, items: &[ItemId], prompts: &Prompts) -> Vec<Message> {
    let items: Vec<&Item> = items.iter().filter_map(|id| ctx.memory.item(id)).collect();
    let frame = Frame::around(items.iter().map(|item| item.text.as_str()));
    let line = |(at, item): (usize, &&Item)| format!("{} {}\n", frame.node('I', at + 1), item.text);
    let shown: String = items.iter().enumerate().map(line).collect();
    let (bridges, concepts) = (ctx.config.triggers_per_item, ctx.config.concepts_per_item);
    let (bridges, concepts) = (bridges.to_string(), concepts.to_string());
    let values = [
        ("items", &*shown),
        ("bridges", &*bridges),
        ("concepts", &*concepts),
    ];
    prompts
        .get("item-triggers", ctx.config.short_prompts)
        .fill(&values)
}

/// Under the short prompts without the words of the items: a small model would only repeat them.
pub(crate) fn shape(ctx: &Context<'_>, items: &[ItemId]) -> ReplySchema {
    let range = ctx.config.bounded_labels.then_some((1, items.len()));
    let short = ctx.config.short_prompts;
    let texts = items.iter().filter_map(|id| ctx.memory.item(id));
    let without = texts.filter(|_| short).flat_map(|item| words(&item.text));
    let bridge = if ctx.config.rationale {
        schema::object(vec![
            ("when", schema::text(BRIDGE)),
            ("why", schema::text(WHY)),
        ])
    } else {
        schema::text(if short { 140 } else { BRIDGE })
    };
    let concept = schema::text(if short { 40 } else { CONCEPT });
    let (concepts, bridges) = (ctx.config.concepts_per_item, ctx.config.triggers_per_item);
    let mut fields = vec![("item", schema::label(range))];
    fields.extend((concepts > 0).then(|| ("concepts", schema::list(concept, concepts))));
    let name = if short { MEANS } else { "bridges" };
    fields.push((name, schema::list(bridge, bridges)));
    let list = schema::list(schema::object(fields), items.len());
    ReplySchema {
        without: without.collect(),
        ..schema::named("item_triggers", schema::object(vec![("items", list)]))
    }
}

/// Takes the triggers of each item; an item that was left out goes again, in a smaller call.
pub(crate) fn accept(ctx: &Context<'_>, items: &[ItemId], level: u32, reply: &Value) -> Change {
    let list = elements(reply, "items");
    let why = list.as_ref().err().cloned();
    let list = list.unwrap_or_default();
    let mut change = Change::default();
    for (at, id) in items.iter().enumerate() {
        let of = |element: &&Value| label_at(element, "item", items.len()) == Some(at);
        let element = list.iter().find(of);
        let why = why.as_deref().unwrap_or("the reply left the item out");
        let batch = ctx.config.item_trigger_batch;
        match element.zip(ctx.memory.item(id)) {
            Some((element, item)) => take(ctx, item, element, &mut change),
            None => change
                .jobs
                .push(ctx.again(Stage::ItemTriggers, id.local(), level, batch, why)),
        }
    }
    change
}

fn take(ctx: &Context<'_>, item: &Item, element: &Value, change: &mut Change) {
    let (triggers, tally) = triggers(ctx, item, element);
    let mut job = done(
        ctx.conversation,
        Stage::ItemTriggers,
        item.id.local(),
        tally.result(),
    );
    if triggers.is_empty() {
        job.reason = Some("no trigger was fit to keep".to_owned());
    } else {
        change.items.push(Item {
            triggers,
            ..item.clone()
        });
    }
    change.jobs.push(job);
}

/// The bridges that pass, with a concept beside each of the first ones.
fn triggers(ctx: &Context<'_>, item: &Item, element: &Value) -> (Vec<ItemTrigger>, Tally) {
    let mut tally = Tally::default();
    let speakers = ctx.memory.speakers(ctx.conversation);
    let rules = ctx.config.hygiene;
    let (words_of, restates) = (words(&item.text), rules.item_restates);
    let host = Host {
        words: words_of,
        text: &item.text,
        speakers: &speakers,
        restates,
    };
    let mut kept: Vec<BTreeSet<String>> = Vec::new();
    let mut triggers: Vec<ItemTrigger> = Vec::new();
    let bridges = ["bridges", MEANS].map(|name| list_at(element, name));
    for bridge in bridges.into_iter().flatten().map(bridge) {
        match refusal(&bridge.bridge, &host, &kept, rules) {
            Some(why) => tally.refuse(why.reason()),
            None if triggers.len() >= ctx.config.triggers_per_item => {
                tally.refuse("more than asked")
            }
            None => {
                kept.push(words(&bridge.bridge));
                triggers.push(bridge);
            }
        }
    }
    let concepts = concepts(ctx, &host, element, &mut tally);
    for (trigger, concept) in triggers.iter_mut().zip(concepts) {
        trigger.entity = concept;
    }
    tally.kept = triggers.len();
    (triggers, tally)
}

/// Concepts that say more than the item does; they may be a single word, and share some.
fn concepts(ctx: &Context<'_>, host: &Host<'_>, element: &Value, tally: &mut Tally) -> Vec<String> {
    let host = &Host {
        words: host.words.clone(),
        restates: 1.0,
        ..*host
    };
    let rules = crate::config::Hygiene {
        least_terms: 1,
        ..ctx.config.hygiene
    };
    let mut kept: Vec<(String, BTreeSet<String>)> = Vec::new();
    for concept in list_at(element, "concepts")
        .into_iter()
        .filter_map(Value::as_str)
    {
        let concept = bounded(concept, CONCEPT);
        let sets: Vec<BTreeSet<String>> = kept.iter().map(|(_, set)| set.clone()).collect();
        match refusal(&concept, host, &sets, rules) {
            Some(why) => tally.refuse(format!("concept: {}", why.reason())),
            None => kept.push((concept.clone(), words(&concept))),
        }
    }
    kept.into_iter()
        .map(|(text, _)| text)
        .take(ctx.config.concepts_per_item.max(1))
        .collect()
}

fn list_at<'a>(element: &'a Value, key: &str) -> Vec<&'a Value> {
    match element.get(key) {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    }
}

/// A bridge as text, or with its reason.
fn bridge(value: &Value) -> ItemTrigger {
    let (bridge, rationale) = match value {
        Value::String(text) => (bounded(text, BRIDGE), String::new()),
        other => (text_at(other, "when", BRIDGE), text_at(other, "why", WHY)),
    };
    ItemTrigger {
        bridge,
        rationale,
        ..ItemTrigger::default()
    }
}
