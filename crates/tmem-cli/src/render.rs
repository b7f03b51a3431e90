//! How things look on a terminal: lists, dates, evidence with its trace.

use serde_json::Value;
use tmem::model::DateTime;

use crate::outcome::Outcome;

/// Entries, each as a person and as a machine reads it.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    entries: Vec<(String, Value)>,
}

impl Listing {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        let (texts, values): (Vec<String>, Vec<Value>) = self.entries.into_iter().unzip();
        Outcome::new(texts.join("\n"), values)
    }
}

impl FromIterator<(String, Value)> for Listing {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(entries: T) -> Self {
        Self {
            entries: entries.into_iter().collect(),
        }
    }
}

/// A civil time without seconds: `2024-05-09 16:02`.
pub(crate) fn moment(at: DateTime) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// From one civil time to another, the day said once if it is one.
pub(crate) fn span((from, to): (DateTime, DateTime)) -> String {
    if from == to {
        moment(from)
    } else if from.date() == to.date() {
        format!("{} to {}", moment(from), to.strftime("%H:%M"))
    } else {
        format!("{} to {}", moment(from), moment(to))
    }
}
