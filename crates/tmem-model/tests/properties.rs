//! What holds for any input: reading never panics, orders are total, round trips are exact.

mod common;

use common::{conversation, item, persona, scene, topic, turn, turn_id};
use proptest::prelude::*;
use tmem_model::memory::Change;
use tmem_model::{Document, Memory, ingest, text, time};

/// Text that has a good chance of looking like something.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,6}",
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            "\"",
            ":",
            ",",
            "\\",
            "\\ud83d",
            "\\u",
            "\n",
            "\r\n",
            "Ada: ",
            "\"speaker\"",
            "\"text\"",
            "\"role\"",
            "\"content\"",
            "\"session_1\"",
            "null",
            "[2024-",
            "\"conversation\"",
            "\"messages\"",
            "1:56 pm on 8 May, 2023",
            "é",
            "👨‍👩‍👧",
            "語",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// JSON of any shape, with keys that readers look for.
fn values() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "\\PC{0,8}".prop_map(Into::into),
        Just("tmem-memory/1".into()),
    ];
    let keys = prop::sample::select(vec![
        "format",
        "conversation",
        "speakers",
        "turns",
        "id",
        "speaker",
        "text",
        "at",
        "scenes",
        "topics",
        "items",
        "personas",
        "role",
        "content",
        "type",
        "messages",
        "session_1",
        "session_1_date_time",
        "speaker_a",
        "speaker_b",
        "dia_id",
        "kind",
        "triggers",
        "open",
    ]);
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::vec((keys.clone(), inner), 0..7).prop_map(|fields| {
                fields
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()
            }),
        ]
    })
}

/// A memory of one conversation: runs of turns as scenes, the rest over them.
fn changes() -> impl Strategy<Value = Change> {
    let runs = prop::collection::vec(1usize..4, 0..6);
    let picks = prop::collection::vec(prop::collection::btree_set(0usize..6, 1..4), 0..6);
    (runs, 0usize..3, picks.clone(), picks, "\\PC{0,12}").prop_map(
        |(runs, open, topics, items, text)| {
            let mut change = Change::default();
            let mut next = 1;
            for (at, run) in runs.iter().enumerate() {
                let ids: Vec<String> = (next..next + run).map(|n| format!("D1:{n}")).collect();
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                change.turns.extend(ids.iter().map(|id| turn("c", id)));
                change.scenes.push(scene("c", &format!("s{at}"), &ids));
                next += run;
            }
            change
                .turns
                .extend((next..next + open).map(|n| turn("c", &format!("D1:{n}"))));
            let scenes = |picked: &std::collections::BTreeSet<usize>| -> Vec<String> {
                picked
                    .iter()
                    .filter(|at| **at < runs.len())
                    .map(|at| format!("s{at}"))
                    .collect()
            };
            let picked = |picks: &[std::collections::BTreeSet<usize>]| -> Vec<Vec<String>> {
                picks
                    .iter()
                    .map(scenes)
                    .filter(|scenes| !scenes.is_empty())
                    .collect()
            };
            for (at, scenes) in picked(&topics).iter().enumerate() {
                let scenes: Vec<&str> = scenes.iter().map(String::as_str).collect();
                change.topics.push(topic("c", &format!("t{at}"), &scenes));
            }
            for (at, scenes) in picked(&items).iter().enumerate() {
                let scenes: Vec<&str> = scenes.iter().map(String::as_str).collect();
                let mut item = item("c", &format!("i{at}"), &scenes, &[]);
                item.text = text.clone();
                change.items.push(item);
            }
            change.personas.push(persona("c", "Ada"));
            change
        },
    )
}

