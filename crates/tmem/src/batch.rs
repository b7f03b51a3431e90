//! Calls answered elsewhere, in bulk: out as JSON Lines, in as JSON Lines, round by round.

use tmem_llm::batch::{self, Imported};
use tmem_llm::{CallLog, Dialect};

use crate::error::TmemError;
use crate::tmem::Tmem;

impl Tmem {
    /// Calls that wait for an answer, in the OpenAI Batch format, and how many they are. Which ones
    /// there are is found by building with [`Options::batch`](crate::Options::batch) set.
    ///
    /// # Errors
    /// [`TmemError::Log`] if the call log cannot be read.
    pub fn batch_export(&self) -> Result<(String, usize), TmemError> {
        let waiting = self
            .shelf
            .waiting()
            .map_err(|message| TmemError::Log { message })?;
        Ok((batch::export(&waiting, Dialect::default()), waiting.len()))
    }

    /// Reads answers back. Lines of other runs are counted and left alone.
    ///
    /// # Errors
    /// [`TmemError::Log`] if the call log cannot be read or written.
    pub fn batch_import(&self, lines: &str) -> Result<Imported, TmemError> {
        batch::import(lines, &*self.shelf).map_err(|message| TmemError::Log { message })
    }

    /// Every answered call, a line each: a recording for [`Options::replay`](crate::Options::replay).
    ///
    /// # Errors
    /// [`TmemError::Log`] if the call log cannot be read.
    pub fn recording(&self) -> Result<(String, usize), TmemError> {
        let answered: Vec<_> = self.shelf.calls()?;
        let answered: Vec<_> = answered
            .iter()
            .filter(|call| call.answer().is_some())
            .collect();
        let line = |call| serde_json::to_string(call).expect("a call has only string keys") + "\n";
        Ok((answered.iter().map(line).collect(), answered.len()))
    }
}
