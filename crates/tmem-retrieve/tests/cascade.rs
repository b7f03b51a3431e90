//! What the cascade brings back, and what each quota, switch and filter does to it.

mod common;

use common::{World, conversation, encode, kitchen, query, small};
use expect_test::expect;
use serde_json::{Value, json};
use tmem_index::{Host, Vector, View, rows};
use tmem_model::Change;
use tmem_retrieve::{
    Channel, Cut, Fate, List, Note, Preset, Query, Recall, RetrieveConfig, Switch, Via,
};

const DINNER: &str = "Where shall the team dine together?";

fn scenes(recall: &Recall) -> Vec<(&str, bool)> {
    recall
        .context
        .scenes
        .iter()
        .map(|scene| (scene.id.local(), scene.associative))
        .collect()
}

fn items(recall: &Recall) -> Vec<&str> {
    recall
        .context
        .items
        .iter()
        .map(|item| item.id.local())
        .collect()
}

fn fate_of_scene(recall: &Recall, local: &str) -> Fate {
    let found = recall
        .trace
        .associations
        .iter()
        .find(|scene| scene.id.local() == local);
    found.map(|scene| scene.fate).unwrap()
}

#[test]
fn a_scene_that_shares_no_word_is_reached_by_its_trigger() {
    let recall = World::of(&[kitchen()]).ask(DINNER);
    assert!(scenes(&recall).contains(&("s007", true)));
    assert_eq!(
        fate_of_scene(&recall, "s007"),
        Fate::Kept(Channel::Association)
    );
}

#[test]
fn likeness_finds_what_the_query_restates() {
    let recall = World::of(&[kitchen()]).recall(&query("Who waters the fern?"), &small());
    assert_eq!(scenes(&recall)[0], ("s002", false));
    assert_eq!(
        fate_of_scene(&recall, "s002"),
        Fate::Kept(Channel::Similarity)
    );
}

#[test]
fn the_paper_preset_gives_associations_no_place_of_their_own() {
    let world = World::of(&[kitchen()]);
    let recall = world.recall(&query(DINNER), &RetrieveConfig::paper());
    assert!(recall.context.scenes.iter().all(|scene| !scene.associative));
}

#[test]
fn an_item_that_only_its_trigger_reaches_has_a_place() {
    let config = RetrieveConfig {
        scene_pool: 1,
        associative_scenes: 0,
        ..small()
    };
    let recall = World::of(&[kitchen()]).recall(&query("music at the party, fern"), &config);
    let piano = recall
        .context
        .items
        .iter()
        .find(|item| item.id.local() == "i0005")
        .unwrap();
    assert!(piano.associative);
}

#[test]
fn an_item_on_both_lists_that_a_trigger_reaches_too_is_listed_once_with_all_its_ranks() {
    let config = RetrieveConfig {
        skip_shown_items: false,
        ..small()
    };
    let recall = World::of(&[kitchen()]).recall(&query("piano music party"), &config);
    let places = items(&recall).iter().filter(|id| **id == "i0005").count();
    let piano = recall
        .trace
        .items
        .iter()
        .find(|item| item.id.local() == "i0005")
        .unwrap();
    let lists: Vec<List> = piano.ranks.iter().map(|place| place.list).collect();
    assert_eq!(
        (places, lists),
        (1, vec![List::Bm25, List::Dense, List::ItemTrigger])
    );
    assert!((piano.score - 2.0 / 61.0).abs() < 1e-6);
}

#[test]
fn items_whose_turns_are_shown_already_leave_their_places_to_others() {
    let recall = World::of(&[kitchen()]).recall(&query("fern"), &small());
    assert!(!items(&recall).contains(&"i0002"));
    let fern = recall
        .trace
        .items
        .iter()
        .find(|item| item.id.local() == "i0002")
        .unwrap();
    assert_eq!(fern.fate, Fate::Cut(Cut::AlreadyShown));
}

#[test]
fn small_talk_brings_nothing_up_unasked() {
    let mut document = kitchen();
    document["scenes"][6]["horizon_triggers"][0]["text"] = json!("going to a restaurant");
    let world = World::of(&[document]).hearing(&["Go on, let us go"; 20]);
    for text in ["OK, let us go upstairs then", "OK", "and then?", "!!!"] {
        let recall = world.ask(text);
        assert!(
            recall.context.scenes.iter().all(|scene| !scene.associative),
            "{text}: {}",
            recall.trace.explain()
        );
    }
    assert!(scenes(&world.ask("Which restaurant?")).contains(&("s007", true)));
}

