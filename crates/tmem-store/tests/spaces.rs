//! What is committed to a space is what is loaded from it, and from no other.

mod common;

use common::{conversation, item, job, scene, space, topic, turn, turns};
use tmem_model::{Change, Heading, JobState, Memory, Persona, Removed, TriggerId};
use tmem_store::{SpaceNameError, Store, StoreError, TriggerCounts};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    (folder, store)
}

fn texts(memory: &Memory) -> Vec<&str> {
    memory.all_turns().map(|turn| turn.text.as_str()).collect()
}

#[test]
fn everything_comes_back_after_reopening() {
    let (folder, store) = store();
    let mut change = turns("b", &["one", "two"]);
    change.turns.push(turn("a", "1", "three"));
    change.scenes.push(scene("b", "s001", &["1", "2"]));
    change.topics.push(topic("b", "t01", &["s001"]));
    change.items.push(item("b", "i0001", "s001", "a fact"));
    change.jobs.push(job("b", "s001", JobState::Done));
    let mut heading = Heading::new(conversation("b"));
    heading.speakers.push("Ada".into());
    heading.extra.insert("colour".into(), "green".into());
    change.headings.push(heading);
    let (speaker, summary) = ("Ada".to_owned(), "calm".to_owned());
    let persona = Persona {
        conversation: conversation("b"),
        speaker,
        summary,
        extra: Default::default(),
    };
    change.personas.push(persona);
    store.commit(&space("x"), &change).unwrap();
    drop(store);

    let saved = Store::open_existing(folder.path())
        .unwrap()
        .load(&space("x"))
        .unwrap();
    assert_eq!(saved.generation, 1);
    assert_eq!(saved.jobs, change.jobs);
    let memory = saved.memory;
    assert_eq!(texts(&memory), ["one", "two", "three"]);
    assert_eq!(memory.scenes().cloned().collect::<Vec<_>>(), change.scenes);
    assert_eq!(memory.topics().cloned().collect::<Vec<_>>(), change.topics);
    assert_eq!(memory.items().cloned().collect::<Vec<_>>(), change.items);
    assert_eq!(
        memory.personas().cloned().collect::<Vec<_>>(),
        change.personas
    );
    assert_eq!(memory.heading(&conversation("b")), change.headings.first());
}

#[test]
fn a_space_sees_nothing_of_another() {
    let (_folder, store) = store();
    store
        .commit(&space("mine"), &turns("c", &["my turn"]))
        .unwrap();
    store
        .commit(&space("yours"), &turns("c", &["your turn"]))
        .unwrap();
    assert_eq!(
        texts(&store.load(&space("mine")).unwrap().memory),
        ["my turn"]
    );
    store.remove_space(&space("mine")).unwrap();
    assert_eq!(store.spaces().unwrap(), [space("yours")]);
    assert_eq!(
        texts(&store.load(&space("yours")).unwrap().memory),
        ["your turn"]
    );
}

#[test]
fn an_unknown_space_is_told_apart_from_an_empty_one() {
    let (_folder, store) = store();
    store.commit(&space("known"), &Change::default()).unwrap();
    assert_eq!(store.load(&space("known")).unwrap().generation, 1);
    assert_eq!(store.load(&space("unknown")).unwrap().generation, 0);
    assert_eq!(store.spaces().unwrap(), [space("known")]);
}

#[test]
fn a_change_committed_twice_is_there_once() {
    let (_folder, store) = store();
    let mut change = turns("c", &["yes", "yes"]);
    change.scenes.push(scene("c", "s001", &["1", "2"]));
    change.jobs.push(job("c", "s001", JobState::Pending));
    store.commit(&space("x"), &change).unwrap();
    assert_eq!(store.commit(&space("x"), &change).unwrap(), 2);
    let saved = store.load(&space("x")).unwrap();
    assert_eq!(texts(&saved.memory), ["yes", "yes"]);
    assert_eq!(saved.memory.scenes().count(), 1);
    assert_eq!(saved.jobs.len(), 1);
}

