//! [`Retriever`]: the cascade itself, one step a function.

use std::collections::{BTreeMap, BTreeSet};

use tmem_index::{Hit, Host, Indices, Key, KeySet, Kind, Vector, View};
use tmem_model::text::terms;
use tmem_model::{Memory, TurnId};

use crate::context::{Context, SceneEvidence};
use crate::cue::{Fired, SceneCue, Search};
use crate::ranking::Ranking;
use crate::scope::Scope;
use crate::trace::{Cut, List, Note, Trace};
use crate::{Query, RetrieveConfig};

/// What a query brings back.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Recall {
    /// What the answering model sees.
    pub context: Context,
    /// How it came about.
    pub trace: Trace,
}

/// Answers queries from one memory and the indices that were built from it.
#[derive(Clone, Copy, Debug)]
pub struct Retriever<'a> {
    memory: &'a Memory,
    indices: &'a Indices,
}

impl<'a> Retriever<'a> {
    /// `indices` must have been built from `memory` as it is now.
    #[must_use]
    pub fn new(memory: &'a Memory, indices: &'a Indices) -> Self {
        Self { memory, indices }
    }

    /// The cascade of section 3.4. A blank query gives an empty recall.
    #[must_use]
    pub fn recall(&self, query: &Query, config: &RetrieveConfig) -> Recall {
        if query.text.trim().is_empty() {
            let trace = Trace {
                notes: vec![Note::BlankQuery],
                ..Trace::default()
            };
            return Recall {
                trace,
                ..Recall::default()
            };
        }
        let mut notes = Vec::new();
        let vector = self.usable_vector(query, &mut notes);
        let scope = Scope::of(self.memory, self.indices, query);
        let Self { memory, indices } = *self;
        let mut pass = Pass {
            memory,
            indices,
            query,
            config,
            scope,
            vector,
            notes,
        };
        let chosen = pass.choose();
        pass.finish(chosen)
    }

    /// The query's vector, if the memory has vectors of its kind.
    fn usable_vector<'q>(&self, query: &'q Query, notes: &mut Vec<Note>) -> Option<&'q Vector> {
        if self.indices.left_out() > 0 {
            notes.push(Note::VectorsLeftOut {
                count: self.indices.left_out(),
            });
        }
        let trouble = match (query.vector.as_ref(), self.indices.dimensions()) {
            (None, _) => Note::NoVector,
            (Some(_), None) => Note::NoVectors,
            (Some(vector), Some(expected)) if vector.dimensions() != expected => {
                Note::OtherEncoder {
                    expected,
                    found: vector.dimensions(),
                }
            }
            (Some(vector), _) => return Some(vector),
        };
        notes.push(trouble);
        None
    }
}

/// One query on its way through.
pub(crate) struct Pass<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) indices: &'a Indices,
    pub(crate) query: &'a Query,
    pub(crate) config: &'a RetrieveConfig,
    pub(crate) scope: Scope,
    pub(crate) vector: Option<&'a Vector>,
    pub(crate) notes: Vec<Note>,
}

/// All rankings and what each quota took of them.
#[derive(Default)]
pub(crate) struct Chosen {
    pub(crate) topics: Ranking,
    /// The topics that the filter chose.
    pub(crate) passed: Vec<Key>,
    pub(crate) cue: SceneCue,
    /// C_2, best first.
    pub(crate) scenes: Ranking,
    pub(crate) alike: Vec<Key>,
    pub(crate) related: Vec<Key>,
    /// A_I by item.
    pub(crate) fired: BTreeMap<Key, Fired>,
    /// C_3, best first.
    pub(crate) items: Ranking,
    /// Items that hold in place of a candidate that is out of date, each with that candidate.
    pub(crate) leads: BTreeMap<Key, Key>,
    /// Scenes whose items are candidates.
    pub(crate) pool: KeySet,
    pub(crate) similar_items: Vec<Key>,
    pub(crate) triggered_items: Vec<Key>,
    pub(crate) turns: Ranking,
    pub(crate) open: Vec<Key>,
    /// What of the candidates is not shown although its rank would do.
    pub(crate) cuts: BTreeMap<Host, Cut>,
}

