//! [`rows`]: every text of a memory that wants a vector, in a stated order.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tmem_model::memory::NodeId;
use tmem_model::{Item, ItemId, Memory, Scene, SceneId, Topic, TopicId, Turn, TurnId};

/// The node that a row leads to; a trigger leads to the node that hosts it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// A turn.
    Turn(TurnId),
    /// A topic.
    Topic(TopicId),
    /// A scene.
    Scene(SceneId),
    /// An item.
    Item(ItemId),
}

impl Host {
    /// The host of that id; `None` for a persona, which is not searched.
    #[must_use]
    pub fn of(id: NodeId) -> Option<Self> {
        match id {
            NodeId::Turn(id) => Some(Self::Turn(id)),
            NodeId::Topic(id) => Some(Self::Topic(id)),
            NodeId::Scene(id) => Some(Self::Scene(id)),
            NodeId::Item(id) => Some(Self::Item(id)),
            NodeId::Persona(..) => None,
        }
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Turn(_) => Kind::Turn,
            Self::Topic(_) => Kind::Topic,
            Self::Scene(_) => Kind::Scene,
            Self::Item(_) => Kind::Item,
        }
    }
}

/// What of its host a row shows: the node itself, or one view of a trigger (section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// A turn with its speaker.
    Turn,
    /// Title and keywords of a topic.
    Topic,
    /// Title and summary of a scene.
    Scene,
    /// The text of an item.
    Item,
    /// The raw dialogue of a scene (`dlg`).
    Dialogue,
    /// One attribute of a scene trigger (`scn`).
    SceneTrigger,
    /// One sentence of a horizon trigger (`hor`).
    Horizon,
    /// The entity of an item trigger.
    Concept,
    /// The bridge of an item trigger.
    Bridge,
    /// Entity, bridge and rationale together.
    Joint,
}

impl View {
    /// All views, in the order in which [`rows`] may give them.
    pub const ALL: [Self; 10] = [
        Self::Turn,
        Self::Topic,
        Self::Scene,
        Self::Item,
        Self::Dialogue,
        Self::SceneTrigger,
        Self::Horizon,
        Self::Concept,
        Self::Bridge,
        Self::Joint,
    ];

    /// The kind of node that hosts it.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Turn => Kind::Turn,
            Self::Topic => Kind::Topic,
            Self::Scene | Self::Dialogue | Self::SceneTrigger | Self::Horizon => Kind::Scene,
            Self::Item | Self::Concept | Self::Bridge | Self::Joint => Kind::Item,
        }
    }

    /// Whether its text only leads to its host and was never said: it is corrected for background.
    #[must_use]
    pub fn is_associative(self) -> bool {
        !matches!(self, Self::Turn | Self::Topic | Self::Scene | Self::Item)
    }
}

/// The kinds of node that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Turns.
    Turn,
    /// Topics.
    Topic,
    /// Scenes.
    Scene,
    /// Items.
    Item,
}

/// A text that wants a vector.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Row {
    /// Where it leads.
    pub host: Host,
    /// What of the host it shows.
    pub view: View,
    /// Which one of the host's texts of this view: the position of the attribute among the four,
    /// of the horizon sentence, or of the item trigger; 0 where there is but one.
    pub ordinal: usize,
    /// The text; never blank.
    pub text: String,
}

/// Every text of `memory` that wants a vector: turns, topics, scenes with their triggers, items with
/// theirs, each kind in the memory's own order. Blank texts have no row.
#[must_use]
pub fn rows(memory: &Memory) -> Vec<Row> {
    let mut rows = Vec::new();
    memory
        .all_turns()
        .for_each(|turn| rows.push(turn_row(turn)));
    memory
        .topics()
        .for_each(|topic| rows.push(topic_row(topic)));
    memory
        .scenes()
        .for_each(|scene| scene_rows(memory, scene, &mut rows));
    memory.items().for_each(|item| item_rows(item, &mut rows));
    rows.retain(|row| !row.text.trim().is_empty());
    rows
}

/// The texts of some nodes that want a vector, in the order given; nodes that are not there have
/// none.
pub fn rows_of<'a>(memory: &Memory, hosts: impl IntoIterator<Item = &'a Host>) -> Vec<Row> {
    let mut rows = Vec::new();
    for host in hosts {
        match host {
            Host::Turn(id) => rows.extend(memory.turn(id).map(turn_row)),
            Host::Topic(id) => rows.extend(memory.topic(id).map(topic_row)),
            Host::Scene(id) => {
                let scene = memory.scene(id);
                scene
                    .into_iter()
                    .for_each(|scene| scene_rows(memory, scene, &mut rows));
            }
            Host::Item(id) => {
                let item = memory.item(id);
                item.into_iter().for_each(|item| item_rows(item, &mut rows));
            }
        }
    }
    rows.retain(|row| !row.text.trim().is_empty());
    rows
}

fn turn_row(turn: &Turn) -> Row {
    let content = turn.content();
    let text = if content.trim().is_empty() {
        content
    } else {
        spoken(turn)
    };
    Row {
        host: Host::Turn(turn.id.clone()),
        view: View::Turn,
        ordinal: 0,
        text,
    }
}

