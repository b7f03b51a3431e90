//! An invented conversation of any length, and a model that reads prompts as a person would: it
//! finds events, subjects and facts in the text it is shown, by fixed rules.
//!
//! Shared by the tests of several crates and by `cargo xtask bench-scale`: whoever includes it names
//! the crates `llm` and `model` beside it.

#![allow(dead_code, unreachable_pub, reason = "each user takes its part")]

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::llm::Request;
use super::model::{ConversationId, DateTime, Turn, TurnId};

const SUBJECTS: &[&str] = &[
    "kiln",
    "harbour",
    "orchard",
    "violin",
    "beehive",
    "lighthouse",
    "sourdough",
    "telescope",
    "tandem",
    "greenhouse",
    "puppet",
    "sauna",
    "glacier",
    "mosaic",
    "ferry",
    "pumpkin",
    "kayak",
    "loom",
    "hedgehog",
    "chapel",
    "windmill",
    "quarry",
    "accordion",
    "terrarium",
    "sledge",
    "marathon",
    "bakery",
    "attic",
    "vineyard",
    "drone",
    "mural",
    "cello",
    "lagoon",
    "turbine",
];

/// Says that an event is over; the model looks for it.
const OVER: &str = "so that settles it";

pub fn conversation() -> ConversationId {
    ConversationId::new("c").unwrap()
}

/// `count` turns of two people: events of four to nine turns about a subject each, three events a
/// day, a week between the days.
pub fn dialogue(count: usize) -> Vec<Turn> {
    let (mut turns, mut event, mut left) = (Vec::new(), 0, 5);
    let start: DateTime = "2031-03-03T18:30:00".parse().unwrap();
    for at in 0..count {
        let subject = SUBJECTS[(event * 7) % SUBJECTS.len()];
        let weeks = std::time::Duration::from_secs(7 * 86_400 * (event as u64 / 3));
        let when = start.checked_add(weeks).unwrap();
        left -= 1;
        turns.push(turn(at, subject, left == 0, when));
        if left == 0 {
            event += 1;
            left = 4 + (event * 5) % 6;
        }
    }
    turns
}

fn turn(at: usize, subject: &str, last: bool, when: DateTime) -> Turn {
    let speaker = if at.is_multiple_of(2) { "Ada" } else { "Bo" };
    let detail = filler(at as u64, 78);
    let end = if last { OVER } else { "tell me more" };
    Turn {
        id: TurnId::new(
            &conversation(),
            &format!("D{}:{}", at / 20 + 1, at % 20 + 1),
        )
        .unwrap(),
        speaker: speaker.to_owned(),
        text: format!("About the {subject} and {detail}, {end}."),
        at: Some(when),
        image: None,
        extra: Default::default(),
    }
}

/// Pseudo-words of six letters, about `length` characters.
pub fn filler(seed: u64, length: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
    let mut words = Vec::new();
    for _ in 0..(length / 7).max(1) {
        let mut word = String::new();
        for _ in 0..6 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            word.push(char::from(b"bdfgklmnprtvz"[(state >> 33) as usize % 13]));
        }
        words.push(word);
    }
    words.join(" ")
}

pub fn seed(text: &str) -> u64 {
    text.bytes().fold(17, |hash, byte| {
        hash.wrapping_mul(131).wrapping_add(u64::from(byte))
    })
}

/// Label, speaker and text of a shown turn.
type Line<'a> = (usize, &'a str, &'a str);

fn line(text: &str) -> Option<Line<'_>> {
    let (label, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let (speaker, said) = rest.split_once(": ")?;
    Some((label.parse().ok()?, speaker, said))
}

/// Lines between a label such as `[S2]` and the next, with the number of the label.
fn scenes(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut all: Vec<(usize, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        let label = line
            .strip_prefix("[S")
            .and_then(|rest| rest.split_once(']'));
        if let Some((label, rest)) = label {
            all.push((label.parse().unwrap(), vec![rest.trim()]));
        } else if let Some((_, lines)) = all.last_mut() {
            lines.push(line);
        }
    }
    all
}

fn part<'a>(text: &'a str, tag: &str) -> &'a str {
    let inner = text
        .split_once(&format!("<{tag}>\n"))
        .map_or("", |pair| pair.1);
    inner
        .split_once(&format!("</{tag}>"))
        .map_or(inner, |pair| pair.0)
}

fn subject(text: &str) -> &str {
    SUBJECTS
        .iter()
        .find(|subject| text.contains(**subject))
        .copied()
        .unwrap_or("nothing")
}

/// The reply to a prompt, with sizes as a capable model's replies have.
pub fn read(request: &Request) -> Value {
    let text = &request.messages[1].content;
    match request.prompt.name.trim_start_matches("short-") {
        "segment" => segment(text),
        "write" => json!({"scenes": scenes(text).into_iter().map(written).collect::<Vec<_>>()}),
        "topics" => topics(text),
        "items" => items(text, request.prompt.name.starts_with("short")),
        "item-triggers" => item_triggers(text, request),
        "scene-triggers" => scene_triggers(text, request),
        "persona" => json!({"summary": filler(seed(text), 820)}),
        other => panic!("no rule for {other}"),
    }
}

