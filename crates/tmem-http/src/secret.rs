//! Keys, kept out of every text that a program writes about itself.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// A key or token. It can be read from a setting; printing and serialising give `***`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Keeps `value`, without white space around it, which copied keys often have.
    pub fn new(value: impl AsRef<str>) -> Self {
        Self(value.as_ref().trim().to_owned())
    }

    /// The value itself, for the header it belongs in.
    pub fn reveal(&self) -> &str {
        self.0.trim()
    }

    /// `text` with every occurrence of the value hidden: some servers repeat a wrong key.
    pub fn hidden_in(&self, text: &str) -> String {
        match self.reveal() {
            "" => text.to_owned(),
            value => text.replace(value, "***"),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("***")
    }
}
