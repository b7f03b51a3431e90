//! Evidence ids as people typed them: joined, padded, misspelt, or pointing nowhere.

use std::collections::BTreeSet;

use tmem_model::{ConversationId, TurnId};

/// What the evidence entries of a question come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Turns that exist, each once, in the order given.
    pub turns: Vec<TurnId>,
    /// Ids and entries that point nowhere.
    pub unusable: Vec<String>,
    /// Entries read.
    pub entries: usize,
    /// Entries that are not one plain id (several ids, a stray colon, nothing at all).
    pub malformed: usize,
    /// Plain ids of turns that are not there.
    pub missing: usize,
    /// Ids given before.
    pub repeated: usize,
}

impl Evidence {
    /// Reads `entries`; `turns` are the local ids of the dialogue.
    ///
    /// Every `D<session>:<turn>` (also `D:<session>:<turn>`) in an entry counts, as numbers:
    /// `D2:03` is `D2:3`.
    #[must_use]
    pub fn read(conversation: &ConversationId, turns: &BTreeSet<&str>, entries: &[&str]) -> Self {
        let mut evidence = Self {
            entries: entries.len(),
            ..Self::default()
        };
        for entry in entries {
            let ids = ids(entry);
            evidence.malformed += usize::from(!is_plain(entry));
            evidence.missing += usize::from(is_plain(entry) && !turns.contains(entry));
            if ids.is_empty() {
                evidence.unusable.push((*entry).to_owned());
            }
            for id in ids {
                evidence.add(conversation, turns, &id);
            }
        }
        evidence
    }

    fn add(&mut self, conversation: &ConversationId, turns: &BTreeSet<&str>, local: &str) {
        let known = turns
            .contains(local)
            .then(|| TurnId::new(conversation, local).ok())
            .flatten();
        match known {
            Some(id) if self.turns.contains(&id) => self.repeated += 1,
            Some(id) => self.turns.push(id),
            None => self.unusable.push(local.to_owned()),
        }
    }
}

/// Whether `entry` is exactly `D<digits>:<digits>`.
fn is_plain(entry: &str) -> bool {
    let parts = entry
        .strip_prefix('D')
        .and_then(|rest| rest.split_once(':'));
    parts.is_some_and(|(session, turn)| is_number(session) && is_number(turn))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Every `D:?<digits>:<digits>` of `entry`, without leading zeros.
fn ids(entry: &str) -> Vec<String> {
    let after_d = entry.match_indices('D').map(|(at, _)| &entry[at + 1..]);
    after_d.filter_map(id_at).collect()
}

fn id_at(rest: &str) -> Option<String> {
    let (session, rest) = leading_number(rest.strip_prefix(':').unwrap_or(rest))?;
    let (turn, _) = leading_number(rest.strip_prefix(':')?)?;
    Some(format!("D{session}:{turn}"))
}

fn leading_number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(entries: &[&str], expect: Expect) {
        let conversation = ConversationId::new("c").expect("a name");
        let turns = ["D1:2", "D1:4", "D1:5", "D1:6", "D2:1", "D2:3"].into();
        let read = Evidence::read(&conversation, &turns, entries);
        let ids: Vec<_> = read.turns.iter().map(TurnId::local).collect();
        expect.assert_eq(&format!(
            "{ids:?} unusable {:?} malformed {} missing {} repeated {}",
            read.unusable, read.malformed, read.missing, read.repeated
        ));
    }

    #[test]
    fn plain_ids_are_kept_in_their_order() {
        check(
            &["D2:1", "D1:2"],
            expect![[r#"["D2:1", "D1:2"] unusable [] malformed 0 missing 0 repeated 0"#]],
        );
    }

    #[test]
    fn joined_ids_are_split_padded_ones_are_numbers_and_the_rest_is_listed() {
        check(
            &["D1:2; D1:4", "D1:5 D2:1", "D", "D:1:6", "D2:03", "D9:99"],
            expect![[
                r#"["D1:2", "D1:4", "D1:5", "D2:1", "D1:6", "D2:3"] unusable ["D", "D9:99"] malformed 4 missing 2 repeated 0"#
            ]],
        );
    }

    #[test]
    fn an_id_given_twice_counts_once() {
        check(
            &["D1:2", "D1:2"],
            expect![[r#"["D1:2"] unusable [] malformed 0 missing 0 repeated 1"#]],
        );
    }

    #[test]
    fn no_evidence_is_no_fault() {
        check(
            &[],
            expect!["[] unusable [] malformed 0 missing 0 repeated 0"],
        );
    }
}
