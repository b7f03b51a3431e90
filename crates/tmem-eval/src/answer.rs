//! Scores that need a language model: answers, and verdicts on them.
//!
//! Everything asked goes through the caller's [`ChatModel`](tmem_llm::ChatModel), so through its
//! call log: a run can be resumed, replayed at no cost, or exported as a batch and read back. What
//! failed keeps its place in the denominator and has a column of its own.

pub mod judge;
pub mod prompt;
pub mod run;

pub use judge::{Judge, Outcome};
pub use prompt::{AnswerPrompt, EvalPrompts};
pub use run::{AnswerRun, Graded, Models};
