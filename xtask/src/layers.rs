//! The table of layers, held against every manifest, dev-dependencies included.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};
use toml::Table;

use crate::shell;

/// Each crate of the workspace and the workspace crates it may know. Arrows point down only.
const LAYERS: &[(&str, &[&str])] = &[
    ("tmem-quirks", &[]),
    ("tmem-model", &["tmem-quirks"]),
    ("tmem-http", &["tmem-quirks"]),
    ("tmem-llm", &["tmem-http", "tmem-quirks"]),
    ("tmem-local", &["tmem-llm"]),
    ("tmem-embed", &["tmem-http"]),
    ("tmem-index", &["tmem-model"]),
    ("tmem-build", &["tmem-llm", "tmem-model"]),
    ("tmem-retrieve", &["tmem-index", "tmem-model"]),
    ("tmem-store", &["tmem-model"]),
    (
        "tmem-eval",
        &["tmem-index", "tmem-llm", "tmem-model", "tmem-retrieve"],
    ),
    (
        "tmem",
        &[
            "tmem-build",
            "tmem-embed",
            "tmem-http",
            "tmem-index",
            "tmem-llm",
            "tmem-local",
            "tmem-model",
            "tmem-retrieve",
            "tmem-store",
        ],
    ),
    ("tmem-cli", &["tmem", "tmem-eval"]),
    ("xtask", &["tmem", "tmem-eval"]),
];

/// Prints that all edges are as they should be, or fails naming those that are not.
pub(crate) fn run() -> Result<()> {
    let breaches = breaches(LAYERS, &manifests()?);
    if !breaches.is_empty() {
        bail!("the layers do not hold:\n{}", breaches.join("\n"));
    }
    println!("layers hold: {} crates", LAYERS.len());
    Ok(())
}

/// The manifests of all members, by package name.
fn manifests() -> Result<BTreeMap<String, Table>> {
    let root = shell::root();
    let mut folders = vec![root.join("xtask")];
    for entry in fs::read_dir(root.join("crates"))? {
        folders.push(entry?.path());
    }
    folders
        .iter()
        .map(|folder| named(&folder.join("Cargo.toml")))
        .collect()
}

fn named(path: &std::path::Path) -> Result<(String, Table)> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let table: Table = text
        .parse()
        .with_context(|| format!("parsing {}", path.display()))?;
    let name = table["package"]["name"]
        .as_str()
        .context("a package has a name")?
        .to_owned();
    Ok((name, table))
}

fn breaches(layers: &[(&str, &[&str])], manifests: &BTreeMap<String, Table>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, manifest) in manifests {
        match layers.iter().find(|(layer, _)| layer == name) {
            None => found.push(format!("{name} is in no layer")),
            Some((_, allowed)) => {
                let edges = edges(manifest, manifests);
                let wrong = edges
                    .iter()
                    .filter(|edge| !allowed.contains(&edge.as_str()));
                found.extend(wrong.map(|edge| format!("{name} may not know {edge}")));
            }
        }
    }
    let gone = layers
        .iter()
        .filter(|(name, _)| !manifests.contains_key(*name));
    found.extend(gone.map(|(name, _)| format!("{name} is in the table but not in the workspace")));
    found
}

/// Workspace crates that a manifest depends on, in any of its sections.
fn edges(manifest: &Table, members: &BTreeMap<String, Table>) -> Vec<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let per_target = targets
        .into_iter()
        .flat_map(|t| t.values())
        .filter_map(|v| v.as_table());
    let mut edges = Vec::new();
    for section in per_target.chain([manifest]) {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let names = section
                .get(kind)
                .and_then(toml::Value::as_table)
                .into_iter();
            edges.extend(
                names
                    .flat_map(|t| t.iter())
                    .map(|(key, value)| package(key, value)),
            );
        }
    }
    edges.retain(|edge| members.contains_key(edge));
    edges.sort();
    edges.dedup();
    edges
}

/// The package a dependency names, renamed or not.
fn package(key: &str, value: &toml::Value) -> String {
    value
        .get("package")
        .and_then(toml::Value::as_str)
        .unwrap_or(key)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(manifests: &[&str], expect: Expect) {
        let parsed = manifests.iter().map(|text| {
            let table: Table = text.parse().expect("a test manifest parses");
            (
                table["package"]["name"].as_str().expect("named").to_owned(),
                table,
            )
        });
        let layers: &[(&str, &[&str])] = &[("low", &[]), ("high", &["low"])];
        expect.assert_eq(&breaches(layers, &parsed.collect()).join("\n"));
    }

    const LOW: &str = "[package]\nname = 'low'";

    #[test]
    fn an_edge_down_is_fine() {
        let high = "[package]\nname = 'high'\n[dependencies]\nlow.workspace = true\nserde = '1'";
        check(&[LOW, high], expect![""]);
    }

    #[test]
    fn an_edge_up_is_named_in_every_section() {
        let high = "[package]\nname = 'high'";
        let up = "[package]\nname = 'low'\n[dev-dependencies]\nhigh.workspace = true";
        check(&[up, high], expect!["low may not know high"]);
        let renamed =
            "[package]\nname = 'low'\n[target.'cfg(unix)'.dependencies]\nx = { package = 'high' }";
        check(&[renamed, high], expect!["low may not know high"]);
    }

    #[test]
    fn table_and_workspace_name_the_same_crates() {
        let stray = "[package]\nname = 'stray'";
        check(
            &[LOW, stray],
            expect![[r#"
                stray is in no layer
                high is in the table but not in the workspace"#]],
        );
    }

    #[test]
    fn the_layers_of_this_workspace_hold() {
        let manifests = manifests().expect("the manifests can be read");
        assert_eq!(breaches(LAYERS, &manifests), Vec::<String>::new());
    }
}
