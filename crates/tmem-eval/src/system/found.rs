//! What a system found, in terms that all systems share: turns.

use std::collections::{BTreeMap, BTreeSet};

use tmem_model::TurnId;

use crate::metric::rank_of;
use crate::results::RetrievedIds;

/// A ranked list, best first; each piece as the turns it brings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// Its name in results.
    pub name: &'static str,
    /// Pieces.
    pub turns: Vec<Vec<TurnId>>,
}

impl Ranked {
    /// Rank of the first piece that holds one of `turns`.
    #[must_use]
    pub fn rank(&self, turns: &[TurnId]) -> Option<usize> {
        rank_of(&self.turns, |piece| {
            piece.iter().any(|turn| turns.contains(turn))
        })
    }
}

/// How one scene fared in the lists of views, for the question what reached it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reached {
    /// Rank by view.
    pub ranks: BTreeMap<String, usize>,
    /// Channels that put it, or an item of it, into the context.
    pub channels: BTreeSet<String>,
}

/// What a system found for one query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Turns of the context: word for word, or as sources of an item in it.
    pub held: BTreeSet<TurnId>,
    /// Turns of the scenes in the context, shown word for word or as a summary (flat systems and a
    /// scene layer that is off: the same as `held`).
    pub reached: BTreeSet<TurnId>,
    /// Estimated tokens of the evidence.
    pub tokens: f64,
    /// Estimated tokens of personas.
    pub persona_tokens: f64,
    /// Ranked lists.
    pub lists: Vec<Ranked>,
    /// The list among them that is meant to find cues.
    pub cue_list: &'static str,
    /// Ids for the results.
    pub ids: RetrievedIds,
    /// The context written out; empty if it was not asked for.
    pub text: String,
    /// By a turn of each scene that some list ranks: how the scene fared.
    pub scenes: BTreeMap<TurnId, Reached>,
}

impl Found {
    /// A context that shows `held` word for word.
    #[must_use]
    pub fn new(cue_list: &'static str, held: BTreeSet<TurnId>, tokens: f64) -> Self {
        Self {
            reached: held.clone(),
            held,
            tokens,
            cue_list,
            ..Self::default()
        }
    }

    /// Whether the scene of some of `turns` is in the context.
    #[must_use]
    pub fn reaches(&self, turns: &[TurnId]) -> bool {
        turns.iter().any(|turn| self.reached.contains(turn))
    }

    /// Rank of a cue in the list that is meant to find it.
    #[must_use]
    pub fn cue_rank(&self, turns: &[TurnId]) -> Option<usize> {
        let list = self.lists.iter().find(|list| list.name == self.cue_list)?;
        list.rank(turns)
    }

    /// Best rank of each turn over all lists.
    #[must_use]
    pub fn best_ranks(&self, turns: &[TurnId]) -> Vec<Option<usize>> {
        let best = |turn: &TurnId| {
            self.lists
                .iter()
                .filter_map(|list| list.rank(std::slice::from_ref(turn)))
                .min()
        };
        turns.iter().map(best).collect()
    }
}
