//! `bench-small`: what a model makes of the demo's conversation, measured through the command line.
//! The recorded strong model is the first row; the others build the same memory on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{demo, shell};

/// Questions about the demo's conversation with the turns that answer them.
const QUESTIONS: &str = include_str!("../../fixtures/demo/bench.jsonl");

/// What `tmem` returns when some steps, or holes, are left.
const UNFINISHED: i32 = 3;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// GGUF files to measure [default: the embedded model]
    #[arg(value_name = "GGUF")]
    models: Vec<PathBuf>,
    /// Have the models answer the questions too.
    #[arg(long)]
    answers: bool,
    /// Where the memories go; they are made anew.
    #[arg(long, value_name = "DIR", default_value = "target/bench-small")]
    data: PathBuf,
}

/// A question; `unlike`: it shares no word with the turns that answer it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    question: String,
    speaker: Option<String>,
    #[serde(default)]
    unlike: bool,
    turns: Vec<String>,
    /// A right answer has one of these words.
    answer: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    shell::cargo(["build", "--package", "tmem-cli"].map(str::to_owned))?;
    let embedded = (args.models.is_empty()).then_some(Writer::Embedded);
    let given = args.models.iter().cloned().map(Writer::File);
    println!("{HEADINGS}\n{RULE}");
    for writer in [Writer::Recorded].into_iter().chain(embedded).chain(given) {
        let measured = Subject::new(writer, &shell::root().join(&args.data))?;
        println!("{}", measured.row(args.answers)?);
    }
    Ok(())
}

const HEADINGS: &str = "| writer | valid replies | s a turn | scenes | items a scene | triggers a scene | triggers an item \
     | covered | evidence, fact | evidence, unlike | answers, fact | answers, unlike |";
const RULE: &str =
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |";

/// Who writes the memory.
enum Writer {
    Recorded,
    Embedded,
    File(PathBuf),
}

impl Writer {
    fn name(&self) -> String {
        match self {
            Self::Recorded => "recorded".to_owned(),
            Self::Embedded => "embedded".to_owned(),
            Self::File(path) => path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into(),
        }
    }
}

/// A memory by one writer.
struct Subject {
    writer: Writer,
    data: PathBuf,
}

impl Subject {
    fn new(writer: Writer, folder: &Path) -> Result<Self> {
        let data = folder.join(writer.name());
        if data.exists() {
            fs::remove_dir_all(&data).with_context(|| format!("clearing {}", data.display()))?;
        }
        fs::create_dir_all(&data)?;
        fs::copy(shell::root().join(demo::SETTINGS), data.join("tmem.toml"))?;
        Ok(Self { writer, data })
    }

    fn tmem(&self) -> Command {
        let mut tmem = Command::new(shell::binary("tmem"));
        tmem.arg("--data")
            .arg(&self.data)
            .args(["--json", "--quiet"]);
        match &self.writer {
            Writer::Recorded => tmem
                .arg("--replay")
                .arg(shell::root().join("fixtures/demo/replies.jsonl")),
            Writer::Embedded => &mut tmem,
            Writer::File(path) => tmem.env("TMEM_LLM_MODEL", path),
        };
        tmem
    }

    /// Builds, asks, and tells it as a row of the table.
    fn row(&self, answers: bool) -> Result<String> {
        let start = Instant::now();
        let source = shell::root().join("fixtures/demo/conversation.txt");
        let added = self
            .tmem()
            .args(["add", "--conversation", "demo"])
            .arg(source)
            .stdout(Stdio::null())
            .status()?;
        ensure!(is_usable(added), "building ended with {added}");
        let seconds = start.elapsed().as_secs_f64();
        let spent = read::<Cost>(self.tmem().arg("cost"))?.total.spent;
        let Stats { counts, coverage } = read(self.tmem().arg("stats"))?;
        let name = self.writer.name();
        ensure!(counts.scenes > 0, "{name} made no memory: see above");
        let cells = [
            name,
            share(spent.calls - spent.failed, spent.calls),
            format!("{:.1}", seconds / counts.turns as f64),
            counts.scenes.to_string(),
            ratio(counts.items, counts.scenes),
            ratio(
                counts.scene_triggers + counts.horizon_triggers,
                counts.scenes,
            ),
            ratio(counts.item_triggers, counts.items),
            coverage.share(&counts),
        ];
        let cells = cells.into_iter().chain(self.asked(answers)?);
        Ok(format!("| {} |", cells.collect::<Vec<_>>().join(" | ")))
    }

