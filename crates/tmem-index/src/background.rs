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

use crate::key::{Hit, Key, KeySet};
use crate::row::Host;
use crate::vector::{Vector, dot};

/// How the background is measured.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackgroundConfig {
    /// How many nearest utterances the mean is taken over (count).
    pub neighbours: usize,
    /// Most utterances that stand for the memory (count). Above it, [`sample`] draws them and
    /// `neighbours` stays as it is: the number then describes the same upper tail in a memory of
    /// any size, and its cost grows with the triggers alone.
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
    places: BTreeMap<&'a TurnId, Key>,
    neighbours: usize,
}

impl<'a> Background<'a> {
    /// Of the utterances given; [`sample`] draws them where there are many.
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
            vector: vector.as_slice(),
            own: self.own(host),
        };
        let probes: Vec<Probe<&[f32]>> = texts.iter().map(probe).collect();
        let said = self.vectors.iter().map(|vector| vector.as_slice());
        let said: Vec<Utterance<'_>> = (0..).zip(said).collect();
        let near = measure(&probes, &said, self.neighbours);
        let mean = |near: &Near| near.mean(self.neighbours);
        near.iter().map(mean).collect()
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

    /// Places of a host's own turns.
    fn own(&self, host: &Host) -> Vec<Key> {
        let own = own_turns(self.memory, host).into_iter();
        own.filter_map(|turn| self.places.get(turn).copied())
            .collect()
    }
}

/// A host's own turns: those of its scenes, or of the scene that a turn is part of.
pub(crate) fn own_turns<'a>(memory: &'a Memory, host: &'a Host) -> Vec<&'a TurnId> {
    match host {
        Host::Scene(scene) => {
            let scene = memory.scene(scene).into_iter();
            scene.flat_map(|scene| &scene.turns).collect()
        }
        Host::Item(item) => {
            let scenes = memory.sources(item);
            scenes.flat_map(|scene| &scene.turns).collect()
        }
        Host::Turn(turn) => match memory.scene_of(turn) {
            Some(scene) => scene.turns.iter().collect(),
            None => vec![turn],
        },
        Host::Topic(_) => Vec::new(),
    }
}

/// An utterance of the sample: its key among them, and its vector.
pub(crate) type Utterance<'a> = (Key, &'a [f32]);

/// A vector to be measured, and which utterances of the sample are its host's own.
#[derive(Clone, Debug)]
pub(crate) struct Probe<V> {
    pub(crate) vector: V,
    pub(crate) own: Vec<Key>,
}

/// The utterances that are nearest to a text, with their cosines, nearest first, ties by key. Some
/// more than count are kept, so that those which leave the sample are seldom missed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Near {
    hits: Vec<Hit>,
    /// Whether there are others, all farther than these.
    has_more: bool,
}

impl Near {
    /// The mean of the highest cosines; 0 if there are none.
    pub(crate) fn mean(&self, neighbours: usize) -> f32 {
        let nearest = &self.hits[..neighbours.min(self.hits.len())];
        let cosines = nearest.iter().rev().map(|hit| hit.score);
        cosines.sum::<f32>() / nearest.len().max(1) as f32
    }

    /// Whether an utterance that is new to the sample changes anything.
    pub(crate) fn admits(&self, hit: &Hit) -> bool {
        let last = self.hits.last();
        !self.has_more || last.is_some_and(|last| hit.order(last).is_lt())
    }

    /// Takes in an utterance that it [`admits`](Self::admits).
    pub(crate) fn take(&mut self, hit: Hit, neighbours: usize) {
        let at = self.hits.partition_point(|near| near.order(&hit).is_lt());
        self.hits.insert(at, hit);
        self.has_more |= self.hits.len() > kept(neighbours);
        self.hits.truncate(kept(neighbours));
    }

    /// What is left without some utterances; `None` if it takes the whole sample to tell.
    pub(crate) fn without(&self, gone: &KeySet, neighbours: usize) -> Option<Self> {
        let mut left = self.clone();
        left.hits.retain(|hit| !gone.contains(hit.key));
        (left.hits.len() >= neighbours || !self.has_more).then_some(left)
    }

    /// Whether any of some utterances is among them.
    pub(crate) fn has(&self, any: &KeySet) -> bool {
        self.hits.iter().any(|hit| any.contains(hit.key))
    }
}

/// How many utterances are kept where so many count.
fn kept(neighbours: usize) -> usize {
    neighbours + neighbours / 2
}

/// Where a turn stands among those that [`sample`] draws from: the same in any memory.
pub(crate) fn lot(turn: &TurnId) -> u64 {
    let (conversation, local) = (turn.conversation().as_str(), turn.local());
    let bytes = conversation.bytes().chain([b'/']).chain(local.bytes());
    // FNV-1a, then the finish of SplitMix64, for neighbouring ids to lie far apart.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// At most `most` of `turns`, drawn by lot: spread over all of them, the same ones in whatever order
/// they come, and almost the same when a few more are said. In the order given.
#[must_use]
pub fn sample<'a>(turns: impl Iterator<Item = &'a TurnId>, most: usize) -> Vec<&'a TurnId> {
    let mut drawn: Vec<(u64, usize, &TurnId)> = turns
        .enumerate()
        .map(|(at, turn)| (lot(turn), at, turn))
        .collect();
    drawn.sort_unstable();
    drawn.truncate(most);
    drawn.sort_unstable_by_key(|(_, at, _)| *at);
    drawn.into_iter().map(|(_, _, turn)| turn).collect()
}

