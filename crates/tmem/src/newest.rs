//! The newest session of a conversation: what is built at once when the rest is left for a batch.

use tmem_model::{ConversationId, Memory, Turn};

use crate::add::session;

/// Turns in no scene yet that were said before the newest session, which begins after the last
/// change of the session in their ids or silence of `gap_hours`. None if there is but one session.
pub(crate) fn older<'a>(memory: &'a Memory, id: &ConversationId, gap_hours: i64) -> Vec<&'a Turn> {
    let mut open: Vec<&Turn> = memory.open_turns(id).collect();
    let border = open
        .windows(2)
        .rposition(|pair| parts(pair[0], pair[1], gap_hours));
    open.truncate(border.map_or(0, |at| at + 1));
    open
}

fn parts(before: &Turn, after: &Turn, gap_hours: i64) -> bool {
    let silence = before.at.zip(after.at);
    let silence = silence.map_or(0, |(before, after)| after.duration_since(before).as_hours());
    session(before.id.local()) != session(after.id.local()) || silence >= gap_hours
}
