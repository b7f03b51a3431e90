//! The steps of every stage: plan and prepare (pure), ask, accept (pure).

use serde_json::Value;
use tmem_llm::{Ask, ChatModel, ChatModelExt, LlmError, Params, ReplySchema};
use tmem_model::{Change, ConversationId, Job, JobState, Stage, TurnId};

use crate::config::{BuildConfig, Segmenter};
use crate::context::{Context, Inputs};
use crate::draft::draft;
use crate::jobs::{FLUSH, Jobs, done};
use crate::prompts::Prompts;
use crate::split;
use crate::stage::{
    close, cut, facts, item_triggers, items, personas, scene_triggers, segment, topics, write,
};
use crate::step::{Answer, Asked, Step, Work};

/// The steps of a conversation that are ready, in a stated order. They do not depend on each other:
/// ask them side by side and [`accept`] the answers in this order. Empty when nothing is left.
/// Work that failed or was refused is not among them until [`retry`] reopens it.
#[must_use]
pub fn plan(inputs: Inputs<'_>, conversation: &ConversationId, config: &BuildConfig) -> Vec<Step> {
    let ctx = inputs.context(conversation, config);
    if !close::scenes(&ctx).is_empty() {
        return vec![step(&ctx, Stage::Segment, 0, Work::Close)];
    }
    // Each stage waits until nothing is on its way to it: so calls are full, and they are the same
    // calls whatever part of a wave was kept before a restart.
    let windows = segment::ready(&ctx).into_iter().map(|work| (0, work));
    let mut steps = stage(&ctx, Stage::Segment, windows);
    if steps.is_empty() {
        steps.extend(stage(&ctx, Stage::Write, write::ready(&ctx)));
    }
    if steps.is_empty() {
        steps.extend(stage(&ctx, Stage::Topics, topics::ready(&ctx)));
        if steps.is_empty() {
            steps.extend(stage(&ctx, Stage::Items, items::ready(&ctx)));
        }
        if steps.is_empty() {
            steps.extend(stage(&ctx, Stage::ItemTriggers, item_triggers::ready(&ctx)));
        }
        steps.extend(stage(
            &ctx,
            Stage::SceneTriggers,
            scene_triggers::ready(&ctx),
        ));
    }
    steps.extend(stage(&ctx, Stage::Personas, personas::ready(&ctx)));
    steps
}

/// Turns of a conversation whose vectors segmentation will look at; none unless embeddings cut.
#[must_use]
pub fn wanted(
    inputs: Inputs<'_>,
    conversation: &ConversationId,
    config: &BuildConfig,
) -> Vec<TurnId> {
    let ctx = inputs.context(conversation, config);
    let cuts = segment::ready(&ctx)
        .into_iter()
        .filter_map(|work| match work {
            Work::Cut(window) if config.segmenter == Segmenter::Embeddings => Some(window.turns),
            _ => None,
        });
    let mut turns: Vec<TurnId> = Vec::new();
    for turn in cuts.flatten() {
        if !turns.contains(&turn) {
            turns.push(turn);
        }
    }
    turns
}

/// A step with the call that it makes; it looks at the memory no more.
#[derive(Clone, Debug)]
pub struct Prepared {
    step: Step,
    call: Option<Call>,
}

#[derive(Clone, Debug)]
struct Call {
    ask: Ask,
    schema: ReplySchema,
    /// The field that a reply must have.
    key: &'static str,
}

/// Renders what the step asks, if it asks anything.
#[must_use]
pub fn prepare(
    step: Step,
    inputs: Inputs<'_>,
    config: &BuildConfig,
    prompts: &Prompts,
) -> Prepared {
    let ctx = inputs.context(&step.conversation, config);
    let call = draft(&ctx, &step, prompts).map(|draft| {
        let params = Params {
            max_tokens: draft.cap,
            temperature: Some(0.0),
        };
        let mut ask = Ask::new(draft.template.prompt.clone(), draft.messages, params);
        ask.salvage = draft.salvage;
        let (schema, key) = (draft.schema, draft.key);
        Call { ask, schema, key }
    });
    Prepared { step, call }
}

