//! Work that did not fit in one call: what is asked in its place, and when it is given up.

use tmem_llm::Message;
use tmem_model::{Change, Stage};

use crate::context::{CLIPS, Context, halvings};
use crate::draft::draft;
use crate::prompts::Prompts;
use crate::stage::{personas, segment};
use crate::step::{Answer, Asked, Step, Work};

/// The step's work again, in halves; at the floor it is given up.
pub(crate) fn smaller(ctx: &Context<'_>, step: &Step, why: &str) -> Change {
    let jobs = match &step.work {
        Work::Window(window) => vec![segment::too_large(ctx, window, why)],
        _ => again(ctx, step, why),
    };
    Change {
        jobs,
        ..Change::default()
    }
}

fn again(ctx: &Context<'_>, step: &Step, why: &str) -> Vec<tmem_model::Job> {
    let batch = batch(ctx, step);
    let row = |target: &String| {
        let mut job = ctx.again(step.stage, target, step.level, batch, why);
        if let Work::Persona { speaker, .. } = &step.work {
            job.result = job
                .result
                .map(|result| personas::keeps(ctx, speaker, result));
        }
        job
    };
    step.targets().iter().map(row).collect()
}

/// How much a call of this kind holds as long as nothing was split.
fn batch(ctx: &Context<'_>, step: &Step) -> usize {
    let config = ctx.config;
    match (&step.work, step.stage) {
        (Work::Persona { turns, .. }, _) => turns.len(),
        (Work::Topic(_), _) => config.items_scenes,
        (_, Stage::Topics) => config.topic_block,
        (_, Stage::ItemTriggers) => config.item_trigger_batch,
        (_, Stage::SceneTriggers) => config.scene_trigger_batch,
        _ => config.write_batch,
    }
}

/// Splits that would send the same call once more are passed over: the step gets the level before
/// the first that makes a difference. Where none does, too large work has failed. `None` if the
/// answer stays as it is.
pub(crate) fn pass_over(ctx: &Context<'_>, asked: &Asked, prompts: &Prompts) -> Option<Asked> {
    let too_large = match &asked.answer {
        Answer::TooLarge(why) if !matches!(asked.step.work, Work::Window(_)) => Some(why.clone()),
        Answer::Refused(_) if asked.step.targets().len() > 1 => None,
        _ => return None,
    };
    let mut other = asked.clone();
    match (next(ctx, &asked.step, prompts), too_large) {
        (Some(level), _) => other.step.level = level - 1,
        (None, Some(why)) => other.answer = Answer::Failed(why),
        (None, None) => {}
    }
    Some(other)
}

/// The first further level at which the step's work is asked for otherwise than it was.
fn next(ctx: &Context<'_>, step: &Step, prompts: &Prompts) -> Option<u32> {
    let shown = draft(ctx, step, prompts)?.messages;
    let (batch, targets) = (batch(ctx, step), step.targets().len());
    let floor = halvings(batch) + CLIPS;
    (step.level + 1..=floor).find(|level| match targets {
        1 => alone(ctx, step, *level, prompts).is_some_and(|other| other != shown),
        _ => (batch >> level).max(1) < targets,
    })
}

/// What is shown of a single target at `level`.
fn alone(ctx: &Context<'_>, step: &Step, level: u32, prompts: &Prompts) -> Option<Vec<Message>> {
    let mut other = Step {
        level,
        ..step.clone()
    };
    if let Work::Persona { speaker, turns } = &mut other.work {
        let (unread, _) = personas::unread(ctx, speaker);
        let full = personas::chunk(ctx, &unread, level);
        turns.truncate(full);
    }
    Some(draft(ctx, &other, prompts)?.messages)
}
