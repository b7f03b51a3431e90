//! However turns arrive and wherever the process dies, the same memory comes about, and no call is
//! paid for twice.

mod common;

use std::cell::RefCell;
use std::collections::BTreeSet;

use common::{Bench, Outline, conversation, dialogue, read};
use proptest::prelude::*;
use tmem_build::BuildConfig;
use tmem_llm::{LlmError, Reply};
use tmem_model::{JobState, Turn};

/// Small windows and blocks, so that a short conversation has several of each.
fn config() -> BuildConfig {
    BuildConfig {
        window: 14,
        overlap: 6,
        write_batch: 3,
        topic_block: 4,
        items_scenes: 3,
        item_trigger_batch: 5,
        triggers_per_item: 2,
        persona_tokens: 400,
        scene_trigger_batch: 2,
        ..BuildConfig::default()
    }
}

fn straight(turns: &[Turn]) -> Bench {
    let mut bench = Bench::new(config());
    bench.add(turns);
    bench.flush();
    bench.build();
    bench.assert_settled();
    bench
}

#[test]
fn scenes_are_a_partition_of_the_turns() {
    let turns = dialogue(90);
    let bench = straight(&turns);
    let in_scenes: Vec<_> = bench
        .memory
        .scenes()
        .flat_map(|scene| scene.turns.clone())
        .collect();
    let all: Vec<_> = turns.iter().map(|turn| turn.id.clone()).collect();
    assert_eq!(in_scenes, all);
    assert!(bench.memory.open_turns(&conversation()).next().is_none());
    for scene in bench.memory.scenes() {
        assert!(
            bench.memory.topics_of(&scene.id).next().is_some(),
            "{}",
            scene.id
        );
        assert!(scene.scene_trigger.is_some() && !scene.horizon_triggers.is_empty());
    }
}

#[test]
fn turn_by_turn_is_the_same_as_at_once() {
    let turns = dialogue(75);
    let mut bench = Bench::new(config());
    for turn in &turns {
        bench.add(std::slice::from_ref(turn));
        bench.build();
    }
    bench.flush();
    bench.build();
    assert_eq!(bench.outline(), straight(&turns).outline());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn portions_make_no_difference(sizes in prop::collection::vec(1usize..30, 1..8)) {
        let turns = dialogue(80);
        let mut bench = Bench::new(config());
        let mut rest = &turns[..];
        for size in sizes.into_iter().cycle() {
            let (now, later) = rest.split_at(size.min(rest.len()));
            bench.add(now);
            bench.build();
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        bench.flush();
        bench.build();
        prop_assert_eq!(bench.outline(), straight(&turns).outline());
    }

    #[test]
    fn a_death_between_any_two_commits_costs_nothing(deaths in prop::collection::vec(prop::bool::weighted(0.3), 20)) {
        let turns = dialogue(70);
        let mut bench = Bench::new(config());
        let deaths = RefCell::new(deaths.into_iter().chain([false]).cycle());
        let next = std::sync::Arc::new(std::sync::Mutex::new(deaths.into_inner()));
        bench.dies = Box::new(move || next.lock().unwrap().next().unwrap_or(false));
        bench.add(&turns);
        bench.flush();
        bench.build();
        let whole = straight(&turns);
        prop_assert_eq!(bench.outline(), whole.outline());
        prop_assert_eq!(bench.keys(), whole.keys());
    }

    #[test]
    fn the_order_of_answers_makes_no_difference(seed in any::<u64>()) {
        let turns = dialogue(70);
        let mut bench = Bench::new(config());
        bench.shuffle = Box::new(move |count| {
            let mut order: Vec<usize> = (0..count).collect();
            order.sort_by_key(|at| (*at as u64).wrapping_mul(seed | 1).rotate_left(17));
            order
        });
        bench.add(&turns);
        bench.flush();
        bench.build();
        let whole = straight(&turns);
        prop_assert_eq!(bench.outline(), whole.outline());
        prop_assert_eq!(bench.keys(), whole.keys());
    }

    #[test]
    fn answers_that_come_in_batches_lead_to_the_same_memory(late in prop::collection::vec(0usize..3, 40)) {
        let turns = dialogue(70);
        let bench = in_batches(&turns, late);
        let whole = straight(&turns);
        prop_assert_eq!(bench.outline(), whole.outline());
        prop_assert_eq!(bench.keys(), whole.keys());
    }
}

/// Every call waits first; the one that comes n-th is answered after `late[n]` further rounds.
fn in_batches(turns: &[Turn], late: Vec<usize>) -> Bench {
    let asked = std::sync::Mutex::new(std::collections::BTreeMap::<String, usize>::new());
    let mut bench = Bench::new(config());
    bench.model = Box::new(move |request| {
        let mut asked = asked.lock().unwrap();
        let count = asked.len();
        let key = serde_json::to_string(request).unwrap();
        let left = asked.entry(key).or_insert(1 + late[count % late.len()]);
        if *left == 0 {
            return Ok(Reply::text(read(request).to_string()));
        }
        *left -= 1;
        Err(LlmError::Pending("key".into()))
    });
    bench.add(turns);
    bench.flush();
    for _ in 0..200 {
        bench.build();
        let pending = bench.jobs.count(JobState::Pending);
        if pending == 0 {
            break;
        }
    }
    bench.assert_settled();
    bench
}

#[test]
fn a_whole_conversation_needs_at_most_twelve_batches() {
    let asked = std::sync::Mutex::new(BTreeSet::<String>::new());
    let mut bench = Bench::new(BuildConfig::default());
    bench.model = Box::new(move |request| {
        let key = serde_json::to_string(request).unwrap();
        if asked.lock().unwrap().insert(key) {
            return Err(LlmError::Pending("key".into()));
        }
        Ok(Reply::text(read(request).to_string()))
    });
    bench.add(&dialogue(588));
    bench.flush();
    let mut batches = 0;
    loop {
        bench.build();
        if bench.jobs.count(JobState::Pending) == 0 {
            break;
        }
        batches += 1;
        assert!(batches <= 12);
    }
    bench.assert_settled();
    let whole: Outline = bench.outline();
    assert!(whole.items.len() > 500);
}

#[test]
fn a_flush_closes_the_tail_for_good() {
    let turns = dialogue(40);
    let mut bench = Bench::new(config());
    bench.add(&turns[..22]);
    bench.flush();
    bench.build();
    let before: Vec<_> = bench.memory.scenes().cloned().collect();
    bench.add(&turns[22..]);
    bench.flush();
    bench.build();
    let after: Vec<_> = bench.memory.scenes().take(before.len()).cloned().collect();
    assert_eq!(before, after);
    assert_eq!(bench.memory.open_turns(&conversation()).count(), 0);
}
