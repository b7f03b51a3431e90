//! Indices that follow a memory through its changes are those that would be made of it anew.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tmem_index::{
    BackgroundConfig, Host, IndexConfig, Indices, Kind, LexicalBackend, Row, Vector, View,
    affected, rows, rows_of,
};
use tmem_model::{
    Change, ConversationId, HorizonTrigger, Item, ItemId, ItemKind, ItemTrigger, Memory, Scene,
    SceneId, Topic, TopicId, Turn, TurnId,
};

const WORDS: [&str; 6] = ["ferry", "boat", "kiln", "violin", "harbour", "orchard"];

/// Two conversations, so that new ids fall between old ones.
fn conversation(at: usize) -> ConversationId {
    ConversationId::new(["b", "a"][at % 2]).unwrap()
}

fn words(seed: usize) -> String {
    format!("{} {}", WORDS[seed % 6], WORDS[seed / 6 % 6])
}

/// A scene with two turns, one item, and a topic that admits it.
fn session(memory: &Memory, at: usize, seed: usize) -> Change {
    let conversation = conversation(at);
    let turn = |place: usize| Turn {
        id: TurnId::new(&conversation, &format!("D{at}:{place}")).unwrap(),
        speaker: "Ida".into(),
        text: words(seed + place),
        at: None,
        image: None,
        extra: Default::default(),
    };
    let scene = SceneId::new(&conversation, &format!("s{at}")).unwrap();
    let topic = TopicId::new(&conversation, &format!("t{}", seed % 2)).unwrap();
    let mut scenes = memory
        .topic(&topic)
        .map_or(Vec::new(), |topic| topic.scenes.clone());
    if !scenes.contains(&scene) {
        scenes.push(scene.clone());
    }
    let earlier = memory
        .items_in(&conversation)
        .next()
        .map(|item| item.id.clone());
    let id = ItemId::new(&conversation, &format!("i{at}")).unwrap();
    let supersedes = earlier.filter(|earlier| *earlier < id && seed.is_multiple_of(3));
    Change {
        turns: vec![turn(1), turn(2)],
        scenes: vec![Scene {
            id: scene.clone(),
            turns: vec![turn(1).id, turn(2).id],
            title: words(seed),
            summary: String::new(),
            narrative: String::new(),
            scene_trigger: None,
            horizon_triggers: vec![HorizonTrigger {
                dimension: "goal".into(),
                text: words(seed + 2),
                confidence: None,
                extra: Default::default(),
            }],
            extra: Default::default(),
        }],
        topics: vec![Topic {
            id: topic,
            title: words(seed % 2),
            keywords: Vec::new(),
            scenes,
            extra: Default::default(),
        }],
        items: vec![Item {
            id,
            kind: ItemKind::Atomic,
            text: words(seed + 1),
            scenes: vec![scene],
            turns: Vec::new(),
            supersedes: supersedes.into_iter().collect(),
            triggers: (0..seed % 3)
                .map(|n| ItemTrigger {
                    bridge: words(seed * 5 + n),
                    ..ItemTrigger::default()
                })
                .collect(),
            extra: Default::default(),
        }],
        ..Change::default()
    }
}

/// Without a session: its scene leaves its topics, which go when they are left empty.
fn without(memory: &Memory, at: usize) -> Change {
    let conversation = conversation(at);
    let scene = SceneId::new(&conversation, &format!("s{at}")).unwrap();
    let mut change = Change::default();
    let Some(node) = memory.scene(&scene) else {
        return change;
    };
    change.removed.turns.clone_from(&node.turns);
    change.removed.items = memory
        .items_of(&scene)
        .map(|item| item.id.clone())
        .collect();
    for topic in memory.topics_of(&scene) {
        let mut topic = topic.clone();
        topic.scenes.retain(|other| *other != scene);
        if topic.scenes.is_empty() {
            change.removed.topics.push(topic.id);
        } else {
            change.topics.push(topic);
        }
    }
    change.removed.scenes.push(scene);
    change.release_superseded(memory);
    change
}

