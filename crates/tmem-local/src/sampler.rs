//! Choosing the next token: greedy or by chance, within what is allowed, away from loops, and
//! towards the end once the cap is reached.

use std::collections::HashSet;

use llguidance::toktrie::SimpleVob;

use crate::vocab::Vocab;

/// Divides the score of a word that was said lately.
const PENALTY: f32 = 1.05;
/// How many tokens back "lately" is.
const LATELY: usize = 128;
/// Runs that may not come twice: their length, and how many words make them more than a date or a
/// list of numbers. Shorter ones are left alone: the elements of a list may well begin alike.
const RUNS: [(usize, usize); 2] = [(12, 8), (24, 0)];

/// What kind of place the next token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Running text, where a small model may fall into a loop.
    Text,
    /// Keys, numbers, brackets, choices: nothing that repeats is wrong here.
    Structure,
    /// The cap is reached, inside a string.
    CloseString,
    /// The cap is reached, outside a string.
    CloseValue,
}

/// Chooses tokens for one reply.
pub(crate) struct Sampler {
    temperature: f32,
    noise: u64,
    /// Tokens of running text so far.
    said: Vec<u32>,
    /// Tokens that running text does without.
    without: HashSet<u32>,
}

impl Sampler {
    /// `temperature` 0 always takes the most probable token; `seed` decides all chances otherwise.
    pub(crate) fn new(temperature: f32, seed: u64, without: HashSet<u32>) -> Self {
        Self {
            temperature,
            noise: seed,
            said: Vec::new(),
            without,
        }
    }

    /// The token to write; `None` only if nothing is allowed.
    pub(crate) fn choose(
        &mut self,
        logits: &mut [f32],
        allowed: Option<&SimpleVob>,
        place: Place,
        vocab: &Vocab,
    ) -> Option<u32> {
        let banned = match place {
            Place::Text => self.discourage(logits, vocab),
            _ => HashSet::new(),
        };
        let open = |token: &u32| allowed.is_none_or(|allowed| allowed.is_allowed(*token));
        let candidates = || (0..logits.len() as u32).filter(open);
        let closing = matches!(place, Place::CloseString | Place::CloseValue);
        let bonus = |token| {
            if closing {
                closing_bonus(place, vocab.bytes(token))
            } else {
                0.0
            }
        };
        let score = |token: u32| logits[token as usize] + bonus(token);
        let chosen = self.best(candidates().filter(|token| !banned.contains(token)), score);
        chosen.or_else(|| self.best(candidates(), score))
    }

    /// Remembers a token of running text.
    pub(crate) fn said(&mut self, token: u32) {
        self.said.push(token);
    }

    /// Lowers the words said lately; returns the tokens that would repeat a run or are done without.
    fn discourage(&self, logits: &mut [f32], vocab: &Vocab) -> HashSet<u32> {
        let lately = &self.said[self.said.len().saturating_sub(LATELY)..];
        let words: HashSet<u32> = lately
            .iter()
            .copied()
            .filter(|&token| is_word(vocab.bytes(token)))
            .collect();
        for token in words {
            let logit = &mut logits[token as usize];
            *logit = if *logit > 0.0 {
                *logit / PENALTY
            } else {
                *logit * PENALTY
            };
        }
        RUNS.iter()
            .flat_map(|&(length, words)| self.repeats(length, words, vocab))
            .chain(self.without.iter().copied())
            .collect()
    }

    /// Tokens after which the last `length` tokens would have been said before.
    fn repeats(&self, length: usize, words: usize, vocab: &Vocab) -> Vec<u32> {
        let Some(start) = self.said.len().checked_sub(length - 1) else {
            return Vec::new();
        };
        let last = &self.said[start..];
        let wordy = |run: &[u32]| {
            run.iter()
                .filter(|&&token| is_word(vocab.bytes(token)))
                .count()
                >= words
        };
        let runs = self
            .said
            .windows(length)
            .filter(|run| run.starts_with(last) && wordy(run));
        runs.map(|run| run[length - 1]).collect()
    }

    /// The highest score, with noise if there is a temperature (the Gumbel way of drawing from a
    /// softmax); the lower token wins a tie.
    fn best(
        &mut self,
        candidates: impl Iterator<Item = u32>,
        score: impl Fn(u32) -> f32,
    ) -> Option<u32> {
        let mut best: Option<(u32, f32)> = None;
        for token in candidates {
            let mut score = score(token);
            if self.temperature > 0.0 {
                score = score / self.temperature + self.gumbel();
            }
            if best.is_none_or(|(_, highest)| score > highest) {
                best = Some((token, score));
            }
        }
        best.map(|(token, _)| token)
    }

