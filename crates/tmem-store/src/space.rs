//! Names of spaces.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::SpaceNameError;

/// Name of a space: letters, digits, `-`, `_` and inner `.`, at most 64 characters.
///
/// Case does not matter, the name is kept in lower case; blanks at its ends are refused like any
/// other. No name is a path, and none stands for all spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceName(Arc<str>);

impl SpaceName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for SpaceName {
    fn default() -> Self {
        Self("default".into())
    }
}

impl FromStr for SpaceName {
    type Err = SpaceNameError;

    fn from_str(name: &str) -> Result<Self, SpaceNameError> {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let found = name.chars().find(|c| !fits(*c)).or_else(|| {
            let ends_in_dot = name.starts_with('.') || name.ends_with('.');
            ends_in_dot.then_some('.')
        });
        if name.trim().is_empty() {
            Err(SpaceNameError::Blank)
        } else if name.chars().count() > 64 {
            Err(SpaceNameError::TooLong)
        } else if let Some(found) = found {
            Err(SpaceNameError::Character {
                name: name.to_owned(),
                found,
            })
        } else {
            Ok(Self(name.to_lowercase().into()))
        }
    }
}

impl TryFrom<&str> for SpaceName {
    type Error = SpaceNameError;

    fn try_from(name: &str) -> Result<Self, SpaceNameError> {
        name.parse()
    }
}

impl fmt::Display for SpaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