#[test]
fn one_close_trigger_does_not_admit_a_scene_whose_other_triggers_are_hubs() {
    let mut document = kitchen();
    let talk = ["Go on, let us go"; 20];
    let mut alike = small();
    alike.cue_weights.horizon = 1.0;
    let ask = |document: &Value| {
        World::of(std::slice::from_ref(document))
            .hearing(&talk)
            .recall(&query(DINNER), &alike)
    };
    assert_eq!(
        fate_of_scene(&ask(&document), "s007"),
        Fate::Kept(Channel::Association)
    );
    document["scenes"][6]["scene_trigger"]["event"] = json!(talk[0]);
    assert_eq!(
        fate_of_scene(&ask(&document), "s007"),
        Fate::Cut(Cut::Floor)
    );
}

#[test]
fn words_that_a_horizon_sentence_foretold_add_to_its_cosine() {
    let world = World::of(&[kitchen()]);
    let words = world.indices.horizon_words(DINNER, None).unwrap();
    assert_eq!(
        world.indices.scenes()[words[0].key as usize].local(),
        "s007"
    );
    assert!(
        world
            .indices
            .horizon_words("prawns", None)
            .unwrap()
            .is_empty()
    );
    let score = |horizon_words: f32| {
        let config = RetrieveConfig {
            horizon_words,
            ..small()
        };
        let recall = world.recall(&query(DINNER), &config);
        let best = &recall.trace.associations[0];
        assert_eq!(best.id.local(), "s007");
        let horizon = best.ranks.iter().find(|rank| rank.list == List::Horizon);
        horizon.unwrap().score
    };
    assert!((score(0.5) - score(0.0) - 0.5 * words[0].score).abs() < 1e-5);
}

#[test]
fn what_was_said_ranks_a_scene_but_does_not_admit_it() {
    let config = RetrieveConfig {
        top_scenes: 0,
        associative_scenes: 7,
        ..small()
    };
    let recall = World::of(&[untriggered(kitchen())]).recall(&query("fern"), &config);
    assert_eq!(recall.trace.associations[0].id.local(), "s002");
    assert_eq!(fate_of_scene(&recall, "s002"), Fate::Cut(Cut::Floor));
    let open = RetrieveConfig {
        association_floor: None,
        ..config
    };
    let recall = World::of(&[untriggered(kitchen())]).recall(&query("fern"), &open);
    assert_eq!(
        fate_of_scene(&recall, "s002"),
        Fate::Kept(Channel::Association)
    );
}

#[test]
fn an_association_comes_up_once_if_the_caller_says_what_was_shown() {
    let world = World::of(&[kitchen()]);
    let first = world.ask(DINNER);
    let shown = first
        .context
        .scenes
        .iter()
        .map(|scene| scene.id.clone())
        .collect();
    let again = world.recall(
        &Query {
            shown,
            ..query(DINNER)
        },
        &small(),
    );
    assert_eq!(fate_of_scene(&again, "s007"), Fate::Cut(Cut::ShownBefore));
    assert!(!scenes(&again).contains(&("s007", true)));
}

/// `document` without a single trigger.
fn untriggered(mut document: Value) -> Value {
    for scene in document["scenes"].as_array_mut().unwrap() {
        scene["horizon_triggers"] = json!([]);
    }
    for item in document["items"].as_array_mut().unwrap() {
        item["triggers"] = json!([]);
    }
    document
}

#[test]
fn with_triggers_off_it_makes_no_difference_whether_any_were_written() {
    let off = RetrieveConfig::balanced()
        .without(Switch::ItemTriggers)
        .without(Switch::SceneAndHorizonTriggers);
    let (with, without) = (
        World::of(&[kitchen()]),
        World::of(&[untriggered(kitchen())]),
    );
    for text in [DINNER, "fern", "kettle and piano", "music at a party"] {
        let (with, without) = (
            with.recall(&query(text), &off),
            without.recall(&query(text), &off),
        );
        assert_eq!(with, without, "{text}");
    }
}

#[test]
fn triggers_take_no_candidate_away_from_likeness() {
    let (with, without) = (
        World::of(&[kitchen()]),
        World::of(&[untriggered(kitchen())]),
    );
    for text in [DINNER, "fern", "kettle and piano", "music at a party"] {
        let (with, without) = (with.ask(text), without.ask(text));
        let ids = |recall: &Recall| {
            recall
                .trace
                .scenes
                .iter()
                .map(|scene| scene.id.clone())
                .collect::<Vec<_>>()
        };
        assert!(
            ids(&without).iter().all(|id| ids(&with).contains(id)),
            "{text}"
        );
    }
}

