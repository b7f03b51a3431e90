//! Writes a change: all of it in one transaction.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::Serialize;
use tmem_model::{Change, ConversationId, Ids, Job, JobKey, Removed, Stage};

use crate::Store;
use crate::counters::{forget_outdated, forget_removed};
use crate::error::{Doing, StoreError};
use crate::load::find;
use crate::space::SpaceName;

/// Every table whose rows belong to a conversation of a space.
const TABLES: [&str; 8] = [
    "conversations",
    "turns",
    "scenes",
    "topics",
    "items",
    "personas",
    "jobs",
    "counters",
];

impl Store {
    /// Writes a change to a space, all of it or none, and yields the space's new generation. It is
    /// on disk when this returns. Committing a change once more changes nothing but the generation.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes, [`StoreError::Stale`] if one has written
    /// since this store last saw the space, else if the file cannot be written.
    pub fn commit(&self, space: &SpaceName, change: &Change) -> Result<u64, StoreError> {
        let mut inner = self.inner();
        inner.lock(&self.folder)?;
        let seen = inner.seen.get(space).copied();
        let behaviour = TransactionBehavior::Immediate;
        let transaction = inner.connection.transaction_with_behavior(behaviour);
        let transaction = transaction.doing("beginning to write")?;
        let (id, generation) = enter(&transaction, space)?;
        if seen.is_some_and(|seen| seen != generation) {
            return Err(StoreError::Stale {
                space: space.clone(),
            });
        }
        write(&transaction, id, change).doing("writing a change")?;
        let raise = "UPDATE spaces SET generation = generation + 1 WHERE id = ?1";
        transaction.execute(raise, [id]).doing("writing a change")?;
        transaction.commit().doing("writing a change")?;
        inner.seen.insert(space.clone(), generation + 1);
        Ok(generation + 1)
    }

    /// Removes a space with everything in it; calls and vectors belong to the folder and stay.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes, else if the file cannot be written.
    pub fn remove_space(&self, space: &SpaceName) -> Result<(), StoreError> {
        let mut inner = self.inner();
        inner.lock(&self.folder)?;
        let transaction = inner.connection.transaction().doing("removing a space")?;
        if let Some((id, _)) = find(&transaction, space)? {
            for table in TABLES {
                let delete = format!("DELETE FROM {table} WHERE space = ?1");
                transaction
                    .execute(&delete, [id])
                    .doing("removing a space")?;
            }
            transaction.execute("DELETE FROM spaces WHERE id = ?1", [id])?;
        }
        transaction.commit().doing("removing a space")?;
        inner.seen.remove(space);
        Ok(())
    }
}

/// Row id and generation of a space, which is made if it is new.
fn enter(connection: &Connection, space: &SpaceName) -> Result<(i64, u64), StoreError> {
    let insert = "INSERT OR IGNORE INTO spaces (name, generation) VALUES (?1, 0)";
    connection
        .execute(insert, [space.as_str()])
        .doing("making a space")?;
    Ok(find(connection, space)?.expect("the space was just made"))
}

fn write(connection: &Connection, space: i64, change: &Change) -> rusqlite::Result<()> {
    remove(connection, space, &change.removed)?;
    let rows = Rows { connection, space };
    for heading in &change.headings {
        rows.conversation(&heading.conversation)?;
        rows.heading(&heading.conversation, heading)?;
    }
    for turn in &change.turns {
        rows.conversation(turn.id.conversation())?;
        rows.put("turns", turn.id.conversation(), turn.id.local(), turn)?;
    }
    forget_outdated(connection, space, change)?;
    for scene in &change.scenes {
        rows.put("scenes", scene.id.conversation(), scene.id.local(), scene)?;
    }
    for topic in &change.topics {
        rows.put("topics", topic.id.conversation(), topic.id.local(), topic)?;
    }
    for item in &change.items {
        rows.put("items", item.id.conversation(), item.id.local(), item)?;
    }
    for persona in &change.personas {
        rows.put("personas", &persona.conversation, &persona.speaker, persona)?;
    }
    change.jobs.iter().try_for_each(|job| rows.job(job))?;
    ids_of(change).iter().try_for_each(|ids| rows.raise(ids))
}

/// The ids that a change gives away, conversation by conversation.
fn ids_of(change: &Change) -> Vec<Ids> {
    let mut all: Vec<Ids> = change.ids.clone();
    let mut of = |conversation: &ConversationId, note: &dyn Fn(&mut Ids)| {
        let at = all.iter().position(|ids| ids.conversation == *conversation);
        let at = at.unwrap_or_else(|| {
            all.push(Ids::new(conversation.clone()));
            all.len() - 1
        });
        note(&mut all[at]);
    };
    for scene in &change.scenes {
        of(scene.id.conversation(), &|ids| ids.saw_scene(&scene.id));
    }
    for topic in &change.topics {
        of(topic.id.conversation(), &|ids| ids.saw_topic(&topic.id));
    }
    for item in &change.items {
        of(item.id.conversation(), &|ids| ids.saw_item(&item.id));
    }
    all
}

