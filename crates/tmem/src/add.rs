//! Taking turns in: durable at once, nothing twice, nothing changed behind anyone's back.

use serde::Serialize;
use tmem_model::ingest::{Conversation, RawTurn};
use tmem_model::{Change, ConversationId, Heading, Memory, Turn, TurnId};

use crate::error::TmemError;
use crate::tmem::Tmem;

/// What became of the turns of one conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Added {
    /// Turns that were stored.
    pub stored: usize,
    /// Turns that were there already.
    pub known: usize,
    /// What the reader left out or mended, and how turns were numbered.
    pub notes: Vec<String>,
}

impl Tmem {
    /// Stores what is new of `given`, in one transaction; when it returns, the turns are durable and
    /// can be recalled as they are.
    ///
    /// A turn is known by conversation and id, never by its text. Where a file gives no ids, its
    /// turns are numbered: the same file again, or a longer version of it, continues what is there;
    /// another file becomes a session after the last.
    ///
    /// # Errors
    /// [`TmemError::Conflict`] if a turn with an id of its own reads differently from the stored
    /// one; nothing of the conversation is stored then.
    pub fn add(&self, id: &ConversationId, given: &Conversation) -> Result<Added, TmemError> {
        let memory = self.memory();
        if given.turns.is_empty() {
            return Err(TmemError::NoTurns(id.clone()));
        }
        let shift = shift(&memory, id, &given.turns)?;
        let turns = turns(id, &given.turns, shift)?;
        let (known, new) = parted(&memory, turns)?;
        let mut added = Added {
            stored: new.len(),
            known,
            notes: given.notes.clone(),
        };
        if shift > 0 && known == 0 {
            added.notes.push(format!(
                "its turns became session {} of the conversation",
                shift + 1
            ));
        }
        let headings = match memory.heading(id) {
            Some(_) => Vec::new(),
            None => vec![Heading::new(id.clone())],
        };
        drop(memory); // so that committing need not copy it
        if !new.is_empty() {
            self.commit(&Change {
                headings,
                turns: new,
                ..Change::default()
            })?;
        }
        Ok(added)
    }
}

fn turns(id: &ConversationId, raw: &[RawTurn], shift: usize) -> Result<Vec<Turn>, TmemError> {
    raw.iter().map(|raw| turn(id, raw, shift)).collect()
}

fn turn(conversation: &ConversationId, raw: &RawTurn, shift: usize) -> Result<Turn, TmemError> {
    let local = if raw.numbered {
        shifted(&raw.id, shift)
    } else {
        raw.id.clone()
    };
    let id = TurnId::new(conversation, &local).map_err(|source| TmemError::TurnName {
        id: raw.id.clone(),
        source,
    })?;
    Ok(Turn {
        id,
        speaker: raw.speaker.clone(),
        text: raw.text.clone(),
        at: raw.at,
        image: raw.image.clone(),
        extra: Default::default(),
    })
}

/// How many turns are known already, and those that are not.
fn parted(memory: &Memory, turns: Vec<Turn>) -> Result<(usize, Vec<Turn>), TmemError> {
    let (mut known, mut new) = (0, Vec::new());
    for turn in turns {
        match memory.turn(&turn.id) {
            None => new.push(turn),
            Some(stored) if says_the_same(stored, &turn) => known += 1,
            Some(_) => return Err(TmemError::Conflict { turn: turn.id }),
        }
    }
    Ok((known, new))
}

fn says_the_same(a: &Turn, b: &Turn) -> bool {
    (&a.speaker, &a.text, a.at, &a.image) == (&b.speaker, &b.text, b.at, &b.image)
}

/// By how much the sessions of numbered turns move up: to where these turns lie already, or else to
/// the first place where nothing is in their way.
fn shift(memory: &Memory, id: &ConversationId, raw: &[RawTurn]) -> Result<usize, TmemError> {
    let Some(first) = raw.iter().find(|raw| raw.numbered) else {
        return Ok(0);
    };
    let last = memory
        .turns(id)
        .filter_map(|turn| session(turn.id.local()))
        .max()
        .unwrap_or(0);
    let starts = |shift: &usize| {
        let at = turn(id, first, *shift)
            .ok()
            .and_then(|turn| Some(memory.turn(&turn.id)?.clone()));
        at.is_some_and(|stored| turn(id, first, *shift).is_ok_and(|t| says_the_same(&stored, &t)))
    };
    for shift in (0..last).filter(starts) {
        if parted(memory, turns(id, raw, shift)?).is_ok() {
            return Ok(shift);
        }
    }
    Ok(last)
}

/// The session in a made id such as `S2:14`.
pub(crate) fn session(local: &str) -> Option<usize> {
    let (session, _) = local.split_once(':')?;
    session.trim_start_matches(char::is_alphabetic).parse().ok()
}

fn shifted(local: &str, shift: usize) -> String {
    let Some((session, position)) = local.split_once(':') else {
        return local.to_owned();
    };
    let digits = session.trim_start_matches(char::is_alphabetic);
    match digits.parse::<usize>() {
        Ok(number) => {
            let letters = &session[..session.len() - digits.len()];
            format!("{letters}{}:{position}", number + shift)
        }
        Err(_) => local.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(id: &str, text: &str) -> RawTurn {
        RawTurn {
            id: id.to_owned(),
            numbered: true,
            speaker: "Ada".to_owned(),
            text: text.to_owned(),
            at: None,
            image: None,
        }
    }

    /// Adds files of numbered turns one after the other and tells the ids that result.
    #[track_caller]
    fn check(files: &[&[&str]], expect: &[&str]) {
        let id = ConversationId::new("c").expect("a name");
        let mut memory = Memory::new();
        for texts in files {
            let numbered = texts.iter().enumerate();
            let raw: Vec<RawTurn> = numbered
                .map(|(i, text)| raw(&format!("S1:{}", i + 1), text))
                .collect();
            let shift = shift(&memory, &id, &raw).expect("valid ids");
            let (_, new) = parted(&memory, turns(&id, &raw, shift).expect("valid ids"))
                .expect("numbered turns never conflict");
            let headings = vec![Heading::new(id.clone())];
            memory
                .apply(&Change {
                    headings,
                    turns: new,
                    ..Change::default()
                })
                .expect("valid");
        }
        let ids: Vec<&str> = memory.turns(&id).map(|turn| turn.id.local()).collect();
        assert_eq!(ids, expect);
    }

    #[test]
    fn the_same_file_again_stores_nothing_twice() {
        check(&[&["a", "b"], &["a", "b"]], &["S1:1", "S1:2"]);
    }

    #[test]
    fn a_file_that_has_grown_continues() {
        check(&[&["a", "b"], &["a", "b", "c"]], &["S1:1", "S1:2", "S1:3"]);
    }

    #[test]
    fn another_file_is_a_session_of_its_own_however_often_it_comes() {
        let (one, two): (&[&str], &[&str]) = (&["a", "b"], &["x", "y"]);
        check(&[one, two, two, one], &["S1:1", "S1:2", "S2:1", "S2:2"]);
    }

    #[test]
    fn a_file_that_begins_alike_and_goes_on_otherwise_is_another() {
        check(
            &[&["hi", "b"], &["hi", "c"]],
            &["S1:1", "S1:2", "S2:1", "S2:2"],
        );
    }
}