/// A vector by the words of a text; some texts have none, and one has another length.
fn vector(row: &Row) -> Option<Vector> {
    let count = |word: &&str| row.text.matches(*word).count() as f32;
    let mut numbers: Vec<f32> = WORDS.iter().map(count).collect();
    if row.text.contains("kiln violin") {
        numbers.push(1.0);
    }
    let length = row.text.len() as f32;
    numbers[0] += length / 100.0;
    (!row.text.len().is_multiple_of(7))
        .then(|| Vector::try_from(numbers).ok())
        .flatten()
}

fn placed(rows: Vec<Row>) -> Vec<(Row, Option<Vector>)> {
    let rows = rows.into_iter().map(|row| (vector(&row), row));
    rows.map(|(vector, row)| (row, vector)).collect()
}

fn config(words: LexicalBackend) -> IndexConfig {
    IndexConfig {
        words,
        dimensions: Some(6),
        background: BackgroundConfig {
            neighbours: 3,
            sample: 9,
        },
        ..IndexConfig::default()
    }
}

fn touched(change: &Change) -> BTreeSet<Host> {
    let nodes = change.written().chain(change.removed.nodes());
    nodes.filter_map(Host::of).collect()
}

/// Everything that can be asked of indices, scores to the fifth digit.
fn told(indices: &Indices) -> Vec<String> {
    let mut all = vec![
        format!("{:?} {:?}", indices.turns(), indices.topics()),
        format!("{:?} {:?}", indices.scenes(), indices.items()),
        format!("{:?} left out {}", indices.links(), indices.left_out()),
    ];
    let even = |keys: usize| (0..keys as u32).filter(|key| key % 2 == 0).collect();
    let sets = [
        (Kind::Turn, indices.turns().len()),
        (Kind::Topic, indices.topics().len()),
        (Kind::Scene, indices.scenes().len()),
        (Kind::Item, indices.items().len()),
    ];
    let horizons = indices.horizon_words("a ferry, a kiln", None).unwrap();
    let horizons = horizons
        .iter()
        .map(|hit| format!("{} {:.4}", hit.key, hit.score));
    all.push(format!("horizons {:?}", horizons.collect::<Vec<_>>()));
    for (kind, count) in sets {
        for allowed in [None, Some(even(count))] {
            let hits = indices
                .lexical(kind, "a ferry, a kiln", allowed.as_ref())
                .unwrap();
            let hits = hits
                .iter()
                .map(|hit| format!("{} {:.4}", hit.key, hit.score));
            all.push(format!("{kind:?} {:?}", hits.collect::<Vec<_>>()));
            for view in View::ALL.into_iter().filter(|view| view.kind() == kind) {
                let query = Vector::try_from(vec![1.0, 0.2, 0.0, 0.4, 0.0, 0.1]).unwrap();
                let found = indices
                    .nearest(view, &query, 0.5, allowed.as_ref())
                    .unwrap();
                all.push(format!("{view:?} {found:?}"));
                all.push(format!(
                    "{:?}",
                    indices.backgrounds(view).collect::<Vec<_>>()
                ));
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn following_changes_is_as_good_as_beginning_anew(
        edits in prop::collection::vec((0usize..9, 0usize..36, prop::bool::weighted(0.25)), 1..24),
        every in 1usize..4,
    ) {
        let backends = [LexicalBackend::Postings, LexicalBackend::default()].map(config);
        let mut memory = Memory::new();
        let build = |memory: &Memory, config| {
            Indices::build(memory, placed(rows(memory)), config).unwrap()
        };
        let mut all: Vec<Indices> = backends.iter().map(|config| build(&memory, config)).collect();
        let mut changed = BTreeSet::new();
        for (step, (at, seed, goes)) in edits.into_iter().enumerate() {
            let change = if goes { without(&memory, at) } else { session(&memory, at, seed) };
            changed.extend(touched(&change));
            memory.apply(&change).unwrap();
            if step % every > 0 {
                continue;
            }
            let touched = affected(&memory, std::mem::take(&mut changed));
            for (indices, config) in all.iter_mut().zip(&backends) {
                let rows = placed(rows_of(&memory, &touched));
                indices.update(&memory, &touched, rows).unwrap();
                prop_assert_eq!(told(indices), told(&build(&memory, config)));
            }
        }
    }
}
