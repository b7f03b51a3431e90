//! Where a cue stands in its host conversation.

use jiff::ToSpan;
use jiff::civil::DateTime;
use serde_json::Map;
use tmem_model::{Turn, TurnId};

use super::{Cue, PlusAudit};
use crate::dataset::Dialogue;
use crate::error::EvalError;

/// Days between the last session and the query, as in the official code.
const QUERY_AFTER_DAYS: i32 = 7;

/// A cue with its place and dates.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The cue's turns, `CUE<index>:<line>`, dated.
    pub turns: Vec<Turn>,
    /// How many sessions of the host come before it.
    pub sessions_before: usize,
    /// When it is said; `None` where the host has no dates.
    pub at: Option<DateTime>,
    /// When the query is asked.
    pub query_at: Option<DateTime>,
    /// It would have stood next to the query and was put in front of the last session.
    pub moved: bool,
}

/// Places `cue` among the sessions of `host`.
///
/// The query comes a week after the last session, the cue a gap before the query, after a session
/// of the same time. A cue that would then be the last thing said (a gap of a week or less, or one
/// that cannot be read) goes in front of the last session, a minute before it: cue and query are
/// never adjacent.
///
/// # Errors
/// [`EvalError::Format`] if the cue's index makes no id, which does not happen.
pub fn stitch(cue: &Cue, host: &Dialogue) -> Result<Placed, EvalError> {
    let query_at = host
        .last_date()
        .and_then(|last| later(last, QUERY_AFTER_DAYS));
    let wanted = query_at
        .zip(cue.gap.days())
        .and_then(|(at, days)| later(at, -days));
    let before = wanted.map_or(host.sessions.len(), |at| sessions_until(host, at));
    let moved = before == host.sessions.len() && before > 0;
    let (sessions_before, at) = if moved {
        in_front_of_last(host)
    } else {
        (before, wanted)
    };
    let turns = turns(cue, host, at)?;
    Ok(Placed {
        turns,
        sessions_before,
        at,
        query_at,
        moved,
    })
}

fn later(at: DateTime, days: i32) -> Option<DateTime> {
    at.checked_add(days.days()).ok()
}

fn sessions_until(host: &Dialogue, at: DateTime) -> usize {
    host.sessions
        .iter()
        .filter(|session| session.at.is_some_and(|start| start <= at))
        .count()
}

fn in_front_of_last(host: &Dialogue) -> (usize, Option<DateTime>) {
    let last = host.sessions.last().and_then(|session| session.at);
    let at = last.and_then(|at| at.checked_sub(1.minute()).ok());
    (host.sessions.len() - 1, at)
}

fn turns(cue: &Cue, host: &Dialogue, at: Option<DateTime>) -> Result<Vec<Turn>, EvalError> {
    let lines = cue.lines.iter().zip(1..);
    let turns = lines.map(|((side, text), line)| {
        let id = TurnId::new(&host.id, &format!("CUE{}:{line}", cue.index));
        let id = id.map_err(|e| EvalError::format("LoCoMo-Plus", e.to_string()))?;
        let speaker = side.speaker(host).to_owned();
        Ok(Turn {
            id,
            speaker,
            text: text.clone(),
            at,
            image: None,
            extra: Map::new(),
        })
    });
    turns.collect()
}

/// Adds what the dates of `cue` come to.
pub(super) fn count(cue: &Cue, host: &Dialogue, audit: &mut PlusAudit) {
    let query_at = host
        .last_date()
        .and_then(|last| later(last, QUERY_AFTER_DAYS));
    let days = cue.gap.official_days().unwrap_or(0);
    if let Some(at) = query_at.and_then(|query| later(query, -days)) {
        let before = sessions_until(host, at);
        audit.before_first += usize::from(before == 0);
        audit.after_last += usize::from(before == host.sessions.len());
        audit.at_a_session += usize::from(host.sessions.iter().any(|s| s.at == Some(at)));
    }
    audit.moved += usize::from(stitch(cue, host).is_ok_and(|placed| placed.moved));
}
