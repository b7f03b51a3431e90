//! Reads civil times in the ways in which files write them; no zone is ever kept or invented.

use jiff::civil::{Date, DateTime, Time};

/// A time in any known form: [`iso`], or in words as in `1:56 pm on 8 May, 2023`.
#[must_use]
pub fn parse(text: &str) -> Option<DateTime> {
    iso(text).or_else(|| spoken(text))
}

/// ISO 8601: a date, or a date and a time with `T` or a blank between them.
///
/// An offset or `Z` is dropped, the clock reading kept: what the speaker's clock showed.
#[must_use]
pub fn iso(text: &str) -> Option<DateTime> {
    let text = text.trim();
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return iso_date(text).map(|date| date.at(0, 0, 0, 0));
    };
    Some(iso_date(date)?.to_datetime(iso_time(without_offset(time.trim()))?))
}

fn iso_date(text: &str) -> Option<Date> {
    let dashes = text.bytes().filter(|b| *b == b'-').count();
    (text.len() == 10 && dashes == 2)
        .then(|| text.parse().ok())
        .flatten()
}

fn iso_time(text: &str) -> Option<Time> {
    text.contains(':').then(|| text.parse().ok()).flatten()
}

fn without_offset(time: &str) -> &str {
    let time = time
        .split_once('[')
        .map_or(time, |(time, _zone)| time)
        .trim_end();
    let time = time
        .strip_suffix(['Z', 'z'])
        .or(time.strip_suffix(" UTC"))
        .unwrap_or(time);
    time.rfind(['+', '-'])
        .map_or(time, |sign| &time[..sign])
        .trim_end()
}

/// `1:56 pm on 8 May, 2023`: either case, comma and `on` as one likes, any number of blanks,
/// 12- or 24-hour clock; twelve in the morning is midnight.
fn spoken(text: &str) -> Option<DateTime> {
    let text = text.to_lowercase().replace(',', " ");
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| *word != "on")
        .collect();
    let (clock, date) = match words.as_slice() {
        [clock, half, date @ ..] if half_of(half).is_some() => (time12(clock, half)?, date),
        [clock, date @ ..] => (clock_of(clock)?, date),
        [] => return None,
    };
    let [day, month, year] = date else {
        return None;
    };
    Some(spoken_date(day, month, year)?.to_datetime(clock))
}

/// A clock reading by itself, the half of the day perhaps attached: `13:56`, `1:56pm`.
fn clock_of(text: &str) -> Option<Time> {
    let split = text.find(|c: char| c.is_ascii_alphabetic());
    match split.map(|at| text.split_at(at)) {
        Some((clock, half)) => time12(clock, half),
        None => {
            let (hour, minute) = hour_and_minute(text)?;
            Time::new(hour, minute, 0, 0).ok()
        }
    }
}

fn time12(clock: &str, half: &str) -> Option<Time> {
    let (hour, minute) = hour_and_minute(clock)?;
    if !(1..=12).contains(&hour) {
        return None;
    }
    Time::new(hour % 12 + half_of(half)?, minute, 0, 0).ok()
}

/// Hours to add for the half of the day.
fn half_of(text: &str) -> Option<i8> {
    match text {
        "am" | "a.m." => Some(0),
        "pm" | "p.m." => Some(12),
        _ => None,
    }
}

fn hour_and_minute(text: &str) -> Option<(i8, i8)> {
    let (hour, minute) = text.split_once(':')?;
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let two = minute.len() == 2 && hour.len() <= 2 && digits(hour) && digits(minute);
    two.then(|| Some((hour.parse().ok()?, minute.parse().ok()?)))
        .flatten()
}

fn spoken_date(day: &str, month: &str, year: &str) -> Option<Date> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let month = month.strip_suffix('.').unwrap_or(month);
    let named = |name: &str| name == month || (month.len() >= 3 && name.starts_with(month));
    let month = MONTHS.iter().position(|name| named(name))? + 1;
    let day = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|end| day.strip_suffix(end))
        .unwrap_or(day);
    let year = (year.len() == 4).then(|| year.parse().ok()).flatten()?;
    Date::new(year, i8::try_from(month).ok()?, day.parse().ok()?).ok()
}
