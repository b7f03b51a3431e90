//! SceneCue and TrigRecall: what triggers reach, over the whole memory, past every filter but the
//! query's own.

use std::collections::BTreeMap;

use tmem_index::{Hit, IndexError, Indices, Key, KeySet, Match, Vector, View};
use tmem_model::Memory;

use crate::config::{CueFusion, RetrieveConfig};
use crate::ranking::Ranking;
use crate::scope::Scope;
use crate::trace::{List, Note};

/// A trigger text that is near the query, and the candidate it leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fired {
    /// The candidate: a scene in SceneCue, an item in TrigRecall.
    pub(crate) target: Key,
    pub(crate) view: View,
    /// The host of the text, a key of `view.kind()`.
    pub(crate) host: Key,
    pub(crate) ordinal: usize,
    pub(crate) cosine: f32,
    pub(crate) background: f32,
    pub(crate) score: f32,
}

impl Fired {
    fn new(target: Key, view: View, found: &Match) -> Self {
        let Match {
            key: host,
            ordinal,
            cosine,
            background,
            score,
        } = *found;
        Self {
            target,
            view,
            host,
            ordinal,
            cosine,
            background,
            score,
        }
    }

    /// How much closer the query is than what is said in general.
    pub(crate) fn margin(&self) -> f32 {
        self.cosine - self.background
    }
}

/// What searching by trigger needs.
pub(crate) struct Search<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) indices: &'a Indices,
    pub(crate) config: &'a RetrieveConfig,
    pub(crate) scope: &'a Scope,
    pub(crate) text: &'a str,
    pub(crate) vector: &'a Vector,
}

/// Scenes by trigger: the ranking, and for each scene the best text of each view.
#[derive(Debug, Default)]
pub(crate) struct SceneCue {
    pub(crate) ranking: Ranking,
    fired: BTreeMap<Key, Vec<Fired>>,
    /// By how much the triggers of a scene are above the floor; `None` if there is no floor.
    above: Option<BTreeMap<Key, f32>>,
}

impl SceneCue {
    /// Ranks all scenes that `search` allows by the views that are switched on.
    pub(crate) fn rank(search: &Search<'_>, notes: &mut Vec<Note>) -> Self {
        let config = search.config;
        let views: Vec<(List, Vec<Fired>)> = VIEWS
            .into_iter()
            .filter(|(list, _)| weight(config, *list) > 0.0)
            .map(|(list, view)| (list, search.scenes_by(view, notes)))
            .collect();
        let hits = |fired: &[Fired]| fired.iter().map(hit).collect();
        let lists: Vec<(List, Vec<Hit>)> = views
            .iter()
            .map(|(list, fired)| (*list, hits(fired)))
            .collect();
        let ranking = match config.cue_fusion {
            CueFusion::Ranks => Ranking::by_ranks(&lists, config.rrf_k0),
            CueFusion::Scores => Ranking::by_scores(&lists, |list| weight(config, list)),
        };
        let floor = config.association_floor;
        let above = floor.map(|floor| above(floor, &views, config));
        let mut fired = BTreeMap::<Key, Vec<Fired>>::new();
        for one in views.into_iter().flat_map(|(_, fired)| fired) {
            fired.entry(one.target).or_default().push(one);
        }
        Self {
            ranking,
            fired,
            above,
        }
    }

    /// What fired for `scene`, the most telling first.
    pub(crate) fn fired(&self, scene: Key) -> Vec<Fired> {
        let mut fired = self.fired.get(&scene).cloned().unwrap_or_default();
        fired.sort_by(|a, b| b.margin().total_cmp(&a.margin()).then(a.view.cmp(&b.view)));
        fired
    }

    /// Whether `scene` may be shown as an association, see [`RetrieveConfig::association_floor`].
    pub(crate) fn clears(&self, scene: Key) -> bool {
        let above = self.above.as_ref();
        above.is_none_or(|above| above.get(&scene).is_some_and(|sum| *sum > 0.0))
    }
}

/// By how much the triggers of each scene are above `floor`, its families weighed together: one
/// trigger among dozens comes close by chance, several families seldom do. The dialogue ranks but
/// does not admit: it is no trigger, and a short one is close to whatever is said in its form.
fn above(floor: f32, views: &[(List, Vec<Fired>)], config: &RetrieveConfig) -> BTreeMap<Key, f32> {
    let mut above = BTreeMap::new();
    for (list, fired) in views.iter().filter(|(list, _)| *list != List::Dialogue) {
        for one in fired {
            let margin = one.cosine - floor * one.background;
            *above.entry(one.target).or_insert(0.0) += weight(config, *list) * margin;
        }
    }
    above
}