/// Asks the model. Never fails: whatever happens becomes the state of the step's jobs when it is
/// accepted.
pub async fn ask(prepared: Prepared, model: &dyn ChatModel) -> Asked {
    let Prepared { step, call } = prepared;
    let Some(Call { ask, schema, key }) = call else {
        return Asked::local(step);
    };
    let check = move |value: &Value| match value.get(key) {
        Some(_) => Ok(()),
        None => Err(format!("`{key}` is missing")),
    };
    let (answer, partial) = match model.extract_as(ask, schema, check).await {
        Ok(extracted) => (Answer::Value(extracted.value), extracted.partial),
        Err(error) => (answer_of(&error), false),
    };
    Asked {
        step,
        answer,
        partial,
    }
}

/// Makes the answer a change of the memory as it is now, and of the step's jobs.
#[must_use]
pub fn accept(
    asked: &Asked,
    inputs: Inputs<'_>,
    config: &BuildConfig,
    prompts: &Prompts,
) -> Change {
    let ctx = inputs.context(&asked.step.conversation, config);
    let passed_over = split::pass_over(&ctx, asked, prompts);
    let asked = passed_over.as_ref().unwrap_or(asked);
    let step = &asked.step;
    match &asked.answer {
        Answer::Local => local(&ctx, step),
        Answer::Value(reply) => match taken(&ctx, step, reply) {
            Ok(change) if asked.partial => partial(change),
            Ok(change) => change,
            Err(why) => unanswered(&ctx, step, JobState::Failed, &why),
        },
        Answer::Waiting(why) | Answer::Outage(why) => {
            unanswered(&ctx, step, JobState::Pending, why)
        }
        Answer::Refused(why) if step.targets().len() > 1 => split::smaller(&ctx, step, why),
        Answer::Refused(why) => unanswered(&ctx, step, JobState::Refused, why),
        Answer::TooLarge(why) => split::smaller(&ctx, step, why),
        Answer::Failed(why) => unanswered(&ctx, step, JobState::Failed, why),
    }
}

/// Notes the loss on what was done with the beginning of a reply.
fn partial(mut change: Change) -> Change {
    for job in change.jobs.iter_mut().filter(|job| job.reason.is_none()) {
        job.reason = Some("the reply was cut; what was complete of it was taken".to_owned());
    }
    change
}

/// [`prepare`], [`ask`] and [`accept`] in one: for a step on its own.
pub async fn run(
    step: Step,
    inputs: Inputs<'_>,
    model: &dyn ChatModel,
    config: &BuildConfig,
    prompts: &Prompts,
) -> Change {
    let asked = ask(prepare(step, inputs, config, prompts), model).await;
    accept(&asked, inputs, config, prompts)
}

/// Closes everything said so far for good: the mark of a flush after the last turn. Turns that come
/// later begin anew. Empty if the last turn is marked already.
#[must_use]
pub fn flush(inputs: Inputs<'_>, conversation: &ConversationId) -> Change {
    match inputs.memory.turns(conversation).next_back() {
        Some(last) => flush_after(inputs, &last.id),
        None => Change::default(),
    }
}

/// Closes everything said up to `turn` for good, as [`flush`] does up to the last one.
#[must_use]
pub fn flush_after(inputs: Inputs<'_>, turn: &TurnId) -> Change {
    let (conversation, target) = (turn.conversation(), format!("{}{}", FLUSH, turn.local()));
    let marked = inputs.jobs.get(conversation, Stage::Segment, &target);
    let mark = match marked {
        Some(_) => None,
        None => Some(done(conversation, Stage::Segment, &target, None)),
    };
    Change {
        jobs: mark.into_iter().collect(),
        ..Change::default()
    }
}

