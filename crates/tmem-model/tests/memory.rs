//! The typed graph: its orders, its invariants, and changes that are applied whole or not at all.

mod common;

use common::{conversation, item, persona, scene, scene_id, topic, turn, turn_id, turns};
use expect_test::{Expect, expect};
use tmem_model::{Change, Item, ItemKind, Memory, NodeId, Removed, Turn};

/// Conversation `c`: turns 1 to 6, scenes of two turns each but for the open last two.
fn memory() -> Memory {
    let mut change = turns("c", &["1", "2", "3", "4", "5", "6"]);
    change.scenes = vec![
        scene("c", "s001", &["1", "2"]),
        scene("c", "s002", &["3", "4"]),
    ];
    change.topics = vec![
        topic("c", "t02", &["s001"]),
        topic("c", "t01", &["s002", "s001"]),
    ];
    change.items = vec![
        item("c", "i0003", &["s002"], &["3"]),
        item("c", "i0002", &["s002", "s001"], &[]),
        item("c", "i0001", &["s001"], &["2", "1"]),
    ];
    change.personas = vec![persona("c", "Bo"), persona("c", "Ada")];
    let mut memory = Memory::new();
    memory.apply(&change).unwrap();
    memory
}

/// Everything that readers see, kind by kind.
fn render(memory: &Memory) -> String {
    let join = |ids: Vec<String>| ids.join(" ");
    let ids = |ids: &mut dyn Iterator<Item = NodeId>| {
        join(
            ids.map(|id| id.to_string().split_once(' ').unwrap().1.to_owned())
                .collect(),
        )
    };
    [
        ids(&mut memory.all_turns().map(|turn| turn.id.clone().into())),
        ids(&mut memory.scenes().map(|scene| scene.id.clone().into())),
        ids(&mut memory.topics().map(|topic| topic.id.clone().into())),
        ids(&mut memory.items().map(|item| item.id.clone().into())),
        join(
            memory
                .personas()
                .map(|persona| persona.speaker.clone())
                .collect(),
        ),
    ]
    .join("\n")
}

/// The change is refused with this message, and the memory stays as it was.
#[track_caller]
fn refused(change: &Change, expect: Expect) {
    let mut memory = memory();
    let error = memory.apply(change).unwrap_err();
    expect.assert_eq(&error.to_string());
    assert_eq!(
        render(&memory),
        render(&self::memory()),
        "a refused change left traces"
    );
}

#[track_caller]
fn accepted(change: &Change, expect: Expect) {
    let mut memory = memory();
    memory.apply(change).unwrap();
    expect.assert_eq(&render(&memory));
}

fn removing(removed: Removed) -> Change {
    Change {
        removed,
        ..Change::default()
    }
}