/// The utterances nearest to each probe, in the order of `probes`.
pub(crate) fn measure<V: AsRef<[f32]> + Sync>(
    probes: &[Probe<V>],
    sample: &[Utterance<'_>],
    neighbours: usize,
) -> Vec<Near> {
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

fn measure_part<V: AsRef<[f32]>>(
    probes: &[Probe<V>],
    sample: &[Utterance<'_>],
    neighbours: usize,
) -> Vec<Near> {
    let near = |probe: &Probe<V>| {
        let mut near = Near::default();
        for &(key, other) in sample {
            let score = dot(probe.vector.as_ref(), other);
            let hit = Hit { key, score };
            if near.admits(&hit) && !probe.own.contains(&key) {
                near.take(hit, neighbours);
            }
        }
        near
    };
    probes.iter().map(near).collect()
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

    fn utterances(said: &[Vector]) -> Vec<Utterance<'_>> {
        (0..).zip(said.iter().map(Vector::as_slice)).collect()
    }

    #[test]
    fn the_mean_is_taken_over_the_nearest_utterances_of_others() {
        let said = [at(0.0), at(60.0), at(60.0), at(90.0), at(180.0)];
        let sample = utterances(&said);
        let vector = at(0.0);
        let mean = |own: Vec<Key>, k| {
            let vector = vector.as_slice();
            measure(&[Probe { vector, own }], &sample, k)[0].mean(k)
        };
        assert!((mean(vec![0], 2) - 0.5).abs() < 1e-6);
        assert!((mean(vec![], 1) - 1.0).abs() < 1e-6);
        assert!((mean(vec![0, 1, 2], 9) + 0.5).abs() < 1e-6);
        assert_eq!(mean(vec![0, 1, 2, 3, 4], 20), 0.0);
    }

    #[test]
    fn probes_keep_their_order_over_several_threads() {
        let said = [at(0.0)];
        let sample = utterances(&said);
        let vectors: Vec<Vector> = (0..37).map(|i| at(i as f32)).collect();
        let probes: Vec<_> = vectors
            .iter()
            .map(|vector| Probe {
                vector: vector.as_slice(),
                own: vec![],
            })
            .collect();
        let near = measure(&probes, &sample, 20);
        let means: Vec<f32> = near.iter().map(|near| near.mean(20)).collect();
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
    fn a_sample_is_spread_over_the_whole_memory_and_hardly_changes_as_it_grows() {
        let conversation = ConversationId::new("c").unwrap();
        let turn = |at: usize| TurnId::new(&conversation, &format!("D{at}:1")).unwrap();
        let turns: Vec<TurnId> = (0..1_000).map(turn).collect();
        let drawn = |count: usize| sample(turns[..count].iter(), 100);
        assert_eq!(drawn(60).len(), 60);
        let (before, after) = (drawn(980), drawn(1_000));
        assert!(before.is_sorted() && after.is_sorted());
        let early = after.iter().filter(|turn| ***turn < turns[500]).count();
        assert!((35..=65).contains(&early), "{early} of the first half");
        let kept = after.iter().filter(|turn| before.contains(turn)).count();
        assert!((90..=100).contains(&kept), "{kept} of 100 are kept");
    }

    /// Utterances come and go one by one; what is near is at any time what measuring anew gives.
    #[test]
    fn utterances_that_come_and_go_leave_what_measuring_anew_gives() {
        let said: Vec<Vector> = (0..40).map(|i| at((i * 37 % 180) as f32)).collect();
        let (probe, all) = (at(0.0), utterances(&said));
        let probes = [Probe {
            vector: probe.as_slice(),
            own: vec![7],
        }];
        for neighbours in [0, 1, 4, 9] {
            let (mut sample, mut measured) = (Vec::new(), 0);
            let mut near = measure(&probes, &sample, neighbours).remove(0);
            for step in 0..300_usize {
                let utterance = all[step * step % 40];
                if let Some(place) = sample.iter().position(|other| *other == utterance) {
                    sample.remove(place);
                    let gone = [utterance.0].into_iter().collect();
                    near = near.without(&gone, neighbours).unwrap_or_else(|| {
                        measured += 1;
                        measure(&probes, &sample, neighbours).remove(0)
                    });
                } else {
                    sample.push(utterance);
                    let (key, score) = (utterance.0, dot(probes[0].vector, utterance.1));
                    let hit = Hit { key, score };
                    if key != 7 && near.admits(&hit) {
                        near.take(hit, neighbours);
                    }
                }
                let anew = measure(&probes, &sample, neighbours).remove(0);
                assert_eq!(near.mean(neighbours), anew.mean(neighbours));
            }
            assert!(measured < 100, "{measured} times anew");
        }
    }
}
