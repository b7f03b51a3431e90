//! Which triggers are refused, by rule: pure functions over informative words.
//!
//! Whether a trigger is close to everything said is measured on vectors, elsewhere.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use tmem_model::text;

use crate::config::Hygiene;

/// Why a trigger is refused; the text is the key under which refusals are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Empty,
    Restates,
    OverGeneral,
    Duplicate,
    InventedName,
}

impl Refusal {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Restates => "restates its host",
            Self::OverGeneral => "over-general",
            Self::Duplicate => "duplicate",
            Self::InventedName => "names someone unknown",
        }
    }
}

/// Informative words of a text, once each.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    text::terms(text).into_iter().collect()
}

/// Words that fit almost any memory; a trigger of nothing else is over-general. Given as text and
/// brought to their stems like everything else.
const GENERAL: &str = "life people person thing things something someone anything everyone time \
    day situation event moment experience memory conversation talk discussion feel feeling \
    think thought important good bad new future past later help need want make get topic \
    question situation matter general related similar person's happen happens know";

static GENERAL_WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| words(GENERAL));

/// What a trigger is held against.
pub(crate) struct Host<'a> {
    /// Words of the item or scene.
    pub(crate) words: BTreeSet<String>,
    /// Its text, for names.
    pub(crate) text: &'a str,
    /// Names that may occur.
    pub(crate) speakers: &'a [&'a str],
    /// From which share of its words on a trigger restates the host.
    pub(crate) restates: f32,
}

/// Whether `trigger` is refused beside those already `kept` for the same host.
pub(crate) fn refusal(
    trigger: &str,
    host: &Host<'_>,
    kept: &[BTreeSet<String>],
    rules: Hygiene,
) -> Option<Refusal> {
    let own = words(trigger);
    if trigger.trim().is_empty() {
        return Some(Refusal::Empty);
    }
    if own.len() < rules.least_terms || own.is_subset(&GENERAL_WORDS) {
        return Some(Refusal::OverGeneral);
    }
    if share(&own, &host.words) >= host.restates {
        return Some(Refusal::Restates);
    }
    if kept.iter().any(|old| overlap(old, &own) >= rules.duplicate) {
        return Some(Refusal::Duplicate);
    }
    invented(trigger, host).then_some(Refusal::InventedName)
}

/// Share of `a`'s words that `b` has.
fn share(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f32 {
    if a.is_empty() {
        0.0
    } else {
        a.intersection(b).count() as f32 / a.len() as f32
    }
}

/// Jaccard overlap of two sets of words; 1 for two empty ones.
pub(crate) fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f32 {
    let all = a.union(b).count();
    if all == 0 {
        1.0
    } else {
        a.intersection(b).count() as f32 / all as f32
    }
}

/// Words that are capitalised though they name nobody.
const CAPITALISED: &[&str] = &[
    "I",
    "I'm",
    "I'd",
    "I'll",
    "I've",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
    "Christmas",
    "Easter",
    "Halloween",
    "Thanksgiving",
    "Ramadan",
    "Hanukkah",
    "Diwali",
    "Valentine's",
    "English",
    "TV",
    "GP",
    "PE",
    "DIY",
    "IT",
    "ID",
    "OK",
];

/// Whether a name occurs inside a sentence that neither the host nor a speaker has. Languages that
/// capitalise common nouns are left alone.
fn invented(trigger: &str, host: &Host<'_>) -> bool {
    let tokens: Vec<&str> = trigger.split_whitespace().collect();
    let capital = |token: &&str| token.starts_with(char::is_uppercase);
    let inner: Vec<&str> = tokens
        .windows(2)
        .filter(|pair| !pair[0].ends_with(['.', '!', '?', ':', '"', '“']))
        .map(|pair| pair[1])
        .filter(capital)
        .collect();
    if inner.len() * 4 > tokens.len() {
        return false;
    }
    inner.into_iter().map(bare).any(|name| !known(name, host))
}

fn known(name: &str, host: &Host<'_>) -> bool {
    let speaker = |speaker: &&str| speaker.split_whitespace().any(|part| part == name);
    name.is_empty()
        || CAPITALISED.contains(&name)
        || host.text.contains(name)
        || host.speakers.iter().any(speaker)
}

/// A word without its punctuation and possessive.
fn bare(token: &str) -> &str {
    let token = token.trim_matches(|c: char| !c.is_alphanumeric());
    token
        .strip_suffix("'s")
        .or_else(|| token.strip_suffix("’s"))
        .unwrap_or(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(trigger: &str, expect: Option<Refusal>) {
        let text = "Ida cannot eat wheat, so Bo bakes her rice bread.";
        let host = Host {
            words: words(text),
            text,
            speakers: &["Ida", "Bo Larsen"],
            restates: 0.6,
        };
        let kept = [words("choosing a cake for an office party")];
        assert_eq!(
            refusal(trigger, &host, &kept, Hygiene::default()),
            expect,
            "{trigger}"
        );
    }

    #[test]
    fn a_situation_far_from_the_fact_is_kept() {
        check("booking a table at a noodle bar", None);
        check("Larsen's colleagues order pizza on Friday", None);
        check("eine Pizza für die Kollegen bestellen", None);
    }

    #[test]
    fn restatements_are_refused_whatever_their_grammar() {
        check("someone who bakes rice bread", Some(Refusal::Restates));
        check("eating wheat", Some(Refusal::Restates));
    }

    #[test]
    fn empty_and_over_general_ones_are_refused() {
        check("  ", Some(Refusal::Empty));
        check("food", Some(Refusal::OverGeneral));
        check("an important moment in life", Some(Refusal::OverGeneral));
        check("!!! ???", Some(Refusal::OverGeneral));
    }

    #[test]
    fn a_second_trigger_that_says_the_same_is_refused() {
        check(
            "choosing cakes for an office's party",
            Some(Refusal::Duplicate),
        );
    }

    #[test]
    fn a_name_that_nobody_mentioned_is_refused() {
        check(
            "lunch with Gregor at a noodle bar",
            Some(Refusal::InventedName),
        );
    }
}
