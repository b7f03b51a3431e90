//! One call while it is decoded: what is still to be read, what was written, and when it ends.

use std::collections::HashSet;

use tmem_llm::{Finish, Reply, Request, Usage};

use crate::error::LocalError;
use crate::grammar::{Grammars, Guide, JsonPosition};
use crate::sampler::{Place, Sampler};
use crate::template::{Family, PromptTokens};
use crate::vocab::Vocab;

/// Tokens that closing a reply may take beyond its cap.
const GRACE: usize = 300;
/// A prompt must leave at least so much room, or the cap if that is less.
const LEAST_ROOM: usize = 64;

/// One call while it is decoded.
pub(crate) struct Session {
    prompt: PromptTokens,
    guide: Option<Guide>,
    sampler: Sampler,
    output: Vec<u32>,
    position: JsonPosition,
    /// Tokens that the decoder has not read yet.
    pending: Vec<u32>,
    limits: Limits,
    finish: Option<Finish>,
}

/// How long a reply may be, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    /// From here on it is being closed.
    cap: usize,
    /// Here it is cut.
    end: usize,
}

impl Session {
    /// The call before its first token.
    ///
    /// # Errors
    /// If the prompt leaves no room in `context`, or the schema cannot be enforced.
    pub(crate) fn new(
        request: &Request,
        family: Family,
        vocab: &Vocab,
        grammars: &Grammars,
        context: usize,
    ) -> Result<Self, LocalError> {
        let prompt = family.prompt(&request.messages, vocab);
        let limits = Limits::of(
            prompt.tokens.len(),
            request.params.max_tokens as usize,
            context,
        )?;
        let guide = request
            .schema
            .as_ref()
            .map(|schema| grammars.guide(schema))
            .transpose()?;
        let seed = seed(&prompt.tokens);
        let without = without(request, vocab);
        let mut session = Self {
            pending: prompt.tokens.clone(),
            prompt,
            guide,
            sampler: Sampler::new(request.params.temperature.unwrap_or(0.0), seed, without),
            output: Vec::new(),
            position: JsonPosition::default(),
            limits,
            finish: None,
        };
        session.take_forced(vocab);
        Ok(session)
    }

    /// The prompt's tokens.
    pub(crate) fn prompt(&self) -> &PromptTokens {
        &self.prompt
    }

    /// Tokens the decoder must read before the next choice; never none while the call is open.
    pub(crate) fn pending(&self) -> &[u32] {
        &self.pending
    }

    /// Says that the first `count` pending tokens were read.
    pub(crate) fn was_read(&mut self, count: usize) {
        self.pending.drain(..count);
    }

    /// Tokens written.
    pub(crate) fn written(&self) -> usize {
        self.output.len()
    }

