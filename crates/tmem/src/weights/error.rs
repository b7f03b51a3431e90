//! What can go wrong with a pull; each message ends with what to do.

use std::path::{Path, PathBuf};

use super::{Artefact, catalog};

/// Why weights could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// No artefact of this name.
    #[error("no artefact is called {name:?}; there are: {known}")]
    Unknown {
        /// As given.
        name: String,
        /// The catalogue.
        known: String,
    },
    /// The bytes are not the pinned ones. The file has been removed.
    #[error(
        "{file} has the SHA-256 {found}, expected is {expected}: it was removed; pull again, and \
         if that repeats, the place it comes from has changed it"
    )]
    Checksum {
        /// The file.
        file: PathBuf,
        /// As pinned.
        expected: String,
        /// As computed.
        found: String,
    },
    /// A source did not give the file.
    #[error("{file} could not be fetched: {reason}")]
    Unreachable {
        /// The file.
        file: String,
        /// What failed.
        reason: String,
    },
    /// No source gave the artefact.
    #[error("{name} could not be fetched.{attempts}\nWay out: {hint}")]
    NoSource {
        /// The artefact.
        name: String,
        /// Each source with its reason, a line each.
        attempts: String,
        /// How to do without.
        hint: String,
    },
    /// Another process is fetching the same artefact.
    #[error("another pull is writing to {folder}: wait for it, then try again")]
    Busy {
        /// Where.
        folder: PathBuf,
    },
    /// The file system refused.
    #[error("{path} cannot be written or read: free some space or choose another models folder")]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl WeightsError {
    pub(super) fn unknown(name: &str) -> Self {
        let known: Vec<&str> = catalog().iter().map(|artefact| artefact.name).collect();
        Self::Unknown {
            name: name.to_owned(),
            known: known.join(", "),
        }
    }

    pub(super) fn unreachable(file: &str, reason: impl Into<String>) -> Self {
        Self::Unreachable {
            file: file.to_owned(),
            reason: reason.into(),
        }
    }

    pub(super) fn disk(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Disk { path, source }
    }

    pub(super) fn no_source(
        artefact: &Artefact,
        folder: &Path,
        attempts: &[(String, String)],
    ) -> Self {
        let lines = attempts
            .iter()
            .map(|(place, reason)| format!("\n  {place}: {reason}"));
        Self::NoSource {
            name: artefact.name.to_owned(),
            attempts: lines.collect(),
            hint: hint(artefact, folder),
        }
    }
}

/// What to place by hand, and where.
fn hint(artefact: &Artefact, folder: &Path) -> String {
    let Some(source) = artefact.sources.first() else {
        let folder = folder.display();
        return format!("no build for this platform is known; place the library in {folder}");
    };
    let names: Vec<&str> = source.files.iter().map(|file| file.name.as_str()).collect();
    format!(
        "connect to the network, name a mirror of the hub in HF_ENDPOINT, or place {} in {} by \
         hand",
        names.join(" and "),
        folder.display()
    )
}