#[test]
fn a_rewritten_turn_keeps_its_place() {
    let (_folder, store) = store();
    store
        .commit(&space("x"), &turns("c", &["one", "two"]))
        .unwrap();
    store.commit(&space("x"), &turns("c", &["ONE"])).unwrap();
    assert_eq!(
        texts(&store.load(&space("x")).unwrap().memory),
        ["ONE", "two"]
    );
}

#[test]
fn removal_takes_what_it_names_and_no_more() {
    let (_folder, store) = store();
    let mut change = turns("c", &["one", "two"]);
    change.turns.push(turn("d", "1", "three"));
    change.jobs = vec![
        job("c", "a", JobState::Done),
        job("c", "b", JobState::Failed),
    ];
    store.commit(&space("x"), &change).unwrap();
    let removed = Removed {
        turns: vec![change.turns[0].id.clone()],
        jobs: vec![change.jobs[0].key()],
        conversations: vec![conversation("d")],
        ..Removed::default()
    };
    store
        .commit(
            &space("x"),
            &Change {
                removed,
                ..Change::default()
            },
        )
        .unwrap();
    let saved = store.load(&space("x")).unwrap();
    assert_eq!(texts(&saved.memory), ["two"]);
    assert_eq!(saved.jobs, change.jobs[1..]);
    assert_eq!(saved.memory.conversations().count(), 1);
}

#[test]
fn a_number_once_given_is_not_given_again_after_removal_and_reopening() {
    let (folder, store) = store();
    let mut change = turns("c", &["one"]);
    change.scenes.push(scene("c", "s007", &["1"]));
    store.commit(&space("x"), &change).unwrap();
    let removed = Removed {
        scenes: vec![change.scenes[0].id.clone()],
        ..Removed::default()
    };
    store
        .commit(
            &space("x"),
            &Change {
                removed,
                ..Change::default()
            },
        )
        .unwrap();
    drop(store);
    let saved = Store::open(folder.path())
        .unwrap()
        .load(&space("x"))
        .unwrap();
    assert_eq!(saved.memory.scenes().count(), 0);
    assert_eq!(saved.memory.ids(&conversation("c")).scene().local(), "s008");
}

#[test]
fn a_memory_that_does_not_hold_together_is_named() {
    let (_folder, store) = store();
    let change = Change {
        scenes: vec![scene("c", "s001", &["1"])],
        ..Change::default()
    };
    store.commit(&space("x"), &change).unwrap();
    let error = store.load(&space("x")).unwrap_err();
    assert!(matches!(error, StoreError::Memory { .. }), "{error}");
}

#[test]
fn a_row_that_cannot_be_read_is_named() {
    let (folder, store) = store();
    store.commit(&space("x"), &turns("c", &["one"])).unwrap();
    let raw = rusqlite::Connection::open(folder.path().join(tmem_store::FILE)).unwrap();
    raw.execute("UPDATE turns SET body = '{}'", []).unwrap();
    let error = store.load(&space("x")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 1 of the stored turns cannot be read"
    );
}

#[track_caller]
fn check_name(name: &str, expect: Result<&str, &str>) {
    let read: Result<tmem_store::SpaceName, SpaceNameError> = name.parse();
    let (read, expect) = (read.map(|n| n.to_string()), expect.map(str::to_owned));
    assert_eq!(
        read.map_err(|error| error.to_string()),
        expect.map_err(str::to_owned)
    );
}

#[test]
fn the_case_of_a_space_name_does_not_matter() {
    check_name("Team-A", Ok("team-a"));
    check_name("チーム_1.2", Ok("チーム_1.2"));
}

#[test]
fn a_blank_space_name_never_means_all_spaces() {
    check_name(" ", Err("the name of the space is blank"));
    check_name("", Err("the name of the space is blank"));
}

