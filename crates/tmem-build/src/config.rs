//! The knobs of construction, and the two profiles: hosted models and small embedded ones.

use serde::{Deserialize, Serialize};

/// Knobs of construction. A missing key takes its default; an unknown one is an error.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BuildConfig {
    /// Who finds the places where events close.
    pub segmenter: Segmenter,
    /// Turns in one window of segmentation (count).
    pub window: usize,
    /// Turns that two neighbouring windows share (count); the border of authority lies in its middle.
    pub overlap: usize,
    /// Most tokens of turns in one window; a window of long turns ends early.
    pub window_tokens: usize,
    /// Most turns of a scene (count); a longer run is cut at its widest time gap.
    pub scene_max: usize,
    /// Least turns of a scene (count) when embeddings or gaps cut; the model is free.
    pub scene_min: usize,
    /// Hours of silence that count as a gap: a hint to the model, a cut for the rule.
    pub gap_hours: i64,
    /// How many turns on either side a cut by embeddings compares (count).
    pub cut_block: usize,
    /// How deep a valley of likeness must be to cut (standard deviations above the mean depth).
    pub cut_depth: f32,
    /// Longest text of one turn shown to a model (characters); the rest is marked as left out.
    pub turn_chars: usize,
    /// Scenes written in one call (count).
    pub write_batch: usize,
    /// Whether a scene gets a narrative of its own; otherwise its summary serves.
    pub narrative: bool,
    /// Scenes assigned to topics in one call (count), in arrival order.
    pub topic_block: usize,
    /// Most existing topics shown to that call (count): those that share words with it, then recent.
    pub topics_offered: usize,
    /// Most keywords of a topic (count).
    pub topic_keywords: usize,
    /// Most scenes whose facts one call extracts (count); 1 gives facts scene by scene.
    pub items_scenes: usize,
    /// Most further scenes of the topic shown as context for connected items (count); 0 for none.
    pub context_scenes: usize,
    /// Most items already known that the call sees (count): those that share the most words with what
    /// is read, then the latest.
    pub known_items: usize,
    /// Most items of one scene in one reply (count); turn by turn, most turns of it that are asked.
    pub items_per_scene: usize,
    /// Whether facts are asked turn by turn, with the turns before as context.
    pub facts_by_turn: bool,
    /// Least informative words of a turn that is asked on its own (count).
    pub fact_terms: usize,
    /// Whether an item must share a word with the turns it cites, or name a speaker.
    pub require_support: bool,
    /// Items that get their triggers in one call (count).
    pub item_trigger_batch: usize,
    /// Bridge triggers per item (count).
    pub triggers_per_item: usize,
    /// Entity triggers per item (count); they go to the item's first triggers.
    pub concepts_per_item: usize,
    /// Whether each bridge comes with its reason.
    pub rationale: bool,
    /// Scenes that get their triggers in one call (count).
    pub scene_trigger_batch: usize,
    /// Attributes of the scene trigger that are asked for.
    pub scene_attributes: Vec<String>,
    /// Dimensions of horizon triggers told as concrete later situations.
    pub concrete_horizons: Vec<String>,
    /// Dimensions of horizon triggers told plainly and generally.
    pub plain_horizons: Vec<String>,
    /// Whether personas are written.
    pub personas: bool,
    /// Most tokens of a speaker's turns folded into the persona by one call.
    pub persona_tokens: usize,
    /// Longest persona (characters).
    pub persona_chars: usize,
    /// Least turns of a speaker who gets a persona (count).
    pub persona_min_turns: usize,
    /// Whether the short prompts for small models are used.
    pub short_prompts: bool,
    /// Whether schemas carry the range of labels that may be cited (for constrained decoding).
    pub bounded_labels: bool,
    /// When a trigger is refused.
    pub hygiene: Hygiene,
    /// Most tokens of a reply, by stage.
    pub caps: Caps,
}

/// Who finds the places where events close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Segmenter {
    /// The language model, window by window.
    Model,
    /// Valleys of likeness between the vectors of neighbouring turns.
    Embeddings,
    /// Time gaps and the ceiling alone.
    Gaps,
}

