//! From file, environment and flags to one [`Config`].

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tmem_build::BuildConfig;
use tmem_retrieve::{Preset, RetrieveConfig};
use toml::{Table, Value};

use super::near::nearest;
use super::sections::LlmKind;
use super::{Config, ConfigError, LlmConfig};

const SECTIONS: [&str; 9] = [
    "llm", "embed", "rerank", "build", "retrieve", "index", "answer", "triggers", "budget",
];

/// The sources of settings, weakest first.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    file: Option<(String, String)>,
    env: Vec<(String, String)>,
    flags: Vec<(String, String)>,
    replayed: bool,
}

impl Layers {
    /// No source but the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With the text of a `tmem.toml`; `origin` names it in errors.
    #[must_use]
    pub fn text(mut self, origin: impl Into<String>, text: impl Into<String>) -> Self {
        self.file = Some((origin.into(), text.into()));
        self
    }

    /// With the file at `path`.
    ///
    /// # Errors
    /// [`ConfigError::Read`] if it cannot be read.
    pub fn file(self, path: &Path) -> Result<Self, ConfigError> {
        let read = std::fs::read_to_string(path);
        let text = read.map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        Ok(self.text(path.display().to_string(), text))
    }

    /// With the variables of the environment that read `TMEM_<SECTION>_<KEY>`; others are ignored.
    #[must_use]
    pub fn env(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.env = variables
            .into_iter()
            .filter(|(name, _)| setting_of(name).is_some())
            .collect();
        self.env.sort();
        self
    }

    /// With a flag, as in `("retrieve.preset", "wide")`.
    #[must_use]
    pub fn flag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.flags.push((key.into(), value.into()));
        self
    }

    /// Replies come from a recording, so the automatic profile is the full one.
    #[must_use]
    pub fn replayed(mut self, replayed: bool) -> Self {
        self.replayed = replayed;
        self
    }

    /// The effective settings.
    ///
    /// # Errors
    /// [`ConfigError`] for the first source, weakest first, that holds an unknown key or a value
    /// that does not fit.
    pub fn resolve(&self) -> Result<Config, ConfigError> {
        let mut table = self.parsed()?;
        for (name, text) in &self.env {
            let (section, key) = setting_of(name).expect("filtered when it was added");
            self.set(&mut table, name, &section, &key, text)?;
        }
        for (path, text) in &self.flags {
            let (section, key) = path.split_once('.').expect("flags are spelt section.key");
            self.set(
                &mut table,
                &format!("--{}", key.replace('_', "-")),
                section,
                key,
                text,
            )?;
        }
        self.config(&table, "settings")
    }

    fn parsed(&self) -> Result<Table, ConfigError> {
        let Some((origin, text)) = &self.file else {
            return Ok(Table::new());
        };
        let parsed = text.parse::<Table>();
        let table = parsed.map_err(|source| ConfigError::Syntax {
            origin: origin.clone(),
            source,
        })?;
        table
            .keys()
            .try_for_each(|name| known_section(origin, name))?;
        self.config(&table, origin)?;
        Ok(table)
    }

    /// Sets one key: as the TOML value its text spells, or else as that text.
    fn set(
        &self,
        table: &mut Table,
        origin: &str,
        section: &str,
        key: &str,
        text: &str,
    ) -> Result<(), ConfigError> {
        let text_value = Value::String(text.to_owned());
        let first = with(
            table,
            section,
            key,
            spelt(text).unwrap_or_else(|| text_value.clone()),
        );
        let second = with(table, section, key, text_value);
        *table = match self.config(&first, origin) {
            Ok(_) => first,
            Err(error) => self
                .config(&second, origin)
                .map(|_| second)
                .map_err(|_| error)?,
        };
        Ok(())
    }

    fn config(&self, table: &Table, origin: &str) -> Result<Config, ConfigError> {
        let source = Source { table, origin };
        let llm: LlmConfig = source.section("llm", LlmConfig::default())?;
        let small = llm.kind == LlmKind::Local && !self.replayed;
        Ok(Config {
            embed: source.section("embed", Default::default())?,
            rerank: source.section("rerank", Default::default())?,
            build: source.preset("build", "profile", |name| profile(name, small))?,
            retrieve: source.preset("retrieve", "preset", preset)?,
            index: source.section("index", Default::default())?,
            answer: source.section("answer", Default::default())?,
            triggers: source.section("triggers", Default::default())?,
            budget: source.section("budget", Default::default())?,
            llm,
        })
    }
}

fn profile(name: Option<&str>, small: bool) -> Result<BuildConfig, &'static str> {
    match name {
        None | Some("auto") if small => Ok(BuildConfig::small()),
        Some("small") => Ok(BuildConfig::small()),
        None | Some("auto" | "full") => Ok(BuildConfig::default()),
        Some(_) => Err("`profile` is one of `auto`, `small` and `full`"),
    }
}

