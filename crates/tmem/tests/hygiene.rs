//! What building leaves out, what it leaves bare, and which triggers prove to be noise.

#[path = "../../tmem-build/tests/common/script.rs"]
mod script;

use script::{dialogue, read};
use serde_json::{Value, json};
use tempfile::TempDir;
use tmem::llm::{Reply, Request, ScriptedModel};
use tmem::model::{ConversationId, Turn};
use tmem::{Access, BuildOptions, Options, Question, Target, Tmem, TriggerCounts, ingest};
use tmem::{llm, model};

/// Near every turn of the invented conversation, and an answer to nothing.
const HUB: &str = "Ada: About the and tell me more";

/// Reads as the script does, with `change` made to the reply of one prompt.
fn model_with(prompt: &'static str, change: fn(&mut Value)) -> ScriptedModel {
    ScriptedModel::new(move |request: &Request| {
        let mut reply = read(request);
        if request.prompt.name == prompt {
            change(&mut reply);
        }
        Ok(Reply::text(reply.to_string()))
    })
}

fn opened(folder: &TempDir, model: ScriptedModel) -> Tmem {
    let mut options = Options::new(folder.path());
    options.access = Access::Write;
    let settings = "[llm]\nkind = 'none'\n[embed]\nkind = 'hash'\n[build]\nprofile = 'full'\n";
    let layers = tmem::Layers::new().text("test", settings);
    options.config = layers.resolve().expect("valid settings");
    let builder = Tmem::builder(options).chat(model);
    builder.open().expect("a new memory")
}

fn conversation() -> ConversationId {
    ConversationId::new("c").expect("a name")
}

fn add(tmem: &Tmem, turns: &[Turn]) {
    let raw = |turn: &Turn| ingest::RawTurn {
        id: turn.id.local().to_owned(),
        numbered: false,
        speaker: turn.speaker.clone(),
        text: turn.text.clone(),
        at: turn.at,
        image: None,
    };
    let given = ingest::Conversation {
        turns: turns.iter().map(raw).collect(),
        ..Default::default()
    };
    tmem.add(&conversation(), &given).expect("stored");
}

async fn build(tmem: &Tmem) -> tmem::Summary {
    let built = tmem.build(&BuildOptions::default(), &|_| ()).await;
    built.expect("built")
}

/// Two bridges of each item are hubs.
fn two_hubs(reply: &mut Value) {
    for item in reply["items"].as_array_mut().expect("items") {
        let bridges = item["bridges"].as_array_mut().expect("bridges");
        bridges[0] = json!({"when": HUB, "why": "x"});
        bridges[1] = json!({"when": format!("{HUB} garden"), "why": "x"});
    }
}

#[tokio::test]
async fn triggers_that_are_close_to_everything_said_are_refused_and_counted() {
    let folder = TempDir::new().unwrap();
    let tmem = opened(&folder, model_with("item-triggers", two_hubs));
    add(&tmem, &dialogue(90));
    build(&tmem).await;
    let memory = tmem.memory();
    let items: Vec<_> = memory.items().collect();
    for item in &items {
        assert!(
            item.triggers
                .iter()
                .all(|one| !one.bridge.contains("tell me")),
            "{item:?}"
        );
        assert_eq!(item.triggers.len(), 6, "the others stay: {item:?}");
    }
    let stats = tmem.stats().await.unwrap();
    let refused = stats.refused["close to everything said"];
    assert_eq!(refused as usize, 2 * items.len());
    assert_eq!(
        tmem.stats().await.unwrap().vectors["bridge"],
        6 * items.len()
    );
    let before = memory.items().cloned().collect::<Vec<_>>();
    build(&tmem).await;
    let after = tmem.memory().items().cloned().collect::<Vec<_>>();
    assert_eq!(after, before, "each trigger is measured once");
}

