//! The demo: from a fresh clone to answers with their reasons, in one command.

mod asked;
mod compare;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::shell;

pub(crate) use asked::Asked;

/// Settings of the demo's memory.
pub(crate) const SETTINGS: &str = "fixtures/demo/tmem.toml";

/// What the embedded run needs, as `tmem models list` names it.
const MODELS: [&str; 3] = ["onnxruntime", "all-MiniLM-L6-v2", "qwen2.5-coder-1.5b"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Use the recorded replies of a strong model: no weights, no network, seconds.
    #[arg(long)]
    recorded: bool,
    /// Use only the first N turns of the conversation: 25 with the embedded model unless this says otherwise.
    #[arg(long, value_name = "N", conflicts_with = "recorded")]
    turns: Option<usize>,
    /// Where the demo's memory goes; it is made anew.
    #[arg(long, value_name = "DIR", default_value = "target/demo")]
    data: PathBuf,
}

/// How much of the conversation an embedded model reads in a few minutes (turns): all sessions but the
/// last, which no question is about.
const EMBEDDED: usize = 25;

pub(crate) fn run(args: &Args) -> Result<()> {
    shell::cargo(["build", "--package", "tmem-cli"].map(str::to_owned))?;
    let recorded = args.recorded || !models_are_here()?;
    ensure!(
        !recorded || args.turns.is_none(),
        "the recorded replies are those to the whole conversation: leave out --turns"
    );
    let demo = Demo::new(&args.data, recorded)?;
    let short = if recorded { usize::MAX } else { EMBEDDED };
    demo.build(args.turns.unwrap_or(short))?;
    // An embedded model does not tell what changed, so it is not asked what held before.
    let mut asked = Asked::all();
    asked.retain(|asked| recorded || asked.at.is_none());
    asked.iter().try_for_each(|asked| demo.ask(asked))?;
    demo.compare(asked.last().context("the demo asks nothing")?)?;
    demo.farewell(&args.data);
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
        fs::copy(shell::root().join(SETTINGS), data.join("tmem.toml"))?;
        Ok(Self { data, recorded })
    }

    fn build(&self, turns: usize) -> Result<()> {
        let source = shell::root().join("fixtures/demo/conversation.txt");
        let text = fs::read_to_string(&source)?;
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

    fn ask(&self, asked: &Asked) -> Result<()> {
        let (text, rest) = (asked.text, &asked.args()[1..]);
        let command = format!("tmem ask {text:?} {}", rest.join(" "));
        println!("\n$ {}", command.trim_end());
        shell::run(self.tmem().arg("ask").args(asked.args()))
    }

    fn compare(&self, asked: &Asked) -> Result<()> {
        let recall = || {
            let mut recall = self.tmem();
            recall.arg("recall").args(asked.args());
            recall
        };
        println!("\nScenes that triggers brought in for that question:");
        compare::lines(recall)?
            .iter()
            .for_each(|line| println!("{line}"));
        Ok(())
    }

    /// What to do next; a recording has replies to nothing but what was just asked.
    fn farewell(&self, data: &Path) {
        let (tmem, data) = (shell::binary("tmem"), data.display());
        let (invitation, command) = match self.recorded {
            true => ("see what it expects to be asked", "show triggers"),
            false => ("ask it more", "ask \"…\" --explain"),
        };
        println!("\nThe memory is in {data}; {invitation}:");
        println!("  {} --data {data} {command}", tmem.display());
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