    fn gumbel(&mut self) -> f32 {
        self.noise = self.noise.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.noise;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let uniform = ((bits ^ (bits >> 31)) >> 40) as f32 / (1 << 24) as f32 + f32::EPSILON;
        -(-uniform.min(1.0 - f32::EPSILON).ln()).ln()
    }
}

/// Far more than any difference between logits: what closes comes first, and what is nearest to
/// closing next.
fn closing_bonus(place: Place, bytes: &[u8]) -> f32 {
    match (place, bytes.first()) {
        (Place::CloseString, Some(b'"')) | (Place::CloseValue, Some(b'}' | b']')) => 40_000.0,
        (Place::CloseValue, Some(b',')) => 30_000.0,
        (Place::CloseValue, Some(b'n')) => 20_000.0,
        (Place::CloseValue, Some(b'"')) => 10_000.0,
        _ => 0.0,
    }
}

/// Whether a token carries a letter; dates and punctuation must stay free to repeat.
fn is_word(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Place, Sampler, closing_bonus};
    use crate::tests::vocab;

    /// Says the text over and over as long as every next token is the most probable one.
    fn repeated(text: &str) -> usize {
        let vocab = vocab();
        let tokens = vocab.encode(text);
        let mut sampler = Sampler::new(0.0, 0, HashSet::new());
        for said in 0..200 {
            let mut logits = vec![0.0; vocab.len()];
            logits[tokens[said % tokens.len()] as usize] = 100.0;
            let chosen = sampler
                .choose(&mut logits, None, Place::Text, &vocab)
                .expect("something is allowed");
            if chosen != tokens[said % tokens.len()] {
                return said;
            }
            sampler.said(chosen);
        }
        200
    }

    #[test]
    fn a_run_of_words_is_not_said_twice() {
        assert_eq!(repeated("qwertzuiop"), 21);
    }

    #[test]
    fn a_date_may_come_again_but_not_for_ever() {
        assert_eq!(repeated("2026-03-14 "), 34);
    }

    #[test]
    fn structure_may_repeat() {
        let vocab = vocab();
        let mut sampler = Sampler::new(0.0, 0, HashSet::new());
        for _ in 0..50 {
            let mut logits = vec![0.0; vocab.len()];
            logits[100] = 1.0;
            assert_eq!(
                sampler.choose(&mut logits, None, Place::Structure, &vocab),
                Some(100)
            );
            sampler.said(100);
        }
    }

    #[test]
    fn at_the_cap_what_closes_comes_first() {
        let value = |bytes: &[u8]| closing_bonus(Place::CloseValue, bytes);
        assert!(value(b"}") > value(b", "));
        assert!(value(b", ") > value(b"null"));
        assert!(value(b"null") > value(b"\""));
        assert!(value(b"\"") > value(b"1"));
        assert!(
            closing_bonus(Place::CloseString, b"\",") > closing_bonus(Place::CloseString, b"}")
        );
    }

    #[test]
    fn text_does_without_what_structure_may_have() {
        let vocab = vocab();
        let mut sampler = Sampler::new(0.0, 0, HashSet::from([100]));
        let mut chosen = |place| {
            let mut logits = vec![0.0; vocab.len()];
            (logits[100], logits[101]) = (2.0, 1.0);
            sampler.choose(&mut logits, None, place, &vocab)
        };
        assert_eq!(chosen(Place::Text), Some(101));
        assert_eq!(chosen(Place::Structure), Some(100));
    }

    #[test]
    fn only_what_is_allowed_is_chosen() {
        let vocab = vocab();
        let mut allowed = llguidance::toktrie::SimpleVob::alloc(vocab.len());
        assert_eq!(
            Sampler::new(0.0, 0, HashSet::new()).choose(
                &mut vec![0.0; vocab.len()],
                Some(&allowed),
                Place::Text,
                &vocab
            ),
            None
        );
        allowed.allow_token(42);
        let mut logits = vec![9.0; vocab.len()];
        logits[42] = -9.0;
        assert_eq!(
            Sampler::new(0.7, 3, HashSet::new()).choose(
                &mut logits,
                Some(&allowed),
                Place::Text,
                &vocab
            ),
            Some(42)
        );
    }
}