#[tokio::test]
async fn a_host_keeps_its_last_trigger_and_little_talk_refuses_nothing() {
    fn only_hubs(reply: &mut Value) {
        for item in reply["items"].as_array_mut().expect("items") {
            item["bridges"] = json!([{"when": HUB, "why": "x"}]);
        }
    }
    let folder = TempDir::new().unwrap();
    let tmem = opened(&folder, model_with("item-triggers", only_hubs));
    add(&tmem, &dialogue(30));
    build(&tmem).await;
    let hubs = |tmem: &Tmem| {
        tmem.memory()
            .items()
            .filter(|item| item.triggers.len() == 1)
            .count()
    };
    assert_eq!(hubs(&tmem), tmem.memory().items().count());
    assert!(tmem.stats().await.unwrap().refused.is_empty());
    add(&tmem, &dialogue(90));
    build(&tmem).await;
    assert_eq!(
        hubs(&tmem),
        tmem.memory().items().count(),
        "none is left bare"
    );
    assert_eq!(tmem.stats().await.unwrap().coverage.holes, 0);
}

#[tokio::test]
async fn work_that_is_over_and_left_nothing_is_a_hole_and_pending_work_is_none() {
    fn nothing(reply: &mut Value) {
        for item in reply["items"].as_array_mut().expect("items") {
            item["bridges"] = json!([]);
        }
    }
    let folder = TempDir::new().unwrap();
    let tmem = opened(&folder, model_with("item-triggers", nothing));
    add(&tmem, &dialogue(30));
    assert_eq!(tmem.stats().await.unwrap().coverage.holes, 0);
    let summary = build(&tmem).await;
    let coverage = tmem.stats().await.unwrap().coverage;
    let items = tmem.memory().items().count();
    assert!(items > 10 && coverage.items_without_bridge.len() == items);
    assert_eq!((coverage.holes, summary.holes), (items, items));
    assert!(coverage.scenes_without_horizon.is_empty());
}

/// Counts of all triggers together.
fn total(tmem: &Tmem) -> TriggerCounts {
    let counts = tmem.trigger_counts().expect("readable");
    counts
        .values()
        .fold(TriggerCounts::default(), |sum, one| TriggerCounts {
            fired: sum.fired + one.fired,
            used: sum.used + one.used,
        })
}

#[tokio::test]
async fn what_fires_is_counted_as_used_when_it_becomes_evidence() {
    let folder = TempDir::new().unwrap();
    let tmem = opened(&folder, model_with("", |_| ()));
    add(&tmem, &dialogue(60));
    build(&tmem).await;
    let bridge = tmem.memory().items().next().expect("an item").triggers[3]
        .bridge
        .clone();
    let item = tmem.memory().items().next().expect("an item").id.clone();
    let mut config = tmem.config().retrieve.clone();
    (config.item_channel, config.scene_layer) = (false, false);
    let question = Question::new(bridge);
    tmem.recall(&question, &config).await.unwrap();
    let unused = total(&tmem);
    assert!(unused.fired > 0 && unused.used == 0, "{unused:?}");
    let trigger = model::TriggerId::Item(item.clone(), 3);
    let once = TriggerCounts { fired: 1, used: 0 };
    assert_eq!(tmem.trigger_counts().unwrap()[&trigger], once);

    let usual = tmem.config().retrieve.clone();
    tmem.recall(&question, &usual).await.unwrap();
    let twice = TriggerCounts { fired: 2, used: 1 };
    assert_eq!(tmem.trigger_counts().unwrap()[&trigger], twice);
    drop(tmem);

    let tmem = opened(&folder, model_with("", |_| ()));
    assert_eq!(
        tmem.trigger_counts().unwrap()[&trigger],
        twice,
        "counts are durable"
    );
    tmem.forget(&Target::Item(item)).unwrap();
    assert!(!tmem.trigger_counts().unwrap().contains_key(&trigger));
}

#[tokio::test]
async fn an_answer_counts_as_used_what_it_cites() {
    let folder = TempDir::new().unwrap();
    let script = |request: &Request| match request.prompt.name.as_str() {
        "answer" => Ok(Reply::text("I cannot tell.")),
        _ => Ok(Reply::text(read(request).to_string())),
    };
    let tmem = opened(&folder, ScriptedModel::new(script));
    add(&tmem, &dialogue(60));
    build(&tmem).await;
    let bridge = tmem.memory().items().next().expect("an item").triggers[3]
        .bridge
        .clone();
    let config = tmem.config().retrieve.clone();
    tmem.answer(&Question::new(bridge), &config).await.unwrap();
    let counts = total(&tmem);
    assert!(
        counts.fired > 0 && counts.used == 0,
        "nothing is cited: {counts:?}"
    );
}
