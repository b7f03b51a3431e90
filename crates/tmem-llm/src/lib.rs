//! A request in, a typed reply out: the seam to language models, structured output, the call log
//! and the ledger of what was spent.
//!
//! - [`ChatModel`] is the least a model must do: `OpenAiModel` (feature `http`)
//!   does it for any OpenAI-compatible endpoint, [`ScriptedModel`] for tests.
//! - [`ChatModelExt::extract`] asks for a type: strict schema out, value back, at most three calls. All
//!   replies are read by [`json`], whoever sent them.
//! - [`LoggedModel`] keeps every call before its reply is used. From the log come resuming, replaying,
//!   [`batch`] files and the [`Ledger`].
//!
//! It knows nothing of memory; which prompts there are is the business of `tmem-build` and
//! `tmem-eval`. HTTP itself (retries, limits, time-outs) is `tmem-http`'s, and models do not retry.
//!
//! ```
//! # use tmem_llm::{ChatModelExt, Message, Params, Prompt, ScriptedModel};
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Boats {
//!     names: Vec<String>,
//! }
//! # async fn boats() -> Result<(), tmem_llm::LlmError> {
//! let model = ScriptedModel::saying(r#"Here you are: {"names": ["Heron"]}"#);
//! let prompt = Prompt { name: "boats".to_owned(), version: 1 };
//! let params = Params { max_tokens: 200, temperature: Some(0.0) };
//! let messages = vec![Message::user("The Heron sails at noon.")];
//! let boats: Boats = model.extract(prompt, messages, params).await?;
//! assert_eq!(boats.names, ["Heron"]);
//! # Ok(())
//! # }
//! ```

pub mod batch;
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
