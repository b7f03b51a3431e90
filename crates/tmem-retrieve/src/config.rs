//! [`RetrieveConfig`]: every number and switch of the cascade, and its presets.

use serde::{Deserialize, Serialize};

use crate::preset::Switch;

/// Knobs of the cascade (section 3.4). A missing key takes its default (`balanced`); an unknown
/// one is an error.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrieveConfig {
    /// Topics whose scenes pass the filter (count; the paper's kT, 15). Scenes that no topic has
    /// admitted yet pass always.
    pub top_topics: usize,
    /// Scenes chosen by similarity (count; the paper's kS, 5).
    pub top_scenes: usize,
    /// Items in the context, those of `trigger_items` included (count; the paper's kI, 15).
    pub top_items: usize,
    /// Scenes chosen by their triggers, beside those of similarity (count; kA, ours).
    pub associative_scenes: usize,
    /// Places among the items kept for those that triggers alone would bring in (count; ours).
    pub trigger_items: usize,
    /// Turns of the open tail, which no scene holds yet (count; ours).
    pub top_turns: usize,
    /// Best scenes by triggers that bypass the topic filter (count; the paper's n_cue, 10).
    pub cue_scenes: usize,
    /// Best scenes by similarity whose items are candidates, beside those of the chosen scenes
    /// (count; 0 for the chosen scenes alone, as in the paper).
    pub scene_pool: usize,
    /// Most items that triggers may add to the candidates (count; the paper's R, 10).
    pub trigger_top_k: usize,
    /// Least cosine at which an item trigger counts (τ; the paper's 0.85 holds for bge-m3 alone).
    /// `None` takes the encoder's, or else each trigger's own background.
    pub trigger_threshold: Option<f32>,
    /// Share of a trigger's background taken off its cosine (λ; 0 for none; ours).
    pub background_correction: f32,
    /// How the views of the scene triggers are joined.
    pub cue_fusion: CueFusion,
    /// How much each view says.
    pub cue_weights: CueWeights,
    /// How much shared words say in the horizon view: what BM25 over a scene's horizon sentences is
    /// multiplied by before it is added to its best cosine (0 for none; ours).
    pub horizon_words: f32,
    /// A scene is shown as an association if the best text of each of its trigger families (scene,
    /// horizon, bridge; weighed as in `cue_weights`) is on the whole closer to the query than this
    /// share of its background (0 to 1; `None` for no floor; ours).
    pub association_floor: Option<f32>,
    /// Longest dialogue at which an associative scene is shown raw, not as its summary (estimated
    /// tokens).
    pub raw_limit: usize,
    /// Whether items are passed over whose source turns the context shows already.
    pub skip_shown_items: bool,
    /// Most estimated tokens of scenes, items and turns together; personas do not count. `None`
    /// for no limit. What does not fit is left out from the lowest rank up.
    pub token_budget: Option<usize>,
    /// Constant of reciprocal rank fusion (k0, 60).
    pub rrf_k0: f32,
    /// How many candidates of each kind the trace lists (count).
    pub trace_depth: usize,
    /// Off: no scenes in the context (ablation SL).
    pub scene_layer: bool,
    /// Off: no items in the context (ablation IC).
    pub item_channel: bool,
    /// Off: item triggers play no part (ablation ET+BT).
    pub item_triggers: bool,
    /// Off: no personas (ablation PS).
    pub personas: bool,
    /// Off: all scenes pass (ablation TF).
    pub topic_filter: bool,
    /// Off: the `scn` view plays no part (ablation ST).
    pub scene_triggers: bool,
    /// Off: the `hor` view plays no part (ablation HT).
    pub horizon_triggers: bool,
}

/// How the views of SceneCue become one ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CueFusion {
    /// Reciprocal ranks, as in the paper.
    Ranks,
    /// Weighted sum of corrected cosines: they share a scale, and ranks would drop the margins.
    Scores,
}

/// Weight of each view in SceneCue; 0 leaves it out.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct CueWeights {
    /// The dialogue itself (`dlg`).
    pub dialogue: f32,
    /// Attributes of the scene trigger (`scn`).
    pub scene_trigger: f32,
    /// Sentences of the horizon trigger (`hor`).
    pub horizon: f32,
    /// Bridges of the items that a scene is a source of: they vote for their scenes (ours).
    pub bridge: f32,
}