#[test]
fn lists_have_their_stated_orders() {
    accepted(
        &Change::default(),
        expect![[r"
            c/1 c/2 c/3 c/4 c/5 c/6
            c/s001 c/s002
            c/t01 c/t02
            c/i0001 c/i0002 c/i0003
            Ada Bo"]],
    );
}

#[test]
fn relations_are_read_both_ways() {
    let memory = memory();
    let (s1, s2) = (scene_id("c", "s001"), scene_id("c", "s002"));
    assert_eq!(memory.scene_of(&turn_id("c", "2")).unwrap().id, s1);
    assert!(memory.scene_of(&turn_id("c", "5")).is_none());
    let open: Vec<_> = memory
        .open_turns(&conversation("c"))
        .map(|turn| turn.id.local())
        .collect();
    assert_eq!(open, ["5", "6"]);
    let topics: Vec<_> = memory
        .topics_of(&s1)
        .map(|topic| topic.id.local())
        .collect();
    assert_eq!(topics, ["t01", "t02"]);
    let items: Vec<_> = memory.items_of(&s2).map(|item| item.id.local()).collect();
    assert_eq!(items, ["i0002", "i0003"]);
    let connected = memory.items_of(&s2).next().unwrap();
    let sources: Vec<_> = memory
        .sources(&connected.id)
        .map(|scene| scene.id.local())
        .collect();
    assert_eq!(
        sources,
        ["s001", "s002"],
        "in arrival order, whatever the item lists"
    );
    let t1 = memory.topics().next().unwrap();
    let scenes: Vec<_> = memory
        .scenes_of(&t1.id)
        .map(|scene| scene.id.local())
        .collect();
    assert_eq!(scenes, ["s001", "s002"]);
    assert_eq!(memory.items_citing(&turn_id("c", "3")).count(), 1);
    assert!(memory.persona(&conversation("c"), "Bo").is_some());
}

#[test]
fn a_scene_lasts_from_its_first_to_its_last_dated_turn() {
    let mut change = turns("c", &["1", "2", "3", "4", "5"]);
    change.turns[1].at = Some("2024-05-02T09:00:00".parse().unwrap());
    change.turns[2].at = Some("2024-05-01T08:00:00".parse().unwrap());
    change.scenes = vec![scene("c", "s1", &["1", "2", "3"]), scene("c", "s2", &["4"])];
    let mut memory = Memory::new();
    memory.apply(&change).unwrap();
    let (start, end) = memory.span(&scene_id("c", "s1")).unwrap();
    assert_eq!(
        (start.to_string(), end.to_string()),
        (
            "2024-05-01T08:00:00".to_owned(),
            "2024-05-02T09:00:00".to_owned()
        )
    );
    assert_eq!(memory.span(&scene_id("c", "s2")), None);
}

#[test]
fn conversations_stand_in_order_of_arrival_and_ids_in_natural_order() {
    let mut memory = Memory::new();
    memory.apply(&turns("z", &["1"])).unwrap();
    memory.apply(&turns("a", &["D10:1", "D2:1"])).unwrap();
    memory.apply(&turns("z", &["2"])).unwrap();
    let names: Vec<_> = memory.conversations().map(|c| c.as_str()).collect();
    assert_eq!(names, ["z", "a"]);
    assert_eq!(
        render(&memory).lines().next(),
        Some("z/1 z/2 a/D10:1 a/D2:1")
    );
    assert!(turn_id("a", "D2:1") < turn_id("a", "D10:1"));
}

#[test]
fn speakers_are_those_listed_and_then_those_heard() {
    let mut change = turns("c", &["1", "2", "3"]);
    change.turns[1].speaker = "Cem".into();
    let mut heading = tmem_model::Heading::new(conversation("c"));
    heading.speakers = vec!["Bo".into(), "Ada".into()];
    change.headings.push(heading);
    let mut memory = Memory::new();
    memory.apply(&change).unwrap();
    assert_eq!(memory.speakers(&conversation("c")), ["Bo", "Ada", "Cem"]);
}

#[test]
fn a_rewritten_node_replaces_the_old_one_in_its_place() {
    let change = Change {
        turns: vec![turn("c", "2")],
        scenes: vec![scene("c", "s002", &["3", "4", "5"])],
        items: vec![item("c", "i0001", &["s002"], &["5"])],
        ..Change::default()
    };
    accepted(
        &change,
        expect![[r"
            c/1 c/2 c/3 c/4 c/5 c/6
            c/s001 c/s002
            c/t01 c/t02
            c/i0002 c/i0001 c/i0003
            Ada Bo"]],
    );
}

#[test]
fn what_depends_on_a_scene_moves_with_it() {
    let mut memory = memory();
    let swap = Change {
        scenes: vec![
            scene("c", "s001", &["3", "4"]),
            scene("c", "s002", &["1", "2"]),
        ],
        ..Change::default()
    };
    memory.apply(&swap).unwrap();
    expect![[r"
        c/1 c/2 c/3 c/4 c/5 c/6
        c/s002 c/s001
        c/t01 c/t02
        c/i0002 c/i0003 c/i0001
        Ada Bo"]]
    .assert_eq(&render(&memory));
}

#[test]
fn a_turn_is_in_one_scene_only() {
    let change = Change {
        scenes: vec![scene("c", "s003", &["4", "5"])],
        ..Change::default()
    };
    refused(
        &change,
        expect!["turn c/4 is in scene c/s002 and in scene c/s003"],
    );
    let scenes = vec![scene("c", "s003", &["5"]), scene("c", "s004", &["5", "6"])];
    let change = Change {
        scenes,
        ..Change::default()
    };
    refused(
        &change,
        expect!["turn c/5 is in scene c/s003 and in scene c/s004"],
    );
}

#[test]
fn a_scene_is_a_run_of_turns_in_arrival_order() {
    let gap = "turn c/3 does not directly follow turn c/1, its predecessor in scene c/s001";
    let removed = Removed {
        scenes: vec![scene_id("c", "s002")],
        ..Removed::default()
    };
    let change = Change {
        scenes: vec![scene("c", "s001", &["1", "3"])],
        removed,
        ..Change::default()
    };
    let mut memory = Memory::new();
    memory.apply(&turns("c", &["1", "2", "3"])).unwrap();
    assert_eq!(memory.apply(&change).unwrap_err().to_string(), gap);
    let change = Change {
        scenes: vec![scene("c", "s003", &["6", "5"])],
        ..Change::default()
    };
    refused(
        &change,
        expect!["turn c/5 does not directly follow turn c/6, its predecessor in scene c/s003"],
    );
}

#[test]
fn a_scene_may_join_old_and_new_turns_and_close_over_removed_ones() {
    let mut change = turns("c", &["7", "8"]);
    change.scenes = vec![scene("c", "s003", &["5", "7", "8"])];
    change.removed.turns = vec![turn_id("c", "6")];
    accepted(
        &change,
        expect![[r"
            c/1 c/2 c/3 c/4 c/5 c/7 c/8
            c/s001 c/s002 c/s003
            c/t01 c/t02
            c/i0001 c/i0002 c/i0003
            Ada Bo"]],
    );
}

#[test]
fn a_new_turn_does_not_follow_one_of_the_middle() {
    let mut change = turns("c", &["7", "8"]);
    change.scenes = vec![scene("c", "s003", &["6", "8"])];
    refused(
        &change,
        expect!["turn c/8 does not directly follow turn c/6, its predecessor in scene c/s003"],
    );
}

#[test]
fn an_atomic_item_has_one_scene_and_a_connected_one_at_least_two() {
    let mut change = Change {
        items: vec![item("c", "i9", &["s001", "s002"], &[])],
        ..Change::default()
    };
    change.items[0].kind = ItemKind::Atomic;
    refused(
        &change,
        expect!["item c/i9 is Atomic and has 2 scenes: atomic takes one, connected two or more"],
    );
    change.items = vec![item("c", "i9", &["s001"], &[])];
    change.items[0].kind = ItemKind::Connected;
    refused(
        &change,
        expect!["item c/i9 is Connected and has 1 scenes: atomic takes one, connected two or more"],
    );
    change.items = vec![item("c", "i9", &["s001", "s001"], &[])];
    refused(&change, expect!["item c/i9 refers to scene c/s001 twice"]);
    change.items = vec![item("c", "i9", &[], &[])];
    refused(
        &change,
        expect!["item c/i9 is Connected and has 0 scenes: atomic takes one, connected two or more"],
    );
}

#[test]
fn empty_scenes_and_topics_are_refused() {
    let change = Change {
        scenes: vec![scene("c", "s9", &[])],
        ..Change::default()
    };
    refused(&change, expect!["scene c/s9 has no turns"]);
    let change = Change {
        topics: vec![topic("c", "t9", &[])],
        ..Change::default()
    };
    refused(&change, expect!["topic c/t9 has no scenes"]);
}

#[test]
fn a_reference_to_nothing_names_both_ends() {
    let change = Change {
        scenes: vec![scene("c", "s9", &["99"])],
        ..Change::default()
    };
    refused(
        &change,
        expect!["scene c/s9 refers to turn c/99, which does not exist"],
    );
    let change = Change {
        topics: vec![topic("c", "t9", &["s99"])],
        ..Change::default()
    };
    refused(
        &change,
        expect!["topic c/t9 refers to scene c/s99, which does not exist"],
    );
    let change = Change {
        items: vec![item("c", "i9", &["s001"], &["99"])],
        ..Change::default()
    };
    refused(
        &change,
        expect!["item c/i9 refers to turn c/99, which does not exist"],
    );
    let mut change = Change {
        topics: vec![topic("c", "t9", &["s001"])],
        ..Change::default()
    };
    change.topics[0].scenes = vec![scene_id("d", "s001")];
    refused(
        &change,
        expect!["topic c/t9 refers to scene d/s001, which belongs to another conversation"],
    );
}

#[test]
fn nothing_may_be_left_that_refers_to_what_is_removed() {
    let turns = Removed {
        turns: vec![turn_id("c", "3")],
        ..Removed::default()
    };
    refused(
        &removing(turns),
        expect!["scene c/s002 refers to turn c/3, which does not exist"],
    );
    let scenes = Removed {
        scenes: vec![scene_id("c", "s001")],
        ..Removed::default()
    };
    refused(
        &removing(scenes),
        expect!["topic c/t01 refers to scene c/s001, which does not exist"],
    );
}

#[test]
fn removal_together_with_all_that_depends_is_one_change() {
    let mut change = removing(Removed {
        turns: vec![turn_id("c", "3"), turn_id("c", "4")],
        scenes: vec![scene_id("c", "s002")],
        items: vec!["c/i0002".parse().unwrap(), "c/i0003".parse().unwrap()],
        personas: vec![
            (conversation("c"), "Bo".into()),
            (conversation("c"), "nobody".into()),
        ],
        ..Removed::default()
    });
    change.topics = vec![topic("c", "t01", &["s001"])];
    accepted(
        &change,
        expect![[r"
            c/1 c/2 c/5 c/6
            c/s001
            c/t01 c/t02
            c/i0001
            Ada"]],
    );
}

#[test]
fn a_removed_conversation_takes_everything_along_and_may_begin_anew() {
    let mut change = turns("c", &["1"]);
    change.removed.conversations = vec![conversation("c")];
    accepted(&change, expect!["c/1\n\n\n\n"]);
    let mut memory = memory();
    memory.apply(&turns("d", &["1"])).unwrap();
    let removed = Removed {
        conversations: vec![conversation("c")],
        ..Removed::default()
    };
    memory.apply(&removing(removed)).unwrap();
    memory.apply(&turns("d", &["2"])).unwrap();
    expect!["d/1 d/2\n\n\n\n"].assert_eq(&render(&memory));
}

#[test]
fn one_change_names_each_node_once() {
    let change = turns("c", &["7", "7"]);
    refused(&change, expect!["turn c/7 is given twice"]);
    let mut change = Change {
        topics: vec![topic("c", "t02", &["s001"])],
        ..Change::default()
    };
    change.removed.topics = vec!["c/t02".parse().unwrap()];
    refused(&change, expect!["topic c/t02 is both written and removed"]);
}

#[test]
fn given_ids_are_never_given_again() {
    let mut memory = memory();
    let ids = |memory: &Memory| {
        let mut ids = memory.ids(&conversation("c"));
        format!(
            "{} {} {}",
            ids.scene().local(),
            ids.topic().local(),
            ids.item().local()
        )
    };
    assert_eq!(ids(&memory), "s003 t03 i0004");
    let removed = Removed {
        items: vec!["c/i0003".parse().unwrap()],
        ..Removed::default()
    };
    memory.apply(&removing(removed)).unwrap();
    assert_eq!(ids(&memory), "s003 t03 i0004");
    memory
        .apply(&Change {
            scenes: vec![scene("c", "s120", &["5"])],
            ..Change::default()
        })
        .unwrap();
    assert_eq!(ids(&memory), "s121 t03 i0004");
    assert_eq!(memory.ids(&conversation("new")).scene().local(), "s001");
}

#[test]
fn thousands_of_single_changes_keep_their_order() {
    let mut memory = Memory::new();
    for at in 0..6000 {
        let id = format!("{at}");
        let change = Change {
            turns: vec![turn("c", &id)],
            scenes: vec![scene("c", &format!("s{at}"), &[&id])],
            items: vec![item("c", &format!("i{at}"), &[&format!("s{at}")], &[&id])],
            ..Change::default()
        };
        memory.apply(&change).unwrap();
    }
    assert!(
        memory
            .items()
            .zip(0..)
            .all(|(item, at)| item.id.local() == format!("i{at}"))
    );
}

/// An item of scene `s001` that cites a turn and puts other items out of date.
fn later(id: &str, turn: &str, earlier: &[&str]) -> Item {
    let scene = if turn < "3" { "s001" } else { "s002" };
    let supersedes = earlier.iter().map(|id| item("c", id, &[], &[]).id);
    Item {
        supersedes: supersedes.collect(),
        ..item("c", id, &[scene], &[turn])
    }
}

fn writing(items: Vec<Item>) -> Change {
    Change {
        items,
        ..Change::default()
    }
}

#[test]
fn no_item_supersedes_itself_or_what_is_not_there() {
    refused(
        &writing(vec![later("i0003", "3", &["i0003"])]),
        expect!["item c/i0003 supersedes itself"],
    );
    let circle = [("i0003", "i0001"), ("i0001", "i0009"), ("i0009", "i0003")];
    let circle = circle.map(|(id, earlier)| later(id, "2", &[earlier]));
    refused(
        &writing(circle.to_vec()),
        expect!["item c/i0003 supersedes itself"],
    );
    refused(
        &writing(vec![later("i0003", "3", &["i0099"])]),
        expect!["item c/i0003 refers to item c/i0099, which does not exist"],
    );
}

#[test]
fn what_is_superseded_stays_and_may_be_written_after_its_successor() {
    let items = vec![later("i0008", "4", &["i0009"]), later("i0009", "1", &[])];
    accepted(
        &writing(items),
        expect![[r"
            c/1 c/2 c/3 c/4 c/5 c/6
            c/s001 c/s002
            c/t01 c/t02
            c/i0001 c/i0002 c/i0009 c/i0003 c/i0008
            Ada Bo"]],
    );
}

#[test]
fn an_item_holds_from_its_last_turn_until_the_first_that_supersedes_it_was_said() {
    let mut memory = memory();
    let dated = |id: &str| Turn {
        at: Some(format!("2024-0{id}-01T10:00:00").parse().unwrap()),
        ..turn("c", id)
    };
    let change = Change {
        turns: ["1", "2", "3", "4"].map(dated).to_vec(),
        items: vec![
            later("i0008", "3", &["i0001"]),
            later("i0009", "4", &["i0001"]),
        ],
        ..Change::default()
    };
    memory.apply(&change).unwrap();
    let check = |id: &str, at: Option<&str>, expect: Expect| {
        let item = memory.item(&item("c", id, &[], &[]).id).unwrap();
        let validity = memory.validity(item, at.map(|at| at.parse().unwrap()));
        let date = |at: Option<tmem_model::DateTime>| {
            at.map_or("-".to_owned(), |at| at.date().to_string())
        };
        let (from, until) = (date(validity.from), date(validity.until));
        let flags = (validity.supersedes, validity.superseded);
        expect.assert_eq(&format!("{from} to {until}, {flags:?}"));
    };
    check(
        "i0001",
        None,
        expect!["2024-02-01 to 2024-03-01, (false, true)"],
    );
    check(
        "i0001",
        Some("2024-02-15T00:00:00"),
        expect!["2024-02-01 to -, (false, false)"],
    );
    check("i0008", None, expect!["2024-03-01 to -, (true, false)"]);
}

#[test]
fn an_item_is_released_from_what_is_removed() {
    let mut memory = memory();
    let items = vec![
        later("i0008", "3", &["i0001"]),
        later("i0009", "4", &["i0008"]),
    ];
    memory.apply(&writing(items)).unwrap();
    let removed = Removed {
        items: vec![later("i0008", "3", &[]).id],
        ..Removed::default()
    };
    let mut change = removing(removed);
    assert!(memory.check(&change).is_err());
    change.release_superseded(&memory);
    memory.apply(&change).unwrap();
    let left = memory.item(&later("i0009", "4", &[]).id).unwrap();
    assert!(left.supersedes.is_empty());
    let first = memory.item(&later("i0001", "2", &[]).id).unwrap();
    assert!(!memory.validity(first, None).superseded);
}
