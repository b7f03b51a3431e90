//! Reads a space back.

use rusqlite::{Connection, OptionalExtension};
use serde::de::DeserializeOwned;
use tmem_model::{Change, ConversationId, Heading, Ids, Job, Memory};

use crate::Store;
use crate::error::{Doing, StoreError};
use crate::space::SpaceName;

/// What is stored of a space.
#[derive(Debug, Default)]
pub struct Saved {
    /// Its memory.
    pub memory: Memory,
    /// Its jobs: by conversation, stage and target.
    pub jobs: Vec<Job>,
    /// How many changes were committed to it; 0 if there never was such a space.
    pub generation: u64,
}

impl Store {
    /// Everything stored of a space; an unknown space is empty and of generation 0.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read or its rows make no memory.
    pub fn load(&self, space: &SpaceName) -> Result<Saved, StoreError> {
        let mut inner = self.inner();
        let transaction = inner.connection.transaction().doing("reading a space")?;
        let saved = match find(&transaction, space)? {
            Some((id, generation)) => read(&transaction, space, id, generation)?,
            None => Saved::default(),
        };
        drop(transaction);
        inner.seen.insert(space.clone(), saved.generation);
        Ok(saved)
    }

    /// How many changes were committed to a space, by any process; 0 for an unknown one.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn generation(&self, space: &SpaceName) -> Result<u64, StoreError> {
        Ok(find(&self.inner().connection, space)?.map_or(0, |(_, generation)| generation))
    }
}

/// Row id and generation of a space.
pub(crate) fn find(
    connection: &Connection,
    space: &SpaceName,
) -> Result<Option<(i64, u64)>, StoreError> {
    let query = "SELECT id, generation FROM spaces WHERE name = ?1";
    let row = connection.query_row(query, [space.as_str()], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
    });
    row.optional().doing("finding a space")
}

fn read(
    connection: &Connection,
    space: &SpaceName,
    id: i64,
    generation: u64,
) -> Result<Saved, StoreError> {
    let (headings, ids) = conversations(connection, id)?;
    let change = Change {
        headings,
        ids,
        turns: bodies(connection, "turns", "seq", id)?,
        scenes: bodies(connection, "scenes", "conversation, id", id)?,
        topics: bodies(connection, "topics", "conversation, id", id)?,
        items: bodies(connection, "items", "conversation, id", id)?,
        personas: bodies(connection, "personas", "conversation, id", id)?,
        ..Change::default()
    };
    let mut memory = Memory::new();
    let applied = memory.apply(&change);
    applied.map_err(|source| StoreError::Memory {
        space: space.clone(),
        source: source.into(),
    })?;
    let mut jobs: Vec<Job> = bodies(connection, "jobs", "conversation, stage, id", id)?;
    jobs.sort_by_cached_key(Job::key);
    Ok(Saved {
        memory,
        jobs,
        generation,
    })
}

/// Headings and ids of all conversations, in order of first arrival.
fn conversations(
    connection: &Connection,
    space: i64,
) -> Result<(Vec<Heading>, Vec<Ids>), StoreError> {
    let query = "SELECT conversation, body, ids FROM conversations WHERE space = ?1 ORDER BY seq";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([space])?;
    let (mut headings, mut ids) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next().doing("reading conversations")? {
        let name: String = row.get(0)?;
        let (heading, counts) = (
            row.get::<_, Option<String>>(1)?,
            row.get::<_, Option<String>>(2)?,
        );
        headings.push(match heading {
            Some(body) => parse("conversations", &name, &body)?,
            None => Heading::new(conversation(&name)?),
        });
        if let Some(body) = counts {
            ids.push(parse("conversations", &name, &body)?);
        }
    }
    Ok((headings, ids))
}

pub(crate) fn conversation(name: &str) -> Result<ConversationId, StoreError> {
    let quoted = serde_json::Value::String(name.to_owned());
    serde_json::from_value(quoted).map_err(|source| row_error("conversations", name, source))
}

fn bodies<T: DeserializeOwned>(
    connection: &Connection,
    table: &'static str,
    order: &str,
    space: i64,
) -> Result<Vec<T>, StoreError> {
    let query = format!("SELECT id, body FROM {table} WHERE space = ?1 ORDER BY {order}");
    let mut statement = connection.prepare_cached(&query)?;
    let mut rows = statement.query([space])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().doing("reading a space")? {
        let id = row.get_ref(0)?.as_str().unwrap_or("?");
        let body = row.get_ref(1)?.as_str().unwrap_or_default();
        found.push(parse(table, id, body)?);
    }
    Ok(found)
}

fn parse<T: DeserializeOwned>(table: &'static str, id: &str, body: &str) -> Result<T, StoreError> {
    serde_json::from_str(body).map_err(|source| row_error(table, id, source))
}

fn row_error(table: &'static str, id: &str, source: serde_json::Error) -> StoreError {
    StoreError::Row {
        table,
        id: id.to_owned(),
        source,
    }
}
