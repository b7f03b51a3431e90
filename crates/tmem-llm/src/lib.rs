//! A request in, a typed reply out: the seam to language models, structured output, the call log
//! and the ledger of what was spent.
//!
//! It knows nothing of memory; which prompts there are is the business of `tmem-build` and
//! `tmem-eval`. HTTP itself (retries, limits, time-outs) is `tmem-http`'s.

pub mod batch;
pub mod budget;
pub mod call;
pub mod chat;
pub mod dialect;
pub mod each;
pub mod error;
pub mod extract;
pub mod json;
pub mod ledger;
pub mod logged;
pub mod memory_log;
#[cfg(feature = "http")]
pub mod openai;
pub mod salvage;
pub mod schema;
pub mod scripted;
pub mod wire;

#[cfg(test)]
mod tests;

pub use budget::{Budget, Budgeted};
pub use call::{Call, CallKey, CallLog, Spent};
pub use chat::{
    ChatModel, Finish, Message, Params, Prompt, Reply, ReplySchema, Request, Role, Usage, Verdict,
};
pub use dialect::{Cap, Dialect, Structure};
pub use each::{Each, Refusal};
pub use error::LlmError;
pub use extract::{Ask, ChatModelExt, Extracted};
pub use ledger::{Ledger, Line, Price, Prices};
pub use logged::{LoggedModel, Mode, Nameplate};
pub use memory_log::{FileLog, MemoryLog};
#[cfg(feature = "http")]
pub use openai::OpenAiModel;
pub use scripted::ScriptedModel;
