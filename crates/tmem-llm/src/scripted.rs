//! A model made of a function: for tests of everything that asks a model.

use std::sync::Mutex;

use async_trait::async_trait;

use crate::{
    chat::{ChatModel, Reply, Request},
    error::LlmError,
};

type Script = dyn Fn(&Request) -> Result<Reply, LlmError> + Send + Sync;

/// A model that answers with a function and remembers what it was asked.
pub struct ScriptedModel {
    name: String,
    script: Box<Script>,
    asked: Mutex<Vec<Request>>,
}

impl ScriptedModel {
    /// A model named `scripted`.
    pub fn new<F>(script: F) -> Self
    where
        F: Fn(&Request) -> Result<Reply, LlmError> + Send + Sync + 'static,
    {
        Self {
            name: "scripted".to_owned(),
            script: Box::new(script),
            asked: Mutex::default(),
        }
    }

    /// Always the same text.
    pub fn saying(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(move |_| Ok(Reply::text(text.clone())))
    }

    /// These replies in turn; the last one again and again.
    ///
    /// # Panics
    /// When asked without any reply.
    pub fn replies(replies: Vec<Reply>) -> Self {
        let next = Mutex::new(replies.into_iter().peekable());
        Self::new(move |_| {
            let mut next = next
                .lock()
                .expect("no script panics while it holds the lock");
            let reply = next.next().expect("a script has at least one reply");
            if next.peek().is_none() {
                *next = vec![reply.clone()].into_iter().peekable();
            }
            Ok(reply)
        })
    }

    /// The same model under another name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// What it was asked so far, in order.
    pub fn asked(&self) -> Vec<Request> {
        self.asked
            .lock()
            .expect("nothing panics while it holds the lock")
            .clone()
    }
}

#[async_trait]
impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        self.asked
            .lock()
            .expect("nothing panics while it holds the lock")
            .push(request.clone());
        (self.script)(request)
    }
}
