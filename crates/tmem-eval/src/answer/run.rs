//! Answering and judging a list of questions, several at a time, in order.

use futures::StreamExt;
use futures::stream;
use tmem_llm::{ChatModel, Finish, LlmError, Reply, Request};

use super::judge::{Judge, judge};
use super::prompt::{AnswerPrompt, EvalPrompts};
use crate::metric::{F1, f1, tokens};
use crate::progress::Progress;
use crate::results::Answered;

/// Models by role.
#[derive(Clone, Copy)]
pub struct Models<'a> {
    /// Writes answers.
    pub answer: &'a dyn ChatModel,
    /// Gives verdicts.
    pub judge: &'a dyn ChatModel,
    /// Questions worked on at a time.
    pub concurrency: usize,
}

/// How often and by which protocol.
#[derive(Clone, Copy, Debug)]
pub struct AnswerRun {
    /// The answer prompt of LoCoMo.
    pub prompt: AnswerPrompt,
    /// Independent runs.
    pub runs: usize,
}

/// One question with the context that a system gave for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Graded {
    /// A question with a gold answer or, in category 5, with a misleading one.
    Question {
        /// The rendered context.
        context: String,
        /// What is asked.
        question: String,
        /// The gold answer.
        gold: Option<String>,
        /// The misleading answer, which is never gold.
        misleading: Option<String>,
    },
    /// LoCoMo-Plus: a message to be answered in the chat.
    Message {
        /// The rendered context.
        context: String,
        /// Who sends it.
        speaker: String,
        /// Who answers.
        listener: String,
        /// The message.
        query: String,
        /// What the reply should know of, for the judge.
        cue: String,
    },
}

/// Answers and verdicts, per task one of each run.
pub async fn all(
    models: Models<'_>,
    tasks: &[Graded],
    how: AnswerRun,
    progress: &dyn Progress,
) -> Vec<Vec<Answered>> {
    progress.begin("answers", tasks.len());
    let one = |task| async move {
        let mut runs = Vec::with_capacity(how.runs);
        for run in 1..=how.runs {
            runs.push(graded(models, task, how.prompt, run).await);
        }
        progress.advance(1);
        runs
    };
    let answers = stream::iter(tasks)
        .map(one)
        .buffered(models.concurrency.max(1));
    let answers = answers.collect().await;
    progress.end();
    answers
}

async fn graded(models: Models<'_>, task: &Graded, prompt: AnswerPrompt, run: usize) -> Answered {
    let request = request(task, prompt, run);
    let reply = models.answer.complete(&request).await;
    match prediction(reply, is_cot(task, prompt)) {
        Ok(prediction) => verdicts(models.judge, task, prediction).await,
        Err(None) => Answered {
            waiting: true,
            ..Answered::default()
        },
        Err(Some(failure)) => Answered {
            failure: Some(failure),
            ..Answered::default()
        },
    }
}

fn is_cot(task: &Graded, prompt: AnswerPrompt) -> bool {
    matches!(task, Graded::Question { .. }) && prompt == AnswerPrompt::Cot
}

fn request(task: &Graded, prompt: AnswerPrompt, run: usize) -> Request {
    match task {
        Graded::Question {
            context, question, ..
        } => {
            let prompt = match prompt {
                AnswerPrompt::Short => EvalPrompts::AnswerShort,
                AnswerPrompt::Cot => EvalPrompts::AnswerCot,
            };
            prompt.request(&[("context", context), ("question", question)], run)
        }
        Graded::Message {
            context,
            speaker,
            listener,
            query,
            ..
        } => EvalPrompts::Continue.request(
            &[
                ("context", context),
                ("speaker", speaker),
                ("listener", listener),
                ("query", query),
            ],
            run,
        ),
    }
}

/// Why a call failed, without the text of its prompt: what was said stays out of the results.
pub(super) fn reason(error: &LlmError) -> String {
    match error {
        LlmError::NotRecorded {
            prompt, version, ..
        } => format!("{prompt} (version {version}): this call was not recorded"),
        other => other.to_string(),
    }
}

/// The text to be judged; `Err(None)` while the call waits.
fn prediction(reply: Result<Reply, LlmError>, cot: bool) -> Result<String, Option<String>> {
    let reply = match reply {
        Ok(reply) => reply,
        Err(LlmError::Pending(_)) => return Err(None),
        Err(error) => return Err(Some(reason(&error))),
    };
    match reply.finish {
        Finish::Length => return Err(Some("the answer was cut".to_owned())),
        Finish::Refused(reason) => return Err(Some(format!("refused: {reason}"))),
        Finish::Stop => {}
    }
    let text = if cot {
        final_answer(&reply.text)
    } else {
        Some(reply.text.trim())
    };
    let text = text.filter(|text| !text.is_empty()).map(str::to_owned);
    text.ok_or_else(|| {
        Some(
            if cot {
                "no final answer line"
            } else {
                "an empty answer"
            }
            .to_owned(),
        )
    })
}

/// What follows the last `ANSWER:` at the beginning of a line.
fn final_answer(text: &str) -> Option<&str> {
    let marked = |line: &str| {
        line.trim_start_matches(['*', '#', ' '])
            .starts_with("ANSWER:")
    };
    let mut offset = 0;
    let mut last = None;
    for line in text.split_inclusive('\n') {
        if marked(line) {
            last = Some(offset);
        }
        offset += line.len();
    }
    let (_, answer) = text[last?..].split_once("ANSWER:")?;
    Some(answer.trim_matches(|c: char| c.is_whitespace() || c == '*'))
}

async fn verdicts(model: &dyn ChatModel, task: &Graded, prediction: String) -> Answered {
    let judged = match task {
        Graded::Question {
            question,
            gold: Some(gold),
            ..
        } => against_gold(model, question, gold, &prediction).await,
        Graded::Question {
            question,
            misleading,
            ..
        } => {
            let misleading = misleading.as_deref().unwrap_or_default();
            refusal(model, question, misleading, &prediction).await
        }
        Graded::Message { query, cue, .. } => awareness(model, query, cue, &prediction).await,
    };
    Answered {
        tokens: tokens(&prediction),
        prediction,
        ..judged
    }
}

async fn against_gold(
    model: &dyn ChatModel,
    question: &str,
    gold: &str,
    prediction: &str,
) -> Answered {
    let values = [
        ("question", question),
        ("gold", gold),
        ("prediction", prediction),
    ];
    Answered {
        judge: Some(judge(model, Judge::Lenient, &values).await),
        judge_strict: Some(judge(model, Judge::Strict, &values).await),
        f1: Some(f1(F1::Published, prediction, gold)),
        f1_normalised: Some(f1(F1::Normalised, prediction, gold)),
        ..Answered::default()
    }
}

/// Where no answer exists one rule serves both judges.
async fn refusal(
    model: &dyn ChatModel,
    question: &str,
    misleading: &str,
    prediction: &str,
) -> Answered {
    let values = [
        ("question", question),
        ("misleading", misleading),
        ("prediction", prediction),
    ];
    let verdict = judge(model, Judge::Refusal, &values).await;
    Answered {
        judge_strict: Some(verdict.clone()),
        judge: Some(verdict),
        ..Answered::default()
    }
}

async fn awareness(model: &dyn ChatModel, query: &str, cue: &str, prediction: &str) -> Answered {
    let values = [("cue", cue), ("query", query), ("prediction", prediction)];
    Answered {
        judge: Some(judge(model, Judge::Aware, &values).await),
        ..Answered::default()
    }
}

#[cfg(test)]
mod tests;
