//! What may be spent: a limit per run and one per day, in front of the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tmem_llm::{ChatModel, LlmError, Reply, Request, Verdict};
use tmem_model::text::estimate_tokens;

use crate::config::BudgetConfig;

/// Counts tokens and knows when it is enough. Calls answered from the log never come here.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    limits: BudgetConfig,
    /// Spent today before this run.
    before: u64,
    spent: AtomicU64,
}

impl Budget {
    pub(crate) fn new(limits: BudgetConfig, before: u64) -> Self {
        Self {
            limits,
            before,
            spent: AtomicU64::new(0),
        }
    }

    /// The limit that is reached, in words.
    pub(crate) fn reached(&self) -> Option<String> {
        let spent = self.spent.load(Ordering::Relaxed);
        let run = self.limits.run_tokens.filter(|limit| spent >= *limit);
        let day = self
            .limits
            .day_tokens
            .filter(|limit| self.before + spent >= *limit);
        let run = run.map(|limit| format!("{limit} tokens a run"));
        run.or_else(|| day.map(|limit| format!("{limit} tokens a day")))
    }

    fn count(&self, tokens: u64) {
        self.spent.fetch_add(tokens, Ordering::Relaxed);
    }
}

/// A model that refuses calls once the budget is spent. Calls under way are let finish.
pub(crate) struct Budgeted {
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) budget: Arc<Budget>,
}

#[async_trait]
impl ChatModel for Budgeted {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn context_window(&self) -> Option<usize> {
        self.model.context_window()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        if let Some(limit) = self.budget.reached() {
            return Err(LlmError::Budget {
                prompt: request.prompt.name.clone(),
                limit,
            });
        }
        let reply = self.model.complete(request).await?;
        self.budget.count(tokens(request, &reply));
        Ok(reply)
    }

    fn judged(&self, request: &Request, verdict: &Verdict) {
        self.model.judged(request, verdict);
    }
}

/// As the server counted them, or estimated if it did not say.
fn tokens(request: &Request, reply: &Reply) -> u64 {
    match reply.usage {
        Some(usage) => usage.prompt_tokens + usage.completion_tokens,
        None => {
            let asked = request
                .messages
                .iter()
                .map(|message| estimate_tokens(&message.content));
            (asked.sum::<usize>() + estimate_tokens(&reply.text)) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use tmem_llm::{Message, Params, Prompt, ScriptedModel};

    use super::*;

    #[track_caller]
    fn check(run: Option<u64>, day: Option<u64>, before: u64, spent: u64, expect: Option<&str>) {
        let limits = BudgetConfig {
            run_tokens: run,
            day_tokens: day,
        };
        let budget = Budget::new(limits, before);
        budget.count(spent);
        assert_eq!(budget.reached().as_deref(), expect);
    }

    #[test]
    fn a_limit_is_reached_when_that_much_is_spent() {
        check(None, None, 0, 1_000_000, None);
        check(Some(100), None, 500, 99, None);
        check(Some(100), None, 0, 100, Some("100 tokens a run"));
        check(None, Some(600), 500, 99, None);
        check(None, Some(600), 500, 100, Some("600 tokens a day"));
    }

    #[tokio::test]
    async fn a_spent_budget_asks_no_model_and_silence_about_usage_is_estimated() {
        let limits = BudgetConfig {
            run_tokens: Some(1),
            day_tokens: None,
        };
        let scripted = Arc::new(ScriptedModel::saying("a reply of unknown usage"));
        let model = Budgeted {
            model: scripted.clone(),
            budget: Arc::new(Budget::new(limits, 0)),
        };
        let request = Request {
            prompt: Prompt {
                name: "items".to_owned(),
                version: 1,
            },
            messages: vec![Message::user("hello")],
            schema: None,
            params: Params {
                max_tokens: 9,
                temperature: None,
            },
        };
        model.complete(&request).await.expect("within the budget");
        let error = model.complete(&request).await.expect_err("it is spent");
        assert_eq!(
            error.to_string(),
            "items: the budget of 1 tokens a run is used up"
        );
        assert_eq!(scripted.asked().len(), 1);
    }
}