#[test]
fn the_text_that_an_item_is_found_by_does_not_depend_on_its_triggers() {
    let texts = |world: World| {
        let rows = rows(&world.memory).into_iter();
        rows.filter(|row| row.view == View::Item)
            .map(|row| row.text)
            .collect::<Vec<_>>()
    };
    let (with, without) = (
        World::of(&[kitchen()]),
        World::of(&[untriggered(kitchen())]),
    );
    assert_eq!(texts(with), texts(without));
}

#[test]
fn a_removed_item_leaves_no_trigger_behind() {
    let mut memory = World::of(&[kitchen()]).memory;
    let piano = "kitchen/i0005".parse().unwrap();
    let mut change = Change::default();
    change.removed.items.push(piano);
    memory.apply(&change).unwrap();
    let config = RetrieveConfig {
        trigger_items: 3,
        ..small()
    };
    let recall = World::indexed(memory).recall(&query("somebody asks for music"), &config);
    let told = serde_json::to_string(&recall).unwrap();
    assert!(
        !told.contains("i0005") && !told.contains("somebody asks for music"),
        "{told}"
    );
    assert_eq!(items(&recall).len(), 3);
}

#[test]
fn what_fits_one_conversation_is_not_crowded_out_by_another() {
    let scene = |n: usize| {
        json!({"id": format!("s{n}"), "turns": [format!("T{n}")], "title": "A lamp", "summary": "A lamp",
            "narrative": "", "horizon_triggers": [{"dimension": "goal", "text": "light at night"}]})
    };
    let item = |n: usize| {
        json!({"id": format!("i{n}"), "kind": "atomic", "text": "The lamp is lit", "turns": [],
            "scenes": [format!("s{n}")], "triggers": [{"entity": "lamp", "bridge": "light at night",
            "rationale": ""}]})
    };
    let document = |name: &str, count: usize| {
        let turn = |n: usize| json!({"id": format!("T{n}"), "speaker": "Ann", "text": "My lamp"});
        json!({"format": "tmem-memory/1", "conversation": name, "speakers": ["Ann"],
            "turns": (0..count).map(turn).collect::<Vec<_>>(),
            "scenes": (0..count).map(scene).collect::<Vec<_>>(), "topics": [],
            "items": (0..count).map(item).collect::<Vec<_>>(), "personas": []})
    };
    let world = World::of(&[document("crowd", 200), document("single", 1)]);
    for text in ["lamp", "light at night"] {
        let asked = Query {
            conversation: Some(conversation("single")),
            ..query(text)
        };
        let config = RetrieveConfig {
            top_items: 5,
            top_scenes: 5,
            ..RetrieveConfig::default()
        };
        let recall = world.recall(&asked, &config);
        assert_eq!(items(&recall), ["i0"], "{text}");
        assert!(
            recall
                .trace
                .scenes
                .iter()
                .all(|s| s.id.conversation().as_str() == "single")
        );
    }
}

#[test]
fn as_of_a_date_nothing_later_is_found_or_takes_a_place() {
    let world = World::of(&[kitchen()]);
    let at = Some("2024-03-03T23:59:59".parse().unwrap());
    for text in [DINNER, "bus pass", "piano music at a party"] {
        let recall = world.recall(&Query { at, ..query(text) }, &RetrieveConfig::wide());
        let days = recall
            .context
            .cited_turns()
            .into_iter()
            .map(|turn| turn.local().to_owned());
        let days: Vec<String> = days.collect();
        assert!(
            days.iter()
                .all(|day| ["K1", "K2", "K3"].contains(&&day[..2])),
            "{text}: {days:?}"
        );
    }
}

#[test]
fn a_persona_that_sums_up_later_turns_is_left_out() {
    let world = World::of(&[kitchen()]);
    let at = Some("2024-03-03T23:59:59".parse().unwrap());
    let recall = world.recall(
        &Query {
            at,
            ..query("fern")
        },
        &small(),
    );
    assert!(recall.context.personas.is_empty());
    assert!(recall.trace.notes.contains(&Note::PersonaTooLate {
        speaker: "Rosa".into()
    }));
}

#[test]
fn the_speaker_chooses_the_persona() {
    let world = World::of(&[kitchen()]);
    let of = |speaker: Option<&str>| {
        let asked = Query {
            speaker: speaker.map(str::to_owned),
            ..query("fern")
        };
        let recall = world.recall(&asked, &small());
        let personas = recall.context.personas.into_iter();
        personas.map(|persona| persona.speaker).collect::<Vec<_>>()
    };
    assert_eq!(of(None), ["Rosa", "Tom"]);
    assert_eq!(of(Some("Tom")), ["Tom"]);
    assert!(of(Some("Nobody")).is_empty());
}

