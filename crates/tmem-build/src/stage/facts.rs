//! Accepting the items of a reply, one by one: each cites what was offered and is borne out by it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tmem_model::{Change, Ids, Item, ItemKind, Scene, SceneId, Stage, Turn, TurnId};

use super::items::{TEXT, citable, is_first};
use crate::context::Context;
use crate::hygiene::{overlap, words};
use crate::jobs::done;
use crate::reply::{Tally, bounded, elements, labels_at};
use crate::step::{Step, TopicWork};
use crate::when;

/// Two items of a scene that share so many of their words say the same (Jaccard).
const SAME: f32 = 0.9;

/// Takes the items that hold, with the next ids, and counts the others with their reasons.
pub(crate) fn accept(
    ctx: &Context<'_>,
    step: &Step,
    work: &TopicWork,
    reply: &Value,
) -> Result<Change, String> {
    let mut draft = Draft::new(ctx, work);
    for element in elements(reply, "items")? {
        match draft.item(element) {
            Ok(item) => draft.items.push(item),
            Err((why, note)) => draft.tally.refuse_noting(why, note),
        }
    }
    Ok(draft.change(step))
}

struct Draft<'a> {
    ctx: &'a Context<'a>,
    work: &'a TopicWork,
    turns: Vec<(&'a Scene, &'a Turn)>,
    items: Vec<Item>,
    ids: Ids,
    tally: Tally,
}

/// Why an element is refused: the kind that is counted, and what exactly.
type Refused = (&'static str, String);

impl<'a> Draft<'a> {
    fn new(ctx: &'a Context<'a>, work: &'a TopicWork) -> Self {
        let (turns, ids) = (citable(ctx, work), ctx.ids());
        Self {
            ctx,
            work,
            turns,
            items: Vec::new(),
            ids,
            tally: Tally::default(),
        }
    }

    fn item(&mut self, element: &Value) -> Result<Item, Refused> {
        let text = text_of(element).ok_or_else(|| ("no text", format!("items: {element}")))?;
        let cited = self.cited(element, &text)?;
        let scenes = self.scenes(element, &cited, &text)?;
        self.supported(&text, &cited)?;
        self.new_to(&text, &scenes)?;
        let (text, undated) = dated(&text, &cited);
        let kind = if scenes.len() > 1 {
            ItemKind::Connected
        } else {
            ItemKind::Atomic
        };
        let turns: Vec<TurnId> = cited.iter().map(|turn| turn.id.clone()).collect();
        let extra = undated
            .then(|| ("undated".to_owned(), json!(true)))
            .into_iter()
            .collect();
        let id = self.ids.item();
        Ok(Item {
            id,
            kind,
            text,
            scenes,
            turns,
            triggers: Vec::new(),
            extra,
        })
    }

    /// The turns an element cites, in order.
    fn cited(&self, element: &Value, text: &str) -> Result<Vec<&'a Turn>, Refused> {
        if let Some(focus) = &self.work.focus {
            return Ok(self.ctx.memory.turn(focus).into_iter().collect());
        }
        let key = if element.get("turns").is_some() {
            "turns"
        } else {
            "turn"
        };
        let (mut labels, bad) = labels_at(element, key, self.turns.len());
        labels.sort_unstable();
        if labels.is_empty() {
            let cited = if bad.is_empty() {
                "nothing".to_owned()
            } else {
                bad.join(", ")
            };
            return Err((
                "cites no offered turn",
                format!("items: {text:?} cites {cited}"),
            ));
        }
        Ok(labels
            .into_iter()
            .map(|label| self.turns[label].1)
            .collect())
    }

    /// The scenes it draws on, in arrival order: those of its turns and those it names.
    fn scenes(
        &self,
        element: &Value,
        cited: &[&Turn],
        text: &str,
    ) -> Result<Vec<SceneId>, Refused> {
        let work = self.work;
        let all: Vec<&SceneId> = work
            .own
            .iter()
            .chain(&work.joined)
            .chain(&work.context)
            .collect();
        let (named, _) = labels_at(element, "scenes", all.len());
        let of_turn = |turn: &&Turn| self.ctx.memory.scene_of(&turn.id).map(|s| s.id.clone());
        let mut scenes: Vec<SceneId> = cited.iter().filter_map(of_turn).collect();
        if self.ctx.config.context_scenes > 0 {
            scenes.extend(named.iter().map(|&label| all[label].clone()));
        } else {
            scenes.truncate(1);
        }
        let order = self
            .ctx
            .memory
            .scenes_in(self.ctx.conversation)
            .map(|scene| &scene.id);
        let scenes: Vec<SceneId> = order.filter(|id| scenes.contains(id)).cloned().collect();
        let alone = scenes.len() == 1 && !is_first(self.ctx, &work.topic, &scenes[0]);
        if alone {
            return Err((
                "fact of a scene that another topic reads",
                format!("items: {text:?}"),
            ));
        }
        Ok(scenes)
    }

    /// Shares a word with the turns it cites or the ones before them, or names who speaks there.
    fn supported(&self, text: &str, cited: &[&Turn]) -> Result<(), Refused> {
        let own = words(text);
        let near = self
            .turns
            .windows(2)
            .filter(|pair| cited.iter().any(|c| c.id == pair[1].1.id));
        let near = near.map(|pair| pair[0].1).chain(cited.iter().copied());
        let said = |turn: &Turn| words(&format!("{} {}", turn.speaker, turn.content()));
        let mut near = near.map(said);
        if !self.ctx.config.require_support || near.any(|said| !said.is_disjoint(&own)) {
            return Ok(());
        }
        Err((
            "nothing in the cited turns supports it",
            format!("items: {text:?}"),
        ))
    }

    /// No item of the same scenes says the same.
    fn new_to(&self, text: &str, scenes: &[SceneId]) -> Result<(), Refused> {
        let own = words(text);
        let known = scenes
            .iter()
            .flat_map(|scene| self.ctx.memory.items_of(scene));
        let mut near = known
            .chain(&self.items)
            .filter(|item| item.scenes == scenes);
        if near.any(|item| overlap(&words(&item.text), &own) >= SAME) {
            return Err(("already known", format!("items: {text:?}")));
        }
        let here = self
            .items
            .iter()
            .filter(|item| item.scenes == scenes)
            .count();
        if here >= self.ctx.config.items_per_scene {
            return Err((
                "more items than a scene may have",
                format!("items: {text:?}"),
            ));
        }
        Ok(())
    }

    fn change(mut self, step: &Step) -> Change {
        self.tally.kept = self.items.len();
        let (conversation, result) = (self.ctx.conversation, self.tally.result());
        let row = |target: &String| done(conversation, Stage::Items, target, result.clone());
        let jobs: Vec<_> = step.targets().iter().map(row).collect();
        Change {
            items: self.items,
            jobs,
            ..Change::default()
        }
    }
}