struct Rows<'a> {
    connection: &'a Connection,
    space: i64,
}

impl Rows<'_> {
    fn put(
        &self,
        table: &str,
        conversation: &ConversationId,
        id: &str,
        body: &impl Serialize,
    ) -> rusqlite::Result<()> {
        let upsert = format!(
            "INSERT INTO {table} (space, conversation, id, body) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (space, conversation, id) DO UPDATE SET body = excluded.body"
        );
        let mut statement = self.connection.prepare_cached(&upsert)?;
        statement.execute(params![self.space, conversation.as_str(), id, json(body)])?;
        Ok(())
    }

    /// Notes the arrival of a conversation.
    fn conversation(&self, conversation: &ConversationId) -> rusqlite::Result<()> {
        let insert = "INSERT OR IGNORE INTO conversations (space, conversation) VALUES (?1, ?2)";
        let mut statement = self.connection.prepare_cached(insert)?;
        statement.execute(params![self.space, conversation.as_str()])?;
        Ok(())
    }

    fn heading(&self, name: &ConversationId, body: &impl Serialize) -> rusqlite::Result<()> {
        let update = "UPDATE conversations SET body = ?3 WHERE space = ?1 AND conversation = ?2";
        self.connection
            .execute(update, params![self.space, name.as_str(), json(body)])?;
        Ok(())
    }

    fn job(&self, job: &Job) -> rusqlite::Result<()> {
        let upsert = "INSERT INTO jobs (space, conversation, stage, id, body)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (space, conversation, stage, id) DO UPDATE SET body = excluded.body";
        let mut statement = self.connection.prepare_cached(upsert)?;
        let (conversation, stage) = (job.conversation.as_str(), stage(job.stage));
        statement.execute(params![
            self.space,
            conversation,
            stage,
            job.target,
            json(job)
        ])?;
        Ok(())
    }

    fn raise(&self, ids: &Ids) -> rusqlite::Result<()> {
        self.conversation(&ids.conversation)?;
        let key = params![self.space, ids.conversation.as_str()];
        let query = "SELECT ids FROM conversations WHERE space = ?1 AND conversation = ?2";
        let known: Option<String> = self
            .connection
            .query_row(query, key, |row| row.get(0))
            .optional()?
            .flatten();
        let mut raised = ids.clone();
        if let Some(known) = known.and_then(|body| serde_json::from_str(&body).ok()) {
            raised.raise(&known);
        }
        let update = "UPDATE conversations SET ids = ?3 WHERE space = ?1 AND conversation = ?2";
        let name = ids.conversation.as_str();
        self.connection
            .execute(update, params![self.space, name, json(&raised)])?;
        Ok(())
    }
}

fn remove(connection: &Connection, space: i64, removed: &Removed) -> rusqlite::Result<()> {
    let delete = |table: &str, conversation: &ConversationId, id: &str| {
        let sql = format!("DELETE FROM {table} WHERE space = ?1 AND conversation = ?2 AND id = ?3");
        let mut statement = connection.prepare_cached(&sql)?;
        statement
            .execute(params![space, conversation.as_str(), id])
            .map(drop)
    };
    for conversation in &removed.conversations {
        for table in TABLES {
            let sql = format!("DELETE FROM {table} WHERE space = ?1 AND conversation = ?2");
            connection.execute(&sql, params![space, conversation.as_str()])?;
        }
    }
    removed
        .turns
        .iter()
        .try_for_each(|id| delete("turns", id.conversation(), id.local()))?;
    removed
        .scenes
        .iter()
        .try_for_each(|id| delete("scenes", id.conversation(), id.local()))?;
    removed
        .topics
        .iter()
        .try_for_each(|id| delete("topics", id.conversation(), id.local()))?;
    removed
        .items
        .iter()
        .try_for_each(|id| delete("items", id.conversation(), id.local()))?;
    forget_removed(connection, space, removed)?;
    let mut personas = removed.personas.iter();
    personas.try_for_each(|(conversation, who)| delete("personas", conversation, who))?;
    removed
        .jobs
        .iter()
        .try_for_each(|key| remove_job(connection, space, key))
}

fn remove_job(connection: &Connection, space: i64, key: &JobKey) -> rusqlite::Result<()> {
    let sql = "DELETE FROM jobs WHERE space = ?1 AND conversation = ?2 AND stage = ?3 AND id = ?4";
    let conversation = key.conversation.as_str();
    connection
        .execute(
            sql,
            params![space, conversation, stage(key.stage), key.target],
        )
        .map(drop)
}

fn stage(stage: Stage) -> String {
    json(&stage).trim_matches('"').to_owned()
}

fn json(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("nodes and jobs have only string keys")
}