/// A text as characters and numbers, a number as how many digits it has and which.
fn runs(text: &str) -> Vec<(char, usize, String)> {
    let mut runs: Vec<(char, usize, String)> = Vec::new();
    let mut in_number = false;
    for c in text.chars() {
        match runs.last_mut() {
            Some(last) if in_number && c.is_ascii_digit() => last.2.push(c),
            _ if c.is_ascii_digit() => runs.push(('0', 0, c.into())),
            _ => runs.push((c, 0, String::new())),
        }
        in_number = c.is_ascii_digit();
    }
    for (_, length, digits) in &mut runs {
        *digits = digits.trim_start_matches('0').to_owned();
        *length = digits.len();
    }
    runs
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_any_text_never_panics(text in pieces()) {
        let _ = ingest::parse(&text, &ingest::Options::default());
        let _ = Document::parse(&text);
        let _ = time::parse(&text);
    }

    #[test]
    fn reading_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = ingest::decode(&bytes);
    }

    #[test]
    fn reading_json_of_any_shape_never_panics(value in values()) {
        let json = value.to_string();
        let _ = ingest::parse(&json, &ingest::Options::default());
        if let Ok(document) = Document::parse(&json) {
            let _ = document.into_change(&Memory::new());
        }
    }

    #[test]
    fn every_turn_that_is_read_has_a_valid_and_unique_id(text in pieces()) {
        for conversation in ingest::parse(&text, &ingest::Options::default()).unwrap_or_default() {
            let mut ids: Vec<_> = conversation.turns.iter().map(|turn| turn_id("c", &turn.id)).collect();
            let count = ids.len();
            ids.sort();
            ids.dedup();
            prop_assert_eq!(ids.len(), count);
        }
    }

    #[test]
    fn cutting_ends_on_a_character_within_the_limit(text in pieces(), limit in 0usize..40) {
        let cut = text::truncate(&text, limit);
        prop_assert!(cut.len() <= limit && text.starts_with(cut));
        let _ = text::ellipsis(&text, limit);
    }

    #[test]
    fn the_tokeniser_takes_anything_and_its_terms_are_not_blank(text in pieces()) {
        prop_assert!(text::terms(&text).iter().all(|term| !term.trim().is_empty()));
    }

    #[test]
    fn cleaned_text_stays_as_it_is(text in pieces()) {
        let once = text::clean(&text);
        prop_assert_eq!(text::clean(&once), once);
    }

    #[test]
    fn ids_are_ordered_by_their_words_and_numbers(ids in prop::array::uniform2("[0-2aé:]{1,6}")) {
        let [a, b] = ids.each_ref().map(|id| turn_id("c", id));
        let [x, y] = ids.each_ref().map(|id| runs(id));
        prop_assert_eq!(a.cmp(&b), x.cmp(&y).then_with(|| ids[0].cmp(&ids[1])));
    }

    #[test]
    fn natural_id_order_is_total(ids in prop::array::uniform3("[0-9a-b:]{1,5}")) {
        let [a, b, c] = ids.map(|id| turn_id("c", &id));
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b).is_eq(), a == b);
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
    }

    #[test]
    fn documents_come_back_byte_by_byte(change in changes()) {
        let mut memory = Memory::new();
        memory.apply(&change).unwrap();
        let json = Document::of(&memory, &conversation("c")).unwrap().to_json();
        let document = Document::parse(&json).unwrap();
        let mut again = Memory::new();
        again.apply(&document.into_change(&again).unwrap()).unwrap();
        prop_assert_eq!(Document::of(&again, &conversation("c")).unwrap().to_json(), json);
    }

    #[test]
    fn lists_stay_whole_under_any_rewriting(one in changes(), other in changes()) {
        let mut memory = Memory::new();
        memory.apply(&one).unwrap();
        let before = (memory.all_turns().count(), memory.items().count());
        if memory.apply(&other).is_err() {
            prop_assert_eq!((memory.all_turns().count(), memory.items().count()), before);
        }
        let held: usize = memory.scenes().map(|scene| scene.turns.len()).sum();
        let open = memory.open_turns(&conversation("c")).count();
        prop_assert_eq!(held + open, memory.all_turns().count());
        for scene in memory.scenes() {
            prop_assert!(memory.scene_turns(&scene.id).map(|turn| &turn.id).eq(&scene.turns));
        }
        let turns: Vec<_> = memory.all_turns().collect();
        let free = turns.iter().filter(|turn| memory.scene_of(&turn.id).is_none());
        prop_assert!(memory.open_turns(&conversation("c")).eq(free.copied()));
        for speaker in memory.speakers(&conversation("c")) {
            let said = turns.iter().filter(|turn| turn.speaker == speaker);
            prop_assert!(memory.said_by(&conversation("c"), speaker).eq(said.copied()));
        }
        for (at, turn) in turns.iter().enumerate() {
            prop_assert!(memory.turns_before(&turn.id).eq(turns[..at].iter().copied()));
            prop_assert!(memory.turns_after(&turn.id).eq(turns[at + 1..].iter().copied()));
        }
        for scene in memory.scenes() {
            let at = memory.place(&scene.id.clone().into());
            let before = memory.items().filter(|item| memory.place(&item.id.clone().into()) < at);
            prop_assert_eq!(memory.items_before(&scene.id), before.count());
        }
    }
}