#[test]
fn each_switch_takes_its_layer_away() {
    let world = World::of(&[kitchen()]);
    let without = |switch| world.recall(&query(DINNER), &RetrieveConfig::wide().without(switch));
    assert!(without(Switch::SceneLayer).context.scenes.is_empty());
    assert!(without(Switch::ItemChannel).context.items.is_empty());
    assert!(without(Switch::Personas).context.personas.is_empty());
    assert!(without(Switch::TopicFilter).trace.topics.is_empty());
    let lists = |switch| {
        let told = without(switch);
        let all = told
            .trace
            .associations
            .into_iter()
            .flat_map(|scene| scene.ranks);
        let mut lists: Vec<List> = all.map(|place| place.list).collect();
        lists.sort_unstable();
        lists.dedup();
        lists
    };
    assert!(!lists(Switch::HorizonTriggers).contains(&List::Horizon));
    assert!(lists(Switch::SceneTriggers).contains(&List::Horizon));
    assert!(!lists(Switch::ItemTriggers).contains(&List::Bridge));
    let both = lists(Switch::SceneAndHorizonTriggers);
    assert!(!both.contains(&List::Horizon) && !both.contains(&List::SceneTrigger));
}

#[test]
fn the_topic_filter_holds_back_likeness_but_not_triggers_or_loose_scenes() {
    let mut document = kitchen();
    document["topics"][2]["scenes"] = json!(["s001", "s004"]);
    let config = RetrieveConfig {
        top_topics: 1,
        cue_scenes: 0,
        ..RetrieveConfig::wide()
    };
    let world = World::of(&[document]);
    let recall = world.recall(&query("kettle at home, piano, bus pass"), &config);
    let passed: Vec<&str> = recall
        .trace
        .scenes
        .iter()
        .map(|scene| scene.id.local())
        .collect();
    assert!(
        passed.contains(&"s003") && passed.contains(&"s005"),
        "{passed:?}"
    );
    assert!(!passed.contains(&"s001"), "{passed:?}");
    let cued = RetrieveConfig {
        cue_scenes: 10,
        ..config
    };
    let recall = world.recall(&query("kettle at home, piano, bus pass"), &cued);
    assert!(
        recall
            .trace
            .scenes
            .iter()
            .any(|scene| scene.id.local() == "s001")
    );
}

#[test]
fn turns_that_no_scene_holds_yet_are_found_by_word_and_by_vector() {
    let said = ["The ferry leaves at nine", "Pack the blue tent"];
    let world = World::of(&[kitchen()]).hearing(&said);
    for asked in [
        query("When does the ferry leave?"),
        Query::new("ferry", None),
    ] {
        let recall = world.recall(&asked, &small());
        assert_eq!(recall.context.turns[0].id.local(), "K9:1");
        assert_eq!(recall.trace.turns[0].via, [Via::OpenTail]);
    }
}

#[test]
fn without_a_vector_words_alone_still_find() {
    let world = World::of(&[kitchen()]);
    let recall = world.recall(&Query::new("fern", None), &small());
    assert_eq!(scenes(&recall), [("s002", false)]);
    assert!(recall.trace.notes.contains(&Note::NoVector));
}

#[test]
fn without_a_vector_no_scene_is_kept_out_because_its_topic_lacks_the_word() {
    let world = World::of(&[kitchen()]);
    let recall = world.recall(&Query::new("prawns", None), &small());
    assert_eq!(scenes(&recall), [("s007", false)]);
}

#[test]
fn a_vector_of_another_encoder_is_told_and_words_still_find() {
    let world = World::of(&[kitchen()]);
    let vector = Vector::try_from(vec![1.0, 0.0, 0.0]).ok();
    let recall = world.recall(&Query::new("fern", vector), &small());
    assert_eq!(scenes(&recall), [("s002", false)]);
    assert!(recall.trace.notes.contains(&Note::OtherEncoder {
        expected: 4096,
        found: 3
    }));
}

#[test]
fn a_blank_query_finds_nothing() {
    let world = World::of(&[kitchen()]);
    for text in ["", "   ", "\n\t"] {
        let recall = world.recall(&Query::new(text, encode("fern")), &RetrieveConfig::wide());
        assert!(
            recall.context.is_empty() && recall.context.personas.is_empty(),
            "{text:?}"
        );
        assert_eq!(recall.trace.notes, [Note::BlankQuery], "{text:?}");
    }
}