#[test]
fn a_space_name_is_no_path_and_has_no_blank_end() {
    for name in [
        "x/../../y",
        "C:\\x",
        "..",
        ".x",
        "x.",
        "team-a ",
        "a\0b",
        "*",
        "a\nb",
    ] {
        assert!(name.parse::<tmem_store::SpaceName>().is_err(), "{name:?}");
    }
    assert!("x".repeat(65).parse::<tmem_store::SpaceName>().is_err());
}

#[test]
fn counts_of_triggers_add_up_and_go_with_their_triggers() {
    let (folder, store) = store();
    let mut change = turns("c", &["one", "two"]);
    change.scenes.push(scene("c", "s001", &["1"]));
    change.scenes.push(scene("c", "s002", &["2"]));
    change.items.push(item("c", "i0001", "s001", "a fact"));
    store.commit(&space("x"), &change).unwrap();
    let (first, second) = (&change.scenes[0].id, &change.scenes[1].id);
    let triggers = [
        TriggerId::Attribute(first.clone(), 2),
        TriggerId::Horizon(second.clone(), 0),
        TriggerId::Item(change.items[0].id.clone(), 7),
    ];
    let counts = |fired, used| TriggerCounts { fired, used };
    let all = |store: &Store| store.trigger_counts(&space("x")).unwrap();
    let once = |trigger: &TriggerId| (trigger.clone(), counts(1, 0));
    let every: Vec<_> = triggers.iter().map(once).collect();
    store.count_triggers(&space("x"), &every).unwrap();
    let more = [(triggers[2].clone(), counts(3, 2))];
    store.count_triggers(&space("x"), &more).unwrap();
    drop(store);

    let store = Store::open_existing(folder.path()).unwrap();
    let expect = [(0, counts(1, 0)), (1, counts(1, 0)), (2, counts(4, 2))];
    let expect = expect.map(|(at, counts)| (triggers[at].clone(), counts));
    assert_eq!(all(&store), expect);
    assert_eq!(store.trigger_counts(&space("other")).unwrap(), []);
    let generation = store.load(&space("x")).unwrap().generation;
    assert_eq!(generation, 1, "counting is no change of the memory");

    let mut same = Change::default();
    let mut renamed = change.scenes[0].clone();
    renamed.title = "another title".into();
    same.scenes.push(renamed);
    store.commit(&space("x"), &same).unwrap();
    assert_eq!(all(&store).len(), 3, "the same triggers go on");

    let mut rewritten = Change::default();
    let mut fact = change.items[0].clone();
    fact.triggers.push(Default::default());
    rewritten.items.push(fact);
    store.commit(&space("x"), &rewritten).unwrap();
    assert_eq!(all(&store), expect[..2], "other triggers begin anew");

    let mut gone = Change::default();
    gone.removed.scenes.push(second.clone());
    store.commit(&space("x"), &gone).unwrap();
    assert_eq!(all(&store), expect[..1]);
    store.count_triggers(&space("x"), &every[1..2]).unwrap();
    assert_eq!(
        all(&store),
        expect[..1],
        "a host that is gone counts no more"
    );
    store.remove_space(&space("x")).unwrap();
    assert_eq!(all(&store), []);
}

#[test]
fn counting_beside_a_writer_that_is_busy_gives_up_soon() {
    let (folder, store) = store();
    let mut change = turns("c", &["one"]);
    change.scenes.push(scene("c", "s001", &["1"]));
    store.commit(&space("x"), &change).unwrap();
    let other = rusqlite::Connection::open(folder.path().join(tmem_store::FILE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let trigger = TriggerId::Attribute(change.scenes[0].id.clone(), 0);
    let counts = TriggerCounts { fired: 1, used: 1 };
    let counted = store.count_triggers(&space("x"), &[(trigger.clone(), counts)]);
    assert!(counted.is_err());
    other.execute_batch("ROLLBACK").unwrap();
    store
        .count_triggers(&space("x"), &[(trigger, counts)])
        .unwrap();
}