fn topic_row(topic: &Topic) -> Row {
    let text = sentences(&[&topic.title, &topic.keywords.join(", ")]);
    Row {
        host: Host::Topic(topic.id.clone()),
        view: View::Topic,
        ordinal: 0,
        text,
    }
}

fn scene_rows(memory: &Memory, scene: &Scene, rows: &mut Vec<Row>) {
    let mut push = |view, ordinal, text| {
        rows.push(Row {
            host: Host::Scene(scene.id.clone()),
            view,
            ordinal,
            text,
        });
    };
    push(View::Scene, 0, sentences(&[&scene.title, &scene.summary]));
    push(View::Dialogue, 0, dialogue(memory.scene_turns(&scene.id)));
    if let Some(trigger) = &scene.scene_trigger {
        let fields = [
            &trigger.situation,
            &trigger.object,
            &trigger.event,
            &trigger.emotion,
        ];
        for (ordinal, text) in fields.into_iter().enumerate() {
            push(View::SceneTrigger, ordinal, text.clone());
        }
    }
    for (ordinal, trigger) in scene.horizon_triggers.iter().enumerate() {
        push(View::Horizon, ordinal, trigger.text.clone());
    }
}

fn item_rows(item: &Item, rows: &mut Vec<Row>) {
    let mut push = |view, ordinal, text| {
        rows.push(Row {
            host: Host::Item(item.id.clone()),
            view,
            ordinal,
            text,
        });
    };
    push(View::Item, 0, item.text.clone());
    for (ordinal, trigger) in item.triggers.iter().enumerate() {
        push(View::Concept, ordinal, trigger.entity.clone());
        push(View::Bridge, ordinal, trigger.bridge.clone());
        let joint = sentences(&[&trigger.entity, &trigger.bridge, &trigger.rationale]);
        push(View::Joint, ordinal, joint);
    }
}

/// What BM25 reads of a node: of a turn its speaker too, of a topic the title twice, of a scene
/// title, summary and dialogue. `None` if that is blank or the node is not there.
pub(crate) fn lexical_text(memory: &Memory, host: &Host) -> Option<String> {
    let text = match host {
        Host::Turn(id) => turn_row(memory.turn(id)?).text,
        Host::Topic(id) => {
            let topic = memory.topic(id)?;
            format!("{0} {0} {1}", topic.title, topic.keywords.join(" "))
        }
        Host::Scene(id) => {
            let scene = memory.scene(id)?;
            let dialogue = dialogue(memory.scene_turns(id));
            format!("{}\n{}\n{dialogue}", scene.title, scene.summary)
        }
        Host::Item(id) => memory.item(id)?.text.clone(),
    };
    (!text.trim().is_empty()).then_some(text)
}

/// Every node of a memory that is searched.
pub(crate) fn hosts(memory: &Memory) -> BTreeSet<Host> {
    let turns = memory.all_turns().map(|turn| Host::Turn(turn.id.clone()));
    let topics = memory.topics().map(|topic| Host::Topic(topic.id.clone()));
    let scenes = memory.scenes().map(|scene| Host::Scene(scene.id.clone()));
    let items = memory.items().map(|item| Host::Item(item.id.clone()));
    turns.chain(topics).chain(scenes).chain(items).collect()
}

/// Nodes whose rows, words or background may be others once `changed` nodes are: these, the scenes
/// of the turns among them, and the items of the scenes.
#[must_use]
pub fn affected(memory: &Memory, changed: BTreeSet<Host>) -> BTreeSet<Host> {
    let mut all = changed;
    let turns = all.iter().filter_map(|host| match host {
        Host::Turn(turn) => memory.scene_of(turn),
        _ => None,
    });
    let scenes: Vec<Host> = turns.map(|scene| Host::Scene(scene.id.clone())).collect();
    all.extend(scenes);
    let scenes = all.iter().filter_map(|host| match host {
        Host::Scene(scene) => Some(scene),
        _ => None,
    });
    let items = scenes.flat_map(|scene| memory.items_of(scene));
    let items: Vec<Host> = items.map(|item| Host::Item(item.id.clone())).collect();
    all.extend(items);
    all
}

/// All horizon sentences of a scene; `None` if they are blank or it is not there.
pub(crate) fn horizon_text(memory: &Memory, scene: &SceneId) -> Option<String> {
    let triggers = memory.scene(scene)?.horizon_triggers.iter();
    let text = triggers.map(|trigger| &*trigger.text).collect::<Vec<_>>();
    let text = text.join("\n");
    (!text.trim().is_empty()).then_some(text)
}

/// The raw turns as lines of `Speaker: what was said`.
pub(crate) fn dialogue<'a>(turns: impl Iterator<Item = &'a Turn>) -> String {
    turns.map(spoken).collect::<Vec<_>>().join("\n")
}

fn spoken(turn: &Turn) -> String {
    format!("{}: {}", turn.speaker, turn.content())
}

/// Joins what is not blank with `. `.
fn sentences(parts: &[&str]) -> String {
    let parts = parts
        .iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(". ")
}
