//! Answering from recalled evidence, with the turns that an answer rests on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tmem_llm::{ChatModel, Finish, LlmError, Reply};
use tmem_model::{SceneId, TurnId, text};
use tmem_retrieve::{Context, RetrieveConfig, SceneEvidence, TurnEvidence};

use crate::error::TmemError;
use crate::firings;
use crate::recall::{Question, Recalled};
use crate::tmem::Tmem;

/// Said, without asking a model, when nothing was recalled.
const NOTHING: &str = "There is nothing in memory about that.";

/// Evidence that suits a hosted model, and an embedded one (tokens).
const USUAL: usize = 6_000;
const SMALL: usize = 600;

/// Most turns that an answer without labels is traced to (count).
const TRACED: usize = 2;

/// Room for the instructions and personas, which stand outside the evidence (tokens).
const AROUND: usize = 1_500;

/// An answer with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The answer.
    pub text: String,
    /// Turns that it cites, in the order of their first mention.
    pub turns: Vec<TurnId>,
    /// Scenes that it cites as wholes.
    pub scenes: Vec<SceneId>,
    /// The evidence it was given.
    pub recalled: Recalled,
    /// Whether a model was asked.
    pub asked: bool,
}

impl Tmem {
    /// Answers a question from the memory. With nothing recalled it says so and asks no model.
    ///
    /// # Errors
    /// As [`recall`](Tmem::recall); [`TmemError::NoModel`]; [`TmemError::Llm`] if the model fails,
    /// refuses or says nothing.
    pub async fn answer(
        &self,
        question: &Question,
        config: &RetrieveConfig,
    ) -> Result<Answer, TmemError> {
        let room = self.evidence_tokens(config.token_budget);
        let recalled = self.recall_within(question, config, room).await?;
        if recalled.context.is_empty() {
            let (turns, scenes) = Default::default();
            return Ok(Answer {
                text: NOTHING.to_owned(),
                turns,
                scenes,
                recalled,
                asked: false,
            });
        }
        let model = self.chat().await?;
        let text = self.asked(&*model, question, &recalled, room).await?;
        let cited = Cited::of(&text, &recalled.context);
        let evidence = firings::cited(&recalled.context, &cited);
        self.count_firings(&recalled, config, &evidence);
        Ok(Answer {
            text,
            turns: cited.turns,
            scenes: cited.scenes,
            recalled,
            asked: true,
        })
    }

    /// Evidence that fits; where no piece fits whole, all of it, to be cut.
    async fn recall_within(
        &self,
        question: &Question,
        config: &RetrieveConfig,
        room: usize,
    ) -> Result<Recalled, TmemError> {
        let within = |token_budget| RetrieveConfig {
            token_budget,
            ..config.clone()
        };
        let recalled = self.found(question, &within(Some(room))).await?;
        if recalled.context.is_empty() && recalled.trace.over_budget > 0 {
            return self.found(question, &within(None)).await;
        }
        Ok(recalled)
    }

    async fn asked(
        &self,
        model: &dyn ChatModel,
        question: &Question,
        recalled: &Recalled,
        room: usize,
    ) -> Result<String, TmemError> {
        let (build, prompts) = (&self.config().build, self.prompts());
        let (small, context) = (build.short_prompts, &recalled.context);
        let evidence = match small {
            true => context.render_brief(),
            false => context.render(),
        };
        let evidence = cut(&evidence, room + AROUND / 2);
        let (asked, about) = (&*question.text, named(&question.text, context));
        let request = tmem_build::answer(asked, evidence, &about, question.at, build, prompts);
        let reply = model.complete(&request).await?;
        let text = said(&request.prompt.name, model.name(), reply)?;
        Ok(match small {
            true => traced(&bare(text), asked, context),
            false => text,
        })
    }

    /// How much evidence fits: what the settings allow, and what the model's window leaves.
    fn evidence_tokens(&self, asked: Option<usize>) -> usize {
        let build = &self.config().build;
        let suits = if build.short_prompts { SMALL } else { USUAL };
        let allowed = self.config().answer.context_tokens.unwrap_or(suits);
        let around = AROUND + build.caps.answer as usize;
        let window = self.services.window();
        let room = window.map_or(usize::MAX, |window| window.saturating_sub(around));
        allowed.min(room).min(asked.unwrap_or(usize::MAX))
    }
}

/// As much of the text as has at most so many tokens.
fn cut(text: &str, tokens: usize) -> &str {
    let mut kept = text;
    while text::estimate_tokens(kept) > tokens {
        kept = text::truncate(kept, kept.len() * 4 / 5);
    }
    kept
}

fn said(prompt: &str, model: &str, reply: Reply) -> Result<String, LlmError> {
    let (prompt, text) = (prompt.to_owned(), reply.text.trim().to_owned());
    match reply.finish {
        Finish::Refused(reason) => Err(LlmError::Refused { prompt, reason }),
        finish if text.is_empty() => Err(LlmError::Empty {
            prompt,
            model: model.to_owned(),
            finish,
        }),
        _ => Ok(text),
    }
}