fn preset(name: Option<&str>) -> Result<RetrieveConfig, &'static str> {
    let preset = name.map_or(Ok(Preset::default()), str::parse);
    preset
        .map(Preset::config)
        .map_err(|_| "`preset` is one of `paper`, `balanced` and `wide`")
}

/// `TMEM_LLM_BASE_URL` is `llm` and `base_url`.
fn setting_of(variable: &str) -> Option<(String, String)> {
    let rest = variable.strip_prefix("TMEM_")?.to_ascii_lowercase();
    let (section, key) = rest.split_once('_')?;
    SECTIONS
        .contains(&section)
        .then(|| (section.to_owned(), key.to_owned()))
}

fn known_section(origin: &str, name: &str) -> Result<(), ConfigError> {
    if SECTIONS.contains(&name) {
        return Ok(());
    }
    Err(ConfigError::Unknown {
        origin: origin.to_owned(),
        what: "section or top-level key".to_owned(),
        name: name.to_owned(),
        near: nearest(name, SECTIONS.into_iter()).or_else(|| elsewhere(name)),
    })
}

fn with(table: &Table, section: &str, key: &str, value: Value) -> Table {
    let mut table = table.clone();
    let entry = table
        .entry(section)
        .or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(section) = entry {
        section.insert(key.to_owned(), value);
    }
    table
}

/// The TOML value that `text` spells, if it spells one.
fn spelt(text: &str) -> Option<Value> {
    let mut table = format!("value = {text}").parse::<Table>().ok()?;
    table.remove("value")
}

struct Source<'a> {
    table: &'a Table,
    origin: &'a str,
}

impl Source<'_> {
    fn section<T: DeserializeOwned>(&self, name: &str, default: T) -> Result<T, ConfigError> {
        match self.table.get(name) {
            Some(value) => self.parse(name, value.clone()),
            None => Ok(default),
        }
    }

    /// A section whose missing keys take the values of a named preset.
    fn preset<T: DeserializeOwned + Serialize>(
        &self,
        name: &str,
        key: &str,
        of: impl Fn(Option<&str>) -> Result<T, &'static str>,
    ) -> Result<T, ConfigError> {
        let wrong = |message: &str| self.wrong(name, message);
        let mut given = match self.table.get(name) {
            Some(Value::Table(given)) => given.clone(),
            Some(_) => return Err(wrong("it is a section, not a value")),
            None => Table::new(),
        };
        let preset = given.remove(key);
        let named = preset
            .as_ref()
            .map(|value| value.as_str().unwrap_or_default());
        let base = of(named).map_err(wrong)?;
        self.parse::<T>(name, Value::Table(given.clone()))?;
        // As JSON, for TOML cannot say that a key of the preset is empty.
        let mut merged = json(&base);
        merge(&mut merged, json(&given));
        serde_json::from_value(merged).map_err(|error| wrong(&error.to_string()))
    }

    fn parse<T: DeserializeOwned>(&self, section: &str, value: Value) -> Result<T, ConfigError> {
        value.try_into().map_err(|error: toml::de::Error| {
            let message = error
                .to_string()
                .lines()
                .map(str::trim)
                .collect::<Vec<_>>()
                .join(" ");
            self.explain(section, message.trim())
        })
    }

    /// Serde's message about an unknown field, turned into one that names the nearest known key.
    fn explain(&self, section: &str, message: &str) -> ConfigError {
        if !message.starts_with("unknown field") {
            return self.wrong(section, message);
        }
        let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        ConfigError::Unknown {
            origin: self.origin.to_owned(),
            what: format!("key in [{section}]"),
            name: names[0].to_owned(),
            near: elsewhere(names[0]).or_else(|| nearest(names[0], names[1..].iter().copied())),
        }
    }

    fn wrong(&self, section: &str, message: &str) -> ConfigError {
        ConfigError::Value {
            origin: self.origin.to_owned(),
            section: section.to_owned(),
            message: message.to_owned(),
        }
    }
}

fn json(value: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("settings hold nothing that JSON cannot say")
}

/// Lays `over` onto `base`, objects within objects too.
fn merge(base: &mut serde_json::Value, over: serde_json::Value) {
    match (base, over) {
        (serde_json::Value::Object(base), serde_json::Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(serde_json::Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

/// `section.key`, if the key is known in another section.
fn elsewhere(key: &str) -> Option<String> {
    let defaults = Table::try_from(Config::default()).expect("defaults hold plain values");
    let holds = |section: &&str| {
        let keys = defaults.get(*section).and_then(Value::as_table);
        keys.is_some_and(|keys| keys.contains_key(key))
    };
    SECTIONS
        .into_iter()
        .find(holds)
        .map(|section| format!("{section}.{key}"))
}
