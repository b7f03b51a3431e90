//! The text of a [`Context`] for the answering model, and its size.

use std::collections::BTreeSet;
use std::fmt;

use tmem_model::text::estimate_tokens;
use tmem_model::{ConversationId, DateTime, Validity};

use crate::context::{Context, ItemEvidence, SceneEvidence, Shown, TurnEvidence, When};
use crate::escape::plain;

pub(crate) const SCENES: &str = "# Scenes\n";
pub(crate) const RELATED: &str = "# Scenes that may bear on it\n";
pub(crate) const FACTS: &str = "# Facts\n";
pub(crate) const RECENT: &str = "# Latest turns\n";
const PEOPLE: &str = "# People\n";

impl Context {
    /// Everything, for the answering model: dated scenes with their raw turns, scenes that may bear
    /// on the query, facts with the turns that say them, the latest turns, personas.
    ///
    /// Scenes are in order of time. What users wrote cannot start a line or close a tag.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = self.render_evidence();
        if !self.personas.is_empty() {
            text.push_str(PEOPLE);
        }
        for persona in &self.personas {
            text += &format!(
                "- {}: {}\n",
                plain(&persona.speaker),
                plain(&persona.summary)
            );
        }
        text
    }

    /// The same without personas, which are outside every budget.
    #[must_use]
    pub fn render_evidence(&self) -> String {
        let ids = Ids::of(self);
        let scenes = |associative: bool| -> Vec<String> {
            let mut scenes: Vec<&SceneEvidence> = self
                .scenes
                .iter()
                .filter(|scene| scene.associative == associative)
                .collect();
            scenes.sort_by_key(|scene| (scene.when.map(|when| when.from), &scene.id));
            scenes.into_iter().map(|scene| ids.scene(scene)).collect()
        };
        let sections = [
            (SCENES, scenes(false)),
            (RELATED, scenes(true)),
            (
                FACTS,
                self.items.iter().map(|item| ids.item(item)).collect(),
            ),
            (
                RECENT,
                self.turns.iter().map(|turn| ids.dated_turn(turn)).collect(),
            ),
        ];
        let filled = sections
            .into_iter()
            .filter(|(_, pieces)| !pieces.is_empty());
        filled
            .map(|(heading, pieces)| format!("{heading}{}", pieces.concat()))
            .collect()
    }

    /// Estimated tokens of [`Context::render_evidence`], leaning to the high side.
    #[must_use]
    pub fn tokens(&self) -> usize {
        estimate_tokens(&self.render_evidence())
    }
}

/// How ids are written: short while all evidence is of one conversation.
pub(crate) struct Ids {
    short: bool,
}

impl Ids {
    pub(crate) fn of(context: &Context) -> Self {
        let scenes = context.scenes.iter().map(|scene| scene.id.conversation());
        let items = context.items.iter().map(|item| item.id.conversation());
        let turns = context.turns.iter().map(|turn| turn.id.conversation());
        let all: BTreeSet<&ConversationId> = scenes.chain(items).chain(turns).collect();
        Self {
            short: all.len() <= 1,
        }
    }

    fn id(&self, full: impl fmt::Display, local: &str) -> String {
        plain(&if self.short {
            local.to_owned()
        } else {
            full.to_string()
        })
    }

    pub(crate) fn scene(&self, scene: &SceneEvidence) -> String {
        let when = scene.when.map_or_else(|| "undated".to_owned(), period);
        match &scene.shown {
            Shown::Turns(turns) => {
                let turns: String = turns.iter().map(|turn| self.turn(turn)).collect();
                format!("{when}\n{turns}")
            }
            Shown::Summary(summary) => {
                let id = self.id(&scene.id, scene.id.local());
                format!(
                    "{when}\n[{id}] {}: {}\n",
                    plain(&scene.title),
                    plain(summary)
                )
            }
        }
    }

    fn turn(&self, turn: &TurnEvidence) -> String {
        let id = self.id(&turn.id, turn.id.local());
        format!("[{id}] {}: {}\n", plain(&turn.speaker), plain(&turn.text))
    }

    pub(crate) fn dated_turn(&self, turn: &TurnEvidence) -> String {
        let at = turn
            .at
            .map(|at| format!("{} ", moment(at)))
            .unwrap_or_default();
        format!("{at}{}", self.turn(turn))
    }

    pub(crate) fn item(&self, item: &ItemEvidence) -> String {
        let turns = item.turns.iter().map(|turn| self.id(turn, turn.local()));
        let scenes = item
            .scenes
            .iter()
            .map(|scene| self.id(scene, scene.local()));
        let sources: Vec<String> = if item.turns.is_empty() {
            scenes.collect()
        } else {
            turns.collect()
        };
        let (text, holds) = (plain(&item.text), holds(&item.validity));
        format!("- {text}{holds} [{}]\n", sources.join(", "))
    }
}

/// From when or until when an item holds, if it is part of a change.
pub(crate) fn holds(validity: &Validity) -> String {
    let date = |word: &str, at: Option<DateTime>| at.map(|at| format!(" ({word} {})", at.date()));
    match validity {
        Validity {
            superseded: true,
            until,
            ..
        } => date("until", *until).unwrap_or_else(|| " (no longer)".to_owned()),
        Validity {
            supersedes: true,
            from,
            ..
        } => date("since", *from).unwrap_or_else(|| " (now)".to_owned()),
        _ => String::new(),
    }
}

/// `2024-03-01 09:30`.
fn moment(at: DateTime) -> String {
    let (date, hour, minute) = (at.date(), at.hour(), at.minute());
    format!("{date} {hour:02}:{minute:02}")
}

fn period(when: When) -> String {
    let (from, to) = (moment(when.from), moment(when.to));
    if from == to {
        from
    } else {
        format!("{from} to {to}")
    }
}