/// Makes what failed or was refused pending again. Empty if there is nothing of the kind.
#[must_use]
pub fn retry(jobs: &Jobs, conversation: &ConversationId) -> Change {
    let lost = |job: &&Job| matches!(job.state, JobState::Failed | JobState::Refused);
    let mine = jobs
        .unfinished()
        .filter(|job| job.conversation == *conversation)
        .filter(lost);
    let reopened = |job: &Job| {
        let upto = job.result.as_ref().and_then(|result| result.get("upto"));
        let result = upto.map(|upto| serde_json::json!({"upto": upto}));
        Job {
            state: JobState::Pending,
            reason: None,
            result,
            ..job.clone()
        }
    };
    Change {
        jobs: mine.map(reopened).collect(),
        ..Change::default()
    }
}

fn stage(
    ctx: &Context<'_>,
    stage: Stage,
    works: impl IntoIterator<Item = (u32, Work)>,
) -> Vec<Step> {
    works
        .into_iter()
        .map(|(level, work)| step(ctx, stage, level, work))
        .collect()
}

fn step(ctx: &Context<'_>, stage: Stage, level: u32, work: Work) -> Step {
    Step {
        conversation: ctx.conversation.clone(),
        stage,
        level,
        work,
    }
}

fn answer_of(error: &LlmError) -> Answer {
    let why = told(error);
    match error {
        LlmError::Pending(_) | LlmError::Budget { .. } => Answer::Waiting(why),
        LlmError::Endpoint { outage: true, .. } => Answer::Outage(why),
        LlmError::Refused { .. } => Answer::Refused(why),
        LlmError::TooLarge { .. } | LlmError::CutOff { .. } => Answer::TooLarge(why),
        _ => Answer::Failed(why),
    }
}

/// The error with its causes, and what to do about it.
fn told(error: &LlmError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    let text = tmem_model::text::ellipsis(&text, 500);
    let hint = match error {
        LlmError::CutOff { .. } => {
            Some("raise this stage in `build.caps`, or make its batches smaller")
        }
        error => error.hint(),
    };
    match hint {
        Some(hint) => format!("{text}; {hint}"),
        None => text,
    }
}

fn local(ctx: &Context<'_>, step: &Step) -> Change {
    match &step.work {
        Work::Cut(window) => cut::window(ctx, window),
        _ => close::scenes(ctx),
    }
}

fn taken(ctx: &Context<'_>, step: &Step, reply: &Value) -> Result<Change, String> {
    let level = step.level;
    match &step.work {
        Work::Cut(_) | Work::Close => Ok(local(ctx, step)),
        Work::Window(window) => Ok(segment::accept(ctx, window, reply)),
        Work::Scenes(scenes) if step.stage == Stage::Write => {
            Ok(write::accept(ctx, scenes, level, reply))
        }
        Work::Scenes(scenes) => Ok(scene_triggers::accept(ctx, scenes, level, reply)),
        Work::Block { scenes, offered } => topics::accept(ctx, scenes, offered, reply),
        Work::Topic(work) => facts::accept(ctx, step, work, reply),
        Work::Items(items) => Ok(item_triggers::accept(ctx, items, level, reply)),
        Work::Persona { speaker, turns } => personas::accept(ctx, speaker, turns, reply),
    }
}

/// The step's jobs with a state and reason and nothing else; what was known of them stays.
fn unanswered(ctx: &Context<'_>, step: &Step, state: JobState, why: &str) -> Change {
    if let (Work::Window(window), JobState::Refused) = (&step.work, state) {
        let jobs = vec![segment::by_gaps(ctx, window, state, why)];
        return Change {
            jobs,
            ..Change::default()
        };
    }
    let row = |target: &String| {
        let mut job = ctx.because(step.stage, target, state, why);
        let before = ctx.jobs.get(ctx.conversation, step.stage, target);
        job.result = before.and_then(|job| job.result.clone());
        job
    };
    Change {
        jobs: step.targets().iter().map(row).collect(),
        ..Change::default()
    }
}
