//! The OpenAI chat format: how a request is written and an answer is read, on the wire and in batch
//! files alike. Only the fields in use are looked at.

use serde_json::{Map, Value, json};

use crate::{
    chat::{Finish, Message, Reply, Request, Role, Usage},
    dialect::{Cap, Dialect, Structure},
    json,
    schema::{BOUNDS, fits},
};

/// The body of a chat completion.
pub fn body(model: &str, request: &Request, dialect: Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("messages".to_owned(), json!(messages(request, dialect)));
    let cap = match dialect.cap {
        Cap::MaxTokens => "max_tokens",
        Cap::MaxCompletionTokens => "max_completion_tokens",
    };
    body.insert(cap.to_owned(), json!(request.params.max_tokens));
    if let Some(temperature) = request.params.temperature.filter(|_| dialect.temperature) {
        // As a decimal: the nearest f64 of an f32 has a tail of digits.
        let temperature = (f64::from(temperature) * 1e4).round() / 1e4;
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(format) = response_format(request, dialect) {
        body.insert("response_format".to_owned(), format);
    }
    Value::Object(body)
}

/// Reads a chat completion; `None` if it holds no choice. `reasoning_fallback`: whether a value that
/// fits the request's schema may be taken from the reasoning when the content is empty.
pub fn reply(answer: &Value, request: &Request, reasoning_fallback: bool) -> Option<Reply> {
    let choice = answer.get("choices")?.get(0)?;
    let message = &choice["message"];
    let mut text = content(&message["content"]);
    let finish = finish(choice);
    if text.trim().is_empty() && reasoning_fallback && finish == Finish::Stop {
        text = from_reasoning(message, request).unwrap_or(text);
    }
    Some(Reply {
        text,
        finish,
        usage: usage(answer),
    })
}

/// Tokens used, as far as the answer says.
pub fn usage(answer: &Value) -> Option<Usage> {
    let usage = answer.get("usage")?;
    let tokens = |names: [&str; 2]| names.iter().find_map(|name| usage.get(name)?.as_u64());
    Some(Usage {
        prompt_tokens: tokens(["prompt_tokens", "input_tokens"])?,
        completion_tokens: tokens(["completion_tokens", "output_tokens"])?,
    })
}

fn messages(request: &Request, dialect: Dialect) -> Vec<Value> {
    let mut messages = request.messages.clone();
    if let Some(schema) = request
        .schema
        .as_ref()
        .filter(|_| dialect.structure != Structure::JsonSchema)
    {
        describe(&mut messages, &schema.schema);
    }
    messages.iter().map(|message| json!(message)).collect()
}

/// Puts the schema behind the instructions, which are the constant part of the prompt.
fn describe(messages: &mut Vec<Message>, schema: &Value) {
    let text = format!(
        "Reply with one JSON value that fits this JSON Schema, and with nothing else:\n{schema}"
    );
    match messages
        .first_mut()
        .filter(|first| first.role == Role::System)
    {
        Some(first) => first.content = format!("{}\n\n{text}", first.content),
        None => messages.insert(0, Message::system(text)),
    }
}

fn response_format(request: &Request, dialect: Dialect) -> Option<Value> {
    let schema = request.schema.as_ref()?;
    match dialect.structure {
        Structure::JsonSchema => {
            let shape = if dialect.bounds {
                schema.schema.clone()
            } else {
                unbounded(&schema.schema)
            };
            let format = json!({"name": schema.name, "strict": true, "schema": shape});
            Some(json!({"type": "json_schema", "json_schema": format}))
        }
        Structure::JsonObject => Some(json!({"type": "json_object"})),
        Structure::Plain => None,
    }
}

/// A schema without bounds. Names of properties are left alone.
fn unbounded(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else {
        return schema.clone();
    };
    let kept = keywords
        .iter()
        .filter(|(keyword, _)| !BOUNDS.contains(&keyword.as_str()));
    let inner = |(keyword, value): (&String, &Value)| {
        let value = match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties
                .iter()
                .map(|(name, schema)| (name.clone(), unbounded(schema)))
                .collect(),
            ("anyOf", Value::Array(branches)) => branches.iter().map(unbounded).collect(),
            ("items", items) => unbounded(items),
            _ => value.clone(),
        };
        (keyword.clone(), value)
    };
    Value::Object(kept.map(inner).collect())
}

/// A text, `null`, or a list of parts.
fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

fn finish(choice: &Value) -> Finish {
    let refusal = choice["message"]["refusal"]
        .as_str()
        .filter(|refusal| !refusal.trim().is_empty());
    match (refusal, choice["finish_reason"].as_str()) {
        (Some(refusal), _) => Finish::Refused(refusal.to_owned()),
        (None, Some("content_filter" | "safety" | "refusal")) => {
            Finish::Refused("stopped by a content filter".to_owned())
        }
        (None, Some("length" | "max_tokens")) => Finish::Length,
        _ => Finish::Stop,
    }
}

/// The last value in the reasoning that fits the schema: earlier ones are drafts.
fn from_reasoning(message: &Value, request: &Request) -> Option<String> {
    let schema = &request.schema.as_ref()?.schema;
    let reasoning = message["reasoning_content"]
        .as_str()
        .or_else(|| message["reasoning"].as_str())?;
    let fitting = |value: Value| fits(schema, &value).is_ok().then_some(value);
    Some(json::find_last(reasoning, fitting)?.to_string())
}