/// Who of those that speak in the evidence is named in the question, in the order of their words.
fn named<'a>(question: &str, context: &'a Context) -> Vec<&'a str> {
    let raw = context.scenes.iter().flat_map(SceneEvidence::raw_turns);
    let mut names: Vec<&str> = raw
        .chain(&context.turns)
        .map(|turn| &*turn.speaker)
        .collect();
    let mut seen = BTreeSet::new();
    let words = |text| text::terms(text);
    let asked = words(question);
    names.retain(|name| seen.insert(*name) && words(name).iter().all(|word| asked.contains(word)));
    names
}

/// The only field of a JSON object; any other text as it is.
fn bare(text: String) -> String {
    let fields = serde_json::from_str::<BTreeMap<String, String>>(&text).ok();
    let only = fields
        .filter(|fields| fields.len() == 1)
        .and_then(|mut fields| fields.pop_first());
    only.map_or(text, |(_, value)| value)
}

/// A small model's answer with the labels of the turns whose words it repeats and the question does
/// not have; left to itself it labels at random.
fn traced(answer: &str, question: &str, context: &Context) -> String {
    let asked = text::terms(question);
    let mut own = text::terms(answer);
    own.retain(|term| !asked.contains(term));
    let raw = context.scenes.iter().flat_map(SceneEvidence::raw_turns);
    let shared = |turn: &TurnEvidence| {
        let said = text::terms(&turn.text);
        own.iter().filter(|term| said.contains(term)).count()
    };
    let turns = raw
        .chain(&context.turns)
        .map(|turn| (shared(turn), &turn.id));
    let mut turns: Vec<(usize, &TurnId)> = turns.filter(|(shared, _)| *shared > 0).collect();
    turns.sort_by_key(|(shared, _)| Reverse(*shared));
    turns.truncate(TRACED);
    let labels: Vec<String> = turns.iter().map(|(_, id)| id.to_string()).collect();
    match labels.is_empty() {
        true => answer.to_owned(),
        false => format!("{answer} [{}]", labels.join(", ")),
    }
}

/// What the labels in an answer stand for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cited {
    pub(crate) turns: Vec<TurnId>,
    pub(crate) scenes: Vec<SceneId>,
}

impl Cited {
    /// Labels in brackets, as far as the evidence has them; others mean nothing.
    fn of(text: &str, context: &Context) -> Self {
        let mut cited = Self::default();
        let inside = text
            .split('[')
            .skip(1)
            .filter_map(|rest| rest.split(']').next());
        for label in inside
            .flat_map(|labels| labels.split([',', ';']))
            .map(str::trim)
        {
            cited.take(label, context);
        }
        cited
    }

    fn take(&mut self, label: &str, context: &Context) {
        let turns = context.cited_turns();
        let turn = turns
            .into_iter()
            .find(|id| id.local() == label || id.to_string() == label);
        let mut scenes = context.scenes.iter().map(|scene| &scene.id);
        let scene = scenes.find(|id| id.local() == label || id.to_string() == label);
        match (turn, scene) {
            (Some(turn), _) if !self.turns.contains(turn) => self.turns.push(turn.clone()),
            (None, Some(scene)) if !self.scenes.contains(scene) => self.scenes.push(scene.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tmem_model::ConversationId;

    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: &str) {
        let ana = ConversationId::new("ana").expect("an id");
        let turn = |(id, text): (&str, &str)| TurnEvidence {
            id: TurnId::new(&ana, id).expect("an id"),
            speaker: "Ana".to_owned(),
            text: text.to_owned(),
            at: None,
        };
        let said = [
            ("D1:1", "The ferry to Porto is late."),
            ("D1:2", "Ines drove the green ferry into the pier."),
            ("D1:3", "What a day."),
        ];
        let context = Context {
            turns: said.into_iter().map(turn).collect(),
            ..Context::default()
        };
        assert_eq!(
            traced(answer, "Who drove into the pier?", &context),
            expected
        );
    }

    #[test]
    fn an_answer_is_traced_to_the_turns_whose_words_it_repeats() {
        check(
            "Ines, with the ferry.",
            "Ines, with the ferry. [ana/D1:2, ana/D1:1]",
        );
    }

    #[test]
    fn an_answer_is_taken_out_of_its_only_field() {
        let taken = |text: &str| bare(text.to_owned());
        assert_eq!(taken(r#"{"what is known": "Ines drove."}"#), "Ines drove.");
        assert_eq!(taken("Ines {drove}."), "Ines {drove}.");
        assert_eq!(taken(r#"{"a": "b", "c": "d"}"#), r#"{"a": "b", "c": "d"}"#);
    }

    #[test]
    fn words_of_the_question_trace_to_nothing() {
        check(
            "Somebody drove into the pier.",
            "Somebody drove into the pier.",
        );
    }
}
