//! The request for an answer from assembled evidence.

use tmem_llm::{Params, Request};
use tmem_model::DateTime;

use crate::config::BuildConfig;
use crate::prompts::Prompts;
use crate::when;

/// Asks `question` of `context`, the rendered evidence with its labels. `at` is the day that the
/// question counts from, if there is one; no clock is looked at.
#[must_use]
pub fn answer(
    question: &str,
    context: &str,
    at: Option<DateTime>,
    config: &BuildConfig,
    prompts: &Prompts,
) -> Request {
    let template = prompts.get("answer", config.short_prompts);
    let date = at.map_or(String::new(), |at| {
        format!("The question is asked on {}.", when::day(at.date()))
    });
    let context = if context.trim().is_empty() {
        "(nothing was found)"
    } else {
        context
    };
    let values = [
        ("context", context),
        ("question", question),
        ("date", &date),
    ];
    let params = Params {
        max_tokens: config.caps.answer,
        temperature: Some(0.0),
    };
    let prompt = template.prompt.clone();
    Request {
        prompt,
        messages: template.fill(&values),
        schema: None,
        params,
    }
}
