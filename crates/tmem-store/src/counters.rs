//! How often each trigger fired and was of use: kept beside the memory, and gone with the trigger.
//!
//! Counts are no part of a space's state: they raise no generation and take no writer lock, so
//! those who only read can count. A host whose triggers are written anew begins anew.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tmem_model::{Change, ConversationId, Item, ItemId, Removed, Scene, SceneId, TriggerId};

use crate::Store;
use crate::error::{Doing, StoreError};
use crate::load::{conversation, find};
use crate::open::PATIENCE;
use crate::space::SpaceName;

/// How long counting waits for another process that writes; a count is not worth more.
const HASTE: Duration = Duration::from_millis(20);

/// How often a trigger fired, and how often that was of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TriggerCounts {
    /// Recalls in which it passed its gate and led to a candidate.
    pub fired: u64,
    /// Those of them in which what it led to became evidence.
    pub used: u64,
}

impl TriggerCounts {
    /// How often it fired for nothing.
    #[must_use]
    pub fn misfires(&self) -> u64 {
        self.fired.saturating_sub(self.used)
    }
}

impl Store {
    /// Adds to the counts of triggers, all or none; triggers whose host is not there any more are
    /// passed over. Does not wait for other processes for long.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written now.
    pub fn count_triggers(
        &self,
        space: &SpaceName,
        counts: &[(TriggerId, TriggerCounts)],
    ) -> Result<(), StoreError> {
        let mut inner = self.inner();
        inner.connection.busy_timeout(HASTE)?;
        let added = add(&mut inner.connection, space, counts);
        inner.connection.busy_timeout(PATIENCE)?;
        added
    }

    /// The counts of all triggers that ever fired, by trigger.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn trigger_counts(
        &self,
        space: &SpaceName,
    ) -> Result<Vec<(TriggerId, TriggerCounts)>, StoreError> {
        let inner = self.inner();
        let Some((space, _)) = find(&inner.connection, space)? else {
            return Ok(Vec::new());
        };
        let query = "SELECT conversation, family, id, ordinal, fired, used FROM counters
             WHERE space = ?1";
        let mut statement = inner.connection.prepare_cached(query)?;
        let mut rows = statement.query([space])?;
        let mut counts = Vec::new();
        while let Some(row) = rows.next().doing("reading counters")? {
            let (name, family): (String, String) = (row.get(0)?, row.get(1)?);
            let (id, ordinal): (String, i64) = (row.get(2)?, row.get(3)?);
            let trigger = trigger(&conversation(&name)?, &family, &id, ordinal);
            let (fired, used): (i64, i64) = (row.get(4)?, row.get(5)?);
            let (fired, used) = (fired.unsigned_abs(), used.unsigned_abs());
            counts.extend(trigger.map(|trigger| (trigger, TriggerCounts { fired, used })));
        }
        counts.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(counts)
    }
}

fn add(
    connection: &mut Connection,
    space: &SpaceName,
    counts: &[(TriggerId, TriggerCounts)],
) -> Result<(), StoreError> {
    let Some((space, _)) = find(connection, space)? else {
        return Ok(());
    };
    let transaction = connection.transaction().doing("counting")?;
    for (trigger, counts) in counts {
        add_one(&transaction, space, trigger, *counts).doing("counting")?;
    }
    transaction.commit().doing("counting")
}

fn add_one(
    transaction: &Transaction<'_>,
    space: i64,
    trigger: &TriggerId,
    counts: TriggerCounts,
) -> rusqlite::Result<()> {
    let Place {
        table,
        family,
        conversation,
        id,
        ordinal,
    } = Place::of(trigger);
    let upsert = format!(
        "INSERT INTO counters (space, conversation, family, id, ordinal, fired, used)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS
             (SELECT 1 FROM {table} WHERE space = ?1 AND conversation = ?2 AND id = ?4)
         ON CONFLICT (space, conversation, family, id, ordinal) DO UPDATE SET
             fired = fired + excluded.fired, used = used + excluded.used"
    );
    let (ordinal, fired, used) = (number(ordinal), number(counts.fired), number(counts.used));
    let conversation = conversation.as_str();
    let values = params![space, conversation, family, id, ordinal, fired, used];
    transaction.prepare_cached(&upsert)?.execute(values)?;
    Ok(())
}

