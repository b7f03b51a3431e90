//! Prompts: a file each, with a version line, a constant part and a template with named
//! placeholders. The built-in ones can be replaced by a folder of files of the same names.
//!
//! Values go in verbatim and in one pass, so braces in what people said stay what they are.

use std::collections::BTreeMap;
use std::path::Path;

use tmem_llm::{Message, Prompt, Role};

use crate::error::BuildError;

/// Name, built-in text and placeholders of a prompt.
type Entry = (&'static str, &'static str, &'static [&'static str]);

macro_rules! entry {
    ($name:literal, $($placeholder:literal),+) => {
        ($name, include_str!(concat!("../../../prompts/", $name, ".md")), &[$($placeholder),+])
    };
}

/// Every prompt of construction and answering. A placeholder ending in `?` may be left out.
const CATALOGUE: &[Entry] = &[
    entry!("segment", "turns"),
    entry!("write", "scenes"),
    entry!("topics", "topics", "scenes", "keywords?"),
    entry!("items", "topic", "known", "scenes", "context"),
    entry!("item-triggers", "items", "bridges?", "concepts?"),
    entry!("scene-triggers", "scenes", "dimensions?"),
    entry!("persona", "speaker", "profile", "turns", "chars?"),
    entry!("answer", "context", "question", "date?"),
    entry!("short-segment", "turns"),
    entry!("short-write", "scenes"),
    entry!("short-topics", "topics", "scenes", "keywords?"),
    entry!("short-items", "scenes", "topic?", "known?", "context?"),
    entry!("short-item-triggers", "items", "bridges?", "concepts?"),
    entry!("short-scene-triggers", "scenes", "dimensions?"),
    entry!("short-persona", "speaker", "profile", "turns", "chars?"),
    entry!("short-answer", "context", "question", "date?"),
];

/// All prompts, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompts(BTreeMap<String, Template>);

impl Default for Prompts {
    fn default() -> Self {
        let built_in = CATALOGUE.iter().map(|entry| parsed(entry, entry.1));
        Self(
            built_in
                .collect::<Result<_, _>>()
                .expect("a test parses every built-in prompt"),
        )
    }
}

impl Prompts {
    /// Reads `folder`; a prompt without a file there keeps its built-in text.
    ///
    /// # Errors
    /// [`BuildError`] names the file or prompt, and the placeholder or part that is wrong.
    pub fn load(folder: &Path) -> Result<Self, BuildError> {
        std::fs::read_dir(folder).map_err(|source| BuildError::Read {
            path: folder.to_owned(),
            source,
        })?;
        CATALOGUE
            .iter()
            .map(|entry| from_file(folder, entry))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Names of all prompts, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The prompt of that name, in its short form for small models if `short`.
    pub(crate) fn get(&self, name: &str, short: bool) -> &Template {
        let full = if short {
            format!("short-{name}")
        } else {
            name.to_owned()
        };
        self.0
            .get(&full)
            .expect("stages ask for catalogued prompts only")
    }
}

fn from_file(folder: &Path, entry: &Entry) -> Result<(String, Template), BuildError> {
    let path = folder.join(format!("{}.md", entry.0));
    match std::fs::read_to_string(&path) {
        Ok(text) => parsed(entry, &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => parsed(entry, entry.1),
        Err(source) => Err(BuildError::Read { path, source }),
    }
}

fn parsed(entry: &Entry, text: &str) -> Result<(String, Template), BuildError> {
    let (name, _, placeholders) = entry;
    Template::parse(name, text, placeholders).map(|template| ((*name).to_owned(), template))
}

/// One prompt: its name and version, the constant part, the template of the rest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    pub(crate) prompt: Prompt,
    system: Vec<Part>,
    user: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Hole(String),
}

impl Template {
    fn parse(name: &str, text: &str, placeholders: &[&str]) -> Result<Self, BuildError> {
        let text = text.replace("\r\n", "\n");
        let owned = || name.to_owned();
        let first = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("version:"));
        let version = first.and_then(|version| version.trim().parse().ok());
        let version = version.ok_or_else(|| BuildError::Version { name: owned() })?;
        let parts: Vec<&str> = text.splitn(3, "\n---\n").collect();
        let [_, system, user] = parts[..] else {
            return Err(BuildError::Parts { name: owned() });
        };
        let (system, user) = (split(system.trim()), split(user.trim()));
        check(name, &system, &user, placeholders)?;
        Ok(Self {
            prompt: Prompt {
                name: owned(),
                version,
            },
            system,
            user,
        })
    }

