//! What is said in general, and how close a text is to it.
//!
//! Some trigger texts are near everything that is ever said ("hubs") and would answer every query.
//! Each gets one number at index time: the mean of its cosines to the utterances nearest to it, its
//! host's own turns left out. It estimates the upper tail of that text's cosines to anything, on the
//! scale of whatever encoder made them. So ranking subtracts a share of it, a query that is no
//! closer to a trigger than talk in general does not fire it, and the writer of triggers may refuse
//! a text whose number is high.

use std::collections::BTreeMap;
use std::thread;

use serde::{Deserialize, Serialize};
use tmem_model::{Memory, TurnId};

use crate::row::Host;
use crate::vector::{Vector, dot};

/// How the background is measured.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackgroundConfig {
    /// How many nearest utterances the mean is taken over (count).
    pub neighbours: usize,
    /// Most utterances that stand for the memory (count). Above it, evenly spaced ones are taken
    /// and `neighbours` stays as it is: the number then describes the same upper tail in a memory
    /// of any size, and its cost grows with the triggers alone.
    pub sample: usize,
}

impl Default for BackgroundConfig {
    fn default() -> Self {
        Self {
            neighbours: 20,
            sample: 1_000,
        }
    }
}

/// Utterances that stand for what is said in general.
#[derive(Debug)]
pub struct Background<'a> {
    memory: &'a Memory,
    turns: Vec<&'a TurnId>,
    vectors: Vec<&'a Vector>,
    places: BTreeMap<&'a TurnId, usize>,
    neighbours: usize,
}

impl<'a> Background<'a> {
    /// Of the utterances given; [`spaced`] chooses them where there are many.
    pub fn new(
        memory: &'a Memory,
        said: impl Iterator<Item = (&'a TurnId, &'a Vector)>,
        neighbours: usize,
    ) -> Self {
        let (turns, vectors): (Vec<&TurnId>, Vec<&Vector>) = said.unzip();
        let places = turns.iter().copied().zip(0..).collect();
        Self {
            memory,
            turns,
            vectors,
            places,
            neighbours,
        }
    }

    /// How close each text is to what is said in general, its host's own turns left out, in the
    /// order given.
    #[must_use]
    pub fn of<'p>(&self, texts: &[(&Host, &'p Vector)]) -> Vec<f32> {
        let probe = |(host, vector): &(&Host, &'p Vector)| Probe {
            vector,
            own: self.own(host),
        };
        let probes: Vec<Probe<'_>> = texts.iter().map(probe).collect();
        measure(&probes, &self.vectors, self.neighbours)
    }

    /// What a share of the utterances themselves does not exceed; `None` if there are fewer than
    /// twice the neighbours, too few to speak of talk in general.
    #[must_use]
    pub fn of_utterances(&self, share: f32) -> Option<f32> {
        if self.turns.len() < 2 * self.neighbours.max(1) {
            return None;
        }
        let hosts: Vec<Host> = self
            .turns
            .iter()
            .map(|&turn| Host::Turn(turn.clone()))
            .collect();
        let texts: Vec<_> = hosts.iter().zip(self.vectors.iter().copied()).collect();
        let mut all = self.of(&texts);
        all.sort_unstable_by(f32::total_cmp);
        let place = share.clamp(0.0, 1.0) * (all.len() - 1) as f32;
        Some(all[place as usize])
    }

    /// Places of a host's own turns: those of its scenes, or of the scene that a turn is part of.
    fn own(&self, host: &Host) -> Vec<usize> {
        let turns: Vec<&TurnId> = match host {
            Host::Scene(scene) => self
                .memory
                .scene(scene)
                .into_iter()
                .flat_map(|s| &s.turns)
                .collect(),
            Host::Item(item) => self
                .memory
                .sources(item)
                .flat_map(|scene| &scene.turns)
                .collect(),
            Host::Turn(turn) => match self.memory.scene_of(turn) {
                Some(scene) => scene.turns.iter().collect(),
                None => vec![turn],
            },
            Host::Topic(_) => Vec::new(),
        };
        turns
            .into_iter()
            .filter_map(|turn| self.places.get(turn).copied())
            .collect()
    }
}

/// A vector to be measured, and which utterances of the sample are its host's own.
#[derive(Clone, Debug)]
struct Probe<'a> {
    vector: &'a Vector,
    own: Vec<usize>,
}

/// Evenly spaced positions: at most `most` of `0..len`, ascending.
#[must_use]
pub fn spaced(len: usize, most: usize) -> Vec<usize> {
    let taken = len.min(most);
    (0..taken).map(|i| i * len / taken).collect()
}

