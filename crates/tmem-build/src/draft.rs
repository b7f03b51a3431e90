//! What a step asks: its messages, the shape of the reply, the cap on its length.

use tmem_llm::{Message, Params, ReplySchema, Request};
use tmem_model::Stage;

use crate::config::BuildConfig;
use crate::context::{Context, Inputs};
use crate::prompts::{Prompts, Template};
use crate::stage::{item_triggers, items, personas, scene_triggers, segment, topics, write};
use crate::step::{Step, Work};

/// The request of a step; `None` if it takes no model.
#[must_use]
pub fn prompt(
    step: &Step,
    inputs: Inputs<'_>,
    config: &BuildConfig,
    prompts: &Prompts,
) -> Option<Request> {
    let ctx = inputs.context(&step.conversation, config);
    let Draft {
        template,
        messages,
        schema,
        cap,
        ..
    } = draft(&ctx, step, prompts)?;
    let (prompt, schema) = (template.prompt.clone(), Some(schema));
    let params = Params {
        max_tokens: cap,
        temperature: Some(0.0),
    };
    Some(Request {
        prompt,
        messages,
        schema,
        params,
    })
}

/// What a call is made of.
pub(crate) struct Draft<'a> {
    pub(crate) template: &'a Template,
    pub(crate) messages: Vec<Message>,
    pub(crate) schema: ReplySchema,
    /// The field that a reply must have.
    pub(crate) key: &'static str,
    pub(crate) cap: u32,
    /// Whether the complete elements of a cut reply are of use: the rest is asked again, or there is
    /// nothing left to split.
    pub(crate) salvage: bool,
}

/// The call of a step; `None` if it takes no model.
pub(crate) fn draft<'a>(ctx: &Context<'_>, step: &Step, prompts: &'a Prompts) -> Option<Draft<'a>> {
    let messages = messages(ctx, step, prompts)?;
    let (name, key, cap) = kind(ctx, step);
    let template = prompts.get(name, ctx.config.short_prompts);
    let schema = shape(ctx, step)?;
    let salvage = match &step.work {
        Work::Scenes(_) | Work::Items(_) => true,
        Work::Topic(work) => work.own.len() + work.joined.len() < 2,
        _ => false,
    };
    Some(Draft {
        template,
        messages,
        schema,
        key,
        cap,
        salvage,
    })
}

/// Prompt, the field that a reply must have, and its cap.
fn kind(ctx: &Context<'_>, step: &Step) -> (&'static str, &'static str, u32) {
    let caps = ctx.config.caps;
    match step.stage {
        Stage::Segment => ("segment", "ends", caps.segment),
        Stage::Write => ("write", "scenes", caps.write),
        Stage::Topics => ("topics", "topics", caps.topics),
        Stage::Items => ("items", "items", caps.items),
        Stage::ItemTriggers => ("item-triggers", "items", caps.item_triggers),
        Stage::SceneTriggers => ("scene-triggers", "scenes", caps.scene_triggers),
        Stage::Personas => ("persona", "summary", caps.personas),
    }
}

fn messages(ctx: &Context<'_>, step: &Step, prompts: &Prompts) -> Option<Vec<Message>> {
    let level = step.level;
    Some(match &step.work {
        Work::Cut(_) | Work::Close => return None,
        Work::Window(window) => segment::messages(ctx, window, prompts),
        Work::Scenes(scenes) if step.stage == Stage::Write => {
            write::messages(ctx, scenes, level, prompts)
        }
        Work::Scenes(scenes) => scene_triggers::messages(ctx, scenes, prompts),
        Work::Block { scenes, offered } => topics::messages(ctx, scenes, offered, prompts),
        Work::Topic(work) => items::messages(ctx, work, level, prompts),
        Work::Items(items) => item_triggers::messages(ctx, items, prompts),
        Work::Persona { speaker, turns } => personas::messages(ctx, speaker, turns, level, prompts),
    })
}

fn shape(ctx: &Context<'_>, step: &Step) -> Option<ReplySchema> {
    Some(match &step.work {
        Work::Cut(_) | Work::Close => return None,
        Work::Window(window) => segment::shape(ctx, window),
        Work::Scenes(scenes) if step.stage == Stage::Write => write::shape(ctx, scenes),
        Work::Scenes(scenes) => scene_triggers::shape(ctx, scenes),
        Work::Block { scenes, offered } => topics::shape(ctx, scenes.len(), offered.len()),
        Work::Topic(work) => items::shape(ctx, work),
        Work::Items(items) => item_triggers::shape(ctx, items),
        Work::Persona { .. } => personas::shape(ctx),
    })
}
