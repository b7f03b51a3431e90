//! Answering from recalled evidence, with the turns that an answer rests on.

use serde::Serialize;
use tmem_llm::{ChatModel, Finish, LlmError, Reply};
use tmem_model::{SceneId, TurnId, text};
use tmem_retrieve::{Context, RetrieveConfig};

use crate::error::TmemError;
use crate::firings;
use crate::recall::{Question, Recalled};
use crate::tmem::Tmem;

/// Said, without asking a model, when nothing was recalled.
const NOTHING: &str = "There is nothing in memory about that.";

/// Evidence that suits a hosted model, and an embedded one (tokens).
const USUAL: usize = 6_000;
const SMALL: usize = 600;

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
        let evidence = recalled.context.render();
        let evidence = cut(&evidence, room + AROUND / 2);
        let (build, prompts) = (&self.config().build, self.prompts());
        let request = tmem_build::answer(&question.text, evidence, question.at, build, prompts);
        let reply = model.complete(&request).await?;
        Ok(said(&request.prompt.name, model.name(), reply)?)
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
