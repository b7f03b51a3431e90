//! A limit on what may be spent: asked before each call is paid for.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    call::Spent,
    chat::{ChatModel, Reply, Request, Verdict},
    error::LlmError,
};

/// Most that may be spent; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Calls.
    pub max_calls: Option<u64>,
    /// Tokens, read and written.
    pub max_tokens: Option<u64>,
}

impl Budget {
    /// The limit that `spent` has reached, in words.
    pub fn reached(&self, spent: &Spent) -> Option<String> {
        let calls = self
            .max_calls
            .filter(|max| spent.calls >= *max)
            .map(|max| format!("{max} calls"));
        let tokens = self.max_tokens.filter(|max| spent.tokens() >= *max);
        calls.or_else(|| tokens.map(|max| format!("{max} tokens")))
    }
}

/// A model that answers until the budget is used up. It belongs inside of a
/// [`LoggedModel`](crate::LoggedModel), where calls answered from the log do not reach it.
///
/// Calls are counted when they begin, so their limit is exact; tokens are known when they end, so the
/// calls under way at the limit still finish. A reply that does not say what it used counts as one
/// token for every three bytes.
pub struct Budgeted<M> {
    model: M,
    budget: Budget,
    spent: Mutex<Spent>,
}

impl<M: ChatModel> Budgeted<M> {
    /// `model` within `budget`, of which `spent` is used already.
    pub fn new(model: M, budget: Budget, spent: Spent) -> Self {
        Self {
            model,
            budget,
            spent: Mutex::new(spent),
        }
    }

    /// What is spent so far.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, request: &Request) -> Result<(), LlmError> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(limit) = self.budget.reached(&spent) {
            return Err(LlmError::Budget {
                prompt: request.prompt.name.clone(),
                limit,
            });
        }
        spent.calls += 1;
        Ok(())
    }

    fn end(&self, request: &Request, reply: &Reply) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        match reply.usage {
            Some(usage) => spent.use_tokens(usage),
            None => {
                let asked: usize = request
                    .messages
                    .iter()
                    .map(|message| message.content.len())
                    .sum();
                spent.unknown_usage += 1;
                spent.prompt_tokens += asked as u64 / 3;
                spent.completion_tokens += reply.text.len() as u64 / 3;
            }
        }
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Budgeted<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn context_window(&self) -> Option<usize> {
        self.model.context_window()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        self.begin(request)?;
        let reply = self.model.complete(request).await?;
        self.end(request, &reply);
        Ok(reply)
    }

    fn judged(&self, request: &Request, verdict: &Verdict) {
        self.model.judged(request, verdict);
    }
}