/// The text of an element: `{"text": …}`, a bare text, or an object whose only key is the fact.
fn text_of(element: &Value) -> Option<String> {
    let text = match element {
        Value::String(text) => text,
        Value::Object(fields) => match fields.get("text").and_then(Value::as_str) {
            Some(text) => text,
            None if fields.len() == 1 => fields.keys().next()?,
            None => return None,
        },
        _ => return None,
    };
    let text = bounded(text, TEXT);
    (!text.is_empty()).then_some(text)
}

/// Puts the date beside relative words that the model left unresolved; tells whether a relative
/// word stays without a date.
fn dated(text: &str, cited: &[&Turn]) -> (String, bool) {
    let phrases = when::resolve(text, None);
    if phrases.is_empty() || has_year(text) {
        return (text.to_owned(), false);
    }
    let at = cited.iter().find_map(|turn| turn.at);
    let Some(at) = at else {
        return (text.to_owned(), true);
    };
    let mut out = text.to_owned();
    for resolved in when::resolve(text, Some(at)).into_iter().rev() {
        let end = resolved.start + resolved.phrase.len();
        out.insert_str(end, &format!(" ({})", resolved.date));
    }
    (out, false)
}

/// Whether a text has a number of four digits, as a resolved date would.
fn has_year(text: &str) -> bool {
    let runs = text.split(|c: char| !c.is_ascii_digit());
    let years: BTreeSet<&str> = runs.filter(|run| run.len() == 4).collect();
    !years.is_empty()
}
