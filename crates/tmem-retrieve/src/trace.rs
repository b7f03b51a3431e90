//! [`Trace`]: for every candidate how it got in, its rank and score in every list, and its fate.

use serde::Serialize;
use tmem_index::{Host, View};
use tmem_model::{ItemId, SceneId, TopicId, TurnId};

/// What happened on the way from the query to the context.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trace {
    /// The topics that the filter chose, best first.
    pub topics: Vec<Candidate<TopicId>>,
    /// Scenes by similarity (within the filter), best first, down to `trace_depth`.
    pub scenes: Vec<Candidate<SceneId>>,
    /// Scenes by triggers, best first, down to `trace_depth`; what similarity chose is among them.
    pub associations: Vec<Candidate<SceneId>>,
    /// Items, best first, down to `trace_depth` and however far the chosen ones reach.
    pub items: Vec<Candidate<ItemId>>,
    /// Turns of the open tail, best first, down to `trace_depth`.
    pub turns: Vec<Candidate<TurnId>>,
    /// Pieces of evidence that the token budget left out (count).
    pub over_budget: usize,
    /// Estimated tokens of the context without personas.
    pub tokens: usize,
    /// What was out of the ordinary.
    pub notes: Vec<Note>,
}

/// Something that could have been shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate<Id> {
    /// Which one.
    pub id: Id,
    /// How it became a candidate, all ways.
    pub via: Vec<Via>,
    /// Its place in each list that ranks it.
    pub ranks: Vec<ListRank>,
    /// Its fused score.
    pub score: f32,
    /// What became of it.
    pub fate: Fate,
}

/// A way to become a candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "way")]
pub enum Via {
    /// A scene of a topic that the filter chose.
    Topic {
        /// The topic.
        topic: TopicId,
        /// Its title.
        title: String,
    },
    /// No filter stood in its way: it is off, or no topic has admitted the scene yet.
    Unfiltered,
    /// An item of a scene, chosen or among the best.
    Scene {
        /// The scene.
        scene: SceneId,
    },
    /// It holds in place of an item that was found and is out of date.
    Supersedes {
        /// The item that was found.
        item: ItemId,
    },
    /// A trigger fired.
    Trigger(TriggerHit),
    /// A turn that no scene holds yet.
    OpenTail,
}

/// A trigger and how close it is to the query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TriggerHit {
    /// Its family.
    pub family: Family,
    /// The view that matched.
    pub view: View,
    /// The scene or item that hosts it.
    pub host: Host,
    /// Which of the host's texts of that view.
    pub ordinal: usize,
    /// The attribute of a scene trigger, the dimension of a horizon trigger; empty otherwise.
    pub label: String,
    /// The text that matched.
    pub text: String,
    /// Why the item would matter there (item triggers).
    pub rationale: Option<String>,
    /// Cosine with the query.
    pub cosine: f32,
    /// How close the text is to what is said in general.
    pub background: f32,
    /// What it is ranked by.
    pub score: f32,
}

/// The four families of triggers, and the dialogue, which stands in for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// The raw dialogue of a scene.
    Dialogue,
    /// Quadrant IV.
    Scene,
    /// Quadrant III.
    Horizon,
    /// Quadrant I.
    Entity,
    /// Quadrant II, alone or joint with the entity.
    Bridge,
}

/// The lists that rank candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
    /// Words.
    Bm25,
    /// Cosine of the node's own text.
    Dense,
    /// Cosine of the dialogue.
    Dialogue,
    /// Best attribute of the scene trigger.
    SceneTrigger,
    /// Best sentence of the horizon trigger.
    Horizon,
    /// Best bridge of the scene's items.
    Bridge,
    /// Best view of the item's own triggers.
    ItemTrigger,
    /// A reranker's score.
    Rerank,
}

/// A place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ListRank {
    /// The list.
    pub list: List,
    /// The place, from 1.
    pub rank: usize,
    /// The score there.
    pub score: f32,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is in the context.
    Kept(Channel),
    /// It is not.
    Cut(Cut),
}

/// The quota under which evidence is in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// Likeness to the query.
    Similarity,
    /// Scenes by their triggers.
    Association,
    /// Items by their triggers.
    Trigger,
    /// Turns that no scene holds yet.
    OpenTail,
    /// Topics: they let scenes pass and are never shown.
    Filter,
}

/// Why a candidate is not in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Others ranked higher.
    Rank,
    /// Its triggers together are too far from the query.
    Floor,
    /// It was shown as an association before.
    ShownBefore,
    /// The context shows all its source turns.
    AlreadyShown,
    /// It did not fit the token budget.
    Budget,
    /// Its layer is switched off.
    SwitchedOff,
}

/// Something out of the ordinary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "note")]
pub enum Note {
    /// The query is blank: nothing was searched.
    BlankQuery,
    /// The query came without a vector: words alone were searched.
    NoVector,
    /// The memory has no vectors: words alone were searched.
    NoVectors,
    /// The query's vector does not fit those of the memory; words alone were searched.
    OtherEncoder {
        /// Dimensions of the memory's vectors.
        expected: usize,
        /// Dimensions of the query's.
        found: usize,
    },
    /// The query has no informative word, so nothing comes up unasked.
    SmallTalk,
    /// Vectors of another length were left out of the indices.
    VectorsLeftOut {
        /// How many.
        count: usize,
    },
    /// An index failed; its list is missing.
    IndexFailed {
        /// What it said.
        message: String,
    },
    /// A persona sums up turns later than the date asked for, so it is left out.
    PersonaTooLate {
        /// Whose.
        speaker: String,
    },
}
