//! From a finished pass to its [`Trace`].

use tmem_index::{Host, Key};
use tmem_model::{ItemId, SceneId, TopicId, TurnId};

use crate::cascade::{Chosen, Pass};
use crate::cue::Fired;
use crate::ranking::Ranking;
use crate::trace::{Candidate, Channel, Trace, TriggerHit, Via};

impl Pass<'_> {
    /// Everything but sizes.
    pub(crate) fn trace(&self, chosen: &Chosen) -> Trace {
        Trace {
            topics: self.topic_candidates(chosen),
            scenes: self.scene_candidates(chosen, &chosen.scenes),
            associations: self.scene_candidates(chosen, &chosen.cue.ranking),
            items: self.item_candidates(chosen),
            turns: self.turn_candidates(chosen),
            notes: self.notes.clone(),
            ..Trace::default()
        }
    }

    /// The first `trace_depth` of `ranking`, and every one that `chosen` holds.
    fn listed<'r>(
        &self,
        ranking: &'r Ranking,
        chosen: &'r [Key],
    ) -> impl Iterator<Item = (Key, f32)> + 'r {
        let depth = self.config.trace_depth;
        let order = ranking.order.iter().enumerate();
        let listed = order.filter(move |(place, (key, _))| *place < depth || chosen.contains(key));
        listed.map(|(_, entry)| *entry)
    }

    fn topic_candidates(&self, chosen: &Chosen) -> Vec<Candidate<TopicId>> {
        let candidate = |(key, score): (Key, f32)| {
            let id = self.indices.topics()[key as usize].clone();
            let channel = chosen.passed.contains(&key).then_some(Channel::Filter);
            let fate = self.fate(chosen, &Host::Topic(id.clone()), channel);
            Candidate {
                id,
                via: Vec::new(),
                ranks: chosen.topics.places(key),
                score,
                fate,
            }
        };
        self.listed(&chosen.topics, &chosen.passed)
            .map(candidate)
            .collect()
    }

    /// `ranking`: by likeness or by trigger; each scene tells all the ways that led to it.
    fn scene_candidates(&self, chosen: &Chosen, ranking: &Ranking) -> Vec<Candidate<SceneId>> {
        let candidate = |(key, score): (Key, f32)| {
            let id = self.indices.scenes()[key as usize].clone();
            let channel = self.scene_channel(chosen, key);
            let fate = self.fate(chosen, &Host::Scene(id.clone()), channel);
            let via = self.ways_to_scene(chosen, key);
            let mut ranks = chosen.scenes.places(key);
            ranks.extend(chosen.cue.ranking.places(key));
            Candidate {
                id,
                via,
                ranks,
                score,
                fate,
            }
        };
        let all = [chosen.alike.as_slice(), &chosen.related].concat();
        self.listed(ranking, &all).map(candidate).collect()
    }

    fn ways_to_scene(&self, chosen: &Chosen, key: Key) -> Vec<Via> {
        let topics = self.indices.links().topics_of(key);
        let passed = topics.iter().filter(|topic| chosen.passed.contains(topic));
        let passed = passed.map(|&topic| self.indices.topics()[topic as usize].clone());
        let mut ways: Vec<Via> = passed.map(|topic| self.by_topic(topic)).collect();
        if !self.filters_topics() || topics.is_empty() {
            ways.push(Via::Unfiltered);
        }
        let fired = chosen.cue.fired(key);
        ways.extend(
            fired
                .iter()
                .filter_map(|fired| self.describe(fired))
                .map(Via::Trigger),
        );
        ways
    }

    fn by_topic(&self, topic: TopicId) -> Via {
        let title = self
            .memory
            .topic(&topic)
            .map_or_else(String::new, |known| known.title.clone());
        Via::Topic { topic, title }
    }

    fn item_candidates(&self, chosen: &Chosen) -> Vec<Candidate<ItemId>> {
        let candidate = |(key, score): (Key, f32)| {
            let id = self.indices.items()[key as usize].clone();
            let channel = self.item_channel(chosen, key);
            let fate = self.fate(chosen, &Host::Item(id.clone()), channel);
            let via = self.ways_to_item(chosen, key);
            Candidate {
                id,
                via,
                ranks: chosen.items.places(key),
                score,
                fate,
            }
        };
        let all = [chosen.similar_items.as_slice(), &chosen.triggered_items].concat();
        self.listed(&chosen.items, &all).map(candidate).collect()
    }

    fn ways_to_item(&self, chosen: &Chosen, key: Key) -> Vec<Via> {
        let sources = self.indices.links().sources(key).iter();
        let sources = sources.filter(|&&scene| chosen.pool.contains(scene));
        let scene = |&scene: &Key| self.indices.scenes()[scene as usize].clone();
        let mut ways: Vec<Via> = sources
            .map(|key| Via::Scene { scene: scene(key) })
            .collect();
        let earlier = chosen.leads.get(&key).map(|&item| Via::Supersedes {
            item: self.indices.items()[item as usize].clone(),
        });
        ways.extend(earlier);
        let fired = chosen
            .fired
            .get(&key)
            .and_then(|fired| self.describe(fired));
        ways.extend(fired.map(Via::Trigger));
        ways
    }

    fn turn_candidates(&self, chosen: &Chosen) -> Vec<Candidate<TurnId>> {
        let candidate = |(key, score): (Key, f32)| {
            let id = self.indices.turns()[key as usize].clone();
            let channel = chosen.open.contains(&key).then_some(Channel::OpenTail);
            let fate = self.fate(chosen, &Host::Turn(id.clone()), channel);
            let ranks = chosen.turns.places(key);
            Candidate {
                id,
                via: vec![Via::OpenTail],
                ranks,
                score,
                fate,
            }
        };
        self.listed(&chosen.turns, &chosen.open)
            .map(candidate)
            .collect()
    }

    fn describe(&self, fired: &Fired) -> Option<TriggerHit> {
        Some(self.search()?.describe(fired))
    }
}
