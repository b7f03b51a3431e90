//! A request in, a typed reply out: the seam to language models, structured output, the call log
//! and the ledger of what was spent.
//!
//! It knows nothing of memory; which prompts there are is the business of `tmem-build` and
//! `tmem-eval`. HTTP itself (retries, limits, time-outs) is `tmem-http`'s.

pub mod call;
pub mod chat;

pub use call::{Call, CallKey, CallLog};
pub use chat::{ChatModel, Finish, LlmError, Message, Params, Prompt, Reply, ReplySchema, Request, Role, Usage};
