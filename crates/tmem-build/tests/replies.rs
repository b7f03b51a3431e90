//! Whatever a model replies within its schema, the memory takes it or refuses it; it never breaks.

mod common;

use common::script::seed;
use common::{Bench, dialogue};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tmem_build::{BuildConfig, Segmenter};
use tmem_llm::Reply;

/// Texts that have been trouble: nothing, a label, a name alone, the same in another case, no sentence.
const TEXTS: &[&str] = &[
    "",
    " ",
    "0",
    "T1",
    "[3]",
    "Ada",
    "ADA.",
    "Ada asked Bo about the kiln.",
    "ada asked bo about the kiln",
    "Bo keeps bees behind the chapel since March 2031.",
    "\u{201c}…\u{201d}\n- {}",
];

/// Draws numbers from a seed.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % sides.max(1)
    }

    /// Any value of a schema; numbers may be out of what was offered.
    fn value(&mut self, schema: &Value) -> Value {
        if let Some(choices) = schema["enum"].as_array() {
            return choices[self.roll(choices.len() as u64) as usize].clone();
        }
        match schema["type"].as_str() {
            Some("object") => {
                let fields = schema["properties"].as_object().expect("it has fields");
                let fields = fields.iter();
                Value::Object(
                    fields
                        .map(|(name, of)| (name.clone(), self.value(of)))
                        .collect::<Map<_, _>>(),
                )
            }
            Some("array") => {
                let count = self.roll(schema["maxItems"].as_u64().unwrap_or(4).min(4) + 1);
                (0..count).map(|_| self.value(&schema["items"])).collect()
            }
            Some("integer" | "number") => json!(self.roll(6)),
            Some("boolean") => json!(self.roll(2) == 0),
            _ => json!(TEXTS[self.roll(TEXTS.len() as u64) as usize]),
        }
    }
}

fn check(config: BuildConfig, salt: u64) {
    let mut bench = Bench::new(config);
    bench.model = Box::new(move |request| {
        let schema = request.schema.as_ref().expect("every call has a schema");
        let asked: String = request
            .messages
            .iter()
            .map(|m| m.content.as_str())
            .collect();
        let mut dice = Dice(seed(&asked) ^ salt);
        Ok(Reply::text(dice.value(&schema.schema).to_string()))
    });
    let turns = dialogue(60);
    for session in turns.chunks(20) {
        bench.add(session);
        bench.flush();
        bench.build();
    }
    let in_scenes = bench.memory.scenes().flat_map(|scene| &scene.turns);
    assert_eq!(in_scenes.count(), turns.len(), "a turn was lost");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_reply_of_the_right_shape_breaks_the_memory(salt: u64) {
        check(BuildConfig { topic_block: 4, ..BuildConfig::default() }, salt);
    }

    #[test]
    fn nor_does_one_of_a_small_model(salt: u64) {
        let segmenter = Segmenter::Model;
        check(BuildConfig { segmenter, topic_block: 4, ..BuildConfig::small() }, salt);
    }
}