    /// Shares of evidence found and of right answers, for either kind of question.
    fn asked(&self, answers: bool) -> Result<[String; 4]> {
        let (mut found, mut right) = ([(0, 0); 2], [(0, 0); 2]);
        for line in QUESTIONS.lines() {
            let asked: Asked = serde_json::from_str(line)?;
            let kind = usize::from(asked.unlike);
            let context = read::<Recalled>(self.ask("recall", &asked))?.context;
            let here = asked
                .turns
                .iter()
                .filter(|turn| context.holds(turn))
                .count();
            found[kind] = (found[kind].0 + here, found[kind].1 + asked.turns.len());
            if answers && !matches!(self.writer, Writer::Recorded) {
                let text = read::<Answer>(self.ask("ask", &asked))?.answer;
                eprintln!("{}: {} {text}", self.writer.name(), asked.question);
                let good = asked.answer.iter().any(|word| text.contains(word));
                right[kind] = (right[kind].0 + usize::from(good), right[kind].1 + 1);
            }
        }
        let [fact, unlike] = found.map(|(part, all)| share(part, all));
        let [right_fact, right_unlike] = right.map(|(part, all)| share(part, all));
        Ok([fact, unlike, right_fact, right_unlike])
    }

    fn ask(&self, how: &str, asked: &Asked) -> Command {
        let mut ask = self.tmem();
        ask.arg(how).arg(&asked.question);
        ask.args(asked.speaker.iter().flat_map(|name| ["--speaker", name]));
        ask
    }
}

fn is_usable(status: ExitStatus) -> bool {
    status.success() || status.code() == Some(UNFINISHED)
}

/// `3 of 4`; a dash for nothing.
fn share(part: usize, all: usize) -> String {
    match all {
        0 => "–".to_owned(),
        all => format!("{part} of {all}"),
    }
}

fn ratio(part: usize, all: usize) -> String {
    format!("{:.1}", part as f64 / all.max(1) as f64)
}

fn read<T: DeserializeOwned>(mut command: impl std::borrow::BorrowMut<Command>) -> Result<T> {
    let command = command.borrow_mut();
    let output = command.stderr(Stdio::inherit()).output()?;
    let status = output.status;
    ensure!(is_usable(status), "{command:?} ended with {status}");
    serde_json::from_slice(&output.stdout).with_context(|| format!("reading {command:?}"))
}

#[derive(Deserialize)]
struct Cost {
    total: Total,
}

#[derive(Deserialize)]
struct Total {
    spent: Spent,
}

#[derive(Deserialize)]
struct Spent {
    calls: usize,
    failed: usize,
}

#[derive(Deserialize)]
struct Stats {
    counts: Counts,
    coverage: Coverage,
}

/// Who has no trigger that leads to it from elsewhere.
#[derive(Deserialize)]
struct Coverage {
    scenes_without_horizon: Vec<String>,
    items_without_bridge: Vec<String>,
}

impl Coverage {
    /// How many scenes have a horizon, and items a bridge.
    fn share(&self, counts: &Counts) -> String {
        let all = counts.scenes + counts.items;
        let bare = self.scenes_without_horizon.len() + self.items_without_bridge.len();
        share(all - bare, all)
    }
}

#[derive(Deserialize)]
struct Counts {
    turns: usize,
    scenes: usize,
    items: usize,
    item_triggers: usize,
    scene_triggers: usize,
    horizon_triggers: usize,
}

#[derive(Deserialize)]
struct Recalled {
    context: Evidence,
}

#[derive(Deserialize)]
struct Evidence {
    scenes: Vec<Scene>,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Scene {
    shown: Shown,
}

/// All turns of a scene, or a summary without any.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shown {
    Turns(Vec<Turn>),
    Summary(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Turn {
    id: String,
}

#[derive(Deserialize)]
struct Item {
    turns: Vec<String>,
}

#[derive(Deserialize)]
struct Answer {
    answer: String,
}

impl Evidence {
    /// Whether a turn is shown word for word or is what a fact rests on.
    fn holds(&self, turn: &str) -> bool {
        let raw = self.scenes.iter().flat_map(|scene| match &scene.shown {
            Shown::Turns(turns) => turns.as_slice(),
            Shown::Summary(_) => &[],
        });
        let cited = self.items.iter().flat_map(|item| &item.turns);
        let mut ids = raw.map(|turn| &turn.id).chain(cited);
        ids.any(|id| id.strip_prefix("demo/").unwrap_or(id) == turn)
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, QUESTIONS};

    const CONVERSATION: &str = include_str!("../../fixtures/demo/conversation.txt");

    #[test]
    fn the_turns_that_a_question_names_hold_a_word_of_its_answer() {
        let said: Vec<&str> = CONVERSATION.lines().collect();
        for line in QUESTIONS.lines() {
            let asked: Asked = serde_json::from_str(line).expect("a question");
            let number = |turn: &String| turn.strip_prefix("S1:")?.parse::<usize>().ok();
            let turns = asked.turns.iter().map(|turn| number(turn).expect("an id"));
            let mut turns = turns.map(|number| said[number - 1]);
            let told =
                turns.any(|turn| asked.answer.iter().any(|word| turn.contains(word.as_str())));
            assert!(told, "{line}");
        }
    }
}