/// Where a trigger is counted.
struct Place<'a> {
    table: &'static str,
    family: &'static str,
    conversation: &'a ConversationId,
    id: &'a str,
    ordinal: usize,
}

const ATTRIBUTE: &str = "attribute";
const HORIZON: &str = "horizon";
const ITEM: &str = "item";

impl<'a> Place<'a> {
    fn of(trigger: &'a TriggerId) -> Self {
        let (table, family, conversation, id, ordinal) = match trigger {
            TriggerId::Attribute(id, at) => {
                ("scenes", ATTRIBUTE, id.conversation(), id.local(), *at)
            }
            TriggerId::Horizon(id, at) => ("scenes", HORIZON, id.conversation(), id.local(), *at),
            TriggerId::Item(id, at) => ("items", ITEM, id.conversation(), id.local(), *at),
        };
        Self {
            table,
            family,
            conversation,
            id,
            ordinal,
        }
    }
}

fn trigger(
    conversation: &ConversationId,
    family: &str,
    id: &str,
    ordinal: i64,
) -> Option<TriggerId> {
    let at = usize::try_from(ordinal).ok()?;
    match family {
        ATTRIBUTE => Some(TriggerId::Attribute(
            SceneId::new(conversation, id).ok()?,
            at,
        )),
        HORIZON => Some(TriggerId::Horizon(SceneId::new(conversation, id).ok()?, at)),
        ITEM => Some(TriggerId::Item(ItemId::new(conversation, id).ok()?, at)),
        _ => None,
    }
}

fn number(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

/// Counts of hosts that go.
pub(crate) fn forget_removed(
    connection: &Connection,
    space: i64,
    removed: &Removed,
) -> rusqlite::Result<()> {
    let counters = Counters { connection, space };
    let mut scenes = removed.scenes.iter();
    scenes
        .try_for_each(|id| counters.forget(&[ATTRIBUTE, HORIZON], id.conversation(), id.local()))?;
    let mut items = removed.items.iter();
    items.try_for_each(|id| counters.forget(&[ITEM], id.conversation(), id.local()))
}

/// Counts of hosts that a change, not yet written, gives other triggers.
pub(crate) fn forget_outdated(
    connection: &Connection,
    space: i64,
    change: &Change,
) -> rusqlite::Result<()> {
    let counters = Counters { connection, space };
    for new in &change.scenes {
        let (conversation, id) = (new.id.conversation(), new.id.local());
        let old: Option<Scene> = counters.body("scenes", conversation, id)?;
        let same = |old: Scene| {
            old.scene_trigger == new.scene_trigger && old.horizon_triggers == new.horizon_triggers
        };
        if !old.is_some_and(same) {
            counters.forget(&[ATTRIBUTE, HORIZON], conversation, id)?;
        }
    }
    for new in &change.items {
        let (conversation, id) = (new.id.conversation(), new.id.local());
        let old: Option<Item> = counters.body("items", conversation, id)?;
        if !old.is_some_and(|old| old.triggers == new.triggers) {
            counters.forget(&[ITEM], conversation, id)?;
        }
    }
    Ok(())
}

struct Counters<'a> {
    connection: &'a Connection,
    space: i64,
}

impl Counters<'_> {
    fn forget(
        &self,
        families: &[&str],
        conversation: &ConversationId,
        id: &str,
    ) -> rusqlite::Result<()> {
        let delete = "DELETE FROM counters
             WHERE space = ?1 AND conversation = ?2 AND family = ?3 AND id = ?4";
        let mut statement = self.connection.prepare_cached(delete)?;
        families.iter().try_for_each(|family| {
            let key = params![self.space, conversation.as_str(), family, id];
            statement.execute(key).map(drop)
        })
    }

    /// The node as it is stored; `None` if it is not there or not readable.
    fn body<T: DeserializeOwned>(
        &self,
        table: &str,
        conversation: &ConversationId,
        id: &str,
    ) -> rusqlite::Result<Option<T>> {
        let query =
            format!("SELECT body FROM {table} WHERE space = ?1 AND conversation = ?2 AND id = ?3");
        let mut statement = self.connection.prepare_cached(&query)?;
        let key = params![self.space, conversation.as_str(), id];
        let body: Option<String> = statement.query_row(key, |row| row.get(0)).optional()?;
        Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
    }
}
