//! A [`Trace`] in words: why each piece of evidence is there.

use std::fmt::{self, Write};

use crate::trace::{
    Candidate, Channel, Cut, Family, Fate, List, ListRank, Note, Trace, TriggerHit, Via,
};

/// Trigger texts told per candidate.
const TOLD: usize = 2;

impl Trace {
    /// What is in the context and how it got in, then what was ranked and stayed out, for a person.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut out = String::new();
        let topics: Vec<String> = kept(&self.topics)
            .map(|topic| topic.id.to_string())
            .collect();
        section(&mut out, "topics that let scenes pass", &topics.join(", "));
        section(
            &mut out,
            "scenes by similarity",
            &told(&self.scenes, Channel::Similarity),
        );
        section(
            &mut out,
            "scenes by trigger",
            &told(&self.associations, Channel::Association),
        );
        section(
            &mut out,
            "items by similarity",
            &told(&self.items, Channel::Similarity),
        );
        section(
            &mut out,
            "items by trigger",
            &told(&self.items, Channel::Trigger),
        );
        section(
            &mut out,
            "open turns",
            &told(&self.turns, Channel::OpenTail),
        );
        section(&mut out, "stayed out", &self.stayed_out());
        let notes: Vec<String> = self.notes.iter().map(Note::to_string).collect();
        section(&mut out, "notes", &notes.join("\n"));
        let _ = writeln!(
            out,
            "{} tokens, {} left out by the budget",
            self.tokens, self.over_budget
        );
        out
    }

    /// How many stayed out and why, by kind.
    fn stayed_out(&self) -> String {
        let lines = [
            counted("scenes by similarity", &self.scenes),
            counted("scenes by trigger", &self.associations),
            counted("items", &self.items),
            counted("open turns", &self.turns),
        ];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

fn section(out: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        let _ = writeln!(out, "{title}");
        body.lines().for_each(|line| {
            let _ = writeln!(out, "  {line}");
        });
    }
}

fn kept<Id>(candidates: &[Candidate<Id>]) -> impl Iterator<Item = &Candidate<Id>> {
    candidates
        .iter()
        .filter(|candidate| matches!(candidate.fate, Fate::Kept(_)))
}

/// A paragraph for each candidate that `channel` chose.
fn told<Id: fmt::Display>(candidates: &[Candidate<Id>], channel: Channel) -> String {
    let chosen = candidates
        .iter()
        .filter(|one| one.fate == Fate::Kept(channel));
    chosen
        .map(Candidate::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

fn counted<Id>(kind: &str, candidates: &[Candidate<Id>]) -> Option<String> {
    let cuts = [
        Cut::Rank,
        Cut::Floor,
        Cut::ShownBefore,
        Cut::AlreadyShown,
        Cut::Budget,
        Cut::SwitchedOff,
    ];
    let count = |cut: Cut| {
        candidates
            .iter()
            .filter(|one| one.fate == Fate::Cut(cut))
            .count()
    };
    let parts: Vec<String> = cuts
        .into_iter()
        .filter(|&cut| count(cut) > 0)
        .map(|cut| format!("{} {cut}", count(cut)))
        .collect();
    (!parts.is_empty()).then(|| format!("{kind}: {}", parts.join(", ")))
}

impl<Id: fmt::Display> fmt::Display for Candidate<Id> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranks: Vec<String> = self.ranks.iter().map(ListRank::to_string).collect();
        write!(f, "{} ({:.3}: {})", self.id, self.score, ranks.join(", "))?;
        let (triggers, others): (Vec<&Via>, Vec<&Via>) = self
            .via
            .iter()
            .partition(|way| matches!(way, Via::Trigger(_)));
        let telling = |way: &&Via| matches!(way, Via::Trigger(hit) if hit.is_telling());
        let told = triggers.into_iter().filter(telling).take(TOLD);
        for way in others.into_iter().chain(told) {
            write!(f, "\n  {way}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ListRank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} #{} at {:.3}", self.list, self.rank, self.score)
    }
}

impl TriggerHit {
    /// Whether it is closer to the query than to what is said in general.
    #[must_use]
    pub fn is_telling(&self) -> bool {
        self.cosine > self.background
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic { topic, title } => write!(f, "through topic {topic}, \"{title}\""),
            Self::Unfiltered => f.write_str("no topic filter in its way"),
            Self::Scene { scene } => write!(f, "from scene {scene}"),
            Self::Supersedes { item } => write!(f, "holds in place of item {item}"),
            Self::Trigger(hit) => hit.fmt(f),
            Self::OpenTail => f.write_str("in no scene yet"),
        }
    }
}

impl fmt::Display for TriggerHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            family,
            label,
            text,
            host,
            cosine,
            background,
            ..
        } = self;
        write!(f, "{family}")?;
        if !label.is_empty() {
            write!(f, " ({label})")?;
        }
        write!(f, " of {}: \"{text}\"", Named(host))?;
        if let Some(rationale) = &self.rationale {
            write!(f, ", because {rationale}")?;
        }
        write!(f, " [cosine {cosine:.2}, in general {background:.2}]")
    }
}

/// A host by kind and id.
struct Named<'a>(&'a tmem_index::Host);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            tmem_index::Host::Turn(id) => write!(f, "turn {id}"),
            tmem_index::Host::Topic(id) => write!(f, "topic {id}"),
            tmem_index::Host::Scene(id) => write!(f, "scene {id}"),
            tmem_index::Host::Item(id) => write!(f, "item {id}"),
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dialogue => "dialogue",
            Self::Scene => "scene trigger",
            Self::Horizon => "horizon trigger",
            Self::Entity => "entity trigger",
            Self::Bridge => "bridge trigger",
        })
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bm25 => "words",
            Self::Dense => "meaning",
            Self::Dialogue => "dialogue",
            Self::SceneTrigger => "scene trigger",
            Self::Horizon => "horizon trigger",
            Self::Bridge => "bridges of its items",
            Self::ItemTrigger => "item trigger",
            Self::Rerank => "reranker",
        })
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rank => "ranked lower",
            Self::Floor => "whose triggers are too far from the query",
            Self::ShownBefore => "shown before",
            Self::AlreadyShown => "with all their turns in the context already",
            Self::Budget => "over the token budget",
            Self::SwitchedOff => "switched off",
        })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlankQuery => f.write_str("a blank query finds nothing"),
            Self::NoVector => f.write_str("the query has no vector: words alone were searched"),
            Self::NoVectors => f.write_str("the memory has no vectors: words alone were searched"),
            Self::OtherEncoder { expected, found } => write!(
                f,
                "the query's vector has {found} dimensions, the memory's {expected}: words alone \
                 were searched"
            ),
            Self::SmallTalk => f.write_str("no informative word: nothing comes up unasked"),
            Self::VectorsLeftOut { count } => {
                write!(f, "{count} vectors of another length are left out")
            }
            Self::IndexFailed { message } => write!(f, "an index failed: {message}"),
            Self::PersonaTooLate { speaker } => {
                write!(
                    f,
                    "the persona of {speaker} sums up later turns and is left out"
                )
            }
        }
    }
}
