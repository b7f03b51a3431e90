//! The tables.

use rusqlite::Connection;

/// Version of the tables below; a file with a higher one is left alone.
pub(crate) const SCHEMA: u32 = 2;

/// The tables of nodes that are read and written alike: nothing but ids and a JSON body.
pub(crate) const NODES: [&str; 3] = ["scenes", "topics", "items"];

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS conversations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL, conversation TEXT NOT NULL,
    body TEXT, ids TEXT, UNIQUE (space, conversation));
CREATE TABLE IF NOT EXISTS turns (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL, conversation TEXT NOT NULL,
    id TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (space, conversation, id));
CREATE TABLE IF NOT EXISTS personas (
    space INTEGER NOT NULL, conversation TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (space, conversation, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
    space INTEGER NOT NULL, conversation TEXT NOT NULL, stage TEXT NOT NULL, id TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (space, conversation, stage, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (
    space INTEGER NOT NULL, conversation TEXT NOT NULL, family TEXT NOT NULL, id TEXT NOT NULL,
    ordinal INTEGER NOT NULL, fired INTEGER NOT NULL, used INTEGER NOT NULL,
    PRIMARY KEY (space, conversation, family, id, ordinal)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calls (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, prompt TEXT NOT NULL,
    model TEXT NOT NULL, state TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (
    encoder TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (encoder, hash)) WITHOUT ROWID;
";

/// Schema version of a file; 0 if it has no tables yet.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Makes the tables of a new file, and those that an older one lacks.
pub(crate) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let behaviour = rusqlite::TransactionBehavior::Immediate;
    let transaction = connection.transaction_with_behavior(behaviour)?;
    transaction.execute_batch(TABLES)?;
    for table in NODES {
        transaction.execute_batch(&format!(
            "CREATE TABLE IF NOT EXISTS {table} (
                space INTEGER NOT NULL, conversation TEXT NOT NULL, id TEXT NOT NULL,
                body TEXT NOT NULL, PRIMARY KEY (space, conversation, id)) WITHOUT ROWID"
        ))?;
    }
    transaction.pragma_update(None, "user_version", SCHEMA)?;
    transaction.commit()
}
