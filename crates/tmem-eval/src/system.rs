//! The systems that are compared: tmem with its presets and switches, and what it has to beat.

mod found;
mod tmem;

pub use found::{Found, Ranked};

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tmem_index::Vector;
use tmem_model::ConversationId;
use tmem_retrieve::{Preset, RetrieveConfig};

use crate::error::EvalError;
use crate::flat::{Ranker, Unit, fill, spoken};
use crate::metric::tokens;
use crate::world::World;

/// Tokens that flat systems may put into the context, unless told otherwise.
pub const FLAT_BUDGET: f64 = 1_800.0;

/// A way from a query to a context.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// The cascade with these settings.
    Tmem(Box<RetrieveConfig>),
    /// Flat retrieval of pieces until a token budget is full.
    FlatRag {
        /// What is ranked.
        unit: Unit,
        /// By what.
        ranker: Ranker,
        /// Most tokens of the context.
        budget: f64,
    },
    /// Everything that was said.
    FullContext,
}

/// A system under the name that results give it.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The system.
    pub system: System,
}

/// What is asked of a system.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// The words.
    pub text: String,
    /// Their vector.
    pub vector: Option<Vector>,
    /// Whose persona is shown; `None` for all.
    pub speaker: Option<String>,
    /// Only this conversation; `None` for all of the memory.
    pub conversation: Option<ConversationId>,
    /// Whether the context has to be written out, for answers.
    pub write: bool,
}

impl System {
    /// The hierarchy without triggers: topics, scenes and items by similarity alone, with the
    /// paper's budgets.
    #[must_use]
    pub fn no_trigger() -> Self {
        let mut config = RetrieveConfig::paper();
        config.cue_scenes = 0;
        config.trigger_top_k = 0;
        config.item_triggers = false;
        config.scene_triggers = false;
        config.horizon_triggers = false;
        Self::Tmem(Box::new(config))
    }

    /// Whether it needs a memory document.
    #[must_use]
    pub fn needs_memory(&self) -> bool {
        matches!(self, Self::Tmem(_))
    }

    /// The pieces it needs.
    #[must_use]
    pub fn unit(&self) -> Option<Unit> {
        match self {
            Self::FlatRag { unit, .. } => Some(*unit),
            Self::Tmem(_) | Self::FullContext => None,
        }
    }

    /// Asks it.
    ///
    /// # Errors
    /// [`EvalError::Setting`] if `world` lacks what it needs.
    pub fn find(&self, world: &World, ask: &Ask) -> Result<Found, EvalError> {
        match self {
            Self::Tmem(config) => tmem::find(world, config, ask),
            Self::FlatRag {
                unit,
                ranker,
                budget,
            } => flat(world, (*unit, *ranker), *budget, ask),
            Self::FullContext => Ok(full(world, ask)),
        }
    }
}

fn flat(
    world: &World,
    (unit, ranker): (Unit, Ranker),
    budget: f64,
    ask: &Ask,
) -> Result<Found, EvalError> {
    let ranking = world
        .flat(unit)?
        .rank(ranker, &ask.text, ask.vector.as_ref());
    let (held, cost) = fill(&ranking, |id| world.turn(id), budget);
    let mut found = Found::new("pieces", held, cost);
    found.ids.turns = found.held.iter().map(|id| id.local().to_owned()).collect();
    found.text = write(world, ask, &found.held);
    found.lists.push(Ranked {
        name: "pieces",
        turns: ranking,
    });
    Ok(found)
}

fn full(world: &World, ask: &Ask) -> Found {
    let held: BTreeSet<_> = world.turns().map(|turn| turn.id.clone()).collect();
    let cost = world.turns().map(|turn| tokens(&spoken(turn))).sum();
    let mut found = Found::new("pieces", held, cost);
    found.text = write(world, ask, &found.held);
    found
}

/// The turns as dated lines, in order of their dates.
fn write(world: &World, ask: &Ask, held: &BTreeSet<tmem_model::TurnId>) -> String {
    if !ask.write {
        return String::new();
    }
    let mut turns: Vec<_> = held.iter().filter_map(|id| world.turn(id)).collect();
    turns.sort_by_key(|turn| turn.at);
    let line = |turn: &tmem_model::Turn| match turn.at {
        Some(at) => format!("[{}] {}\n", at.strftime("%-d %B %Y, %H:%M"), spoken(turn)),
        None => format!("{}\n", spoken(turn)),
    };
    turns.into_iter().map(line).collect()
}

/// The systems called `names`, in that order, each once.
///
/// `tmem` is `config`; `tmem-paper`, `tmem-balanced` and `tmem-wide` are presets; `no-trigger`,
/// `full-context`; `flat-rag` is windows by fusion, `flat-rag-<unit>-<ranker>` any other, and
/// `flat-rag-all` all of them; `all` is everything.
///
/// # Errors
/// [`EvalError::Setting`] naming what is known.
pub fn parse(
    names: &[String],
    config: &RetrieveConfig,
    budget: f64,
) -> Result<Vec<Named>, EvalError> {
    let mut systems: Vec<Named> = Vec::new();
    for name in names.iter().flat_map(|name| expand(name)) {
        let system = one(&name, config, budget)?;
        if systems.iter().all(|known| known.name != name) {
            systems.push(Named { name, system });
        }
    }
    Ok(systems)
}