/// Mean cosine of each probe to its nearest utterances, in the order of `probes`; 0 where there is
/// no utterance to compare with.
fn measure(probes: &[Probe<'_>], sample: &[&Vector], neighbours: usize) -> Vec<f32> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let share = probes.len().div_ceil(workers).max(1);
    thread::scope(|scope| {
        let parts = probes.chunks(share);
        let running: Vec<_> = parts
            .map(|part| scope.spawn(move || measure_part(part, sample, neighbours)))
            .collect();
        let done = running
            .into_iter()
            .map(|part| part.join().expect("measuring does not panic"));
        done.flatten().collect()
    })
}

fn measure_part(probes: &[Probe<'_>], sample: &[&Vector], neighbours: usize) -> Vec<f32> {
    let mut cosines = Vec::with_capacity(sample.len());
    let mean = |probe: &Probe<'_>| {
        cosines.clear();
        let others = sample
            .iter()
            .enumerate()
            .filter(|(at, _)| !probe.own.contains(at));
        cosines.extend(others.map(|(_, other)| dot(probe.vector.as_slice(), other.as_slice())));
        mean_of_highest(&mut cosines, neighbours)
    };
    probes.iter().map(mean).collect()
}

/// Mean of the `k` highest of `numbers` (of all, if there are fewer), which it reorders.
fn mean_of_highest(numbers: &mut [f32], k: usize) -> f32 {
    let k = k.min(numbers.len());
    if k == 0 {
        return 0.0;
    }
    numbers.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    numbers[..k].sort_unstable_by(f32::total_cmp);
    numbers[..k].iter().sum::<f32>() / k as f32
}

#[cfg(test)]
mod tests {
    use tmem_model::{Change, ConversationId, Scene, SceneId, Turn};

    use super::*;

    /// A direction in the plane, `degrees` from the first axis.
    fn at(degrees: f32) -> Vector {
        let angle = degrees.to_radians();
        Vector::try_from(vec![angle.cos(), angle.sin()]).unwrap()
    }

    #[test]
    fn the_mean_is_taken_over_the_nearest_utterances_of_others() {
        let said = [at(0.0), at(60.0), at(60.0), at(90.0), at(180.0)];
        let sample: Vec<&Vector> = said.iter().collect();
        let vector = at(0.0);
        let mean = |own: Vec<usize>, k| {
            measure(
                &[Probe {
                    vector: &vector,
                    own,
                }],
                &sample,
                k,
            )[0]
        };
        assert!((mean(vec![0], 2) - 0.5).abs() < 1e-6);
        assert!((mean(vec![], 1) - 1.0).abs() < 1e-6);
        assert!((mean(vec![0, 1, 2], 9) + 0.5).abs() < 1e-6);
        assert_eq!(mean(vec![0, 1, 2, 3, 4], 20), 0.0);
    }

    #[test]
    fn probes_keep_their_order_over_several_threads() {
        let said = [at(0.0)];
        let sample: Vec<&Vector> = said.iter().collect();
        let vectors: Vec<Vector> = (0..37).map(|i| at(i as f32)).collect();
        let probes: Vec<_> = vectors
            .iter()
            .map(|vector| Probe {
                vector,
                own: vec![],
            })
            .collect();
        let means = measure(&probes, &sample, 20);
        assert!(means.is_sorted_by(|a, b| a > b));
    }

    /// A conversation of turns that are a degree apart, all in one scene but for the first `free`.
    fn spread(free: usize) -> (Memory, Vec<Vector>) {
        let conversation = ConversationId::new("c").unwrap();
        let id = |at: usize| TurnId::new(&conversation, &format!("{at:03}")).unwrap();
        let turn = |at| Turn {
            id: id(at),
            speaker: "Ada".into(),
            text: "x".into(),
            at: None,
            image: None,
            extra: Default::default(),
        };
        let mut change = Change::default();
        change.turns.extend((0..40).map(turn));
        change.scenes.push(Scene {
            id: SceneId::new(&conversation, "s001").unwrap(),
            turns: (free..40).map(id).collect(),
            title: String::new(),
            summary: String::new(),
            narrative: String::new(),
            scene_trigger: None,
            horizon_triggers: Vec::new(),
            extra: Default::default(),
        });
        let mut memory = Memory::new();
        memory.apply(&change).unwrap();
        (memory, (0..40).map(|degrees| at(degrees as f32)).collect())
    }

    #[test]
    fn a_host_is_not_held_against_its_own_turns() {
        let (memory, vectors) = spread(2);
        let turns: Vec<TurnId> = memory.all_turns().map(|turn| turn.id.clone()).collect();
        let said = Background::new(&memory, turns.iter().zip(&vectors), 20);
        let scene = Host::Scene(memory.scenes().next().unwrap().id.clone());
        let probe = at(0.0);
        let own = said.of(&[(&scene, &probe)])[0];
        let foreign = f32::midpoint(1.0, 1.0_f32.to_radians().cos());
        assert!(
            (own - foreign).abs() < 1e-6,
            "only the two free turns: {own}"
        );
    }

    #[test]
    fn utterances_have_a_background_of_their_own_once_there_are_enough() {
        let (memory, vectors) = spread(40 - 1);
        let turns: Vec<TurnId> = memory.all_turns().map(|turn| turn.id.clone()).collect();
        let few = Background::new(&memory, turns.iter().zip(&vectors).take(39), 20);
        assert_eq!(few.of_utterances(0.5), None);
        let said = Background::new(&memory, turns.iter().zip(&vectors), 20);
        let of = |share| said.of_utterances(share).unwrap();
        assert!(of(0.0) < of(0.5) && of(0.5) < of(1.0) && of(1.0) < 1.0);
        // The outermost turn is nearest to the twenty beside it.
        let outermost = (1..=20).map(|d| (d as f32).to_radians().cos()).sum::<f32>() / 20.0;
        assert!((of(0.0) - outermost).abs() < 1e-5);
    }

    #[test]
    fn a_sample_is_spread_over_the_whole_memory() {
        assert_eq!(spaced(3, 10), [0, 1, 2]);
        assert_eq!(spaced(10, 5), [0, 2, 4, 6, 8]);
        assert_eq!(spaced(0, 5), [0; 0]);
    }
}
