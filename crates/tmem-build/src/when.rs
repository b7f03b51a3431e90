//! Relative dates resolved against the time of the turn that says them, never against a clock.
//!
//! A small table of plain phrases in a few languages; what it does not know is left to the model,
//! which sees the turn's date.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use tmem_model::DateTime;

/// A relative phrase and the date it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// The phrase as the text has it.
    pub(crate) phrase: String,
    /// Where it starts (bytes).
    pub(crate) start: usize,
    /// The date in words.
    pub(crate) date: String,
}

/// Words for days, with the distance from the day of the turn.
const DAYS: &[(&str, i64)] = &[
    ("the day before yesterday", -2),
    ("the day after tomorrow", 2),
    ("yesterday", -1),
    ("last night", -1),
    ("tomorrow", 1),
    ("tonight", 0),
    ("today", 0),
    ("vorgestern", -2),
    ("gestern", -1),
    ("heute", 0),
    ("übermorgen", 2),
    ("avant-hier", -2),
    ("aujourd'hui", 0),
    ("après-demain", 2),
    ("demain", 1),
    ("anteayer", -2),
    ("ayer", -1),
    ("hoy", 0),
    ("ieri", -1),
    ("oggi", 0),
    ("domani", 1),
    ("ontem", -1),
    ("hoje", 0),
    ("amanhã", 1),
    ("вчера", -1),
    ("сегодня", 0),
    ("завтра", 1),
    ("어제", -1),
    ("오늘", 0),
    ("내일", 1),
    ("前天", -2),
    ("后天", 2),
    ("昨天", -1),
    ("今天", 0),
    ("明天", 1),
    ("一昨日", -2),
    ("明後日", 2),
    ("昨日", -1),
    ("今日", 0),
    ("明日", 1),
    ("أمس", -1),
    ("غدا", 1),
];

const WEEKDAYS: &[(&str, Weekday)] = &[
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

const NUMBERS: &[(&str, i64)] = &[
    ("a", 1),
    ("an", 1),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
];

/// The relative phrases of `text`, in order, without overlap; dates where the turn has a time.
pub(crate) fn resolve(text: &str, at: Option<DateTime>) -> Vec<Resolved> {
    let mut found: Vec<Resolved> = Vec::new();
    for (start, end, meaning) in phrases(text) {
        let overlaps = found
            .iter()
            .any(|old| start < old.start + old.phrase.len() && old.start < end);
        let date = at.map_or(Some(String::new()), |at| meaning.date(at.date()));
        if let Some(date) = date.filter(|_| !overlaps) {
            found.push(Resolved {
                phrase: text[start..end].to_owned(),
                start,
                date,
            });
        }
    }
    found.sort_by_key(|resolved| resolved.start);
    found
}

/// `date` in words, as prompts show it.
pub(crate) fn day(date: Date) -> String {
    date.strftime("%A %-d %B %Y").to_string()
}

#[derive(Clone, Copy)]
enum Meaning {
    /// A day so many days away; told in digits when the phrase is not English.
    Day(i64, bool),
    Last(Weekday),
    Next(Weekday),
    Weeks(i64),
    Months(i64),
    Years(i64),
}

impl Meaning {
    fn date(self, from: Date) -> Option<String> {
        let days = |n: i64| from.checked_add(n.days()).ok();
        match self {
            Self::Day(n, true) => days(n).map(day),
            Self::Day(n, false) => days(n).map(|date| date.to_string()),
            Self::Last(weekday) => from.nth_weekday(-1, weekday).ok().map(day),
            Self::Next(weekday) => from.nth_weekday(1, weekday).ok().map(day),
            Self::Weeks(n) => from.checked_add(n.weeks()).ok().map(week),
            Self::Months(n) => from
                .checked_add(n.months())
                .ok()
                .map(|date| date.strftime("%B %Y").to_string()),
            Self::Years(n) => from
                .checked_add(n.years())
                .ok()
                .map(|date| date.year().to_string()),
        }
    }
}

fn week(date: Date) -> String {
    let monday = i64::from(date.weekday().to_monday_zero_offset());
    let first = date.checked_sub(monday.days()).unwrap_or(date);
    format!("week of {}", day(first))
}

/// Candidates in the order of the tables: longer phrases come before what they contain.
fn phrases(text: &str) -> Vec<(usize, usize, Meaning)> {
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return Vec::new(); // positions would not fit; such letters are rare
    }
    let mut all = Vec::new();
    for (word, days) in DAYS {
        let english = word.is_ascii() && ENGLISH.contains(word);
        all.extend(places(&lower, word).map(|(a, b)| (a, b, Meaning::Day(*days, english))));
    }
    all.extend(near_weekdays(&lower));
    all.extend(near_spans(&lower));
    all.extend(ago(&lower));
    all
}

