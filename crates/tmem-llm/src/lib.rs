//! A request in, a typed reply out: the seam to language models, structured output, the call log
//! and the ledger of what was spent.
//!
//! It knows nothing of memory; which prompts there are is the business of `tmem-build` and
//! `tmem-eval`. HTTP itself (retries, limits, time-outs) is `tmem-http`'s.

pub mod call;
pub mod chat;
pub mod each;
pub mod error;
pub mod extract;
pub mod json;
pub mod logged;
pub mod salvage;
pub mod schema;
pub mod scripted;
pub mod wire;

pub use call::{Call, CallKey, CallLog, Spent};
pub use chat::{
    ChatModel, Finish, Message, Params, Prompt, Reply, ReplySchema, Request, Role, Usage, Verdict,
};
pub use each::{Each, Refusal};
pub use error::LlmError;
pub use extract::{Ask, ChatModelExt, Extracted};
pub use logged::{LoggedModel, Mode, Nameplate};
pub use scripted::ScriptedModel;
