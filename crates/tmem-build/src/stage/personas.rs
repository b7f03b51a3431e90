//! A speaker's standing traits, folded together chunk by chunk.

use serde_json::{Value, json};
use tmem_llm::{Message, ReplySchema};
use tmem_model::{Change, JobState, Persona, Stage, Turn, TurnId, text};

use crate::context::{Context, blank};
use crate::frame::{self, Frame};
use crate::jobs::done;
use crate::prompts::Prompts;
use crate::reply::text_at;
use crate::schema;
use crate::step::Work;

/// The next chunk of each speaker: a full one, or what is left before a flush.
pub(crate) fn ready(ctx: &Context<'_>) -> Vec<(u32, Work)> {
    if !ctx.config.personas {
        return Vec::new();
    }
    let speakers = ctx.memory.speakers(ctx.conversation).into_iter();
    speakers.filter_map(|speaker| next(ctx, speaker)).collect()
}

fn next(ctx: &Context<'_>, speaker: &str) -> Option<(u32, Work)> {
    let state = ctx.state(Stage::Personas, speaker);
    if matches!(state, Some(JobState::Failed | JobState::Refused)) {
        return None;
    }
    let level = ctx.level(Stage::Personas, speaker);
    let (said, flushed) = unread(ctx, speaker);
    let full = chunk(ctx, &said, level);
    let due = if full < said.len() { full } else { flushed };
    let turns: Vec<TurnId> = said
        .iter()
        .take(due.min(full))
        .map(|turn| turn.id.clone())
        .collect();
    let enough = ctx.memory.persona(ctx.conversation, speaker).is_some()
        || said.len() >= ctx.config.persona_min_turns;
    let speaker = speaker.to_owned();
    (!turns.is_empty() && enough).then_some((level, Work::Persona { speaker, turns }))
}

/// How many of these turns make a full chunk when chunks were split `level` times.
pub(crate) fn chunk(ctx: &Context<'_>, said: &[&Turn], level: u32) -> usize {
    let most = ctx.config.persona_tokens >> level.min(31);
    let mut tokens = 0;
    let fits = |turn: &&&Turn| {
        tokens += text::estimate_tokens(&turn.content()) + 8;
        tokens <= most
    };
    said.iter().take_while(fits).count().max(1)
}

/// A speaker's turns that the persona does not cover, and how many of them lie before the last flush.
pub(crate) fn unread<'a>(ctx: &Context<'a>, speaker: &str) -> (Vec<&'a Turn>, usize) {
    let upto = upto(ctx, speaker);
    let new = |turn: &&Turn| ctx.place(&turn.id) > upto;
    let said = ctx.memory.said_by(ctx.conversation, speaker).rev();
    let mut said: Vec<&Turn> = said.take_while(new).filter(|turn| !blank(turn)).collect();
    said.reverse();
    let mut late = ctx.memory.turns(ctx.conversation).rev().take_while(new);
    let flush = late.find(|turn| ctx.is_flushed(&turn.id));
    let flush = flush.and_then(|turn| ctx.place(&turn.id));
    let flushed = said.partition_point(|turn| ctx.place(&turn.id) <= flush);
    (said, flushed)
}

/// The place of the last turn that the persona covers.
fn upto(ctx: &Context<'_>, speaker: &str) -> Option<u64> {
    let id = TurnId::new(ctx.conversation, last_read(ctx, speaker)?);
    ctx.place(&id.ok()?)
}

/// The name of the last turn that the persona covers.
fn last_read<'a>(ctx: &Context<'a>, speaker: &str) -> Option<&'a str> {
    let job = ctx.jobs.get(ctx.conversation, Stage::Personas, speaker)?;
    job.result.as_ref()?.get("upto")?.as_str()
}

pub(crate) fn messages(
    ctx: &Context<'_>,
    speaker: &str,
    turns: &[TurnId],
    level: u32,
    prompts: &Prompts,
) -> Vec<Message> {
    let turns: Vec<&Turn> = turns.iter().filter_map(|id| ctx.memory.turn(id)).collect();
    let texts: Vec<String> = turns.iter().map(|turn| turn.content()).collect();
    let frame = Frame::around(texts.iter().map(String::as_str));
    let shown = frame::turns(&frame, &turns, 1, ctx.look(level, turns.len()));
    let known = ctx.memory.persona(ctx.conversation, speaker);
    let known = known.map_or("(nothing yet)", |persona| persona.summary.as_str());
    let chars = ctx.config.persona_chars.to_string();
    let values = [
        ("speaker", speaker),
        ("profile", known),
        ("turns", &shown),
        ("chars", &chars),
    ];
    prompts
        .get("persona", ctx.config.short_prompts)
        .fill(&values)
}

pub(crate) fn shape(ctx: &Context<'_>) -> ReplySchema {
    let summary = schema::text(ctx.config.persona_chars + ctx.config.persona_chars / 4);
    schema::named("persona", schema::object(vec![("summary", summary)]))
}

/// The persona as it is now, and how far it reaches.
pub(crate) fn accept(
    ctx: &Context<'_>,
    speaker: &str,
    turns: &[TurnId],
    reply: &Value,
) -> Result<Change, String> {
    let summary = text_at(
        reply,
        "summary",
        ctx.config.persona_chars + ctx.config.persona_chars / 4,
    );
    if summary.is_empty() {
        return Err("the reply lacks `summary`".to_owned());
    }
    let (conversation, extra) = (ctx.conversation.clone(), Default::default());
    let persona = Persona {
        conversation,
        speaker: speaker.to_owned(),
        summary,
        extra,
    };
    let upto = turns.last().map(|turn| json!({"upto": turn.local()}));
    let job = done(ctx.conversation, Stage::Personas, speaker, upto);
    Ok(Change {
        personas: vec![persona],
        jobs: vec![job],
        ..Change::default()
    })
}

/// A chunk that was not folded in keeps what came before.
pub(crate) fn keeps(ctx: &Context<'_>, speaker: &str, mut result: Value) -> Value {
    if let (Some(upto), Some(fields)) = (last_read(ctx, speaker), result.as_object_mut()) {
        fields.insert("upto".into(), json!(upto));
    }
    result
}
