//! Call logs without a database: in memory, and as JSON Lines in a file (recordings, evaluation runs).

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::call::{Call, CallKey, CallLog};

/// Calls in memory, in the order in which they came first.
#[derive(Debug, Default)]
pub struct MemoryLog(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    calls: Vec<Call>,
    places: BTreeMap<CallKey, usize>,
}

impl MemoryLog {
    /// Reads a recording, one call a line; a later line of the same key replaces an earlier one.
    ///
    /// # Errors
    /// The number of the line that is no call, and why. A broken last line is left out: a program
    /// that was killed may have written half of it.
    pub fn from_jsonl(text: &str) -> Result<Self, String> {
        let log = Self::default();
        let whole = text.ends_with('\n');
        let lines: Vec<_> = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .collect();
        for (place, (number, line)) in lines.iter().enumerate() {
            match serde_json::from_str::<Call>(line) {
                Ok(call) => log.table().put(call),
                Err(_) if !whole && place + 1 == lines.len() => {
                    tracing::warn!(
                        line = number + 1,
                        "the last call of the recording is broken"
                    );
                }
                Err(error) => return Err(format!("line {}: {error}", number + 1)),
            }
        }
        Ok(log)
    }

    /// One call a line, in order.
    pub fn to_jsonl(&self) -> String {
        self.calls().iter().map(line).collect()
    }

    /// All calls, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.table().calls.clone()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn put(&mut self, call: Call) {
        match self.places.get(&call.key) {
            Some(place) => self.calls[*place] = call,
            None => {
                self.places.insert(call.key.clone(), self.calls.len());
                self.calls.push(call);
            }
        }
    }
}

impl CallLog for MemoryLog {
    fn find(&self, key: &CallKey) -> Result<Option<Call>, String> {
        let table = self.table();
        Ok(table
            .places
            .get(key)
            .map(|place| table.calls[*place].clone()))
    }

    fn record(&self, call: &Call) -> Result<(), String> {
        self.table().put(call.clone());
        Ok(())
    }

    fn waiting(&self) -> Result<Vec<Call>, String> {
        Ok(self
            .table()
            .calls
            .iter()
            .filter(|call| call.is_waiting())
            .cloned()
            .collect())
    }
}

/// Calls in a file of JSON Lines that only grows: the last line of a key counts.
#[derive(Debug)]
pub struct FileLog {
    calls: MemoryLog,
    file: Mutex<File>,
}

impl FileLog {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// If it cannot be read or written, or is no recording.
    pub fn open(path: &Path) -> io::Result<Self> {
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let invalid = |message| io::Error::new(io::ErrorKind::InvalidData, message);
        let calls = MemoryLog::from_jsonl(&text).map_err(invalid)?;
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            // The broken line has to end somewhere; it is passed over as long as it is the last.
            file = rewritten(path, &calls)?;
        }
        Ok(Self {
            calls,
            file: Mutex::new(file),
        })
    }

    /// All calls, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.calls.calls()
    }

    fn append(&self, call: &Call) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line(call).as_bytes())?;
        file.sync_data()
    }
}

impl CallLog for FileLog {
    fn find(&self, key: &CallKey) -> Result<Option<Call>, String> {
        self.calls.find(key)
    }

    fn record(&self, call: &Call) -> Result<(), String> {
        self.append(call).map_err(|error| error.to_string())?;
        self.calls.record(call)
    }

    fn waiting(&self) -> Result<Vec<Call>, String> {
        self.calls.waiting()
    }

    /// Counted until the file is closed; a line for every hit would make it grow without end.
    fn hit(&self, key: &CallKey) -> Result<(), String> {
        self.calls.hit(key)
    }
}

/// Writes the file anew without the half line at its end, in one step.
fn rewritten(path: &Path, calls: &MemoryLog) -> io::Result<File> {
    let aside = path.with_extension("rewritten");
    std::fs::write(&aside, calls.to_jsonl())?;
    std::fs::rename(&aside, path)?;
    OpenOptions::new().append(true).open(path)
}

fn line(call: &Call) -> String {
    let json = serde_json::to_string(call).expect("a call has only string keys");
    format!("{json}\n")
}
