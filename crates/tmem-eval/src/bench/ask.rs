//! One query asked of one system, written down as a row.

use std::collections::BTreeMap;

use tmem_model::TurnId;

use super::variant::{Role, Variant};
use crate::error::EvalError;
use crate::metric::{all_hit, recall, recall_at_k};
use crate::results::Row;
use crate::score::KS;
use crate::system::{Ask, Found, System};
use crate::world::World;

/// Token budgets at which the ranking of a flat system is cut for its curve.
const BUDGETS: [usize; 4] = [500, 1_000, 2_000, 4_000];

/// What is known of a question before it is asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Target<'a> {
    pub(super) protocol: &'static str,
    pub(super) conversation: &'a str,
    pub(super) question: usize,
    pub(super) asked: Option<usize>,
    pub(super) category: &'a str,
    pub(super) category_number: Option<u8>,
    pub(super) evidence: &'a [TurnId],
    pub(super) is_cue: bool,
}

/// Asks and scores; the written context comes along if `ask.write`.
pub(super) fn row(
    variant: &Variant,
    world: &World,
    ask: &Ask,
    target: &Target<'_>,
) -> Result<(Row, String), EvalError> {
    let mut found = variant.named.system.find(world, ask)?;
    let text = std::mem::take(&mut found.text);
    let mut row = Row {
        system: variant.named.name.clone(),
        protocol: target.protocol.to_owned(),
        conversation: target.conversation.to_owned(),
        question: target.question,
        asked: target.asked,
        category_number: target.category_number,
        category: target.category.to_owned(),
        tokens: found.tokens,
        persona_tokens: found.persona_tokens,
        evidence_recall: recall(target.evidence, &found.held),
        all_evidence_hit: all_hit(target.evidence, &found.held),
        ..Row::default()
    };
    if target.is_cue {
        cue(&mut row, &found, target.evidence);
    }
    if variant.role == Role::Main {
        lists(
            &mut row,
            &variant.named.system,
            world,
            &found,
            target.evidence,
        );
    }
    Ok((row, text))
}

fn cue(row: &mut Row, found: &Found, cue: &[TurnId]) {
    row.cue_in_context = Some(found.reaches(cue));
    row.cue_rank = found.cue_rank(cue);
    let scene = cue.iter().find_map(|turn| found.scenes.get(turn));
    if let Some(scene) = scene {
        row.view_ranks = scene.ranks.clone();
        row.channels = scene.channels.iter().cloned().collect();
    }
}

fn lists(row: &mut Row, system: &System, world: &World, found: &Found, evidence: &[TurnId]) {
    row.evidence = evidence
        .iter()
        .map(|turn| turn.local().to_owned())
        .collect();
    row.retrieved = found.ids.clone();
    row.ranks = found.best_ranks(evidence);
    for list in &found.lists {
        let at = KS
            .into_iter()
            .filter_map(|k| Some((k, recall_at_k(evidence, &list.turns, k)?)));
        row.recall_at
            .insert(list.name.to_owned(), at.collect::<BTreeMap<_, _>>());
    }
    if let (System::FlatRag { .. }, Some(list)) = (system, found.lists.first()) {
        let within = |budget: usize| {
            let (held, _) = crate::flat::fill(&list.turns, |id| world.turn(id), budget as f64);
            Some((budget, recall(evidence, &held)?))
        };
        row.recall_at_tokens = BUDGETS.into_iter().filter_map(within).collect();
    }
}
