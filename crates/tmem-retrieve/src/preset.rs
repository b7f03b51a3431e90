//! Names: the presets, and the ablations of the paper.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::config::RetrieveConfig;

/// A named configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// [`RetrieveConfig::paper`].
    Paper,
    /// [`RetrieveConfig::balanced`].
    #[default]
    Balanced,
    /// [`RetrieveConfig::wide`].
    Wide,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Paper, Self::Balanced, Self::Wide];

    /// Its numbers.
    #[must_use]
    pub fn config(self) -> RetrieveConfig {
        match self {
            Self::Paper => RetrieveConfig::paper(),
            Self::Balanced => RetrieveConfig::balanced(),
            Self::Wide => RetrieveConfig::wide(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Balanced => "balanced",
            Self::Wide => "wide",
        }
    }
}

/// The ablations of the paper (section 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Switch {
    /// No scenes in the context.
    #[serde(rename = "SL")]
    SceneLayer,
    /// No items in the context.
    #[serde(rename = "IC")]
    ItemChannel,
    /// No item triggers.
    #[serde(rename = "ET+BT")]
    ItemTriggers,
    /// No personas.
    #[serde(rename = "PS")]
    Personas,
    /// No topic filter.
    #[serde(rename = "TF")]
    TopicFilter,
    /// No scene triggers.
    #[serde(rename = "ST")]
    SceneTriggers,
    /// No horizon triggers.
    #[serde(rename = "HT")]
    HorizonTriggers,
    /// Neither scene nor horizon triggers.
    #[serde(rename = "ST+HT")]
    SceneAndHorizonTriggers,
}

impl Switch {
    /// All eight, in the paper's order.
    pub const ALL: [Self; 8] = [
        Self::SceneLayer,
        Self::ItemChannel,
        Self::ItemTriggers,
        Self::Personas,
        Self::TopicFilter,
        Self::SceneTriggers,
        Self::HorizonTriggers,
        Self::SceneAndHorizonTriggers,
    ];

    /// The paper's abbreviation.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SceneLayer => "SL",
            Self::ItemChannel => "IC",
            Self::ItemTriggers => "ET+BT",
            Self::Personas => "PS",
            Self::TopicFilter => "TF",
            Self::SceneTriggers => "ST",
            Self::HorizonTriggers => "HT",
            Self::SceneAndHorizonTriggers => "ST+HT",
        }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no preset or switch has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {kind} is called {name:?}; there are {known}")]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    known: String,
}

fn named<T: Copy + fmt::Display>(
    kind: &'static str,
    all: &[T],
    name: &str,
) -> Result<T, UnknownName> {
    let found = all
        .iter()
        .find(|one| one.to_string().eq_ignore_ascii_case(name.trim()));
    found.copied().ok_or_else(|| {
        let known: Vec<String> = all.iter().map(T::to_string).collect();
        UnknownName {
            kind,
            name: name.to_owned(),
            known: known.join(", "),
        }
    })
}

impl FromStr for Switch {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("switch", &Self::ALL, name)
    }
}

impl FromStr for Preset {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("preset", &Self::ALL, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_presets_and_switches_read_back() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
        }
        for switch in Switch::ALL {
            assert_eq!(switch.name().to_lowercase().parse(), Ok(switch));
        }
    }

    #[test]
    fn an_unknown_name_is_told_with_the_known_ones() {
        let error = "bold".parse::<Preset>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "no preset is called \"bold\"; there are paper, balanced, wide"
        );
    }
}
