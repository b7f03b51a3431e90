//! Turns that are edited or taken away: nothing derived from them stays, nothing else changes.

mod common;

use std::collections::BTreeSet;

use common::{Bench, conversation, dialogue};
use tmem_build::{BuildConfig, Jobs, settled, touched};
use tmem_model::{Change, Memory, Turn, TurnId};

fn built(turns: &[Turn]) -> Bench {
    let mut bench = Bench::new(BuildConfig {
        topic_block: 4,
        ..BuildConfig::default()
    });
    bench.add(turns);
    bench.flush();
    bench.build();
    bench
}

fn everything(memory: &Memory) -> String {
    let mut all: Vec<String> = memory.all_turns().map(|turn| format!("{turn:?}")).collect();
    all.extend(memory.scenes().map(|scene| format!("{scene:?}")));
    all.extend(memory.topics().map(|topic| format!("{topic:?}")));
    all.extend(memory.items().map(|item| format!("{item:?}")));
    all.extend(memory.personas().map(|persona| format!("{persona:?}")));
    all.join("\n")
}

/// A word of the turn that no other turn has.
fn mark(turn: &Turn) -> String {
    turn.text
        .split(" and ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .to_owned()
}

fn remove(bench: &mut Bench, ids: &[TurnId]) -> Change {
    let change = touched(&bench.memory, &bench.jobs, Vec::new(), ids);
    bench.apply(&change);
    change
}

#[test]
fn nothing_tells_of_a_removed_turn_and_the_rest_is_built_anew() {
    let turns = dialogue(45);
    let mut bench = built(&turns);
    let gone = &turns[12];
    let scene = bench.memory.scene_of(&gone.id).unwrap().id.clone();
    let others: Vec<_> = bench
        .memory
        .scenes()
        .filter(|s| s.id != scene)
        .cloned()
        .collect();
    let change = remove(&mut bench, std::slice::from_ref(&gone.id));
    assert!(!everything(&bench.memory).contains(&mark(gone)));
    assert_eq!(change.scenes.len(), 1);
    let paid = bench.paid();
    bench.build();
    bench.assert_settled();
    assert!(!everything(&bench.memory).contains(&mark(gone)));
    assert!(bench.paid() - paid <= 8, "{} calls", bench.paid() - paid);
    let now = bench.memory.scene(&scene).unwrap();
    assert!(
        !now.title.is_empty() && !now.turns.contains(&gone.id) && !now.horizon_triggers.is_empty()
    );
    for other in others {
        assert_eq!(bench.memory.scene(&other.id), Some(&other));
    }
}

#[test]
fn items_of_other_scenes_keep_their_ids_and_triggers() {
    let turns = dialogue(45);
    let mut bench = built(&turns);
    let scene = bench.memory.scene_of(&turns[12].id).unwrap().id.clone();
    let elsewhere = |bench: &Bench| -> Vec<_> {
        bench
            .memory
            .items()
            .filter(|item| !item.scenes.contains(&scene))
            .cloned()
            .collect()
    };
    let before = elsewhere(&bench);
    remove(&mut bench, std::slice::from_ref(&turns[12].id));
    bench.build();
    assert_eq!(elsewhere(&bench), before);
    let ids: BTreeSet<_> = bench.memory.items().map(|item| item.id.clone()).collect();
    assert_eq!(ids.len(), bench.memory.items().count());
}

#[test]
fn a_scene_whose_turns_are_all_gone_goes_with_all_that_hangs_on_it() {
    let turns = dialogue(45);
    let mut bench = built(&turns);
    let scene = bench.memory.scenes().nth(1).unwrap().clone();
    remove(&mut bench, &scene.turns);
    assert!(bench.memory.scene(&scene.id).is_none());
    bench.build();
    bench.assert_settled();
    assert!(
        bench
            .memory
            .items()
            .all(|item| !item.scenes.contains(&scene.id))
    );
    assert!(
        bench
            .memory
            .topics()
            .all(|topic| !topic.scenes.contains(&scene.id))
    );
    let words = everything(&bench.memory);
    for turn in turns.iter().filter(|turn| scene.turns.contains(&turn.id)) {
        assert!(!words.contains(&mark(turn)));
    }
}

#[test]
fn removing_everything_leaves_nothing() {
    let turns = dialogue(30);
    let mut bench = built(&turns);
    let all: Vec<TurnId> = turns.iter().map(|turn| turn.id.clone()).collect();
    remove(&mut bench, &all);
    bench.build();
    assert_eq!(everything(&bench.memory), "");
    assert_eq!(
        bench
            .jobs
            .iter()
            .filter(|job| job.target.starts_with('s'))
            .count(),
        0
    );
}

#[test]
fn an_edited_turn_is_told_in_its_new_words_only() {
    let turns = dialogue(45);
    let mut bench = built(&turns);
    let old = mark(&turns[9]);
    let new = Turn {
        text: turns[9].text.replace(&old, "borealis"),
        ..turns[9].clone()
    };
    let scene = bench.memory.scene_of(&new.id).unwrap().clone();
    let change = touched(&bench.memory, &bench.jobs, vec![new], &[]);
    bench.apply(&change);
    bench.build();
    bench.assert_settled();
    let words = everything(&bench.memory);
    assert!(!words.contains(&old) && words.contains("borealis"));
    assert_eq!(bench.memory.scene(&scene.id).unwrap().turns, scene.turns);
}

#[test]
fn an_edit_that_changes_nothing_touches_nothing() {
    let turns = dialogue(30);
    let bench = built(&turns);
    let same = touched(&bench.memory, &bench.jobs, vec![turns[3].clone()], &[]);
    assert!(same.is_empty());
}

#[test]
fn a_flush_survives_the_turn_it_was_marked_at() {
    let turns = dialogue(45);
    let mut bench = built(&turns[..30]);
    remove(&mut bench, std::slice::from_ref(&turns[29].id));
    let scenes = bench.memory.scenes().count();
    bench.add(&turns[30..]);
    bench.build();
    assert_eq!(
        bench.memory.scenes().count(),
        scenes,
        "new turns wait for a flush of their own"
    );
    bench.flush();
    bench.build();
    bench.assert_settled();
    assert_eq!(bench.memory.open_turns(&conversation()).count(), 0);
}

#[test]
fn an_imported_memory_is_settled_but_for_what_it_lacks() {
    let bench = built(&dialogue(40));
    let mut import = Bench::new(bench.config.clone());
    let mut scenes: Vec<_> = bench.memory.scenes().cloned().collect();
    scenes[1].horizon_triggers.clear();
    scenes[1].scene_trigger = None;
    let change = Change {
        turns: bench.memory.all_turns().cloned().collect(),
        scenes,
        topics: bench.memory.topics().cloned().collect(),
        items: bench.memory.items().cloned().collect(),
        personas: bench.memory.personas().cloned().collect(),
        ..Change::default()
    };
    import.apply(&change);
    let jobs = settled(&import.memory, &Jobs::default(), &conversation());
    import.apply(&jobs);
    import.build();
    assert_eq!(import.paid(), 1, "{:?}", import.calls);
    assert_eq!(import.outline(), bench.outline());
}
