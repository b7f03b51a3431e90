//! Keys, kept out of every text that a program writes about itself.

use std::fmt;

/// A key or token; printing gives `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `value`, without white space around it, which copied keys often have.
    pub fn new(value: impl AsRef<str>) -> Self {
        Self(value.as_ref().trim().to_owned())
    }

    /// The value itself, for the header it belongs in.
    pub fn reveal(&self) -> &str {
        &self.0
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