    /// Whether the reply is complete or cut.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Chooses the token that follows what was read.
    pub(crate) fn step(&mut self, logits: &mut [f32], vocab: &Vocab) -> Result<(), LocalError> {
        let allowed = self.guide.as_mut().map(Guide::allowed).transpose()?;
        let free = allowed
            .as_ref()
            .is_none_or(|allowed| allowed.num_set() > vocab.len() / 8);
        let place = self.place(free);
        match self.sampler.choose(logits, allowed.as_ref(), place, vocab) {
            Some(token) if vocab.is_end(token) => self.finish = Some(Finish::Stop),
            Some(token) => self.write(token, place, vocab)?,
            None => {
                return Err(LocalError::Compute(
                    "the grammar allows no token".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// The reply so far.
    pub(crate) fn reply(&self, vocab: &Vocab) -> Reply {
        let bytes: Vec<u8> = self
            .output
            .iter()
            .flat_map(|&token| vocab.bytes(token))
            .copied()
            .collect();
        let usage = Usage {
            prompt_tokens: self.prompt.tokens.len() as u64,
            completion_tokens: self.output.len() as u64,
        };
        Reply {
            text: whole_characters(bytes),
            finish: self.finish.clone().unwrap_or(Finish::Length),
            usage: Some(usage),
        }
    }

    fn place(&self, free: bool) -> Place {
        let capped = self.guide.is_some() && self.output.len() >= self.limits.cap;
        match (capped, self.position.in_string()) {
            (true, true) => Place::CloseString,
            (true, false) => Place::CloseValue,
            (false, in_string) if free && (in_string || self.guide.is_none()) => Place::Text,
            _ => Place::Structure,
        }
    }

    fn write(&mut self, token: u32, place: Place, vocab: &Vocab) -> Result<(), LocalError> {
        self.push(token, vocab);
        if place == Place::Text {
            self.sampler.said(token);
        }
        if let Some(guide) = &mut self.guide {
            guide.accept(token)?;
        }
        self.take_forced(vocab);
        Ok(())
    }

    /// Writes what the schema leaves no choice about, and ends the reply if nothing can follow.
    fn take_forced(&mut self, vocab: &Vocab) {
        if let Some(guide) = &mut self.guide {
            let forced = guide.forced();
            let complete = guide.is_complete()
                || self.output.len() + forced.len() >= self.limits.cap && guide.may_end();
            for token in forced {
                self.push(token, vocab);
            }
            if complete {
                self.finish = Some(Finish::Stop);
            }
        }
        let end = if self.guide.is_some() {
            self.limits.end
        } else {
            self.limits.cap
        };
        if self.output.len() >= end && self.finish.is_none() {
            self.finish = Some(Finish::Length);
        }
    }

    fn push(&mut self, token: u32, vocab: &Vocab) {
        self.output.push(token);
        self.pending.push(token);
        self.position = self.position.after(vocab.bytes(token));
    }
}

impl Limits {
    fn of(prompt: usize, max_tokens: usize, context: usize) -> Result<Self, LocalError> {
        let room = context.saturating_sub(prompt);
        if room < LEAST_ROOM.min(max_tokens.max(1)) {
            return Err(LocalError::TooLong {
                tokens: prompt,
                context,
            });
        }
        let cap = max_tokens.min(room - GRACE.min(room / 2));
        Ok(Self {
            cap,
            end: room.min(cap + GRACE),
        })
    }
}

/// Tokens that the texts of the reply do without.
fn without(request: &Request, vocab: &Vocab) -> HashSet<u32> {
    let words = request.schema.as_ref().map(|schema| &schema.without[..]);
    let mut tokens = vocab.beginning_with(words.unwrap_or_default());
    let said = request.messages.iter().map(|message| &*message.content);
    tokens.extend(vocab.strange_to(&said.collect::<String>()));
    tokens
}

/// A number that depends on every token (FNV-1a).
fn seed(tokens: &[u32]) -> u64 {
    tokens.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &token| {
        (hash ^ u64::from(token)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The text without the half character that a cut may leave at its end.
fn whole_characters(mut bytes: Vec<u8>) -> String {
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Limits, whole_characters};

    #[track_caller]
    fn check(prompt: usize, max_tokens: usize, context: usize, expect: Option<(usize, usize)>) {
        let limits = Limits::of(prompt, max_tokens, context).ok();
        assert_eq!(limits.map(|limits| (limits.cap, limits.end)), expect);
    }

    #[test]
    fn a_reply_that_fits_may_be_closed_beyond_its_cap() {
        check(100, 200, 4096, Some((200, 500)));
    }

    #[test]
    fn a_cap_beyond_the_context_leaves_room_for_closing() {
        check(3000, 4000, 4096, Some((796, 1096)));
        check(4000, 4000, 4096, Some((48, 96)));
    }

    #[test]
    fn a_prompt_that_leaves_no_room_is_refused() {
        check(4033, 4000, 4096, None);
        check(5000, 10, 4096, None);
        check(4090, 5, 4096, Some((3, 6)));
    }

    #[test]
    fn half_a_character_at_the_end_is_dropped() {
        assert_eq!(whole_characters("añ".as_bytes()[..2].to_vec()), "a");
        assert_eq!(whole_characters(vec![b'a', 0xff, b'b']), "a\u{fffd}b");
    }
}