/// `config` with one setting at each of several values, as in `association_floor=0.7,0.8,0.9`; a dot
/// leads into a section (`cue_weights.horizon=1,2`), and `null` empties an optional setting.
///
/// # Errors
/// [`EvalError::Setting`] naming the setting or value that is not known.
pub fn varied(spec: &str, config: &RetrieveConfig) -> Result<Vec<Named>, EvalError> {
    let fault = |why: String| EvalError::Setting(format!("{spec:?} varies nothing: {why}"));
    let (key, values) = spec
        .split_once('=')
        .ok_or_else(|| fault("it reads SETTING=VALUE,VALUE,…".to_owned()))?;
    let plain = serde_json::to_value(config).expect("a configuration is plain data");
    let pointer = format!("/{}", key.trim().replace('.', "/"));
    let of = |value: &str| {
        let mut plain = plain.clone();
        let place = plain.pointer_mut(&pointer);
        let place = place.ok_or_else(|| fault(format!("no setting is called {key:?}")))?;
        *place = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        let config = serde_json::from_value(plain).map_err(|e| fault(e.to_string()))?;
        Ok(Named {
            name: format!("{} = {value}", key.trim()),
            system: System::Tmem(Box::new(config)),
        })
    };
    values.split(',').map(|value| of(value.trim())).collect()
}

fn expand(name: &str) -> Vec<String> {
    let flat = || {
        let of = |unit| {
            Ranker::ALL
                .into_iter()
                .map(move |ranker| format!("flat-rag-{unit}-{ranker}"))
        };
        Unit::ALL.into_iter().flat_map(of)
    };
    match name.trim() {
        "flat-rag-all" => flat().collect(),
        "presets" => Preset::ALL
            .iter()
            .map(|preset| format!("tmem-{preset}"))
            .collect(),
        "all" => [
            "tmem",
            "tmem-paper",
            "tmem-wide",
            "no-trigger",
            "full-context",
        ]
        .into_iter()
        .map(str::to_owned)
        .chain(flat())
        .collect(),
        name => vec![name.to_owned()],
    }
}

fn one(name: &str, config: &RetrieveConfig, budget: f64) -> Result<System, EvalError> {
    let unknown = || {
        EvalError::Setting(format!(
            "no system is called {name:?}; there are tmem, tmem-paper, tmem-balanced, tmem-wide, \
             no-trigger, full-context, flat-rag, flat-rag-<turn|window|chunk|session>-<bm25|dense|rrf>, \
             flat-rag-all, presets, all"
        ))
    };
    let flat = |unit, ranker| System::FlatRag {
        unit,
        ranker,
        budget,
    };
    match name {
        "tmem" => Ok(System::Tmem(Box::new(config.clone()))),
        "no-trigger" => Ok(System::no_trigger()),
        "full-context" => Ok(System::FullContext),
        "flat-rag" => Ok(flat(Unit::Window, Ranker::Rrf)),
        _ => {
            if let Some(preset) = name.strip_prefix("tmem-") {
                let preset: Preset = preset.parse().map_err(|_| unknown())?;
                return Ok(System::Tmem(Box::new(preset.config())));
            }
            let rest = name
                .strip_prefix("flat-rag-")
                .and_then(|rest| rest.split_once('-'));
            let (unit, ranker) = rest.ok_or_else(unknown)?;
            let unit = Unit::ALL
                .into_iter()
                .find(|known| known.to_string() == unit);
            let ranker = Ranker::ALL
                .into_iter()
                .find(|known| known.to_string() == ranker);
            unit.zip(ranker)
                .map(|(unit, ranker)| flat(unit, ranker))
                .ok_or_else(unknown)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(names: &[&str], expect: Expect) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let parsed = parse(&names, &RetrieveConfig::balanced(), 100.0);
        expect.assert_eq(&match parsed {
            Ok(systems) => systems
                .into_iter()
                .map(|one| one.name)
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.to_string(),
        });
    }

    #[test]
    fn names_become_systems_each_once() {
        check(
            &["tmem", "presets", "tmem"],
            expect!["tmem tmem-paper tmem-balanced tmem-wide"],
        );
        check(
            &["flat-rag", "flat-rag-turn-bm25"],
            expect!["flat-rag flat-rag-turn-bm25"],
        );
    }

    #[test]
    fn one_setting_takes_several_values() {
        let base = RetrieveConfig::balanced();
        let varied = |spec| varied(spec, &base);
        let both = varied("cue_weights.horizon=1, 3").expect("a known setting");
        assert_eq!(both[1].name, "cue_weights.horizon = 3");
        let mut want = base.clone();
        want.cue_weights.horizon = 3.0;
        assert_eq!(both[1].system, System::Tmem(Box::new(want)));
        let none = varied("association_floor=null").expect("an optional setting");
        assert!(matches!(&none[0].system, System::Tmem(c) if c.association_floor.is_none()));
        for wrong in ["asociation_floor=1", "top_scenes=many", "top_scenes"] {
            assert!(varied(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_system_lists_the_known_ones() {
        check(
            &["flat-rag-page-bm25"],
            expect![[
                r#"no system is called "flat-rag-page-bm25"; there are tmem, tmem-paper, tmem-balanced, tmem-wide, no-trigger, full-context, flat-rag, flat-rag-<turn|window|chunk|session>-<bm25|dense|rrf>, flat-rag-all, presets, all"#
            ]],
        );
    }
}
