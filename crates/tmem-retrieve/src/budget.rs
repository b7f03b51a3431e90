//! Holding a [`Context`] to a number of tokens: the lowest ranks of every quota go first.

use tmem_index::Host;
use tmem_model::text::estimate_tokens;

use crate::context::{Context, ItemEvidence, SceneEvidence, TurnEvidence};
use crate::render::{FACTS, Ids, RECENT, RELATED, SCENES};

/// One thing that may be shown, how far down its quota it stands (0 to 1), and its size.
struct Piece {
    host: Host,
    depth: f32,
    section: usize,
    tokens: usize,
}

const HEADINGS: [&str; 4] = [SCENES, RELATED, FACTS, RECENT];

/// Leaves out of `context` what does not fit into `limit` estimated tokens; the hosts of what went,
/// best first. The best of each quota is looked at before the second best of any.
pub(crate) fn fit(context: &mut Context, limit: usize) -> Vec<Host> {
    let mut pieces = pieces(context);
    pieces.sort_by(|a, b| a.depth.total_cmp(&b.depth).then(a.section.cmp(&b.section)));
    let (mut left, mut opened, mut out) = (limit, [false; 4], Vec::new());
    for piece in pieces {
        let heading = estimate_tokens(HEADINGS[piece.section]);
        let cost = piece.tokens + if opened[piece.section] { 0 } else { heading };
        if cost <= left {
            left -= cost;
            opened[piece.section] = true;
        } else {
            out.push(piece.host);
        }
    }
    context
        .scenes
        .retain(|scene| !out.contains(&Host::Scene(scene.id.clone())));
    context
        .items
        .retain(|item| !out.contains(&Host::Item(item.id.clone())));
    context
        .turns
        .retain(|turn| !out.contains(&Host::Turn(turn.id.clone())));
    out
}

fn pieces(context: &Context) -> Vec<Piece> {
    let ids = Ids::of(context);
    let scene = |scene: &&SceneEvidence| (Host::Scene(scene.id.clone()), ids.scene(scene));
    let item = |item: &ItemEvidence| (Host::Item(item.id.clone()), ids.item(item));
    let turn = |turn: &TurnEvidence| (Host::Turn(turn.id.clone()), ids.dated_turn(turn));
    let (related, alike): (Vec<_>, Vec<_>) =
        context.scenes.iter().partition(|scene| scene.associative);
    let sections: [Vec<(Host, String)>; 4] = [
        alike.iter().map(scene).collect(),
        related.iter().map(scene).collect(),
        context.items.iter().map(item).collect(),
        context.turns.iter().rev().map(turn).collect(),
    ];
    let sections = sections.into_iter().enumerate();
    sections
        .flat_map(|(section, texts)| depths(section, texts))
        .collect()
}

fn depths(section: usize, texts: Vec<(Host, String)>) -> impl Iterator<Item = Piece> {
    let all = texts.len() as f32;
    texts
        .into_iter()
        .enumerate()
        .map(move |(place, (host, text))| Piece {
            host,
            depth: place as f32 / all,
            section,
            tokens: estimate_tokens(&text),
        })
}
