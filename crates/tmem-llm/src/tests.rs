//! Replies as models and servers really give them, and what becomes of them.

mod batches;
#[cfg(feature = "http")]
mod endpoints;
mod extraction;
mod logs;
mod reading;
mod schemas;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Each, Finish, Message, Params, Prompt, Reply, ReplySchema, Request, Usage};

/// A list of boats, as a reply.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct Fleet {
    boats: Each<Boat>,
}

/// A boat that somebody mentioned.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct Boat {
    /// What it is called.
    name: String,
}

impl Fleet {
    /// Names of the accepted boats.
    fn names(&self) -> String {
        self.boats
            .accepted()
            .map(|boat| boat.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

const FLEET: &str = r#"{"boats":[{"name":"Heron"}]}"#;

fn prompt() -> Prompt {
    Prompt {
        name: "boats".to_owned(),
        version: 3,
    }
}

fn messages() -> Vec<Message> {
    vec![
        Message::system("List the boats."),
        Message::user("The Heron sails at noon."),
    ]
}

fn params() -> Params {
    Params {
        max_tokens: 100,
        temperature: Some(0.0),
    }
}

fn request() -> Request {
    let schema = Some(ReplySchema::of::<Fleet>("boats").unwrap());
    Request {
        prompt: prompt(),
        messages: messages(),
        schema,
        params: params(),
    }
}

fn reply(text: &str, finish: Finish, tokens: u64) -> Reply {
    let usage = Some(Usage {
        prompt_tokens: tokens,
        completion_tokens: 0,
    });
    Reply {
        text: text.to_owned(),
        finish,
        usage,
    }
}

fn stop(text: &str) -> Reply {
    reply(text, Finish::Stop, 10)
}