/// When a trigger is refused. Shares are of the trigger's informative words, in `[0, 1]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hygiene {
    /// An item's trigger restates it from this share of its words on.
    pub item_restates: f32,
    /// A horizon sentence restates its scene from this share of its words on.
    pub horizon_restates: f32,
    /// Two triggers of one host are the same from this overlap of words on (Jaccard).
    pub duplicate: f32,
    /// Fewer informative words than this are over-general (count).
    pub least_terms: usize,
    /// A trigger that is closer to everything said than this share of the utterances themselves is
    /// a hub: it would fire at whatever is said. 1 lets all but the most extreme pass.
    pub hub_quantile: f32,
}

/// Most tokens of a reply, by stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Caps {
    /// Closures of a window.
    pub segment: u32,
    /// Titles, summaries and narratives of a batch of scenes.
    pub write: u32,
    /// Topics of a block of scenes.
    pub topics: u32,
    /// Items of a topic.
    pub items: u32,
    /// Triggers of a batch of items.
    pub item_triggers: u32,
    /// Triggers of a batch of scenes.
    pub scene_triggers: u32,
    /// A persona.
    pub personas: u32,
    /// An answer.
    pub answer: u32,
}

impl Default for BuildConfig {
    fn default() -> Self {
        Self {
            segmenter: Segmenter::Model,
            window: 60,
            overlap: 12,
            window_tokens: 8_000,
            scene_max: 20,
            scene_min: 2,
            gap_hours: 6,
            cut_block: 3,
            cut_depth: 0.5,
            turn_chars: 6_000,
            write_batch: 5,
            narrative: true,
            topic_block: 16,
            topics_offered: 30,
            topic_keywords: 16,
            items_scenes: 12,
            context_scenes: 8,
            known_items: 24,
            items_per_scene: 14,
            facts_by_turn: false,
            fact_terms: 3,
            require_support: true,
            item_trigger_batch: 10,
            triggers_per_item: 8,
            concepts_per_item: 2,
            rationale: true,
            scene_trigger_batch: 5,
            scene_attributes: names(&["situation", "object", "event", "emotion"]),
            concrete_horizons: names(CONCRETE),
            plain_horizons: names(PLAIN),
            personas: true,
            persona_tokens: 8_000,
            persona_chars: 1_000,
            persona_min_turns: 2,
            short_prompts: false,
            bounded_labels: false,
            hygiene: Hygiene::default(),
            caps: Caps::default(),
        }
    }
}

const CONCRETE: &[&str] = &[
    "consequence",
    "goal",
    "state",
    "value",
    "contrast",
    "feeling",
];
const PLAIN: &[&str] = &[
    "theme", "change", "lapse", "outcome", "doubt", "habit", "feeling",
];

impl BuildConfig {
    /// For embedded models of 0.5 to 1.5 billion parameters: few tokens out, one thing a call.
    #[must_use]
    pub fn small() -> Self {
        Self {
            segmenter: Segmenter::Embeddings,
            window: 40,
            overlap: 8,
            window_tokens: 2_000,
            scene_max: 10,
            scene_min: 4,
            turn_chars: 600,
            write_batch: 1,
            narrative: false,
            topic_block: 6,
            topics_offered: 10,
            topic_keywords: 4,
            items_scenes: 1,
            context_scenes: 0,
            known_items: 0,
            items_per_scene: 2,
            facts_by_turn: true,
            item_trigger_batch: 1,
            triggers_per_item: 1,
            concepts_per_item: 0,
            rationale: false,
            scene_trigger_batch: 1,
            scene_attributes: names(&["situation"]),
            concrete_horizons: Vec::new(),
            plain_horizons: names(&["change", "doubt"]),
            // An embedded model answers from a few scenes; personas would cost much and help little.
            personas: false,
            persona_tokens: 900,
            persona_chars: 160,
            short_prompts: true,
            bounded_labels: true,
            caps: Caps::small(),
            ..Self::default()
        }
    }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

impl Default for Hygiene {
    fn default() -> Self {
        Self {
            item_restates: 0.6,
            horizon_restates: 0.95,
            duplicate: 0.8,
            least_terms: 2,
            hub_quantile: 0.25,
        }
    }
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            segment: 1_000,
            write: 4_000,
            topics: 4_000,
            items: 8_000,
            item_triggers: 8_000,
            scene_triggers: 6_000,
            personas: 1_000,
            answer: 500,
        }
    }
}

impl Caps {
    /// For embedded models: close to what the small profile needs.
    #[must_use]
    pub fn small() -> Self {
        Self {
            segment: 80,
            write: 120,
            topics: 160,
            items: 70,
            item_triggers: 60,
            scene_triggers: 120,
            personas: 90,
            answer: 80,
        }
    }
}
