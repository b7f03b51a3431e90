//! The systems of a run: those of the tables, and tmem with one thing changed.

use std::fmt;
use std::str::FromStr;

use tmem_retrieve::{RetrieveConfig, Switch};

use crate::error::EvalError;
use crate::system::{Named, System};

/// A budget that is swept, by the paper's name (figure 4), and kA of the quota for associations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// kT: topics.
    Topics,
    /// kS: scenes.
    Scenes,
    /// kI: items.
    Items,
    /// R: items that triggers may add.
    Triggered,
    /// kA: associative scenes (ours).
    Associations,
}

impl Sweep {
    /// All of them; the first four are the paper's.
    pub const ALL: [Self; 5] = [
        Self::Topics,
        Self::Scenes,
        Self::Items,
        Self::Triggered,
        Self::Associations,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Topics => "kT",
            Self::Scenes => "kS",
            Self::Items => "kI",
            Self::Triggered => "R",
            Self::Associations => "kA",
        }
    }

    fn values(self) -> &'static [usize] {
        match self {
            Self::Topics => &[3, 5, 10, 15, 20],
            Self::Scenes => &[1, 2, 3, 5, 8, 10],
            Self::Items => &[5, 10, 15, 20, 30, 40],
            Self::Triggered => &[0, 5, 10, 15, 20],
            Self::Associations => &[0, 1, 3, 5, 10],
        }
    }

    fn of(self, config: &mut RetrieveConfig) -> &mut usize {
        match self {
            Self::Topics => &mut config.top_topics,
            Self::Scenes => &mut config.top_scenes,
            Self::Items => &mut config.top_items,
            Self::Triggered => &mut config.trigger_top_k,
            Self::Associations => &mut config.associative_scenes,
        }
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Sweep {
    type Err = EvalError;

    fn from_str(name: &str) -> Result<Self, EvalError> {
        let found = Self::ALL
            .into_iter()
            .find(|sweep| sweep.name().eq_ignore_ascii_case(name.trim()));
        found.ok_or_else(|| {
            EvalError::Setting(format!(
                "no budget is called {name:?}; there are kT, kS, kI, R, kA"
            ))
        })
    }
}

/// What a variant is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A system of the tables.
    Main,
    /// What ablations are measured from.
    Base,
    /// One component off.
    Ablation(Switch),
    /// One budget changed.
    Sweep {
        /// Which.
        sweep: Sweep,
        /// To what.
        value: usize,
        /// Whether that is its configured value.
        default: bool,
    },
}

/// A system with its part in the run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variant {
    pub(super) role: Role,
    pub(super) named: Named,
}

/// Systems, then the base, ablations and sweeps if there are any.
pub(super) fn all(
    systems: &[Named],
    base: &RetrieveConfig,
    ablate: &[Switch],
    sweep: &[Sweep],
) -> Vec<Variant> {
    let mut variants: Vec<Variant> = systems
        .iter()
        .map(|named| Variant {
            role: Role::Main,
            named: named.clone(),
        })
        .collect();
    let mut push = |role, name: String, config: RetrieveConfig| {
        let named = Named {
            name,
            system: System::Tmem(Box::new(config)),
        };
        variants.push(Variant { role, named });
    };
    if !ablate.is_empty() {
        push(Role::Base, "base".to_owned(), base.clone());
    }
    for switch in ablate {
        let name = format!("without {switch}");
        push(Role::Ablation(*switch), name, base.clone().without(*switch));
    }
    for sweep in sweep {
        swept(*sweep, base)
            .into_iter()
            .for_each(|(role, name, config)| push(role, name, config));
    }
    variants
}

/// `base` with the budget at each of its values, the configured one among them.
fn swept(sweep: Sweep, base: &RetrieveConfig) -> Vec<(Role, String, RetrieveConfig)> {
    let configured = *sweep.of(&mut base.clone());
    let mut values = sweep.values().to_vec();
    values.push(configured);
    values.sort_unstable();
    values.dedup();
    let at = |value| {
        let mut config = base.clone();
        *sweep.of(&mut config) = value;
        let role = Role::Sweep {
            sweep,
            value,
            default: value == configured,
        };
        (role, format!("{sweep} = {value}"), config)
    };
    values.into_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_goes_through_the_configured_value_once() {
        let mut base = RetrieveConfig::balanced();
        base.top_scenes = 4;
        let variants = all(&[], &base, &[], &[Sweep::Scenes]);
        let names: Vec<_> = variants.iter().map(|one| one.named.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "kS = 1", "kS = 2", "kS = 3", "kS = 4", "kS = 5", "kS = 8", "kS = 10"
            ]
        );
        let defaults = variants
            .iter()
            .filter(|one| matches!(one.role, Role::Sweep { default: true, .. }));
        assert_eq!(defaults.count(), 1);
    }

    #[test]
    fn every_switch_changes_the_configuration() {
        let base = RetrieveConfig::balanced();
        for one in all(&[], &base, &Switch::ALL, &[]).into_iter().skip(1) {
            assert_ne!(
                one.named.system,
                System::Tmem(Box::new(base.clone())),
                "{}",
                one.named.name
            );
        }
    }
}