const ENGLISH: &[&str] = &[
    "the day before yesterday",
    "the day after tomorrow",
    "yesterday",
    "last night",
    "tomorrow",
    "tonight",
    "today",
];

fn near_weekdays(lower: &str) -> Vec<(usize, usize, Meaning)> {
    let mut all = Vec::new();
    for (name, weekday) in WEEKDAYS {
        let (last, next) = (format!("last {name}"), format!("next {name}"));
        all.extend(places(lower, &last).map(|(a, b)| (a, b, Meaning::Last(*weekday))));
        all.extend(places(lower, &next).map(|(a, b)| (a, b, Meaning::Next(*weekday))));
    }
    all
}

fn near_spans(lower: &str) -> Vec<(usize, usize, Meaning)> {
    let mut all = Vec::new();
    for (word, n) in [("last", -1), ("next", 1)] {
        for unit in ["week", "month", "year"] {
            let phrase = format!("{word} {unit}");
            all.extend(places(lower, &phrase).map(|(a, b)| (a, b, span(unit, n))));
        }
    }
    all
}

/// "three weeks ago" and the like.
fn ago(lower: &str) -> Vec<(usize, usize, Meaning)> {
    let mut all = Vec::new();
    for (start, end) in places(lower, "ago") {
        let (before, unit) = last_word(&lower[..start]);
        let (before, count) = last_word(before);
        let number = NUMBERS
            .iter()
            .find(|(name, _)| *name == count)
            .map(|(_, n)| *n);
        let number = number.or_else(|| count.parse::<u16>().ok().map(i64::from));
        let unit = unit.trim_end_matches('s');
        let known = ["day", "week", "month", "year"].contains(&unit);
        if let Some(n) = number.filter(|_| known) {
            all.push((before.len(), end, span(unit, -n)));
        }
    }
    all
}

/// What comes before the last word, blank included, and that word.
fn last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let start = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    text.split_at(if text.is_char_boundary(start) {
        start
    } else {
        0
    })
}

fn span(unit: &str, n: i64) -> Meaning {
    match unit {
        "day" => Meaning::Day(n, true),
        "week" => Meaning::Weeks(n),
        "month" => Meaning::Months(n),
        _ => Meaning::Years(n),
    }
}

/// Where `phrase` stands as words of its own; scripts without blanks need no border.
fn places<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let spaced = phrase.chars().all(|c| (c as u32) < 0x1100);
    text.match_indices(phrase)
        .map(|(start, found)| (start, start + found.len()))
        .filter(move |&(start, end)| {
            let before = text[..start].chars().next_back();
            let after = text[end..].chars().next();
            !spaced || !before.into_iter().chain(after).any(char::is_alphanumeric)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, at: &str, expect: &[&str]) {
        let at = (!at.is_empty()).then(|| at.parse().unwrap());
        let found: Vec<String> = resolve(text, at)
            .into_iter()
            .map(|r| format!("{} = {}", r.phrase, r.date))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn relative_words_count_from_the_turn() {
        check(
            "The sensor broke yesterday",
            "2024-05-10T20:00:00",
            &["yesterday = Thursday 9 May 2024"],
        );
        let week = "Last week = week of Monday 31 October 2022";
        check("Last week I flew to Oslo", "2022-11-07T09:00:00", &[week]);
        check(
            "I ran last Saturday.",
            "2023-05-25T13:14:00",
            &["last Saturday = Saturday 20 May 2023"],
        );
        check(
            "We moved three years ago",
            "2023-05-25T13:14:00",
            &["three years ago = 2020"],
        );
        check(
            "2 days ago, and last month",
            "2024-03-01T08:00:00",
            &[
                "2 days ago = Wednesday 28 February 2024",
                "last month = February 2024",
            ],
        );
    }

    #[test]
    fn other_languages_resolve_to_digits() {
        check(
            "明天我要去体检",
            "2024-02-28T10:00:00",
            &["明天 = 2024-02-29"],
        );
        check(
            "Gestern war ich müde",
            "2024-03-01T10:00:00",
            &["Gestern = 2024-02-29"],
        );
    }

    #[test]
    fn the_longer_phrase_wins_and_parts_of_words_do_not_count() {
        check(
            "the day before yesterday",
            "2024-01-02T10:00:00",
            &["the day before yesterday = Sunday 31 December 2023"],
        );
        check("yesterdayish todays", "2024-01-02T10:00:00", &[]);
    }

    #[test]
    fn without_a_time_the_words_stay_words() {
        check("It broke yesterday", "", &["yesterday = "]);
    }
}