#[test]
fn an_empty_memory_answers_any_query_with_nothing() {
    let world = World::of(&[]);
    for preset in Preset::ALL {
        assert!(
            world
                .recall(&query(DINNER), &preset.config())
                .context
                .is_empty()
        );
    }
}

#[test]
fn signs_are_no_syntax() {
    let world = World::of(&[kitchen()]);
    let scenes = |text: &str| {
        let recall = world.recall(&Query::new(text, None), &small());
        recall
            .context
            .scenes
            .into_iter()
            .map(|scene| scene.id)
            .collect::<Vec<_>>()
    };
    for text in ["fern", "-fern", "fern:", "\"fern", "fern^2 OR", "(fern"] {
        assert_eq!(scenes(text), ["kitchen/s002".parse().unwrap()], "{text}");
    }
    assert!(scenes(">>> :: --").is_empty());
}

#[test]
fn a_rerankers_scores_decide_where_they_are_given() {
    let world = World::of(&[kitchen()]);
    let kettle = Host::Scene("kitchen/s003".parse().unwrap());
    let asked = Query {
        rerank: [(kettle, 9.0)].into(),
        ..query("fern, kettle")
    };
    let plain = world.recall(&query("fern fern, kettle"), &small());
    assert_eq!(scenes(&plain)[0].0, "s002");
    assert_eq!(scenes(&world.recall(&asked, &small()))[0].0, "s003");
}

#[test]
fn the_same_query_gives_the_same_recall() {
    let (one, two) = (World::of(&[kitchen()]), World::of(&[kitchen()]));
    for text in [DINNER, "fern", "the"] {
        assert_eq!(one.ask(text), two.ask(text));
    }
}

/// The kitchen with a bus pass that expired, was renewed, and is not needed any more.
fn renewed() -> World {
    let mut document = kitchen();
    let items = document["items"].as_array_mut().unwrap();
    let fact = |id: &str, text: &str, scene: &str, turn: &str, earlier: &[&str]| {
        json!({"id": id, "kind": "atomic", "text": text, "scenes": [scene], "turns": [turn],
            "supersedes": earlier, "triggers": []})
    };
    items.push(fact(
        "i0101",
        "Rosa's tram ticket is monthly",
        "s001",
        "K1:1",
        &[],
    ));
    items.push(fact(
        "i0102",
        "She pays by the year",
        "s003",
        "K3:1",
        &["i0101"],
    ));
    items.push(fact(
        "i0103",
        "She travels free of charge",
        "s005",
        "K5:1",
        &["i0102"],
    ));
    World::of(&[document])
}

/// The facts of the context that are part of a change, as they are shown.
fn changes(world: &World, at: Option<&str>) -> String {
    let at = at.map(|at| at.parse().unwrap());
    let query = Query {
        at,
        ..query("Is the tram ticket monthly?")
    };
    let config = RetrieveConfig {
        skip_shown_items: false,
        ..RetrieveConfig::balanced()
    };
    let shown = world.recall(&query, &config).context.render();
    let lines = shown.lines().filter(|line| {
        line.contains("tram ticket") || line.contains("by the year") || line.contains("free of")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_holds_now_comes_before_what_it_put_out_of_date_and_both_are_dated() {
    expect![[r"
        - She travels free of charge (since 2024-03-05) [K5:1]
        - Rosa's tram ticket is monthly (until 2024-03-03) [K1:1]
        - She pays by the year (until 2024-03-05) [K3:1]"]]
    .assert_eq(&changes(&renewed(), None));
}

#[test]
fn as_of_a_date_what_held_then_comes_first() {
    expect![[r"
        - She pays by the year (since 2024-03-03) [K3:1]
        - Rosa's tram ticket is monthly (until 2024-03-03) [K1:1]"]]
    .assert_eq(&changes(&renewed(), Some("2024-03-04T00:00:00")));
    expect!["- Rosa's tram ticket is monthly [K1:1]"]
        .assert_eq(&changes(&renewed(), Some("2024-03-02T00:00:00")));
}

#[test]
fn the_trace_says_in_whose_place_an_item_holds() {
    let recall = renewed().ask("Is the tram ticket monthly?");
    let item = recall
        .trace
        .items
        .iter()
        .find(|item| item.id.local() == "i0103")
        .unwrap();
    let earlier = |way: &Via| matches!(way, Via::Supersedes { item } if item.local() == "i0101");
    assert!(item.via.iter().any(earlier), "{item:?}");
}