    /// The messages, constant part first.
    pub(crate) fn fill(&self, values: &[(&str, &str)]) -> Vec<Message> {
        let system = Message {
            role: Role::System,
            content: filled(&self.system, values),
        };
        let user = Message {
            role: Role::User,
            content: filled(&self.user, values),
        };
        vec![system, user]
    }
}

/// Required ones are there, and no others but optional ones.
fn check(name: &str, system: &[Part], user: &[Part], known: &[&str]) -> Result<(), BuildError> {
    let holes = || system.iter().chain(user).filter_map(Part::hole);
    for &placeholder in known
        .iter()
        .filter(|placeholder| !placeholder.ends_with('?'))
    {
        if !user
            .iter()
            .filter_map(Part::hole)
            .any(|hole| hole == placeholder)
        {
            let (name, placeholder) = (name.to_owned(), placeholder.to_owned());
            return Err(BuildError::Missing { name, placeholder });
        }
    }
    let unknown = |hole: &&str| {
        !known
            .iter()
            .any(|known| known.trim_end_matches('?') == *hole)
    };
    match holes().find(unknown) {
        Some(hole) => Err(BuildError::Unknown {
            name: name.into(),
            placeholder: hole.into(),
        }),
        None => Ok(()),
    }
}

impl Part {
    fn hole(&self) -> Option<&str> {
        match self {
            Self::Hole(name) => Some(name),
            Self::Text(_) => None,
        }
    }
}

/// Cuts at `{{name}}`; other braces are text.
fn split(text: &str) -> Vec<Part> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else {
            break;
        };
        parts.push(Part::Text(before.to_owned()));
        parts.push(Part::Hole(name.trim().to_owned()));
        rest = behind;
    }
    parts.push(Part::Text(rest.to_owned()));
    parts
}

fn filled(parts: &[Part], values: &[(&str, &str)]) -> String {
    let value = |name: &str| {
        values
            .iter()
            .find(|(key, _)| *key == name)
            .map_or("", |pair| pair.1)
    };
    let text = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Hole(name) => value(name).to_owned(),
    };
    parts.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Template, String> {
        Template::parse("demo", text, &["turns", "limit?"]).map_err(|error| error.to_string())
    }

    #[test]
    fn every_built_in_prompt_parses() {
        assert_eq!(Prompts::default().names().count(), CATALOGUE.len());
    }

    #[test]
    fn text_goes_in_verbatim_even_if_it_looks_like_a_placeholder() {
        let template = parse("version: 3\n---\nRules.\n---\nRead: {{turns}} End.").unwrap();
        let said = r#"my config is {"port": 80} and the rule is {{x}} or {{turns}}"#;
        let messages = template.fill(&[("turns", said)]);
        assert_eq!(messages[1].content, format!("Read: {said} End."));
        assert_eq!(
            (messages[0].content.as_str(), template.prompt.version),
            ("Rules.", 3)
        );
    }

    #[test]
    fn what_a_file_lacks_is_named() {
        let no_version = parse("Rules.\n---\na\n---\n{{turns}}").unwrap_err();
        assert_eq!(
            no_version,
            "prompt demo does not begin with a line `version: N`"
        );
        let parts = parse("version: 1\n---\nRules {{turns}}").unwrap_err();
        assert!(
            parts.starts_with("prompt demo needs a version line"),
            "{parts}"
        );
        let missing = parse("version: 1\n---\nRules.\n---\nNothing.").unwrap_err();
        assert_eq!(missing, "prompt demo lacks the placeholder {{turns}}");
        let unknown = parse("version: 1\n---\nRules {{foo}}.\n---\n{{turns}}").unwrap_err();
        assert_eq!(
            unknown,
            "prompt demo has the placeholder {{foo}}, which nothing fills"
        );
    }

    #[test]
    fn a_folder_replaces_some_prompts_and_must_exist() {
        let folder = std::env::temp_dir().join(format!("tmem-prompts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("segment.md"),
            "version: 9\n---\nOwn.\n---\n{{turns}}",
        )
        .unwrap();
        let prompts = Prompts::load(&folder).unwrap();
        assert_eq!(prompts.get("segment", false).prompt.version, 9);
        assert_eq!(
            prompts.get("write", false),
            Prompts::default().get("write", false)
        );
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(matches!(
            Prompts::load(&folder),
            Err(BuildError::Read { .. })
        ));
    }
}
