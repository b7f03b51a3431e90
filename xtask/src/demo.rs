//! The demo: from a fresh clone to three explained answers, in one command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell;

/// A line each. The last one shares no word with the turns that answer it.
pub(crate) const QUESTIONS: &str = include_str!("../../fixtures/demo/questions.txt");

/// What the embedded run needs, as `tmem models list` names it.
const MODELS: [&str; 3] = ["onnxruntime", "all-MiniLM-L6-v2", "qwen2.5-coder-1.5b"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Use the recorded replies of a strong model: no weights, no network, seconds.
    #[arg(long)]
    recorded: bool,
    /// Use only the first N turns of the conversation.
    #[arg(long, value_name = "N")]
    turns: Option<usize>,
    /// Where the demo's memory goes; it is made anew.
    #[arg(long, value_name = "DIR", default_value = "target/demo")]
    data: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    shell::cargo(["build", "--package", "tmem-cli"].map(str::to_owned))?;
    let recorded = args.recorded || !models_are_here()?;
    let demo = Demo::new(&args.data, recorded)?;
    demo.build(args.turns)?;
    QUESTIONS
        .lines()
        .try_for_each(|question| demo.ask(question))?;
    println!("\nThe memory is in {}; ask it more:", args.data.display());
    println!(
        "  {} --data {} ask \"…\" --explain",
        shell::binary("tmem").display(),
        args.data.display()
    );
    Ok(())
}

/// Fetches what is missing. Where that cannot be done, says so: the recorded run follows.
fn models_are_here() -> Result<bool> {
    let mut pull = Command::new(shell::binary("tmem"));
    let status = pull.args(["models", "pull"]).args(MODELS).status()?;
    if !status.success() {
        eprintln!("The weights cannot be had; the recorded replies of a strong model stand in.");
    }
    Ok(status.success())
}

/// One memory made for the demo.
struct Demo {
    data: PathBuf,
    recorded: bool,
}

impl Demo {
    fn new(data: &Path, recorded: bool) -> Result<Self> {
        let data = shell::root().join(data);
        if data.exists() {
            fs::remove_dir_all(&data).with_context(|| format!("clearing {}", data.display()))?;
        }
        fs::create_dir_all(&data)?;
        Ok(Self { data, recorded })
    }

    fn build(&self, turns: Option<usize>) -> Result<()> {
        let source = shell::root().join("fixtures/demo/conversation.txt");
        let text = fs::read_to_string(&source)?;
        let turns = turns.unwrap_or(usize::MAX);
        let kept: Vec<&str> = text.lines().take(turns).collect();
        let file = self.data.join("conversation.txt");
        fs::write(&file, kept.join("\n"))?;
        println!("\n$ tmem add conversation.txt");
        shell::run(
            self.tmem()
                .args(["add", "--conversation", "demo"])
                .arg(file),
        )
    }

    fn ask(&self, question: &str) -> Result<()> {
        println!("\n$ tmem ask {question:?} --explain");
        shell::run(self.tmem().args(["ask", question, "--explain"]))
    }

    fn tmem(&self) -> Command {
        let mut tmem = Command::new(shell::binary("tmem"));
        tmem.arg("--data").arg(&self.data);
        if self.recorded {
            tmem.arg("--replay")
                .arg(shell::root().join("fixtures/demo/replies.jsonl"));
        }
        tmem
    }
}
