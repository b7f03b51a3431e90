//! Which questions and cues of a benchmark are asked: all, a fixed half, or a small sample.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use tmem_model::ConversationId;

use super::{Cue, Dialogue};
use crate::error::EvalError;
use crate::stat::SplitMix;

/// Every other question of each conversation, and every other cue of each host, in file order.
///
/// What is chosen by one half is reported on the other; every conversation is in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Places 0, 2, 4, … of each conversation.
    Even,
    /// Places 1, 3, 5, … of each conversation.
    Odd,
}

impl Half {
    fn holds(self, place: usize) -> bool {
        place.is_multiple_of(2) == (self == Self::Even)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Odd => "odd",
        }
    }
}

impl FromStr for Half {
    type Err = EvalError;

    fn from_str(name: &str) -> Result<Self, EvalError> {
        let found = [Self::Even, Self::Odd]
            .into_iter()
            .find(|half| half.name() == name);
        found.ok_or_else(|| EvalError::Setting(format!("no half is called {name:?}: even or odd")))
    }
}

/// What is asked of a benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// One half; `None` for both.
    pub half: Option<Half>,
    /// Most questions or cues (count), drawn by `seed`; `None` for all.
    pub sample: Option<usize>,
    /// Seed of the draw.
    pub seed: u64,
}

impl Selection {
    /// Leaves the chosen questions, and the dialogues that have some.
    pub fn questions(&self, dialogues: &mut Vec<Dialogue>) {
        for dialogue in dialogues.iter_mut() {
            let half = |place: usize| self.half.is_none_or(|half| half.holds(place));
            dialogue.questions.retain(|question| half(question.index));
        }
        let usable = dialogues.iter().enumerate().flat_map(|(d, dialogue)| {
            let usable = dialogue.questions.iter().enumerate();
            usable
                .filter(|(_, question)| !question.evidence.is_empty())
                .map(move |(q, _)| (d, q))
        });
        if let Some(drawn) = self.drawn(usable.collect()) {
            for (d, dialogue) in dialogues.iter_mut().enumerate() {
                let mut place = 0..;
                let drawn = |_: &_| drawn.contains(&(d, place.next().expect("it has no end")));
                dialogue.questions.retain(drawn);
            }
        }
        dialogues.retain(|dialogue| !dialogue.questions.is_empty());
    }

    /// Leaves the chosen ones of `cues`; `all` are those of the file, by which halves are told.
    #[must_use]
    pub fn cues(&self, cues: Vec<Cue>, all: &[Cue]) -> Vec<Cue> {
        let mut seen: BTreeMap<&ConversationId, usize> = BTreeMap::new();
        let mut place = BTreeMap::new();
        for cue in all {
            let of_host = seen.entry(&cue.host).or_default();
            place.insert(cue.index, *of_host);
            *of_host += 1;
        }
        let half = |cue: &Cue| {
            self.half.is_none_or(|half| {
                place
                    .get(&cue.index)
                    .is_some_and(|place| half.holds(*place))
            })
        };
        let mut cues: Vec<Cue> = cues.into_iter().filter(half).collect();
        if let Some(drawn) = self.drawn(cues.iter().map(|cue| cue.index).collect()) {
            cues.retain(|cue| drawn.contains(&cue.index));
        }
        cues
    }

    fn drawn<T: Ord + Copy>(&self, mut from: Vec<T>) -> Option<BTreeSet<T>> {
        let wanted = self.sample?;
        let mut random = SplitMix(self.seed);
        let mut drawn = BTreeSet::new();
        while drawn.len() < wanted && !from.is_empty() {
            drawn.insert(from.swap_remove(random.below(from.len())));
        }
        Some(drawn)
    }

    /// What the report says of it.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let half = self.half.map(|half| {
            format!(
                "Only the {} half: every other question of each conversation, every other cue of \
                 each host, in file order.",
                half.name()
            )
        });
        let sample = self.sample.map(|count| {
            format!(
                "Only a sample of {count}, drawn with seed {}: too few for a figure.",
                self.seed
            )
        });
        half.into_iter().chain(sample).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{locomo, plus};

    const LOCOMO: &str = include_str!("../../../../fixtures/eval/locomo.json");
    const PLUS: &str = include_str!("../../../../fixtures/eval/locomo_plus.json");

    fn half(name: &str) -> Selection {
        Selection {
            half: Some(name.parse().expect("a half")),
            ..Selection::default()
        }
    }

    fn questions(selection: Selection) -> Vec<(String, usize)> {
        let (mut dialogues, _) = locomo::load(LOCOMO).expect("a good file");
        selection.questions(&mut dialogues);
        let asked = dialogues.iter().flat_map(|dialogue| {
            let questions = dialogue.questions.iter();
            questions.map(|question| (dialogue.id.to_string(), question.index))
        });
        asked.collect()
    }

    fn cues(selection: Selection) -> Vec<Cue> {
        let (dialogues, _) = locomo::load(LOCOMO).expect("a good file");
        let (all, _) = plus::load(PLUS, &dialogues).expect("a good file");
        selection.cues(all.clone(), &all)
    }

    #[test]
    fn halves_share_nothing_make_the_whole_and_hold_every_conversation() {
        let (even, odd) = (questions(half("even")), questions(half("odd")));
        let both: BTreeSet<_> = even.iter().chain(&odd).cloned().collect();
        let all = questions(Selection::default());
        assert_eq!(both, all.iter().cloned().collect());
        assert_eq!(both.len(), even.len() + odd.len());
        let (even, odd) = (cues(half("even")), cues(half("odd")));
        assert_eq!(even.len() + odd.len(), cues(Selection::default()).len());
        let hosts = |cues: &[Cue]| cues.iter().map(|c| c.host.clone()).collect::<BTreeSet<_>>();
        assert_eq!((hosts(&even).len(), hosts(&even)), (2, hosts(&odd)));
        assert!("first".parse::<Half>().is_err());
    }

    #[test]
    fn a_sample_is_as_large_as_asked_for_and_the_same_each_time() {
        let sample = |seed| Selection {
            sample: Some(3),
            seed,
            ..Selection::default()
        };
        assert_eq!(questions(sample(7)).len(), 3);
        assert_eq!(questions(sample(7)), questions(sample(7)));
        assert!((0..20).any(|seed| questions(sample(seed)) != questions(sample(7))));
        assert_eq!(cues(sample(7)).len(), 3);
        let more = Selection {
            sample: Some(1_000),
            ..Selection::default()
        };
        assert_eq!(cues(more).len(), cues(Selection::default()).len());
    }
}
