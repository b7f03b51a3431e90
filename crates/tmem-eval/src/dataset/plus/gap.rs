//! Time gaps in words, as in `about six weeks later`.

/// How long after the cue the query comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// A number of weeks (7 days), months (30) or years (365), as the official code counts them.
    Exact {
        /// The words.
        text: String,
        /// Days.
        days: i32,
    },
    /// No number: `several`, `a few` and `a couple of` are taken as 4, 3 and 2; reported.
    Vague {
        /// The words.
        text: String,
        /// Days by that reading.
        days: i32,
    },
    /// Not a gap that we can read; reported.
    Unread {
        /// The words.
        text: String,
    },
}

const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

impl Gap {
    /// Reads `text`; never fails, what cannot be read stays visible.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let Some((before, unit)) = find_unit(&words) else {
            return Self::Unread {
                text: text.to_owned(),
            };
        };
        let text = text.to_owned();
        match (number(before), vague(before)) {
            (_, Some(count)) => Self::Vague {
                text,
                days: count * unit,
            },
            (Some(count), None) => Self::Exact {
                text,
                days: count * unit,
            },
            (None, None) => Self::Unread { text },
        }
    }

    /// The words.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Exact { text, .. } | Self::Vague { text, .. } | Self::Unread { text } => text,
        }
    }

    /// Days by our reading.
    #[must_use]
    pub fn days(&self) -> Option<i32> {
        match self {
            Self::Exact { days, .. } | Self::Vague { days, .. } => Some(*days),
            Self::Unread { .. } => None,
        }
    }

    /// Days by the official reading, which knows no vague ones.
    #[must_use]
    pub fn official_days(&self) -> Option<i32> {
        match self {
            Self::Exact { days, .. } => Some(*days),
            Self::Vague { .. } | Self::Unread { .. } => None,
        }
    }
}

/// The words before the first unit of time, and that unit in days.
fn find_unit<'a, 'b>(words: &'b [&'a str]) -> Option<(&'b [&'a str], i32)> {
    let units = words.iter().enumerate().filter_map(|(at, word)| {
        let days = match word.trim_end_matches('s') {
            "day" => 1,
            "week" => 7,
            "month" => 30,
            "year" => 365,
            _ => return None,
        };
        Some((&words[..at], days))
    });
    units.into_iter().next()
}

fn number(before: &[&str]) -> Option<i32> {
    match *before.last()? {
        "a" | "an" => Some(1),
        word => {
            let named = NUMBERS.iter().position(|name| *name == word);
            named
                .and_then(|n| i32::try_from(n).ok())
                .or_else(|| word.parse().ok())
        }
    }
}

fn vague(before: &[&str]) -> Option<i32> {
    match before {
        [.., "several"] => Some(4),
        [.., "few"] => Some(3),
        [.., "couple"] | [.., "couple", "of"] => Some(2),
        _ => None,
    }
}
