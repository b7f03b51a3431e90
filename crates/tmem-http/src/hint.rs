//! How long to wait before the next attempt: as the server asks, else longer each time.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use reqwest::header::HeaderMap;

/// First wait without a hint; it doubles with each attempt.
const FIRST: Duration = Duration::from_millis(500);

/// Longest wait without a hint.
const LONGEST: Duration = Duration::from_secs(30);

/// The wait after attempt number `made` (from 1): the hint or the backoff, up to an eighth more (so
/// that many clients do not come back at the same moment), never above `bound`.
pub(crate) fn wait(hint: Option<Duration>, made: u32, bound: Duration) -> Duration {
    let doubled = FIRST.saturating_mul(1_u32.checked_shl(made - 1).unwrap_or(u32::MAX));
    let wait = hint.unwrap_or_else(|| doubled.min(LONGEST));
    (wait + wait.mul_f64(random() / 8.0)).min(bound)
}

/// What the server asks for: in a header, or else in the text of its error. A hint that is unreadable,
/// negative or in the past is none.
pub(crate) fn asked(headers: &HeaderMap, body: &str, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = header("retry-after-ms").and_then(|text| seconds(text, 1000.0));
    let after =
        header("retry-after").and_then(|text| seconds(text, 1.0).or_else(|| until(text, now)));
    millis
        .or(after)
        .or_else(|| in_text(body))
        .filter(|wait| !wait.is_zero())
}

fn seconds(text: &str, per_second: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse::<f64>().ok()? / per_second).ok()
}

fn until(text: &str, now: SystemTime) -> Option<Duration> {
    httpdate::parse_http_date(text)
        .ok()?
        .duration_since(now)
        .ok()
}

/// A hint in prose, as in `try again in 1m30.5s` or `"retryDelay": "34s"`.
fn in_text(body: &str) -> Option<Duration> {
    let text = body.to_ascii_lowercase();
    let marks = [
        "try again in",
        "retry in",
        "retry after",
        "retrydelay",
        "wait for",
        "wait ",
    ];
    let start = marks
        .iter()
        .find_map(|mark| Some(text.find(mark)? + mark.len()))?;
    let rest = text[start..].trim_start_matches([' ', ':', '"', '=']);
    span(rest)
}

/// A span such as `20s`, `1500 ms`, `6m0s` or `2 minutes`.
fn span(mut text: &str) -> Option<Duration> {
    let mut total = None;
    loop {
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let Ok(number) = text[..digits].parse::<f64>() else {
            return total;
        };
        let rest = text[digits..].trim_start_matches(' ');
        let letters = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => return total,
        };
        let part = Duration::try_from_secs_f64(number * unit).ok()?;
        total = Some(total.unwrap_or(Duration::ZERO) + part);
        text = &rest[letters..];
    }
}

/// A number in `[0, 1)`, other in every call.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(SystemTime::now());
    f64::from(u32::try_from(bits >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: &str = "Sun, 06 Nov 1994 12:00:00 GMT";

    #[track_caller]
    fn check(header: Option<(&'static str, &str)>, body: &str, expected: Option<u64>) {
        let headers = header
            .into_iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let now = httpdate::parse_http_date(NOON).unwrap();
        let asked = asked(&headers.collect(), body, now);
        assert_eq!(
            asked,
            expected.map(Duration::from_millis),
            "{header:?} {body}"
        );
    }

    #[test]
    fn headers_are_heard_in_all_three_forms() {
        check(Some(("retry-after", "7")), "", Some(7000));
        check(Some(("retry-after", "1.5")), "", Some(1500));
        check(Some(("retry-after-ms", "1500")), "", Some(1500));
        check(
            Some(("retry-after", "Sun, 06 Nov 1994 12:01:00 GMT")),
            "",
            Some(60_000),
        );
    }

    #[test]
    fn a_header_comes_before_the_text() {
        check(Some(("retry-after", "7")), "try again in 20s", Some(7000));
    }

    #[test]
    fn a_hint_in_the_text_is_heard() {
        check(
            None,
            "Rate limit reached. Please try again in 20s.",
            Some(20_000),
        );
        check(None, "try again in 1m0.5s", Some(60_500));
        check(None, r#"{"retryDelay": "34s"}"#, Some(34_000));
        check(None, "Retry after 2 minutes, please", Some(120_000));
        check(None, "retry in 250ms", Some(250));
    }

    #[test]
    fn a_bad_hint_is_none() {
        for value in [
            "soon",
            "-3",
            "",
            "nan",
            "inf",
            "1e300",
            "0",
            NOON,
            "Sat, 05 Nov 1994 12:00:00 GMT",
        ] {
            check(Some(("retry-after", value)), "", None);
        }
        check(None, "try again in a while, in 5 parsecs", None);
    }

    #[test]
    fn a_wait_is_at_least_the_hint_and_never_above_the_bound() {
        let bound = Duration::from_secs(60);
        let hinted = wait(Some(Duration::from_secs(7)), 1, bound);
        assert!(
            hinted >= Duration::from_secs(7) && hinted <= Duration::from_secs(8),
            "{hinted:?}"
        );
        assert_eq!(wait(Some(Duration::from_secs(3600)), 1, bound), bound);
    }

    #[test]
    fn without_a_hint_waits_double_up_to_half_a_minute() {
        for (made, least) in [(1, 500), (2, 1000), (3, 2000), (10, 30_000), (80, 30_000)] {
            let wait = wait(None, made, Duration::from_secs(600)).as_millis();
            assert!(
                (least..=least + least / 8).contains(&wait),
                "{made}: {wait}"
            );
        }
    }
}