impl Default for CueWeights {
    fn default() -> Self {
        Self {
            dialogue: 1.0,
            scene_trigger: 1.0,
            horizon: 2.0,
            bridge: 1.0,
        }
    }
}

impl Default for RetrieveConfig {
    fn default() -> Self {
        Self::balanced()
    }
}

impl RetrieveConfig {
    /// The default: few raw scenes, many items, a quota of associations, within a budget.
    #[must_use]
    pub fn balanced() -> Self {
        Self {
            top_topics: 15,
            top_scenes: 2,
            top_items: 35,
            associative_scenes: 5,
            trigger_items: 2,
            top_turns: 8,
            cue_scenes: 10,
            scene_pool: 24,
            trigger_top_k: 10,
            trigger_threshold: None,
            background_correction: 0.7,
            cue_fusion: CueFusion::Scores,
            cue_weights: CueWeights::default(),
            horizon_words: 0.01,
            association_floor: Some(0.8),
            raw_limit: 80,
            skip_shown_items: true,
            token_budget: Some(2_100),
            rrf_k0: 60.0,
            trace_depth: 50,
            scene_layer: true,
            item_channel: true,
            item_triggers: true,
            personas: true,
            topic_filter: true,
            scene_triggers: true,
            horizon_triggers: true,
        }
    }

    /// The cascade as the paper writes it, where similarity has the last word on every scene.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            top_scenes: 5,
            top_items: 15,
            associative_scenes: 0,
            trigger_items: 0,
            scene_pool: 0,
            background_correction: 0.0,
            cue_fusion: CueFusion::Ranks,
            cue_weights: CueWeights {
                dialogue: 1.0,
                scene_trigger: 1.0,
                horizon: 1.0,
                bridge: 0.0,
            },
            horizon_words: 0.0,
            association_floor: None,
            skip_shown_items: false,
            token_budget: None,
            ..Self::balanced()
        }
    }

    /// More of everything, for models with room.
    #[must_use]
    pub fn wide() -> Self {
        Self {
            top_scenes: 8,
            top_items: 40,
            associative_scenes: 10,
            trigger_items: 5,
            top_turns: 16,
            raw_limit: 300,
            token_budget: None,
            ..Self::balanced()
        }
    }

    /// This configuration with `switch` thrown.
    #[must_use]
    pub fn without(mut self, switch: Switch) -> Self {
        match switch {
            Switch::SceneLayer => self.scene_layer = false,
            Switch::ItemChannel => self.item_channel = false,
            Switch::ItemTriggers => self.item_triggers = false,
            Switch::Personas => self.personas = false,
            Switch::TopicFilter => self.topic_filter = false,
            Switch::SceneTriggers => self.scene_triggers = false,
            Switch::HorizonTriggers => self.horizon_triggers = false,
            Switch::SceneAndHorizonTriggers => {
                self.scene_triggers = false;
                self.horizon_triggers = false;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_preset_has_the_papers_numbers() {
        let paper = RetrieveConfig::paper();
        let numbers = [
            paper.top_topics,
            paper.top_scenes,
            paper.top_items,
            paper.trigger_top_k,
        ];
        assert_eq!(
            (numbers, paper.cue_scenes, paper.rrf_k0),
            ([15, 5, 15, 10], 10, 60.0)
        );
        assert_eq!(
            (paper.associative_scenes, paper.background_correction),
            (0, 0.0)
        );
    }

    #[test]
    fn each_switch_changes_its_own_fields_only() {
        let full = RetrieveConfig::balanced();
        for switch in Switch::ALL {
            assert_ne!(full.clone().without(switch), full, "{switch}");
        }
        let both = full
            .without(Switch::SceneTriggers)
            .without(Switch::HorizonTriggers);
        let one = RetrieveConfig::balanced().without(Switch::SceneAndHorizonTriggers);
        assert_eq!(both, one);
    }

    #[test]
    fn a_missing_key_takes_its_default_and_an_unknown_one_is_an_error() {
        let read = |text| serde_json::from_str::<RetrieveConfig>(text);
        let some = read(r#"{"top_scenes": 4}"#).unwrap();
        assert_eq!(
            some,
            RetrieveConfig {
                top_scenes: 4,
                ..RetrieveConfig::balanced()
            }
        );
        assert!(
            read(r#"{"top_scene": 4}"#)
                .unwrap_err()
                .to_string()
                .contains("top_scene")
        );
    }
}
