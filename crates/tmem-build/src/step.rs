//! One step of work: what it is about, whether a model is asked, and the reply that came.

use serde_json::Value;
use tmem_model::{ConversationId, ItemId, SceneId, Stage, TopicId, TurnId};

/// A step that is ready; the steps of one plan do not depend on each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub(crate) conversation: ConversationId,
    pub(crate) stage: Stage,
    /// How often its work was split because it was too large.
    pub(crate) level: u32,
    pub(crate) work: Work,
}

/// What a step works on, with every id that its prompt offers, in the order of the labels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Work {
    /// Find closures in a window; a model is asked.
    Window(Window),
    /// Find closures in a window by vectors or gaps.
    Cut(Window),
    /// Form scenes from the closures found so far.
    Close,
    /// Write scenes, or their triggers.
    Scenes(Vec<SceneId>),
    /// Assign scenes to topics.
    Block {
        scenes: Vec<SceneId>,
        offered: Vec<TopicId>,
    },
    /// Extract the items of a topic.
    Topic(TopicWork),
    /// Write triggers of items.
    Items(Vec<ItemId>),
    /// Fold turns into a persona.
    Persona { speaker: String, turns: Vec<TurnId> },
}

/// A run of turns, none of them blank.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) turns: Vec<TurnId>,
    /// The positions it decides: whether an event closes after that turn.
    pub(crate) owned: std::ops::Range<usize>,
}

/// The scenes of one item call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicWork {
    pub(crate) topic: TopicId,
    /// Scenes whose facts are extracted here.
    pub(crate) own: Vec<SceneId>,
    /// Scenes that are new to the topic but whose facts another topic reads; shown whole as well.
    pub(crate) joined: Vec<SceneId>,
    /// Further scenes, shown in short, for connected items.
    pub(crate) context: Vec<SceneId>,
    /// Items that are known already, the latest ones.
    pub(crate) known: Vec<ItemId>,
    /// The one turn whose facts are wanted, if facts go turn by turn.
    pub(crate) focus: Option<TurnId>,
}

impl Window {
    /// Its name among the jobs.
    pub(crate) fn target(&self) -> String {
        let ends = (self.turns.first(), self.turns.last());
        let (Some(first), Some(last)) = ends else {
            return String::new();
        };
        format!("{}..{}", first.local(), last.local())
    }
}

impl TopicWork {
    /// Names of its memberships among the jobs.
    fn targets(&self) -> Vec<String> {
        match &self.focus {
            Some(turn) => vec![fact_target(&self.topic, &self.own[0], turn)],
            None => self
                .own
                .iter()
                .chain(&self.joined)
                .map(|s| membership(&self.topic, s))
                .collect(),
        }
    }
}

/// Name of a scene's membership in a topic among the jobs.
pub(crate) fn membership(topic: &TopicId, scene: &SceneId) -> String {
    format!("{}/{}", topic.local(), scene.local())
}

/// Name of one turn's facts among the jobs.
pub(crate) fn fact_target(topic: &TopicId, scene: &SceneId, turn: &TurnId) -> String {
    format!("{}/{}", membership(topic, scene), turn.local())
}

impl Step {
    /// The conversation.
    #[must_use]
    pub fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// The stage.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether it takes a model call; the others are done on the spot.
    #[must_use]
    pub fn asks_model(&self) -> bool {
        !matches!(self.work, Work::Cut(_) | Work::Close)
    }

    /// Names of its jobs.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        match &self.work {
            Work::Window(window) | Work::Cut(window) => vec![window.target()],
            Work::Close => Vec::new(),
            Work::Scenes(scenes) | Work::Block { scenes, .. } => scenes
                .iter()
                .map(|scene| scene.local().to_owned())
                .collect(),
            Work::Topic(work) => work.targets(),
            Work::Items(items) => items.iter().map(|item| item.local().to_owned()).collect(),
            Work::Persona { speaker, .. } => vec![speaker.clone()],
        }
    }
}

/// A step with what came back for it; to be accepted in the order of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub(crate) step: Step,
    pub(crate) answer: Answer,
    /// Whether the answer is only the complete beginning of a reply that was cut.
    pub(crate) partial: bool,
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// No model was asked.
    Local,
    /// A reply of the wanted shape, as far as that was checked.
    Value(Value),
    /// It will be answered elsewhere, later.
    Waiting(String),
    /// Nobody can be asked just now.
    Outage(String),
    /// The model refused.
    Refused(String),
    /// Prompt or reply did not fit.
    TooLarge(String),
    /// Anything else.
    Failed(String),
}

impl Asked {
    /// The step.
    #[must_use]
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// Whether the answer comes later: nothing was gained, nothing is lost.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.answer, Answer::Waiting(_) | Answer::Outage(_))
    }

    /// Whether the answer comes later because nobody can be asked just now.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self.answer, Answer::Outage(_))
    }

    /// A step that takes no model.
    pub(crate) fn local(step: Step) -> Self {
        Self {
            step,
            answer: Answer::Local,
            partial: false,
        }
    }

    /// The step with a reply that came from elsewhere.
    #[must_use]
    pub fn replied(step: Step, reply: Value) -> Self {
        Self {
            step,
            answer: Answer::Value(reply),
            partial: false,
        }
    }
}
