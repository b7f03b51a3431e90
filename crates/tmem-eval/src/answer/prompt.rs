//! The prompts of answering and judging: files of `prompts/`, filled in one pass.

use serde::{Deserialize, Serialize};
use tmem_llm::{Message, Params, Prompt, ReplySchema, Request, Role};

/// Which answer protocol is used on LoCoMo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerPrompt {
    /// Six words at most, nothing else: the matched rows of the paper.
    #[default]
    Short,
    /// Seven open steps, then the answer: the rows marked with a dagger.
    Cot,
}

macro_rules! file {
    ($name:literal) => {
        File {
            name: $name,
            text: include_str!(concat!("../../../../prompts/", $name, ".md")),
        }
    };
}

#[derive(Clone, Copy, Debug)]
struct File {
    name: &'static str,
    text: &'static str,
}

/// What is asked of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvalPrompts {
    /// Short answer.
    AnswerShort,
    /// Answer in seven steps.
    AnswerCot,
    /// LoCoMo-Plus: the next message of the chat.
    Continue,
    /// LoCoMo's published judge.
    Lenient,
    /// Inclusive and without contradiction.
    Strict,
    /// Category 5.
    Refusal,
    /// LoCoMo-Plus: does the reply know of the cue?
    Aware,
}

impl EvalPrompts {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::AnswerShort,
        Self::AnswerCot,
        Self::Continue,
        Self::Lenient,
        Self::Strict,
        Self::Refusal,
        Self::Aware,
    ];

    fn file(self) -> File {
        match self {
            Self::AnswerShort => file!("eval-answer-short"),
            Self::AnswerCot => file!("eval-answer-cot"),
            Self::Continue => file!("eval-continue"),
            Self::Lenient => file!("eval-judge-lenient"),
            Self::Strict => file!("eval-judge-strict"),
            Self::Refusal => file!("eval-judge-refusal"),
            Self::Aware => file!("eval-judge-aware"),
        }
    }

    /// Its name, that of its file.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.file().name
    }

    /// Hex SHA-256 of its file.
    #[must_use]
    pub fn hash(self) -> String {
        crate::results::sha256(self.file().text.as_bytes())
    }

    fn is_judge(self) -> bool {
        matches!(
            self,
            Self::Lenient | Self::Strict | Self::Refusal | Self::Aware
        )
    }

    fn max_tokens(self) -> u32 {
        match self {
            Self::AnswerShort => 64,
            Self::AnswerCot => 2_000,
            Self::Continue | Self::Lenient | Self::Strict | Self::Refusal | Self::Aware => 300,
        }
    }

    /// The request with `values` in place of `{{name}}`; what a value holds is never read again.
    ///
    /// `run` counts independent runs from 1; it enters the prompt's name and so the call's key,
    /// because a log answers equal calls with one reply.
    #[must_use]
    pub fn request(self, values: &[(&str, &str)], run: usize) -> Request {
        let file = self.file();
        let (version, system, user) = parts(file.text);
        let name = if run > 1 {
            format!("{}-run{run}", file.name)
        } else {
            file.name.to_owned()
        };
        let message = |role, text| Message {
            role,
            content: fill(text, values),
        };
        Request {
            prompt: Prompt { name, version },
            messages: vec![message(Role::System, system), message(Role::User, user)],
            schema: self.is_judge().then(verdict_schema),
            params: Params {
                max_tokens: self.max_tokens(),
                temperature: Some(0.0),
            },
        }
    }
}

/// Version, constant part, template.
fn parts(text: &'static str) -> (u32, &'static str, &'static str) {
    let mut parts = text.splitn(3, "\n---\n");
    let version = parts.next().and_then(|line| line.strip_prefix("version:"));
    let version = version.and_then(|number| number.trim().parse().ok());
    let two = parts.next().zip(parts.next());
    let (system, user) = two.expect("a test reads every prompt");
    (
        version.expect("a test reads every prompt"),
        system,
        user.trim_end(),
    )
}

/// Replaces `{{name}}` from left to right in one pass.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, tail) = after.split_once("}}").expect("a test fills every prompt");
        let value = values.iter().find(|(key, _)| *key == name);
        out.push_str(value.map_or("", |(_, value)| value));
        rest = tail;
    }
    out.push_str(rest);
    out
}

fn verdict_schema() -> ReplySchema {
    ReplySchema {
        name: "verdict".to_owned(),
        schema: serde_json::json!({
            "type": "object",
            "properties": {
                "reason": { "type": "string" },
                "label": { "type": "string", "enum": ["CORRECT", "WRONG"] },
            },
            "required": ["reason", "label"],
            "additionalProperties": false,
        }),
        without: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_has_a_version_two_parts_and_known_placeholders() {
        let known = [
            "context",
            "question",
            "gold",
            "prediction",
            "misleading",
            "cue",
            "query",
            "speaker",
            "listener",
        ];
        for prompt in EvalPrompts::ALL {
            let (version, system, user) = parts(prompt.file().text);
            assert!(version >= 1 && !system.is_empty());
            let names = user
                .split("{{")
                .skip(1)
                .filter_map(|rest| rest.split_once("}}"));
            for (name, _) in names {
                assert!(known.contains(&name), "{}: {name}", prompt.name());
            }
        }
    }

    #[test]
    fn a_value_that_looks_like_a_placeholder_stays_what_it_is() {
        let request = EvalPrompts::AnswerShort
            .request(&[("context", "{{question}}"), ("question", "Who?")], 1);
        assert!(request.messages[1].content.contains("{{question}}"));
        assert!(request.messages[1].content.ends_with("Question: Who?"));
    }

    #[test]
    fn a_second_run_is_another_call() {
        let run = |n| EvalPrompts::AnswerCot.request(&[], n).prompt.name;
        assert_eq!(
            (run(1).as_str(), run(3).as_str()),
            ("eval-answer-cot", "eval-answer-cot-run3")
        );
    }
}
