//! Recalling evidence: the query is encoded once, then ranking runs without waiting for anything.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tmem_embed::TextRole;
use tmem_index::{Host, Vector};
use tmem_model::{ConversationId, DateTime, Memory, SceneId};
use tmem_retrieve::{Context, Query, Recall, RetrieveConfig, Retriever, Trace};

use crate::error::{TmemError, chain};
use crate::firings;
use crate::indexed::Indexed;
use crate::tmem::Tmem;

/// Most scenes, and most items, that a reranker sees.
const RERANKED: usize = 40;

/// Most names that are told of those who spoke.
const SPEAKERS: usize = 20;

/// A question to a memory, or any words that something may bear on.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// Its words.
    pub text: String,
    /// Who asks: whose persona is shown; `None` shows all of the conversation.
    pub speaker: Option<String>,
    /// As of when: later turns are not there yet.
    pub at: Option<DateTime>,
    /// Only this conversation.
    pub conversation: Option<ConversationId>,
    /// Scenes that were shown as associations before and shall not come up unasked again.
    pub shown: Vec<SceneId>,
}

impl Question {
    /// `text`, asked by nobody in particular, of everything.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// Evidence for a question, and how it was reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recalled {
    /// The evidence.
    pub context: Context,
    /// How it was reached.
    pub trace: Trace,
    /// What was missing on the way.
    pub notes: Vec<String>,
}

impl Tmem {
    /// Finds what bears on a question. No language model is asked.
    ///
    /// Without an encoder it goes by words alone and says so in a note. Which triggers fired, and
    /// which of them led to what is shown, is counted (see [`trigger_counts`](Self::trigger_counts)).
    ///
    /// # Errors
    /// [`TmemError::BlankQuery`]; [`TmemError::EncoderMismatch`]; what the store, an index or the
    /// reranker reports.
    pub async fn recall(
        &self,
        question: &Question,
        config: &RetrieveConfig,
    ) -> Result<Recalled, TmemError> {
        let recalled = self.found(question, config).await?;
        self.count_firings(&recalled, config, &firings::shown(&recalled.context));
        Ok(recalled)
    }

    /// [`recall`](Self::recall) without a trace of it in the counts.
    pub(crate) async fn found(
        &self,
        question: &Question,
        config: &RetrieveConfig,
    ) -> Result<Recalled, TmemError> {
        if tmem_embed::is_blank(&question.text) {
            return Err(TmemError::BlankQuery);
        }
        self.check_conversation(question)?;
        self.check_encoder().await?;
        let indexed = self.indexed().await?;
        let mut notes = indexed.search.notes();
        let wordy = !notes.is_empty();
        notes.extend(unknown_speaker(&indexed.memory, question));
        let vector = match self.query_vector(&question.text).await {
            Ok(vector) => vector,
            Err(why) => {
                if !wordy {
                    notes.push(format!("searched by words alone: {why}"));
                }
                None
            }
        };
        let recall = self
            .ranked(&indexed, query(question, vector), config)
            .await?;
        Ok(Recalled {
            context: recall.context,
            trace: recall.trace,
            notes,
        })
    }

    fn check_conversation(&self, question: &Question) -> Result<(), TmemError> {
        match &question.conversation {
            Some(id) if self.memory().heading(id).is_none() => {
                Err(TmemError::UnknownConversation(id.clone()))
            }
            _ => Ok(()),
        }
    }

    async fn query_vector(&self, text: &str) -> Result<Option<Vector>, String> {
        let encoder = self.services.encoder().await?;
        let encoded = encoder.encode(TextRole::Query, &[text.to_owned()]).await;
        let mut vectors = encoded.map_err(|error| chain(&error))?;
        let vector = vectors.pop().map(Vector::try_from).transpose();
        vector.map_err(|error| error.to_string())
    }

    /// Ranks once, or twice with a reranker's scores for the best of the first time.
    async fn ranked(
        &self,
        indexed: &Indexed,
        mut query: Query,
        config: &RetrieveConfig,
    ) -> Result<Recall, TmemError> {
        let retriever = Retriever::new(&indexed.memory, &indexed.search.indices);
        let recall = retriever.recall(&query, config);
        let Some(reranker) = self.services.reranker().await? else {
            return Ok(recall);
        };
        let (hosts, texts): (Vec<Host>, Vec<String>) = candidates(&indexed.memory, &recall.trace)
            .into_iter()
            .unzip();
        if texts.is_empty() {
            return Ok(recall);
        }
        let scores = reranker.score(&query.text, &texts).await?;
        query.rerank = hosts.into_iter().zip(scores).collect::<BTreeMap<_, _>>();
        Ok(retriever.recall(&query, config))
    }
}

/// A note if nobody is called as the one who asks.
fn unknown_speaker(memory: &Memory, question: &Question) -> Option<String> {
    let name = question.speaker.as_deref()?;
    let asked = |id: &&ConversationId| question.conversation.as_ref().is_none_or(|c| c == *id);
    let conversations = memory.conversations().filter(asked);
    let known: BTreeSet<&str> = conversations.flat_map(|id| memory.speakers(id)).collect();
    if known.contains(name) {
        return None;
    }
    let shown: Vec<&str> = known.iter().take(SPEAKERS).copied().collect();
    let more = if known.len() > SPEAKERS { ", …" } else { "" };
    let shown = shown.join(", ");
    Some(format!(
        "nobody is called {name:?}; there are: {shown}{more}"
    ))
}

fn query(question: &Question, vector: Option<Vector>) -> Query {
    let mut query = Query::new(question.text.clone(), vector);
    query.speaker.clone_from(&question.speaker);
    query.at = question.at;
    query.conversation.clone_from(&question.conversation);
    query.shown.clone_from(&question.shown);
    query
}

/// What a reranker may put in another order, each with its text.
fn candidates(memory: &Memory, trace: &Trace) -> Vec<(Host, String)> {
    let scenes = trace.scenes.iter().take(RERANKED).filter_map(|found| {
        let scene = memory.scene(&found.id)?;
        Some((
            Host::Scene(scene.id.clone()),
            format!("{}. {}", scene.title, scene.summary),
        ))
    });
    let items = trace.items.iter().take(RERANKED).filter_map(|found| {
        let item = memory.item(&found.id)?;
        Some((Host::Item(item.id.clone()), item.text.clone()))
    });
    let mut all: Vec<(Host, String)> = scenes.chain(items).collect();
    all.retain(|(_, text)| !tmem_embed::is_blank(text));
    all
}
