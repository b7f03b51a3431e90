//! An invented memory, an encoder that knows words alone, and ways to ask.

#![allow(dead_code, reason = "each test binary uses its part")]

use serde_json::{Value, json};
use tmem_index::{IndexConfig, Indices, Row, Vector, rows};
use tmem_model::document::Document;
use tmem_model::text::terms;
use tmem_model::{Change, ConversationId, Memory, Turn, TurnId};
use tmem_retrieve::{Query, Recall, RetrieveConfig, Retriever};

const DIMENSIONS: usize = 4096;

/// A bag of stems, each in a place of its own as far as hashing goes; none for texts without any.
pub(crate) fn encode(text: &str) -> Option<Vector> {
    let mut numbers = vec![0.0; DIMENSIONS];
    for term in terms(text) {
        let hash = term.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        numbers[(hash % DIMENSIONS as u64) as usize] += 1.0;
    }
    Vector::try_from(numbers).ok()
}

/// A memory with its indices.
pub(crate) struct World {
    pub(crate) memory: Memory,
    pub(crate) indices: Indices,
}

impl World {
    pub(crate) fn of(documents: &[Value]) -> Self {
        let mut memory = Memory::new();
        for document in documents {
            let document = Document::parse(&document.to_string()).unwrap();
            let change = document.into_change(&memory).unwrap();
            memory.apply(&change).unwrap();
        }
        Self::indexed(memory)
    }

    /// This memory after some more turns, which no scene holds yet.
    pub(crate) fn hearing(mut self, texts: &[&str]) -> Self {
        let turn = |(n, text): (usize, &&str)| Turn {
            id: TurnId::new(&conversation("kitchen"), &format!("K9:{n}")).unwrap(),
            speaker: "Tom".into(),
            text: (*text).to_owned(),
            at: None,
            image: None,
            extra: Default::default(),
        };
        let turns = (1..).zip(texts).map(turn).collect();
        self.memory
            .apply(&Change {
                turns,
                ..Change::default()
            })
            .unwrap();
        Self::indexed(self.memory)
    }

    pub(crate) fn indexed(memory: Memory) -> Self {
        let with = |row: Row| (row.clone(), encode(&row.text));
        let rows = rows(&memory).into_iter().map(with).collect();
        let indices = Indices::build(&memory, rows, &IndexConfig::default()).unwrap();
        Self { memory, indices }
    }

    pub(crate) fn recall(&self, query: &Query, config: &RetrieveConfig) -> Recall {
        Retriever::new(&self.memory, &self.indices).recall(query, config)
    }

    pub(crate) fn ask(&self, text: &str) -> Recall {
        self.recall(&query(text), &RetrieveConfig::balanced())
    }
}

pub(crate) fn query(text: &str) -> Query {
    Query::new(text, encode(text))
}

pub(crate) fn conversation(name: &str) -> ConversationId {
    ConversationId::new(name).unwrap()
}

/// Seven scenes of two turns, an item each. The last bears on a question about eating together
/// that shares no word with it; only its triggers do.
pub(crate) fn kitchen() -> Value {
    let scene = |n: usize, first: &str, second: &str, horizon: &str| {
        let day = format!("2024-03-{:02}T10:00:00", n);
        (
            vec![
                json!({"id": format!("K{n}:1"), "speaker": "Rosa", "text": first, "at": day}),
                json!({"id": format!("K{n}:2"), "speaker": "Tom", "text": second, "at": day}),
            ],
            json!({"id": format!("s00{n}"), "turns": [format!("K{n}:1"), format!("K{n}:2")],
                "title": first, "summary": format!("{first} {second}"), "narrative": "",
                "scene_trigger": {"situation": "", "object": "", "event": "", "emotion": ""},
                "horizon_triggers": [{"dimension": "consequence", "text": horizon}]}),
        )
    };
    let scenes = [
        scene(
            1,
            "My bus pass expired",
            "Buy a yearly one",
            "A fine for travelling without",
        ),
        scene(
            2,
            "I water the fern every morning",
            "It grew two leaves",
            "A plant dies of neglect",
        ),
        scene(
            3,
            "My kettle leaks again",
            "I can solder it",
            "Something at home breaks down",
        ),
        scene(
            4,
            "We cycled to the lighthouse",
            "The wind was fierce",
            "A long ride ahead",
        ),
        scene(
            5,
            "I started piano lessons",
            "Scales all day",
            "Practice turns into doubt",
        ),
        scene(
            6,
            "Grandma sold her house",
            "She moves to the coast",
            "Letting go of old things",
        ),
        scene(
            7,
            "The prawns put me in hospital",
            "A shellfish allergy is no joke",
            "The team looks for somewhere to dine together",
        ),
    ];
    let (turns, scenes): (Vec<_>, Vec<_>) = scenes.into_iter().unzip();
    let item = |n: usize, text: &str, bridge: &str| {
        json!({"id": format!("i000{n}"), "kind": "atomic", "text": text,
            "scenes": [format!("s00{n}")], "turns": [format!("K{n}:1")],
            "triggers": [{"entity": "", "bridge": bridge, "rationale": "it would matter there"}]})
    };
    json!({"format": "tmem-memory/1", "conversation": "kitchen", "speakers": ["Rosa", "Tom"],
        "turns": turns.concat(), "scenes": scenes,
        "topics": [
            {"id": "t01", "title": "Health and food", "keywords": ["allergy"], "scenes": ["s007"]},
            {"id": "t02", "title": "Home", "keywords": ["fern", "kettle"],
                "scenes": ["s002", "s003", "s006"]},
            {"id": "t03", "title": "Out and about", "keywords": ["bus", "cycling"],
                "scenes": ["s001", "s004", "s005"]}],
        "items": [
            item(1, "The bus pass of Rosa expired", "an inspector boards"),
            item(2, "Rosa owns a fern", "leaving for a month abroad"),
            item(3, "The kettle of Rosa leaks", "brewing tea for visitors"),
            item(4, "Rosa cycled to the lighthouse", "planning an outing by the sea"),
            item(5, "Rosa learns the piano", "somebody asks for music at a party"),
            item(6, "Grandma moves to the coast", "sending her a postcard"),
            item(7, "Rosa cannot stand shellfish", "ordering starters for guests")],
        "personas": [{"speaker": "Rosa", "summary": "Practical and curious."},
            {"speaker": "Tom", "summary": "Handy with tools."}]})
}

/// `config` with quotas small enough that seven scenes do not all fit.
pub(crate) fn small() -> RetrieveConfig {
    RetrieveConfig {
        top_scenes: 1,
        associative_scenes: 1,
        top_items: 3,
        ..RetrieveConfig::default()
    }
}
