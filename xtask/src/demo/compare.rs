//! What triggers add: a question with them, and by likeness alone with as many scenes.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Switches off whatever is not likeness; the places of the associations go to likeness too.
const LIKENESS_ALONE: [&str; 7] = [
    "--k-scenes",
    "4",
    "--k-associative",
    "0",
    "--no-item-triggers",
    "--no-scene-triggers",
    "--no-horizons",
];

/// As much of `tmem recall --json` as is told here.
#[derive(Deserialize)]
struct Recalled {
    context: Evidence,
    trace: Trace,
}

#[derive(Deserialize)]
struct Evidence {
    scenes: Vec<Scene>,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Scene {
    id: String,
    title: String,
    associative: bool,
}

#[derive(Deserialize)]
struct Item {
    scenes: Vec<String>,
}

#[derive(Deserialize)]
struct Trace {
    scenes: Vec<Candidate>,
    associations: Vec<Candidate>,
}

#[derive(Deserialize)]
struct Candidate {
    id: String,
    via: Vec<Via>,
}

/// A way in; those of triggers have a family and a text.
#[derive(Deserialize)]
struct Via {
    #[serde(default)]
    family: String,
    #[serde(default)]
    text: String,
}

/// Lines about every scene that triggers brought into the context. `recall` is the command without
/// its last arguments.
pub(crate) fn lines(recall: impl Fn() -> Command) -> Result<Vec<String>> {
    let with = recalled(&mut recall())?;
    let without = recalled(recall().args(LIKENESS_ALONE))?;
    let brought = with.context.scenes.iter().filter(|scene| scene.associative);
    Ok(brought
        .flat_map(|scene| told(scene, &with, &without))
        .collect())
}

fn recalled(recall: &mut Command) -> Result<Recalled> {
    let output = recall.arg("--json").stderr(Stdio::inherit()).output()?;
    ensure!(
        output.status.success(),
        "{recall:?} ended with {}",
        output.status
    );
    serde_json::from_slice(&output.stdout).with_context(|| format!("reading {recall:?}"))
}

fn told(scene: &Scene, with: &Recalled, without: &Recalled) -> [String; 3] {
    let trigger = with.trigger_of(&scene.id).unwrap_or("none by itself");
    let shown = without.context.scenes.len();
    let fate = match without.context.holds(&scene.id) {
        true => "in the context as well".to_owned(),
        false => format!("not in the context, which has {shown}"),
    };
    let ranked = &without.trace.scenes;
    let rank = ranked.iter().position(|one| one.id == scene.id);
    let place = rank.map_or("not ranked".to_owned(), |rank| {
        format!("scene {} of {}", rank + 1, ranked.len())
    });
    [
        format!("  \"{}\"", scene.title),
        format!("    by trigger: {trigger:?}"),
        format!("    by likeness alone: {place}, {fate}"),
    ]
}

impl Recalled {
    /// The most telling trigger that speaks for a scene.
    fn trigger_of(&self, scene: &str) -> Option<&str> {
        let found = self.trace.associations.iter().find(|one| one.id == scene)?;
        let mut triggers = found.via.iter().filter(|way| !way.family.is_empty());
        let written = triggers.find(|way| way.family != "dialogue");
        written.map(|way| &*way.text)
    }
}

impl Evidence {
    /// Whether anything of a scene is in it.
    fn holds(&self, scene: &str) -> bool {
        let shown = self.scenes.iter().any(|one| one.id == scene);
        let mut items = self.items.iter().flat_map(|item| &item.scenes);
        shown || items.any(|id| id == scene)
    }
}
