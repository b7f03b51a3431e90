//! Accepting the items of a reply, one by one: each cites what was offered and is borne out by it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tmem_model::{Change, Ids, Item, ItemId, ItemKind, Scene, SceneId, Stage, Turn, TurnId};

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
        let taken = draft.take(element);
        let id = taken.map_err(|(why, note)| draft.tally.refuse_noting(why, note));
        draft.numbered.push(id.ok());
    }
    Ok(draft.change(step))
}

struct Draft<'a> {
    ctx: &'a Context<'a>,
    work: &'a TopicWork,
    turns: Vec<(&'a Scene, &'a Turn)>,
    /// What the numbers of `replaces` mean: the known items, then the elements so far.
    numbered: Vec<Option<ItemId>>,
    /// New items.
    items: Vec<Item>,
    /// Known items that the reply adds to.
    amended: BTreeMap<ItemId, Item>,
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
            numbered: work.known.iter().cloned().map(Some).collect(),
            items: Vec::new(),
            amended: BTreeMap::new(),
            ids,
            tally: Tally::default(),
        }
    }

    /// Takes an element as a new item, or as further turns of one that says the same.
    fn take(&mut self, element: &Value) -> Result<ItemId, Refused> {
        let text = text_of(element).ok_or_else(|| ("no text", format!("items: {element}")))?;
        let cited = self.cited(element, &text)?;
        let scenes = self.scenes(element, &cited, &text)?;
        self.supported(&text, &cited)?;
        let replaced = self.replaced(element, &text);
        if let Some(same) = self.same(&text, &scenes).filter(|_| replaced.is_empty()) {
            self.merge(&same, &cited);
            return Ok(same);
        }
        self.room(&text, &scenes)?;
        let item = self.item(&text, &cited, scenes);
        let id = item.id.clone();
        self.items.push(item);
        for other in replaced {
            self.supersede(&id, &other);
        }
        Ok(id)
    }

    fn item(&mut self, text: &str, cited: &[&Turn], scenes: Vec<SceneId>) -> Item {
        let (text, undated) = dated(text, cited);
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
        Item {
            id: self.ids.item(),
            kind,
            text,
            scenes,
            turns,
            supersedes: Vec::new(),
            triggers: Vec::new(),
            extra,
        }
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
        scenes.sort_by_cached_key(|id| (self.ctx.place(id), id.clone()));
        scenes.dedup();
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

    /// The item of the same scenes that says the same.
    fn same(&self, text: &str, scenes: &[SceneId]) -> Option<ItemId> {
        let own = words(text);
        let known = scenes.iter().flat_map(|id| self.ctx.memory.items_of(id));
        let mut near = known
            .chain(&self.items)
            .filter(|item| item.scenes == scenes && overlap(&words(&item.text), &own) >= SAME);
        near.next().map(|item| item.id.clone())
    }

    /// The turns cited here join those that say it already.
    fn merge(&mut self, same: &ItemId, cited: &[&Turn]) {
        self.tally.refuse("already known");
        let order = self.turns.iter().map(|(_, turn)| &turn.id);
        let order: BTreeMap<&TurnId, usize> = order.enumerate().map(|(at, id)| (id, at)).collect();
        let Some(item) = self.known(same) else { return };
        let new = cited.iter().filter(|turn| !item.turns.contains(&turn.id));
        let mut turns = item.turns.clone();
        turns.extend(new.map(|turn| turn.id.clone()));
        if turns.len() > item.turns.len() {
            turns.sort_by_key(|id| order.get(id).copied());
            self.amend(same).turns = turns;
        }
    }

    fn room(&self, text: &str, scenes: &[SceneId]) -> Result<(), Refused> {
        let here = self.items.iter().filter(|item| item.scenes == scenes);
        if here.count() < self.ctx.config.items_per_scene {
            return Ok(());
        }
        Err((
            "more items than a scene may have",
            format!("items: {text:?}"),
        ))
    }

    /// The items that an element says it replaces, as far as they share a word with it.
    fn replaced(&mut self, element: &Value, text: &str) -> Vec<ItemId> {
        let (labels, bad) = labels_at(element, "replaces", self.numbered.len());
        let own = words(text);
        let mut found = Vec::new();
        for id in labels
            .into_iter()
            .filter_map(|label| self.numbered[label].clone())
        {
            let near = self
                .known(&id)
                .is_some_and(|item| !words(&item.text).is_disjoint(&own));
            if near {
                found.push(id);
            } else {
                self.tally.refuse("replaces a fact it shares no word with");
            }
        }
        if !bad.is_empty() {
            let note = format!("items: {text:?} replaces {}", bad.join(", "));
            self.tally
                .refuse_noting("replaces a fact that was not offered", note);
        }
        found
    }

    /// Whichever of two items was said later supersedes the other; at one time, `new` does.
    fn supersede(&mut self, new: &ItemId, other: &ItemId) {
        let said = |id| self.known(id).and_then(|item| self.ctx.memory.said(item));
        let late = matches!((said(new), said(other)), (Some(new), Some(other)) if new < other);
        let (later, earlier) = if late { (other, new) } else { (new, other) };
        if !self.rests_on(earlier, later) {
            let supersedes = &mut self.amend(later).supersedes;
            supersedes.push(earlier.clone());
            supersedes.sort();
            supersedes.dedup();
        }
    }

    /// Whether `item` supersedes `other`, over however many others.
    fn rests_on(&self, item: &ItemId, other: &ItemId) -> bool {
        let earlier = self.known(item).map_or(&[][..], |item| &item.supersedes);
        item == other || earlier.iter().any(|id| self.rests_on(id, other))
    }

    /// An item as it stands: new, amended or of the memory.
    fn known(&self, id: &ItemId) -> Option<&Item> {
        let new = self.items.iter().find(|item| item.id == *id);
        new.or_else(|| self.amended.get(id))
            .or_else(|| self.ctx.memory.item(id))
    }

    fn amend(&mut self, id: &ItemId) -> &mut Item {
        if let Some(at) = self.items.iter().position(|item| item.id == *id) {
            return &mut self.items[at];
        }
        let known = || {
            self.ctx
                .memory
                .item(id)
                .expect("what is not new is known")
                .clone()
        };
        self.amended.entry(id.clone()).or_insert_with(known)
    }

    fn change(mut self, step: &Step) -> Change {
        self.tally.kept = self.items.len();
        let (conversation, result) = (self.ctx.conversation, self.tally.result());
        let row = |target: &String| done(conversation, Stage::Items, target, result.clone());
        let jobs: Vec<_> = step.targets().iter().map(row).collect();
        let items = self.items.into_iter().chain(self.amended.into_values());
        Change {
            items: items.collect(),
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
