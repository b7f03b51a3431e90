//! Calls answered elsewhere: waiting calls go out as JSON Lines in the OpenAI Batch format, answers
//! come back the same way.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    call::{Call, CallKey, CallLog},
    dialect::Dialect,
    logged::now,
    wire,
};

/// One line for every waiting call, in order; `custom_id` is its key.
pub fn export<'a>(calls: impl IntoIterator<Item = &'a Call>, dialect: Dialect) -> String {
    let waiting = calls.into_iter().filter(|call| call.is_waiting());
    waiting
        .map(|call| format!("{}\n", export_line(call, dialect)))
        .collect()
}

fn export_line(call: &Call, dialect: Dialect) -> Value {
    json!({
        "custom_id": call.key,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": wire::body(&call.model, &call.request, dialect),
    })
}

/// What an import found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Imported {
    /// Calls that are answered now.
    pub answered: usize,
    /// Calls that came back with an error, and which: they are asked again in the next round.
    pub failed: Vec<String>,
    /// Waiting calls without a line.
    pub missing: usize,
    /// Lines of calls that were answered before.
    pub repeated: usize,
    /// Lines of calls that the log does not know: of another run. Nothing of them is kept.
    pub foreign: usize,
    /// Lines that could not be read, with their numbers.
    pub unreadable: Vec<String>,
}

/// Reads answers back into the log.
///
/// # Errors
/// A message if the log cannot be read or written; lines before that are kept.
pub fn import(text: &str, log: &dyn CallLog) -> Result<Imported, String> {
    let mut waiting: BTreeSet<CallKey> = log.waiting()?.into_iter().map(|call| call.key).collect();
    let mut imported = Imported::default();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let line = tmem_quirks::mend_surrogates(line);
        let Some((key, line)) = parse(&line) else {
            imported.unreadable.push(format!("line {}", number + 1));
            continue;
        };
        match log.find(&key)? {
            None => imported.foreign += 1,
            Some(_) if !waiting.remove(&key) => imported.repeated += 1,
            Some(call) => take(call, &line, log, &mut imported)?,
        }
    }
    imported.missing = waiting.len();
    Ok(imported)
}

fn parse(line: &str) -> Option<(CallKey, Value)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let key = CallKey(line.get("custom_id")?.as_str()?.to_owned());
    Some((key, line))
}

fn take(
    mut call: Call,
    line: &Value,
    log: &dyn CallLog,
    imported: &mut Imported,
) -> Result<(), String> {
    let body = &line["response"]["body"];
    let reply = match fault(line) {
        None => wire::reply(body, &call.request, false)
            .ok_or_else(|| "the answer holds no choice".to_owned()),
        Some(fault) => Err(fault),
    };
    match reply {
        Ok(reply) => {
            call.answered(reply, now());
            imported.answered += 1;
        }
        Err(fault) => {
            imported.failed.push(format!(
                "{}: {}: {fault}",
                call.key, call.request.prompt.name
            ));
            call.spent.use_tokens(wire::usage(body).unwrap_or_default());
            call.failed(fault, now());
        }
    }
    log.record(&call)
}

/// The error of a line: its own, that of its status, or that inside of its body.
fn fault(line: &Value) -> Option<String> {
    let response = &line["response"];
    let status = response["status_code"].as_u64().unwrap_or(200);
    let errors = [&line["error"], &response["body"]["error"]];
    let error = errors.into_iter().find(|error| !error.is_null());
    let text = error.map(|error| {
        error["message"]
            .as_str()
            .map_or_else(|| error.to_string(), str::to_owned)
    });
    match (text, status) {
        (Some(text), 200..300) => Some(text),
        (None, 200..300) if response.is_object() => None,
        (None, 200..300) => Some("the line holds no response".to_owned()),
        (text, 413) => Some(format!(
            "the request is too large for the server: {}",
            text.unwrap_or_default()
        )),
        (text, status) => Some(format!("status {status}: {}", text.unwrap_or_default())),
    }
}
