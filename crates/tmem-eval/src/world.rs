//! One memory under examination, with everything that the systems search in it.

use std::collections::{BTreeMap, BTreeSet};

use tmem_index::{IndexConfig, Indices, rows};
use tmem_model::{Change, Memory, Turn, TurnId};

use crate::dataset::Session;
use crate::embed::{TextKind, Vectors};
use crate::error::EvalError;
use crate::flat::{self, Flat, Unit};

/// A memory and its indices, and the same dialogue cut flat.
#[derive(Debug)]
pub struct World {
    /// What is examined, for messages.
    pub name: String,
    memory: Option<(Memory, Indices)>,
    flats: BTreeMap<Unit, Flat>,
    turns: BTreeMap<TurnId, Turn>,
    pieces: BTreeMap<Unit, usize>,
}

/// What a world is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What is examined, for messages.
    pub name: String,
    /// Builds the memory; `None` where only flat systems are asked.
    pub memory: Option<Change>,
    /// The dialogue, cues included.
    pub sessions: Vec<Session>,
    /// Sizes of pieces that flat systems need.
    pub units: BTreeSet<Unit>,
}

impl Parts {
    fn memory(&self) -> Result<Option<Memory>, EvalError> {
        let Some(change) = &self.memory else {
            return Ok(None);
        };
        let mut memory = Memory::new();
        memory
            .apply(change)
            .map_err(|e| EvalError::format(&self.name, e.to_string()))?;
        Ok(Some(memory))
    }

    /// Every text of it that wants a vector.
    ///
    /// # Errors
    /// [`EvalError::Format`] if the memory breaks its rules.
    pub fn texts(&self) -> Result<Vec<String>, EvalError> {
        let memory = self.memory()?;
        let rows = memory.as_ref().map(rows).unwrap_or_default();
        let flat = self
            .units
            .iter()
            .flat_map(|unit| flat::texts(*unit, &self.sessions));
        Ok(rows.into_iter().map(|row| row.text).chain(flat).collect())
    }
}

impl World {
    /// Indexes `parts` with `vectors`, in which every text of theirs must be.
    ///
    /// # Errors
    /// [`EvalError`] if the memory breaks its rules, a vector is missing or an index fails.
    pub fn new(parts: &Parts, vectors: &Vectors, gate: Option<f32>) -> Result<Self, EvalError> {
        let memory = match parts.memory()? {
            Some(memory) => Some(indexed(&parts.name, memory, vectors, gate)?),
            None => None,
        };
        let flats = parts
            .units
            .iter()
            .map(|unit| Flat::new(*unit, &parts.sessions, vectors).map(|flat| (*unit, flat)));
        let flats = flats.collect::<Result<BTreeMap<_, _>, _>>()?;
        let turns = parts.sessions.iter().flat_map(|session| &session.turns);
        Ok(Self {
            name: parts.name.clone(),
            memory,
            pieces: flats
                .iter()
                .map(|(unit, flat)| (*unit, flat.len()))
                .collect(),
            flats,
            turns: turns.map(|turn| (turn.id.clone(), turn.clone())).collect(),
        })
    }

    /// The memory and its indices.
    ///
    /// # Errors
    /// [`EvalError::Setting`] if it was made without one.
    pub fn memory(&self) -> Result<(&Memory, &Indices), EvalError> {
        let memory = self
            .memory
            .as_ref()
            .map(|(memory, indices)| (memory, indices));
        memory.ok_or_else(|| EvalError::Setting(format!("{} has no memory document", self.name)))
    }

    /// The pieces of `unit`.
    ///
    /// # Errors
    /// [`EvalError::Setting`] if it was made without them.
    pub fn flat(&self, unit: Unit) -> Result<&Flat, EvalError> {
        let flat = self.flats.get(&unit);
        flat.ok_or_else(|| EvalError::Setting(format!("{} was not cut by {unit}", self.name)))
    }

    /// A turn of the dialogue.
    #[must_use]
    pub fn turn(&self, id: &TurnId) -> Option<&Turn> {
        self.turns.get(id)
    }

    /// All turns, by id.
    pub fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.turns.values()
    }

    /// How many scenes, or pieces of `unit`, there are.
    #[must_use]
    pub fn pieces(&self, unit: Option<Unit>) -> usize {
        match unit {
            Some(unit) => self.pieces.get(&unit).copied().unwrap_or(0),
            None => self
                .memory
                .as_ref()
                .map_or(0, |(memory, _)| memory.scenes().count()),
        }
    }
}

fn indexed(
    name: &str,
    memory: Memory,
    vectors: &Vectors,
    gate: Option<f32>,
) -> Result<(Memory, Indices), EvalError> {
    let rows = rows(&memory).into_iter().map(|row| {
        let vector = if vectors.is_empty() {
            None
        } else {
            vectors.get(TextKind::Passage, &row.text)?
        };
        Ok((row, vector))
    });
    let rows = rows.collect::<Result<Vec<_>, EvalError>>()?;
    let config = IndexConfig {
        gate,
        ..IndexConfig::default()
    };
    let fault = |e: tmem_index::IndexError| EvalError::Index {
        what: name.to_owned(),
        message: e.to_string(),
    };
    let indices = Indices::build(&memory, rows, &config).map_err(fault)?;
    Ok((memory, indices))
}
