//! The benchmarks as one shape: dialogues with dated sessions, questions with evidence.
//!
//! Loaders turn loose files into these types once and count every oddity in an [`Audit`]; past
//! this point nobody looks at the files again. Nothing that a model wrote about a dialogue
//! (summaries, observations) is ever loaded.

pub mod audit;
pub mod evidence;
pub mod locomo;
pub mod longmemeval;
pub mod plus;
pub mod selection;

pub use audit::Audit;
pub use plus::{Cue, Gap, Relation};
pub use selection::{Half, Selection};

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};
use tmem_model::{ConversationId, Turn, TurnId};

/// One dialogue and what is asked about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dialogue {
    /// Its name, as in the file.
    pub id: ConversationId,
    /// Who talks; the first two are A and B of LoCoMo-Plus.
    pub speakers: Vec<String>,
    /// In the order of their numbers.
    pub sessions: Vec<Session>,
    /// In the order of the file.
    pub questions: Vec<Question>,
}

impl Dialogue {
    /// All turns, session by session.
    pub fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.sessions.iter().flat_map(|session| &session.turns)
    }

    /// The latest date of a session.
    #[must_use]
    pub fn last_date(&self) -> Option<DateTime> {
        self.sessions.iter().filter_map(|session| session.at).max()
    }
}

/// A run of turns on one occasion.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Counted from 1.
    pub number: u32,
    /// Civil time at which it took place.
    pub at: Option<DateTime>,
    /// In the order spoken.
    pub turns: Vec<Turn>,
}

/// One question about a dialogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Place in the dialogue's list, from 0.
    pub index: usize,
    /// What is asked.
    pub text: String,
    /// The gold answer; `None` where the data set gives none.
    pub answer: Option<String>,
    /// An answer that would be wrong (category 5), never a gold one.
    pub misleading: Option<String>,
    /// What kind of question it is.
    pub category: Category,
    /// Turns that hold the answer, each once, in the order given.
    pub evidence: Vec<TurnId>,
    /// Evidence entries that point nowhere.
    pub unusable: Vec<String>,
    /// When it is asked, where the data set says so.
    pub at: Option<DateTime>,
    /// It cannot be answered from the dialogue, and the right reply says so.
    pub unanswerable: bool,
}

/// Kind of question. LoCoMo's are numbers in the file and stay numbers in the results.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub struct Category {
    /// LoCoMo's number; `None` in other data sets.
    pub number: Option<u8>,
    /// Its name.
    pub name: String,
}

/// LoCoMo's categories by number, as the official code maps them.
pub const LOCOMO_CATEGORIES: [(u8, &str); 5] = [
    (1, "multi-hop"),
    (2, "temporal"),
    (3, "open-domain"),
    (4, "single-hop"),
    (5, "adversarial"),
];

impl Category {
    /// LoCoMo's category of that number.
    #[must_use]
    pub fn locomo(number: u8) -> Option<Self> {
        let (number, name) = LOCOMO_CATEGORIES.into_iter().find(|(n, _)| *n == number)?;
        Some(Self {
            number: Some(number),
            name: name.to_owned(),
        })
    }

    /// A category known by name alone.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            number: None,
            name: name.to_owned(),
        }
    }

    /// Whether it asks about something that was not said, so that it is kept out of the overall.
    #[must_use]
    pub fn is_adversarial(&self) -> bool {
        self.number == Some(5)
    }
}
