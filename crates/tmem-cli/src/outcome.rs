//! What a command hands back: one value, printed as text or as JSON, and an exit code.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;
use serde_json::Value;

/// How a command ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything is done.
    #[default]
    Done = 0,
    /// It failed.
    Failed = 1,
    /// It was asked wrongly.
    Usage = 2,
    /// Something is left, failed or was refused; what could be done is done.
    Unfinished = 3,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    text: String,
    json: Value,
    pub(crate) exit: Exit,
}

impl Outcome {
    /// `json` as a machine reads it, `text` as a person does.
    pub(crate) fn new(text: impl Into<String>, json: impl Serialize) -> Self {
        let json = serde_json::to_value(json).expect("results hold nothing that JSON cannot say");
        Self {
            text: text.into(),
            json,
            exit: Exit::Done,
        }
    }

    /// The same with another exit code.
    pub(crate) fn exit(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// Writes it to standard output. A reader that has gone away is no failure.
    pub(crate) fn print(&self, as_json: bool) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let written = if as_json {
            serde_json::to_writer_pretty(&mut out, &self.json)
                .map_err(io::Error::from)
                .and_then(|()| out.write_all(b"\n"))
        } else {
            out.write_all(self.text.as_bytes())
                .and_then(|()| end_line(&mut out, &self.text))
        };
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

fn end_line(out: &mut impl Write, text: &str) -> io::Result<()> {
    if text.is_empty() || text.ends_with('\n') {
        Ok(())
    } else {
        out.write_all(b"\n")
    }
}
