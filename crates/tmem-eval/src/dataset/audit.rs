//! What a loader saw: the counts by which a reader can tell that it read the right file rightly.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::{Dialogue, Question};

/// Counts of a data set and of its dirt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Audit {
    /// Per conversation, in the order of the file.
    pub conversations: Vec<ConversationCounts>,
    /// Turns without text (an image alone).
    pub image_only_turns: usize,
    /// Captions of images that have no address.
    pub captions_without_url: usize,
    /// Dates of sessions that do not exist.
    pub dates_without_session: usize,
    /// Sessions whose date is missing or cannot be read.
    pub unread_dates: usize,
    /// Answers that were JSON numbers.
    pub number_answers: usize,
    /// Questions that carry a misleading answer.
    pub misleading_answers: usize,
    /// Questions that carry both a misleading and a real answer.
    pub both_answers: usize,
    /// Evidence entries in the file.
    pub evidence_entries: usize,
    /// Entries that are not one plain id.
    pub malformed_evidence: usize,
    /// Plain ids of turns that do not exist.
    pub missing_evidence: usize,
    /// Ids given twice within one question.
    pub repeated_evidence: usize,
    /// Usable ids.
    pub evidence_ids: usize,
    /// Questions without usable evidence: left out of retrieval figures.
    pub without_evidence: usize,
    /// Pairs of equal questions within one conversation.
    pub repeated_question_pairs: usize,
}

/// Counts of one conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ConversationCounts {
    /// Its name.
    pub conversation: String,
    /// Who talks.
    pub speakers: Vec<String>,
    /// Sessions.
    pub sessions: usize,
    /// Turns.
    pub turns: usize,
    /// Turns with a caption.
    pub captions: usize,
    /// Questions.
    pub questions: usize,
    /// Questions by category, by name (LoCoMo: `1 multi-hop`).
    pub by_category: BTreeMap<String, usize>,
}

impl Audit {
    /// Sums over all conversations: sessions, turns, captions, questions.
    #[must_use]
    pub fn totals(&self) -> ConversationCounts {
        let mut sum = ConversationCounts {
            conversation: "all".into(),
            ..Default::default()
        };
        for one in &self.conversations {
            sum.sessions += one.sessions;
            sum.turns += one.turns;
            sum.captions += one.captions;
            sum.questions += one.questions;
            for (name, count) in &one.by_category {
                *sum.by_category.entry(name.clone()).or_default() += count;
            }
        }
        sum
    }

    pub(super) fn conversation(&mut self, dialogue: &Dialogue) {
        for question in &dialogue.questions {
            let misleading = question.misleading.is_some();
            self.misleading_answers += usize::from(misleading);
            self.both_answers += usize::from(misleading && question.answer.is_some());
            self.without_evidence += usize::from(question.evidence.is_empty());
        }
        self.conversations.push(ConversationCounts::of(dialogue));
    }

    pub(super) fn evidence(&mut self, evidence: &Evidence) {
        self.evidence_entries += evidence.entries;
        self.malformed_evidence += evidence.malformed;
        self.missing_evidence += evidence.missing;
        self.repeated_evidence += evidence.repeated;
        self.evidence_ids += evidence.turns.len();
    }

    pub(super) fn repeated_questions(&mut self, dialogues: &[Dialogue]) {
        for dialogue in dialogues {
            let mut seen = BTreeSet::new();
            let repeats = dialogue
                .questions
                .iter()
                .filter(|q| !seen.insert(q.text.as_str()));
            self.repeated_question_pairs += repeats.count();
        }
    }
}

impl ConversationCounts {
    fn of(dialogue: &Dialogue) -> Self {
        let mut by_category = BTreeMap::new();
        for question in &dialogue.questions {
            *by_category.entry(label(question)).or_default() += 1;
        }
        Self {
            conversation: dialogue.id.to_string(),
            speakers: dialogue.speakers.clone(),
            sessions: dialogue.sessions.len(),
            turns: dialogue.turns().count(),
            captions: dialogue.turns().filter(|turn| turn.image.is_some()).count(),
            questions: dialogue.questions.len(),
            by_category,
        }
    }
}

fn label(question: &Question) -> String {
    let category = &question.category;
    match category.number {
        Some(number) => format!("{number} {}", category.name),
        None => category.name.clone(),
    }
}
