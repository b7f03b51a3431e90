//! Typed replies: a schema goes out, a value comes back, and what was wrong is told once.
//!
//! The order is fixed: why the reply ended, then whether it is JSON, then whether it fits the type,
//! then the caller's own check. At most [`MAX_CALLS`] calls are made for one question: the first,
//! one with the token cap raised after a cut, one with the fault named after an unusable reply.

mod attempts;

use attempts::Attempts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    chat::{ChatModel, Message, Params, Prompt, ReplySchema, Usage},
    error::LlmError,
};

/// Most calls for one question.
pub const MAX_CALLS: u32 = 3;

/// One question: what is asked, and how far to go for an answer.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The prompt it is made from.
    pub prompt: Prompt,
    /// The rendered messages, constant part first.
    pub messages: Vec<Message>,
    /// Sampling and limits of the first call.
    pub params: Params,
    /// Highest token cap after a cut; `None` allows twice `params.max_tokens`.
    pub cap_ceiling: Option<u32>,
    /// Whether the complete elements of a cut list may be used, when raising the cap did not help.
    pub salvage: bool,
}

impl Ask {
    /// A question with twice its cap as ceiling and without salvage.
    pub fn new(prompt: Prompt, messages: Vec<Message>, params: Params) -> Self {
        Self {
            prompt,
            messages,
            params,
            cap_ceiling: None,
            salvage: false,
        }
    }

    /// The same question with the complete elements of a cut list allowed.
    pub fn salvaging(self) -> Self {
        Self {
            salvage: true,
            ..self
        }
    }
}

/// An answer and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Extracted<T> {
    /// The value.
    pub value: T,
    /// Whether it is only the complete beginning of a reply that was cut.
    pub partial: bool,
    /// Calls it took, answers from a log included.
    pub attempts: u32,
    /// Tokens of all these calls.
    pub usage: Usage,
    /// Calls among them that did not say what they used.
    pub unknown_usage: u32,
}

/// Structured output for every [`ChatModel`].
pub trait ChatModelExt: ChatModel {
    /// A `T` from the reply; see [`ChatModelExt::extract_with`].
    ///
    /// # Errors
    /// See there.
    fn extract<T>(
        &self,
        prompt: Prompt,
        messages: Vec<Message>,
        params: Params,
    ) -> impl Future<Output = Result<T, LlmError>> + Send
    where
        T: DeserializeOwned + JsonSchema + Send,
    {
        let ask = Ask::new(prompt, messages, params);
        async move { Ok(self.extract_with(ask, |_: &T| Ok(())).await?.value) }
    }

    /// A `T` from the reply that also passes `check`, the caller's own rules for content: its
    /// message goes into the corrective retry.
    ///
    /// # Errors
    /// [`LlmError`]: `Refused`, `CutOff`, `Empty` and `Unusable` after the attempts allowed; what
    /// the model itself reports at once.
    fn extract_with<T, C>(
        &self,
        ask: Ask,
        check: C,
    ) -> impl Future<Output = Result<Extracted<T>, LlmError>> + Send
    where
        T: DeserializeOwned + JsonSchema + Send,
        C: Fn(&T) -> Result<(), String> + Send + Sync,
    {
        async move {
            Attempts::new(self, ask, ReplySchema::of::<T>)?
                .run(check)
                .await
        }
    }

    /// As [`ChatModelExt::extract_with`], for a shape that is only known at run time: the value as
    /// JSON, of which no more is known than that it has a field of `schema` and passes `check`.
    ///
    /// # Errors
    /// See there.
    fn extract_as<C>(
        &self,
        ask: Ask,
        schema: ReplySchema,
        check: C,
    ) -> impl Future<Output = Result<Extracted<Value>, LlmError>> + Send
    where
        C: Fn(&Value) -> Result<(), String> + Send + Sync,
    {
        async move {
            Attempts::new(self, ask, |_: &str| Ok(schema))?
                .run(check)
                .await
        }
    }
}

impl<M: ChatModel + ?Sized> ChatModelExt for M {}
