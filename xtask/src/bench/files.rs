//! Where the data is, and what to say when it is not there.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tmem_eval::{Memories, results};

use super::args::Shared;

/// The folder of the data, and hashes of what was read.
pub(super) struct Files {
    folder: PathBuf,
    /// SHA-256 by file name.
    pub(super) hashes: BTreeMap<String, String>,
}

impl Files {
    /// The folder of `--data`, or that of `TMEM_DATA`.
    pub(super) fn new(shared: &Shared) -> Result<Self> {
        let folder = shared.data.clone().or_else(|| library("data/locomo"));
        let folder = folder.context(
            "no data folder: give --data DIR, or set TMEM_DATA to a folder with data/locomo in it \
             (--help tells where the files come from)",
        )?;
        Ok(Self {
            folder,
            hashes: BTreeMap::new(),
        })
    }

    /// `locomo.json` or `locomo10.json`.
    pub(super) fn locomo(&mut self) -> Result<String> {
        self.first(&["locomo.json", "locomo10.json"])
    }

    /// `locomo_plus.json`.
    pub(super) fn plus(&mut self) -> Result<String> {
        self.first(&["locomo_plus.json"])
    }

    /// `longmemeval_s.json`.
    pub(super) fn longmemeval(&mut self) -> Result<String> {
        self.first(&["longmemeval_s.json", "longmemeval_s_cleaned.json"])
    }

    fn first(&mut self, names: &[&str]) -> Result<String> {
        let found = names.iter().find(|name| self.folder.join(name).is_file());
        let Some(name) = found else {
            bail!(
                "{} is not in {}: give the folder with --data DIR, or set TMEM_DATA (--help tells \
                 where the file comes from)",
                names.join(" or "),
                self.folder.display()
            );
        };
        let path = self.folder.join(name);
        self.read(&path, "")
    }

    fn read(&mut self, path: &Path, mark: &str) -> Result<String> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        self.note(&(name(path) + mark), &text);
        Ok(text)
    }

    /// Notes for the manifest what was read, or built.
    pub(super) fn note(&mut self, name: &str, text: &str) {
        let hash = results::sha256(text.as_bytes());
        self.hashes.insert(name.to_owned(), hash);
    }

    /// The memory documents of `built` and of `--memories`, which come first where both have one; none
    /// is no error, the systems that need them say so.
    pub(super) fn memories(
        &mut self,
        shared: &Shared,
        cues: bool,
        built: Option<&Path>,
    ) -> Result<Memories> {
        let mut memories = Memories::default();
        let library = library("memories").filter(|folder| folder.is_dir());
        let built = built.filter(|folder| folder.is_dir());
        let given = shared.memories.as_deref().or(library.as_deref());
        let folders = built.map(|folder| (folder, BUILT)).into_iter();
        for (folder, mark) in folders.chain(given.map(|folder| (folder, ""))) {
            self.documents(folder, cues, mark, &mut memories)
                .with_context(|| format!("the folder of memories, {}", folder.display()))?;
        }
        Ok(memories)
    }

    fn documents(
        &mut self,
        folder: &Path,
        cues: bool,
        mark: &str,
        memories: &mut Memories,
    ) -> Result<()> {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        paths.retain(|path| path.extension().is_some_and(|ext| ext == "json"));
        paths.sort();
        for path in paths {
            let name = name(&path);
            match (name == CUES, cues) {
                (true, true) => memories.add_cues(&name, &self.read(&path, mark)?)?,
                (true, false) => {}
                (false, _) => memories.add_conversation(&name, &self.read(&path, mark)?)?,
            }
        }
        Ok(())
    }
}

/// Stands behind the name of a document that was built here.
pub(super) const BUILT: &str = " (built)";

/// The file of cue documents.
pub(super) const CUES: &str = "plus-cues.json";

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A folder of the library that `TMEM_DATA` names.
fn library(part: &str) -> Option<PathBuf> {
    let root = env::var_os("TMEM_DATA").filter(|root| !root.is_empty())?;
    Some(PathBuf::from(root).join(part))
}
