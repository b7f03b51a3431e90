//! The request for an answer from assembled evidence.

use tmem_llm::{Params, ReplySchema, Request};
use tmem_model::DateTime;

use crate::config::BuildConfig;
use crate::prompts::Prompts;
use crate::schema;
use crate::when;

/// Longest answer of a small model (characters).
const SHORT: usize = 300;

/// Asks `question` of `context`, the rendered evidence with its labels. `at` is the day that the
/// question counts from, if there is one; no clock is looked at. `about`: the people whom the question
/// names; a small model's answer begins with one of them, or it plays the part of one.
#[must_use]
pub fn answer(
    question: &str,
    context: &str,
    about: &[&str],
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
        schema: config.short_prompts.then(|| shape(about)),
        params,
    }
}

/// The one field of a small model's answer, which leads it to the notes.
fn shape(about: &[&str]) -> ReplySchema {
    let text = match about.is_empty() {
        true => schema::text(SHORT),
        false => schema::about(about, SHORT),
    };
    let field = ("what the notes tell about this", text);
    schema::named("answer", schema::object(vec![field]))
}
