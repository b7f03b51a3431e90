//! The calls of one question: what the last reply was, and what to do next.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Ask, Extracted, MAX_CALLS};
use crate::{
    chat::{ChatModel, Finish, Message, Reply, ReplySchema, Request, Role, Usage, Verdict},
    error::LlmError,
    json::{self, Fault},
    salvage::salvage,
    schema::SchemaError,
};

enum Read<T> {
    Value(T, bool),
    Again,
    GiveUp(LlmError),
}

/// The state of one question between its calls.
pub(super) struct Attempts<'a, M: ?Sized> {
    model: &'a M,
    request: Request,
    ceiling: u32,
    salvage: bool,
    raised: bool,
    corrected: bool,
    made: Vec<Request>,
    usage: Usage,
    unknown_usage: u32,
}

impl<'a, M: ChatModel + ?Sized> Attempts<'a, M> {
    pub(super) fn new(
        model: &'a M,
        ask: Ask,
        schema: impl FnOnce(&str) -> Result<ReplySchema, SchemaError>,
    ) -> Result<Self, LlmError> {
        let Ask {
            prompt,
            messages,
            params,
            cap_ceiling,
            salvage,
        } = ask;
        let schema = schema(&prompt.name).map_err(|source| LlmError::Schema {
            prompt: prompt.name.clone(),
            source,
        })?;
        Ok(Self {
            model,
            ceiling: cap_ceiling.unwrap_or(params.max_tokens.saturating_mul(2)),
            request: Request {
                prompt,
                messages,
                schema: Some(schema),
                params,
            },
            salvage,
            raised: false,
            corrected: false,
            made: Vec::new(),
            usage: Usage::default(),
            unknown_usage: 0,
        })
    }

    pub(super) async fn run<T, C>(mut self, check: C) -> Result<Extracted<T>, LlmError>
    where
        T: DeserializeOwned,
        C: Fn(&T) -> Result<(), String>,
    {
        loop {
            let reply = self.call().await?;
            match self.read(&reply, &check) {
                Read::Value(value, partial) => return Ok(self.extracted(value, partial)),
                Read::Again => {}
                Read::GiveUp(error) => return Err(self.give_up(error)),
            }
        }
    }

    async fn call(&mut self) -> Result<Reply, LlmError> {
        self.made.push(self.request.clone());
        let reply = self.model.complete(&self.request).await?;
        match reply.usage {
            Some(usage) => self.usage += usage,
            None => self.unknown_usage += 1,
        }
        Ok(reply)
    }

    fn read<T, C>(&mut self, reply: &Reply, check: &C) -> Read<T>
    where
        T: DeserializeOwned,
        C: Fn(&T) -> Result<(), String>,
    {
        match &reply.finish {
            Finish::Refused(reason) => Read::GiveUp(LlmError::Refused {
                prompt: self.prompt(),
                reason: reason.clone(),
            }),
            Finish::Length => self.cut(reply, check),
            Finish::Stop => match self.value(&reply.text, check) {
                Ok(value) => Read::Value(value, false),
                Err(fault) => self.unusable(fault),
            },
        }
    }

    fn value<T, C>(&self, text: &str, check: &C) -> Result<T, Fault>
    where
        T: DeserializeOwned,
        C: Fn(&T) -> Result<(), String>,
    {
        let value = json::find(text, |value| self.fit(value))?;
        check(&value).map_err(Fault::Rejected)?;
        Ok(value)
    }

    /// A type whose fields may all be absent fits any object: at least one field has to be known.
    fn fit<T: DeserializeOwned>(&self, value: Value) -> Result<T, Fault> {
        let schema = self
            .request
            .schema
            .as_ref()
            .map(|schema| &schema.schema["properties"]);
        let known = schema
            .and_then(Value::as_object)
            .filter(|known| !known.is_empty());
        if let (Some(known), Value::Object(fields)) = (known, &value)
            && !fields.keys().any(|field| known.contains_key(field))
        {
            let path = known.keys().next().cloned().unwrap_or_default();
            return Err(Fault::Missing { path });
        }
        json::fit(value)
    }

    /// A cut reply: once more with a higher cap and the same prompt, then what can be salvaged.
    fn cut<T, C>(&mut self, reply: &Reply, check: &C) -> Read<T>
    where
        T: DeserializeOwned,
        C: Fn(&T) -> Result<(), String>,
    {
        let cap = self.request.params.max_tokens;
        let raised = cap.saturating_mul(2).min(self.ceiling);
        let fault = Fault::Unfinished {
            excerpt: json::tail(&reply.text),
        };
        if !self.raised && raised > cap {
            self.judge(fault);
            self.raised = true;
            self.request.params.max_tokens = raised;
            return Read::Again;
        }
        // Some models go on talking after a complete value: then nothing of it is lost.
        if let Ok(value) = self.value(&reply.text, check) {
            return Read::Value(value, false);
        }
        let kept = salvage(&reply.text).filter(|_| self.salvage);
        let kept = kept.and_then(|value| self.fit::<T>(value).ok());
        match kept.filter(|value| check(value).is_ok()) {
            Some(value) => Read::Value(value, true),
            None => {
                self.judge(fault);
                let (prompt, model) = (self.prompt(), self.model.name().to_owned());
                Read::GiveUp(LlmError::CutOff { prompt, model, cap })
            }
        }
    }

    /// An unusable reply: once more with the fault named, without the bad reply itself.
    fn unusable<T>(&mut self, fault: Fault) -> Read<T> {
        self.judge(fault.clone());
        if !self.corrected {
            self.corrected = true;
            correct(&mut self.request.messages, &fault);
            return Read::Again;
        }
        let (prompt, model) = (self.prompt(), self.model.name().to_owned());
        Read::GiveUp(match fault {
            Fault::Empty => LlmError::Empty {
                prompt,
                model,
                finish: Finish::Stop,
            },
            source => LlmError::Unusable {
                prompt,
                model,
                attempts: self.attempts(),
                source,
            },
        })
    }

    /// The last reply was paid for in vain.
    fn judge(&self, fault: Fault) {
        self.model.judged(&self.request, &Verdict::Unusable(fault));
    }

    /// Marks every reply of this question, so that a later run asks anew.
    fn give_up(&self, error: LlmError) -> LlmError {
        let verdict = Verdict::GivenUp(error.to_string());
        self.made
            .iter()
            .for_each(|request| self.model.judged(request, &verdict));
        error
    }

    fn extracted<T>(self, value: T, partial: bool) -> Extracted<T> {
        let attempts = self.attempts();
        let Self {
            usage,
            unknown_usage,
            ..
        } = self;
        Extracted {
            value,
            partial,
            attempts,
            usage,
            unknown_usage,
        }
    }

    fn attempts(&self) -> u32 {
        u32::try_from(self.made.len()).unwrap_or(MAX_CALLS)
    }

    fn prompt(&self) -> String {
        self.request.prompt.name.clone()
    }
}

/// Appends the correction to the last message: some chat templates refuse two turns of one speaker.
fn correct(messages: &mut Vec<Message>, fault: &Fault) {
    let note = format!(
        "Your last reply could not be used: {fault}. Reply once more, with nothing but one JSON \
         value of the required shape."
    );
    match messages.last_mut().filter(|last| last.role == Role::User) {
        Some(last) => last.content = format!("{}\n\n{note}", last.content),
        None => messages.push(Message::user(note)),
    }
}
