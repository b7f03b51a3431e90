//! From chosen keys to evidence: what of a scene is shown, which personas belong.

use std::collections::BTreeSet;

use tmem_model::text::estimate_tokens;
use tmem_model::{ConversationId, Item, Memory, Persona, Scene, Turn, Validity};

use crate::context::{
    Context, ItemEvidence, PersonaEvidence, SceneEvidence, Shown, TurnEvidence, When,
};
use crate::trace::Note;
use crate::{Query, RetrieveConfig};

pub(crate) fn turn(turn: &Turn) -> TurnEvidence {
    TurnEvidence {
        id: turn.id.clone(),
        speaker: turn.speaker.clone(),
        text: turn.content(),
        at: turn.at,
    }
}

/// A scene that likeness chose is shown raw; one that its triggers chose is shown raw when short
/// or not written up yet.
pub(crate) fn scene(
    memory: &Memory,
    scene: &Scene,
    associative: bool,
    config: &RetrieveConfig,
) -> SceneEvidence {
    let turns: Vec<TurnEvidence> = memory.scene_turns(&scene.id).map(turn).collect();
    let size: usize = turns.iter().map(|turn| estimate_tokens(&turn.text)).sum();
    let written = !scene.summary.trim().is_empty();
    let shown = if associative && written && size > config.raw_limit {
        Shown::Summary(scene.summary.clone())
    } else {
        Shown::Turns(turns)
    };
    let when = memory.span(&scene.id).map(|(from, to)| When { from, to });
    SceneEvidence {
        id: scene.id.clone(),
        title: scene.title.clone(),
        when,
        associative,
        shown,
    }
}

pub(crate) fn item(item: &Item, associative: bool, validity: Validity) -> ItemEvidence {
    ItemEvidence {
        id: item.id.clone(),
        kind: item.kind,
        text: item.text.clone(),
        scenes: item.scenes.clone(),
        turns: item.turns.clone(),
        validity,
        associative,
    }
}

/// The persona of the query's speaker, or of all speakers, in the conversations that the evidence
/// is from. A persona sums up a whole conversation, so one that reaches past the date asked for
/// would give away what came later.
pub(crate) fn personas(
    memory: &Memory,
    query: &Query,
    context: &Context,
    notes: &mut Vec<Note>,
) -> Vec<PersonaEvidence> {
    let scenes = context.scenes.iter().map(|scene| scene.id.conversation());
    let items = context.items.iter().map(|item| item.id.conversation());
    let turns = context.turns.iter().map(|turn| turn.id.conversation());
    let all = scenes.chain(items).chain(turns).chain(&query.conversation);
    let conversations: BTreeSet<&ConversationId> = all.collect();
    let wanted = |persona: &&Persona| {
        conversations.contains(&persona.conversation)
            && query
                .speaker
                .as_ref()
                .is_none_or(|speaker| *speaker == persona.speaker)
    };
    let (fit, late): (Vec<&Persona>, Vec<&Persona>) = memory
        .personas()
        .filter(wanted)
        .partition(|persona| known_by_then(memory, query, persona));
    let too_late = |persona: &&Persona| Note::PersonaTooLate {
        speaker: persona.speaker.clone(),
    };
    notes.extend(late.iter().map(too_late));
    fit.into_iter().map(persona).collect()
}

fn known_by_then(memory: &Memory, query: &Query, persona: &Persona) -> bool {
    let Some(limit) = query.at else { return true };
    memory
        .turns(&persona.conversation)
        .all(|turn| turn.at.is_none_or(|at| at <= limit))
}

fn persona(persona: &Persona) -> PersonaEvidence {
    PersonaEvidence {
        conversation: persona.conversation.clone(),
        speaker: persona.speaker.clone(),
        summary: persona.summary.clone(),
    }
}
