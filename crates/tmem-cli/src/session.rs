//! From global options to an opened memory.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use directories::ProjectDirs;
use tmem::{Access, Config, Layers, Options, Tmem};

use crate::args::Global;

/// What every command needs: where the memory is, under which settings.
pub(crate) struct Session {
    global: Global,
    data: PathBuf,
    layers: Layers,
}

impl Session {
    pub(crate) fn new(global: &Global) -> Result<Self> {
        let data = match &global.data {
            Some(data) => data.clone(),
            None => default_data()?,
        };
        let layers = layers(global, &data)?;
        Ok(Self {
            global: global.clone(),
            data,
            layers,
        })
    }

    /// The same with one setting given by a flag.
    pub(crate) fn with(mut self, key: &str, value: Option<impl ToString>) -> Self {
        if let Some(value) = value {
            self.layers = self.layers.flag(key, value.to_string());
        }
        self
    }

    pub(crate) fn config(&self) -> Result<Config> {
        Ok(self.layers.resolve()?)
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// Opens the space, which must exist, to read it; another process may be writing.
    pub(crate) fn read(&self) -> Result<Tmem> {
        self.open(Access::Read)
    }

    /// Opens the space, or makes it, to change it.
    pub(crate) fn write(&self) -> Result<Tmem> {
        self.open(Access::Write)
    }

    /// Opens the space, which must exist, to change it.
    pub(crate) fn existing(&self) -> Result<Tmem> {
        self.open(Access::Change)
    }

    /// Opens the space, or an empty one, to try something out; nothing is kept.
    pub(crate) fn scratch(&self) -> Result<Tmem> {
        self.open(Access::Scratch)
    }

    /// Opens the space, which must exist, to have its calls answered elsewhere.
    pub(crate) fn batch(&self) -> Result<Tmem> {
        let mut options = self.options(Access::Change)?;
        options.batch = true;
        Ok(Tmem::open(options)?)
    }

    fn open(&self, access: Access) -> Result<Tmem> {
        Ok(Tmem::open(self.options(access)?)?)
    }

    pub(crate) fn options(&self, access: Access) -> Result<Options> {
        let mut options = Options::new(&self.data);
        options.space.clone_from(&self.global.space);
        options.access = access;
        options.config = self.config()?;
        options.replay.clone_from(&self.global.replay);
        options.prompts.clone_from(&self.global.prompts);
        options.models = Some(self.models());
        Ok(options)
    }

    /// Folder of the weights, shared by all data folders.
    pub(crate) fn models(&self) -> PathBuf {
        let named = std::env::var_os("TMEM_MODELS").filter(|name| !name.is_empty());
        let home = || ProjectDirs::from("", "", "tmem").map(|home| home.data_dir().join("models"));
        named
            .map(PathBuf::from)
            .or_else(home)
            .unwrap_or_else(|| self.data.join("models"))
    }

    /// Names of the models that the settings call for.
    pub(crate) fn needed(&self) -> Result<Vec<String>> {
        Ok(tmem::needed_models(&self.config()?))
    }

    /// Names of the spaces of the data folder.
    pub(crate) fn spaces(&self) -> Result<Vec<String>> {
        Ok(tmem::spaces(&self.data)?)
    }
}

/// Settings of the file, the environment and, later, flags.
fn layers(global: &Global, data: &Path) -> Result<Layers> {
    let layers = Layers::new()
        .env(variables())
        .replayed(global.replay.is_some());
    let beside = data.join("tmem.toml");
    Ok(match &global.config {
        Some(file) => layers.file(file)?,
        None if beside.is_file() => layers.file(&beside)?,
        None => layers,
    })
}

/// The environment, as far as it is text.
fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn default_data() -> Result<PathBuf> {
    let home = ProjectDirs::from("", "", "tmem")
        .context("there is no home folder to keep the memory in: give --data DIR")?;
    Ok(home.data_dir().to_owned())
}
