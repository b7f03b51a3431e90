//! The text of a [`Context`] for small models: the best of it, bare.

use crate::context::{Context, SceneEvidence, Shown, TurnEvidence};
use crate::escape::plain;
use crate::render::holds;

/// Associations that a small model is shown (count): with more it answers from the wrong ones.
const ASSOCIATIONS: usize = 2;

impl Context {
    /// The best of the evidence without labels, for small models: scenes in order of time, the latest
    /// turns, and last the scenes that triggers brought in.
    ///
    /// Facts are told only where there is no scene: beside scenes, a small model takes facts for the
    /// answer that have nothing to do with it. Personas stay out, and so do labels, which it gives at
    /// random.
    #[must_use]
    pub fn render_brief(&self) -> String {
        let (related, mut alike): (Vec<&SceneEvidence>, Vec<&SceneEvidence>) =
            self.scenes.iter().partition(|scene| scene.associative);
        alike.sort_by_key(|scene| (scene.when.map(|when| when.from), &scene.id));
        let mut pieces: Vec<String> = alike.into_iter().map(scene).collect();
        if self.scenes.is_empty() {
            let facts = self.items.iter();
            let told = facts.map(|item| plain(&item.text) + &holds(&item.validity));
            pieces.extend(told);
        }
        pieces.extend(self.turns.iter().map(turn));
        let related = related.into_iter().take(ASSOCIATIONS);
        pieces.extend(related.map(|one| format!("Also known:\n{}", scene(one))));
        pieces.join("\n\n")
    }
}

fn scene(scene: &SceneEvidence) -> String {
    let date = scene.when.map(|when| format!("On {}", when.from.date()));
    let told = match &scene.shown {
        Shown::Turns(turns) => turns.iter().map(turn).collect(),
        Shown::Summary(summary) => vec![plain(summary)],
    };
    let lines: Vec<String> = date.into_iter().chain(told).collect();
    lines.join("\n")
}

fn turn(turn: &TurnEvidence) -> String {
    format!("{}: {}", plain(&turn.speaker), plain(&turn.text))
}