fn segment(text: &str) -> Value {
    let ends = text
        .lines()
        .filter_map(line)
        .filter(|(_, _, said)| said.contains(OVER));
    json!({"ends": ends.map(|(label, _, _)| label).collect::<Vec<_>>()})
}

fn written((label, lines): (usize, Vec<&str>)) -> Value {
    let said: Vec<&str> = lines
        .iter()
        .filter_map(|text| line(text))
        .map(|l| l.2)
        .collect();
    let (whole, subject) = (seed(&said.concat()), subject(said.first().unwrap_or(&"")));
    json!({
        "scene": label,
        "title": format!("Ada and Bo on the {subject} {}", filler(whole, 34)),
        "summary": format!("Of the {subject}: {}.", filler(whole + 1, 200)),
        "narrative": format!("Ada speaks of the {subject}. {}.", filler(whole + 2, 760)),
    })
}

fn topics(text: &str) -> Value {
    let known: Vec<&str> = part(text, "topics").lines().collect();
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (label, lines) in scenes(part(text, "scenes")) {
        let main = subject(lines[0]);
        let at = SUBJECTS
            .iter()
            .position(|known| *known == main)
            .unwrap_or(0);
        for place in [main, SUBJECTS[(at + label % 2 + 1) % SUBJECTS.len()]] {
            if !order.contains(&place) {
                order.push(place);
            }
            places.entry(place).or_default().push(label);
        }
    }
    let topic = |subject: &&str| {
        let label = known
            .iter()
            .position(|title| title.contains(&format!("The {subject} ")));
        let title = format!("The {subject} of Ada and Bo {}", filler(seed(subject), 14));
        let words = if label.is_some() { 2 } else { 13 };
        let words: Vec<String> = (0..words).map(|n| filler(seed(subject) + n, 14)).collect();
        let title = if label.is_some() {
            String::new()
        } else {
            title
        };
        json!({"topic": label.map_or(0, |at| at + 1), "title": title, "keywords": words,
            "scenes": places[subject]})
    };
    json!({"topics": order.iter().map(topic).collect::<Vec<_>>()})
}

fn items(text: &str, short: bool) -> Value {
    let read = if short { text } else { part(text, "read") };
    let known = part(text, "known");
    let facts = read
        .lines()
        .filter_map(line)
        .filter_map(|(label, speaker, said)| {
            let words = said.split(" and ").nth(1)?.split(',').next()?;
            let fact = format!(
                "{speaker} told of the {} with {words} {}",
                subject(said),
                filler(seed(said), 8)
            );
            let skipped = seed(said).is_multiple_of(20) || known.contains(&fact);
            (!skipped).then(|| {
                if short {
                    json!({"turn": label, "text": fact})
                } else {
                    json!({"text": fact, "turns": [label], "scenes": []})
                }
            })
        });
    json!({"items": facts.collect::<Vec<_>>()})
}

fn item_triggers(text: &str, request: &Request) -> Value {
    let shape =
        &request.schema.as_ref().unwrap().schema["properties"]["items"]["items"]["properties"];
    let most = |key: &str| shape[key]["maxItems"].as_u64().unwrap();
    let name = ["bridges", "what it means for daily life"];
    let name = name
        .into_iter()
        .find(|name| shape[name].is_object())
        .unwrap();
    let plain = shape[name]["items"]["type"] == "string";
    let item = |(at, fact): (usize, &str)| {
        let own = seed(fact);
        let bridge = |n: u64| {
            let when = filler(own + 31 * n, 49);
            if plain {
                json!(when)
            } else {
                json!({"when": when, "why": filler(own + 17 * n, 37)})
            }
        };
        let bridges: Vec<Value> = (1..=most(name)).map(bridge).collect();
        let mut fields = json!({"item": at + 1, name: bridges});
        if shape["concepts"].is_object() {
            let concepts = (0..most("concepts")).map(|n| filler(own + n, 19));
            fields["concepts"] = concepts.collect();
        }
        fields
    };
    let facts = text.lines().filter(|line| line.starts_with("[I"));
    let facts = facts.map(|line| line.split_once("] ").unwrap().1);
    json!({"items": facts.enumerate().map(item).collect::<Vec<_>>()})
}

fn scene_triggers(text: &str, request: &Request) -> Value {
    let shape =
        &request.schema.as_ref().unwrap().schema["properties"]["scenes"]["items"]["properties"];
    let one = |(label, lines): (usize, Vec<&str>)| {
        let mut own = seed(lines[0]);
        let mut fields = Map::new();
        for (name, kind) in shape.as_object().unwrap() {
            own += 1000;
            let value = match kind["properties"].as_object() {
                Some(set) => set
                    .keys()
                    .enumerate()
                    .map(|(n, key)| (key.clone(), json!(filler(own + n as u64, 100))))
                    .collect::<Map<_, _>>()
                    .into(),
                None if name == "scene" => json!(label),
                None => json!(filler(own, 79)),
            };
            fields.insert(name.clone(), value);
        }
        Value::Object(fields)
    };
    json!({"scenes": scenes(text).into_iter().map(one).collect::<Vec<_>>()})
}