impl Pass<'_> {
    fn choose(&mut self) -> Chosen {
        let mut chosen = Chosen::default();
        self.choose_topics(&mut chosen);
        self.choose_scenes(&mut chosen);
        self.choose_associations(&mut chosen);
        self.choose_items(&mut chosen);
        self.choose_turns(&mut chosen);
        chosen
    }

    /// Whether topics decide which scenes pass. Words alone reach few titles, and would keep scenes
    /// out that say the very word.
    pub(crate) fn filters_topics(&self) -> bool {
        self.config.topic_filter && self.vector.is_some()
    }

    /// Step 1: R_T, the topics that let their scenes pass.
    fn choose_topics(&mut self, chosen: &mut Chosen) {
        if self.filters_topics() {
            let allowed = self.scope.topics.clone();
            chosen.topics = self.similarity(Kind::Topic, View::Topic, allowed.as_ref());
            chosen.passed = chosen.topics.keys().take(self.config.top_topics).collect();
        }
    }

    /// Step 2: C_2 = P_S ∪ A_S, and R_S by similarity.
    fn choose_scenes(&mut self, chosen: &mut Chosen) {
        chosen.cue = self.with_search(SceneCue::rank).unwrap_or_default();
        let allowed = self.scope.scenes.clone();
        let mut scenes = self.similarity(Kind::Scene, View::Scene, allowed.as_ref());
        if self.filters_topics() {
            let mut pool = self.passed_scenes(&chosen.passed);
            chosen
                .cue
                .ranking
                .keys()
                .take(self.config.cue_scenes)
                .for_each(|scene| {
                    pool.insert(scene);
                });
            scenes.restrict(|scene| pool.contains(scene));
        }
        scenes.rerank(&self.reranked(Kind::Scene));
        chosen.alike = scenes.keys().take(self.config.top_scenes).collect();
        chosen.scenes = scenes;
    }

    /// P_S: scenes of the topics that passed, and scenes that no topic has admitted yet.
    fn passed_scenes(&self, topics: &[Key]) -> KeySet {
        let links = self.indices.links();
        let passed = topics
            .iter()
            .flat_map(|&topic| links.scenes_of(topic))
            .copied();
        let all = 0..self.indices.scenes().len() as Key;
        passed
            .chain(all.filter(|&scene| links.topics_of(scene).is_empty()))
            .collect()
    }

    /// The associative quota: the best scenes by trigger that similarity did not choose.
    fn choose_associations(&mut self, chosen: &mut Chosen) {
        if terms(&self.query.text).is_empty() {
            self.notes.push(Note::SmallTalk);
            return;
        }
        for scene in chosen.cue.ranking.keys() {
            let id = &self.indices.scenes()[scene as usize];
            if chosen.related.len() == self.config.associative_scenes {
                break;
            } else if chosen.alike.contains(&scene) {
                continue;
            } else if self.query.shown.contains(id) {
                chosen
                    .cuts
                    .insert(Host::Scene(id.clone()), Cut::ShownBefore);
            } else if !chosen.cue.clears(scene) {
                chosen.cuts.insert(Host::Scene(id.clone()), Cut::Floor);
            } else {
                chosen.related.push(scene);
            }
        }
    }

    /// Step 3: C_3 = P_I ∪ A_I, and R_I with the quota of what triggers alone would bring in.
    fn choose_items(&mut self, chosen: &mut Chosen) {
        let mut fired = self.triggered();
        fired.truncate(self.config.trigger_top_k);
        chosen.fired = fired.iter().map(|fired| (fired.target, *fired)).collect();
        let pool = chosen.scenes.keys().take(self.config.scene_pool);
        chosen.pool = pool
            .chain(chosen.alike.clone())
            .chain(chosen.related.clone())
            .collect();
        let sources = self.items_of(&chosen.pool);
        let allowed = self.scope.items.clone();
        let mut items = self.similarity(Kind::Item, View::Item, allowed.as_ref());
        items.restrict(|item| sources.contains(item) || chosen.fired.contains_key(&item));
        items.rerank(&self.reranked(Kind::Item));
        let fired: Vec<Hit> = fired
            .iter()
            .map(|one| Hit {
                key: one.target,
                score: one.score,
            })
            .collect();
        items.show(List::ItemTrigger, &fired);
        chosen.leads = items.lead(|item| self.current(item));
        chosen.items = items;
        self.fill_item_places(&fired, chosen);
    }

    /// What holds in place of an item that later ones put out of date, as of the query's date; both
    /// are candidates, the one that holds comes first.
    fn current(&self, item: Key) -> Vec<Key> {
        let allowed = |key: &&Key| self.scope.allows_item(**key);
        let links = self.indices.links();
        let later = |key| links.superseding(key).iter().filter(allowed);
        let (mut open, mut seen): (Vec<Key>, Vec<Key>) = (later(item).copied().collect(), vec![]);
        while let Some(key) = open.pop() {
            if !seen.contains(&key) {
                seen.push(key);
                open.extend(later(key));
            }
        }
        seen.retain(|&key| later(key).next().is_none());
        seen.sort_unstable();
        seen
    }

    /// Likeness fills all places but the last few, those go to what fired and is not among them,
    /// and what they leave over goes back to likeness.
    fn fill_item_places(&self, fired: &[Hit], chosen: &mut Chosen) {
        let fresh = self.without_shown(chosen);
        let quota = self.config.trigger_items.min(self.config.top_items);
        let (first, rest) = fresh.split_at(fresh.len().min(self.config.top_items - quota));
        let extra = fired
            .iter()
            .map(|hit| hit.key)
            .filter(|item| rest.contains(item));
        chosen.triggered_items = extra.take(quota).collect();
        let rest = rest
            .iter()
            .filter(|item| !chosen.triggered_items.contains(item));
        let back = rest.take(quota - chosen.triggered_items.len());
        chosen.similar_items = first.iter().chain(back).copied().collect();
    }

    /// The candidates whose source turns the context does not show already.
    fn without_shown(&self, chosen: &mut Chosen) -> Vec<Key> {
        let shown = self.shown_turns(chosen);
        let is_shown = |key: &Key| {
            let item = self.memory.item(&self.indices.items()[*key as usize]);
            let turns = item.map_or(&[][..], |item| &item.turns);
            !turns.is_empty() && turns.iter().all(|turn| shown.contains(turn))
        };
        let (spent, fresh): (Vec<Key>, Vec<Key>) = chosen
            .items
            .keys()
            .partition(|key| self.config.skip_shown_items && is_shown(key));
        let spent = spent
            .into_iter()
            .map(|key| self.indices.items()[key as usize].clone());
        chosen
            .cuts
            .extend(spent.map(|id| (Host::Item(id), Cut::AlreadyShown)));
        fresh
    }

    /// The turns that the chosen scenes show word for word.
    fn shown_turns(&self, chosen: &Chosen) -> BTreeSet<TurnId> {
        if !self.config.scene_layer {
            return BTreeSet::new();
        }
        let scenes = self.scene_evidence(chosen);
        let turns = scenes.iter().flat_map(SceneEvidence::raw_turns);
        turns.map(|turn| turn.id.clone()).collect()
    }

    /// Turns of the open tail, by likeness.
    fn choose_turns(&mut self, chosen: &mut Chosen) {
        let open = self.scope.open_turns.clone();
        if open.is_empty() {
            return;
        }
        let turns = self.similarity(Kind::Turn, View::Turn, Some(&open));
        chosen.open = turns.keys().take(self.config.top_turns).collect();
        chosen.open.sort_unstable();
        chosen.turns = turns;
    }

    /// RRF of words and vectors over one kind of node.
    fn similarity(&mut self, kind: Kind, view: View, allowed: Option<&KeySet>) -> Ranking {
        let words = self.indices.lexical(kind, &self.query.text, allowed);
        let words = words.unwrap_or_else(|error| self.failed(error.to_string()));
        let near = self
            .vector
            .map(|vector| self.indices.nearest(view, vector, 0.0, allowed));
        let near = match near {
            None => Vec::new(),
            Some(Ok(near)) => near
                .iter()
                .map(|found| Hit {
                    key: found.key,
                    score: found.score,
                })
                .collect(),
            Some(Err(error)) => self.failed(error.to_string()),
        };
        Ranking::by_ranks(
            &[(List::Bm25, words), (List::Dense, near)],
            self.config.rrf_k0,
        )
    }

    fn failed(&mut self, message: String) -> Vec<Hit> {
        self.notes.push(Note::IndexFailed { message });
        Vec::new()
    }

    /// A_I without its cap.
    fn triggered(&mut self) -> Vec<Fired> {
        if !self.config.item_triggers {
            return Vec::new();
        }
        self.with_search(|search, notes| search.items(notes))
            .unwrap_or_default()
    }

    fn with_search<T>(&mut self, ask: impl FnOnce(&Search<'_>, &mut Vec<Note>) -> T) -> Option<T> {
        let mut notes = std::mem::take(&mut self.notes);
        let found = self.search().map(|search| ask(&search, &mut notes));
        self.notes = notes;
        found
    }

    /// The search by triggers; there is none without a vector.
    pub(crate) fn search(&self) -> Option<Search<'_>> {
        Some(Search {
            memory: self.memory,
            indices: self.indices,
            config: self.config,
            scope: &self.scope,
            text: &self.query.text,
            vector: self.vector?,
        })
    }

    fn items_of(&self, scenes: &KeySet) -> KeySet {
        scenes
            .iter()
            .flat_map(|scene| self.indices.links().items_of(scene))
            .copied()
            .collect()
    }

    fn reranked(&self, kind: Kind) -> BTreeMap<Key, f32> {
        let scores = self
            .query
            .rerank
            .iter()
            .filter(|(host, score)| host.kind() == kind && score.is_finite());
        scores
            .filter_map(|(host, score)| Some((self.indices.key(host)?, *score)))
            .collect()
    }
}