const VIEWS: [(List, View); 4] = [
    (List::Dialogue, View::Dialogue),
    (List::SceneTrigger, View::SceneTrigger),
    (List::Horizon, View::Horizon),
    (List::Bridge, View::Bridge),
];

/// The weight of a view, 0 if it is switched off.
fn weight(config: &RetrieveConfig, list: List) -> f32 {
    let weights = &config.cue_weights;
    let (on, weight) = match list {
        List::Dialogue => (true, weights.dialogue),
        List::SceneTrigger => (config.scene_triggers, weights.scene_trigger),
        List::Horizon => (config.horizon_triggers, weights.horizon),
        List::Bridge => (config.item_triggers, weights.bridge),
        List::Bm25 | List::Dense | List::ItemTrigger | List::Rerank => (false, 0.0),
    };
    if on { weight } else { 0.0 }
}

fn hit(fired: &Fired) -> Hit {
    Hit {
        key: fired.target,
        score: fired.score,
    }
}

impl Search<'_> {
    fn nearest(&self, view: View, allowed: Option<&KeySet>, notes: &mut Vec<Note>) -> Vec<Match> {
        let correction = self.config.background_correction;
        let found = self.indices.nearest(view, self.vector, correction, allowed);
        found.unwrap_or_else(|error| failed(notes, &error))
    }

    /// The best text of `view` for each scene, best first. Bridges speak for their items' scenes.
    fn scenes_by(&self, view: View, notes: &mut Vec<Note>) -> Vec<Fired> {
        let mut fired = if view == View::Bridge {
            self.scenes_by_bridge(notes)
        } else {
            let found = self.nearest(view, self.scope.scenes.as_ref(), notes);
            let fired = |found: &Match| Fired::new(found.key, view, found);
            found.iter().map(fired).collect()
        };
        if view == View::Horizon && self.config.horizon_words > 0.0 {
            self.add_words(&mut fired, notes);
        }
        fired.sort_by(|a, b| hit(a).order(&hit(b)));
        fired
    }

    fn scenes_by_bridge(&self, notes: &mut Vec<Note>) -> Vec<Fired> {
        let mut seen = KeySet::default();
        let mut fired = Vec::new();
        for found in self.nearest(View::Bridge, self.scope.items.as_ref(), notes) {
            let scenes = self.indices.links().sources(found.key).iter().copied();
            let new = scenes.filter(|&scene| self.scope.allows_scene(scene) && seen.insert(scene));
            fired.extend(new.map(|scene| Fired::new(scene, View::Bridge, &found)));
        }
        fired
    }

    /// Adds what the words say that a query shares with a scene's horizon sentences: an encoder of
    /// sentences blurs the one rare word that was foretold.
    fn add_words(&self, fired: &mut [Fired], notes: &mut Vec<Note>) {
        let found = self
            .indices
            .horizon_words(self.text, self.scope.scenes.as_ref());
        let found = found.unwrap_or_else(|error| failed(notes, &error));
        let words: BTreeMap<Key, f32> = found.iter().map(|hit| (hit.key, hit.score)).collect();
        for one in fired {
            let words = words.get(&one.target).copied().unwrap_or_default();
            one.score += self.config.horizon_words * words;
        }
    }

    /// TrigRecall: the best trigger of each item, if it passes the gate, best first.
    pub(crate) fn items(&self, notes: &mut Vec<Note>) -> Vec<Fired> {
        let mut best = BTreeMap::<Key, Fired>::new();
        for view in [View::Concept, View::Bridge, View::Joint] {
            for found in self.nearest(view, self.scope.items.as_ref(), notes) {
                let fired = Fired::new(found.key, view, &found);
                let held = best.entry(found.key).or_insert(fired);
                if fired.score > held.score {
                    *held = fired;
                }
            }
        }
        let mut fired: Vec<Fired> = best.into_values().filter(|one| self.passes(one)).collect();
        fired.sort_by(|a, b| hit(a).order(&hit(b)));
        fired
    }

    /// The gate: a fixed cosine, or the trigger's own background.
    fn passes(&self, fired: &Fired) -> bool {
        let fixed = self
            .config
            .trigger_threshold
            .or_else(|| self.indices.gate());
        fixed.map_or(fired.margin() > 0.0, |gate| fired.cosine >= gate)
    }
}

fn failed<T>(notes: &mut Vec<Note>, error: &IndexError) -> Vec<T> {
    notes.push(Note::IndexFailed {
        message: error.to_string(),
    });
    Vec::new()
}
