//! `tmem ask` and `tmem recall`: evidence, with or without an answer made of it.

use std::fmt::Write;

use anyhow::Result;
use serde_json::json;
use tmem::model::ConversationId;
use tmem::{Answer, Question, Recalled, TmemError};

use crate::args::{Ask, Asker, Knobs, Recall};
use crate::outcome::Outcome;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn recall(args: &Recall, session: Session, ui: &Ui) -> Result<Outcome> {
    let question = question(&args.query, &args.asker)?;
    let tmem = turned(session, &args.knobs).read()?;
    let recalled = tmem.recall(&question, &tmem.config().retrieve).await?;
    tell(ui, &recalled);
    let mut text = recalled.context.render();
    if recalled.context.is_empty() {
        text = "nothing in memory bears on that\n".to_owned();
    }
    if args.asker.explain {
        let _ = write!(text, "\n{}", recalled.trace.explain());
    }
    Ok(Outcome::new(text, &recalled))
}

pub(crate) async fn ask(args: &Ask, session: Session, ui: &Ui) -> Result<Outcome> {
    let question = question(&args.question, &args.asker)?;
    let tmem = turned(session, &args.knobs).read()?;
    let answer = tmem.answer(&question, &tmem.config().retrieve).await?;
    tell(ui, &answer.recalled);
    let mut text = format!("{}\n", answer.text);
    text.push_str(&sources(&answer));
    if args.asker.explain {
        let _ = write!(text, "\n{}", answer.recalled.trace.explain());
    }
    let json = json!({
        "answer": answer.text, "turns": answer.turns, "scenes": answer.scenes,
        "asked": answer.asked, "evidence": answer.recalled,
    });
    Ok(Outcome::new(text, json))
}

/// The session with the budgets and switches of the command line.
fn turned(session: Session, knobs: &Knobs) -> Session {
    let off = |given: bool| given.then_some(false);
    session
        .with("retrieve.preset", knobs.preset)
        .with("retrieve.top_topics", knobs.k_topics)
        .with("retrieve.top_scenes", knobs.k_scenes)
        .with("retrieve.associative_scenes", knobs.k_associative)
        .with("retrieve.top_items", knobs.k_items)
        .with("retrieve.trigger_top_k", knobs.k_triggers)
        .with("retrieve.scene_layer", off(knobs.no_scenes))
        .with("retrieve.item_channel", off(knobs.no_items))
        .with("retrieve.item_triggers", off(knobs.no_item_triggers))
        .with("retrieve.personas", off(knobs.no_persona))
        .with("retrieve.topic_filter", off(knobs.no_topic_filter))
        .with("retrieve.scene_triggers", off(knobs.no_scene_triggers))
        .with("retrieve.horizon_triggers", off(knobs.no_horizons))
}

fn question(text: &str, asker: &Asker) -> Result<Question> {
    if text.trim().is_empty() {
        return Err(TmemError::BlankQuery.into());
    }
    let mut question = Question::new(text);
    question.speaker.clone_from(&asker.speaker);
    question.at = asker.at;
    let conversation = asker.conversation.as_deref().map(ConversationId::new);
    question.conversation = conversation.transpose()?;
    Ok(question)
}

fn tell(ui: &Ui, recalled: &Recalled) {
    recalled
        .notes
        .iter()
        .for_each(|note| ui.note(&format!("note: {note}")));
}

/// The cited turns in their own words, so that an answer can be checked at a glance.
fn sources(answer: &Answer) -> String {
    let context = &answer.recalled.context;
    let raw = context
        .scenes
        .iter()
        .flat_map(|scene| scene.raw_turns())
        .chain(&context.turns);
    let shown: Vec<_> = raw.filter(|turn| answer.turns.contains(&turn.id)).collect();
    let mut text = String::new();
    for id in &answer.turns {
        let words = shown.iter().find(|turn| turn.id == *id);
        let words = words.map(|turn| format!(" {}: {}", turn.speaker, turn.text));
        let _ = writeln!(text, "  [{id}]{}", words.unwrap_or_default());
    }
    for id in &answer.scenes {
        let titled = context.scenes.iter().find(|scene| scene.id == *id);
        let _ = writeln!(text, "  [{id}] {}", titled.map_or("", |scene| &scene.title));
    }
    text
}
