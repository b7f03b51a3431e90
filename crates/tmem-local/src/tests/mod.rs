//! Tests against a tiny model that is written on the spot, and one against real weights if there
//! are any.

mod decoding;
mod files;
mod real;
mod replies;
mod tiny;

use tmem_llm::{Message, Params, Prompt, Reply, ReplySchema, Request, Role};

use crate::{LocalConfig, LocalModel};
use tiny::Tiny;

/// A request for JSON of that schema, or for text.
fn request(text: &str, schema: Option<serde_json::Value>, max_tokens: u32) -> Request {
    let message = |role, content: &str| Message {
        role,
        content: content.to_owned(),
    };
    Request {
        prompt: Prompt {
            name: "test".to_owned(),
            version: 1,
        },
        messages: vec![
            message(Role::System, "Answer in the shape that is asked for."),
            message(Role::User, text),
        ],
        schema: schema.map(|schema| ReplySchema {
            name: "reply".to_owned(),
            schema,
            without: Vec::new(),
        }),
        params: Params {
            max_tokens,
            temperature: Some(0.0),
        },
    }
}

/// A loaded tiny model.
fn model(config: &LocalConfig) -> LocalModel {
    let (_folder, path) = Tiny::new().write();
    LocalModel::load(&path, config).expect("a model that loads")
}

/// The reply to one request.
fn complete(model: &LocalModel, request: &Request) -> Result<Reply, tmem_llm::LlmError> {
    runtime().block_on(tmem_llm::ChatModel::complete(model, request))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
}

/// The tiny model's vocabulary.
pub(crate) fn vocab() -> crate::vocab::Vocab {
    let (_folder, path) = Tiny::new().write();
    let gguf = crate::gguf::Gguf::open(&path).expect("it opens");
    let rows = gguf.shape().expect("a shape").vocab;
    crate::vocab::Vocab::of(&gguf, rows).expect("a vocabulary")
}
