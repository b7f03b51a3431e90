//! The end of a pass: the context, held to its budget, and what became of each candidate.

use tmem_index::{Host, Key, Kind};

use crate::cascade::{Chosen, Pass, Recall};
use crate::context::{Context, ItemEvidence, SceneEvidence};
use crate::trace::{Channel, Cut, Fate, Trace};
use crate::{assemble, budget};

impl Pass<'_> {
    /// Step 4: the context, held to its budget, and the trace.
    pub(crate) fn finish(mut self, mut chosen: Chosen) -> Recall {
        let mut context = self.context(&chosen);
        let over = self
            .config
            .token_budget
            .map(|limit| budget::fit(&mut context, limit));
        let over = over.unwrap_or_default();
        if self.config.personas {
            context.personas =
                assemble::personas(self.memory, self.query, &context, &mut self.notes);
        }
        let over_budget = over.len();
        chosen
            .cuts
            .extend(over.into_iter().map(|host| (host, Cut::Budget)));
        let tokens = context.tokens();
        let trace = Trace {
            over_budget,
            tokens,
            ..self.trace(&chosen)
        };
        Recall { context, trace }
    }

    fn context(&self, chosen: &Chosen) -> Context {
        let (scenes, items) = (self.config.scene_layer, self.config.item_channel);
        let turns = chosen
            .open
            .iter()
            .map(|&key| &self.indices.turns()[key as usize]);
        let turns = turns
            .filter_map(|id| self.memory.turn(id))
            .map(assemble::turn);
        Context {
            scenes: if scenes {
                self.scene_evidence(chosen)
            } else {
                Vec::new()
            },
            items: if items {
                self.item_evidence(chosen)
            } else {
                Vec::new()
            },
            turns: turns.collect(),
            personas: Vec::new(),
        }
    }

    fn item_evidence(&self, chosen: &Chosen) -> Vec<ItemEvidence> {
        let all = chosen.similar_items.iter().chain(&chosen.triggered_items);
        let evidence = |&key: &Key| {
            let item = self.memory.item(&self.indices.items()[key as usize])?;
            let triggered = self.item_channel(chosen, key) == Some(Channel::Trigger);
            let validity = self.memory.validity(item, self.query.at);
            Some(assemble::item(item, triggered, validity))
        };
        all.filter_map(evidence).collect()
    }

    pub(crate) fn scene_evidence(&self, chosen: &Chosen) -> Vec<SceneEvidence> {
        let alike = chosen.alike.iter().map(|&key| (key, false));
        let related = chosen.related.iter().map(|&key| (key, true));
        let scene = |(key, associative): (Key, bool)| {
            let scene = self.memory.scene(&self.indices.scenes()[key as usize])?;
            Some(assemble::scene(
                self.memory,
                scene,
                associative,
                self.config,
            ))
        };
        alike.chain(related).filter_map(scene).collect()
    }

    /// Under which quota `scene` is shown.
    pub(crate) fn scene_channel(&self, chosen: &Chosen, scene: Key) -> Option<Channel> {
        if chosen.alike.contains(&scene) {
            return Some(Channel::Similarity);
        }
        chosen
            .related
            .contains(&scene)
            .then_some(Channel::Association)
    }

    /// Under which quota `item` is shown; a candidate that neither a scene of the pool nor an item it
    /// supersedes brought in owes its place to its trigger, whatever its rank.
    pub(crate) fn item_channel(&self, chosen: &Chosen, item: Key) -> Option<Channel> {
        let sources = self.indices.links().sources(item);
        let pooled = sources.iter().any(|&scene| chosen.pool.contains(scene))
            || chosen.leads.contains_key(&item);
        if chosen.triggered_items.contains(&item) {
            return Some(Channel::Trigger);
        }
        let channel = if pooled {
            Channel::Similarity
        } else {
            Channel::Trigger
        };
        chosen.similar_items.contains(&item).then_some(channel)
    }

    /// What became of a candidate that stands under `channel` if it was chosen at all.
    pub(crate) fn fate(&self, chosen: &Chosen, host: &Host, channel: Option<Channel>) -> Fate {
        let off = match host.kind() {
            Kind::Scene => !self.config.scene_layer,
            Kind::Item => !self.config.item_channel,
            Kind::Topic | Kind::Turn => false,
        };
        match (channel, chosen.cuts.get(host)) {
            (_, Some(cut)) => Fate::Cut(*cut),
            (Some(_), None) if off => Fate::Cut(Cut::SwitchedOff),
            (Some(channel), None) => Fate::Kept(channel),
            (None, None) => Fate::Cut(Cut::Rank),
        }
    }
}
