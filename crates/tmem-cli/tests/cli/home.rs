//! A folder to run the binary in, and what came of a run.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A data folder, with files beside it, and settings by environment.
pub(crate) struct Home {
    folder: TempDir,
    env: Vec<(String, String)>,
}

impl Home {
    /// Without a language model, with an encoder that needs no weights.
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().expect("a folder"),
            env: Vec::new(),
        }
        .env("TMEM_LLM_KIND", "none")
        .env("TMEM_EMBED_KIND", "hash")
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("the folder is ours");
        path
    }

    /// The binary with the folder as its own, and nothing of the caller's environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tmem"));
        command
            .env_clear()
            .envs(self.env.iter().cloned())
            .current_dir(self.folder.path());
        command.arg("--data").arg(self.data()).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran(self.command(args).output().expect("the binary starts"))
    }

    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(input.as_bytes()).expect("the binary reads");
        drop(stdin);
        Ran(child.wait_with_output().expect("the binary ends"))
    }

    /// Files of the data folder that contain `bytes`.
    pub(crate) fn files_with(&self, bytes: &str) -> Vec<PathBuf> {
        let holds = |path: &PathBuf| {
            let content = std::fs::read(path).expect("readable");
            content
                .windows(bytes.len())
                .any(|window| window == bytes.as_bytes())
        };
        files(&self.data()).into_iter().filter(holds).collect()
    }
}

/// All files below `folder`.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// What came of a run.
pub(crate) struct Ran(pub(crate) Output);

impl Ran {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        let said = format!("{}\n{}", self.out(), self.err());
        assert_eq!(self.0.status.code(), Some(code), "{said}");
        self
    }

    pub(crate) fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).expect("UTF-8")
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).expect("UTF-8")
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out()).unwrap_or_else(|e| panic!("{e}: {}", self.out()))
    }

    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Self {
        assert!(
            self.out().contains(part),
            "{part:?} is not in: {}",
            self.out()
        );
        self
    }

    #[track_caller]
    pub(crate) fn warns(self, part: &str) -> Self {
        assert!(
            self.err().contains(part),
            "{part:?} is not in: {}",
            self.err()
        );
        self
    }
}

/// A conversation of six turns.
pub(crate) const GARDEN: &str = "\
[2024-05-09 10:00] Ivo: I planted beans behind the shed this morning.
[2024-05-09 10:01] Nela: Did the frost get your tomatoes?
[2024-05-09 10:01] Ivo: All of them. I covered them too late.
[2024-06-20 18:30] Nela: My brother broke his ankle on the ladder.
[2024-06-20 18:31] Ivo: Is he home already?
[2024-06-20 18:32] Nela: Yes, with crutches for six weeks.
";
