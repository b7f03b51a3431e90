//! `record-demo`: renews the recording that `demo --recorded` replays, for maintainers.
//!
//! The recording of the calls of construction is made with `tmem batch`. From it this makes the
//! vectors of every text that the build or a question needs, with the real encoder, and then the
//! answers: they depend on what is retrieved, so the calls that nobody has answered yet are written
//! out in the OpenAI Batch format, and `--answers` takes the replies in.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use async_trait::async_trait;
use clap::Parser;
use tmem::embed::{
    EmbedError, Encoder, EncoderSpec, OnnxEncoder, OnnxFiles, RecordedEncoder, TextRole,
};
use tmem::ingest::{self, Conversation};
use tmem::llm::{Call, LlmError};
use tmem::model::ConversationId;
use tmem::{Access, BuildOptions, Layers, Options, Question, Tmem, TmemError};

use crate::demo::{self, Asked};
use crate::shell;

/// The prompt whose calls are recorded last.
const ANSWER: &str = "answer";

/// Records the vectors and the answers of the demo.
#[derive(Parser)]
#[command(name = "record-demo")]
struct Args {
    /// Folder of the encoder's weights (`tmem models pull`).
    #[arg(long, env = "TMEM_MODELS", value_name = "DIR")]
    models: PathBuf,
    /// Replies to the calls that an earlier run wrote out.
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
}

pub(crate) fn run(rest: &[String]) -> Result<()> {
    let words = std::iter::once("record-demo".to_owned()).chain(rest.iter().cloned());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(record(&Args::parse_from(words)))
}

async fn record(args: &Args) -> Result<()> {
    let place = Place::new()?;
    record_vectors(&place, &args.models).await?;
    let answers = args
        .answers
        .as_deref()
        .map(fs::read_to_string)
        .transpose()?;
    let (answered, waiting) = record_answers(&place, answers.as_deref()).await?;
    println!("{answered} answers recorded");
    if !waiting.is_empty() {
        let file = place.scratch.join("waiting.jsonl");
        fs::write(&file, waiting.join("\n") + "\n")?;
        println!("{} wait for theirs: {}", waiting.len(), file.display());
    }
    Ok(())
}

/// Where the recording is and where memories for it are made.
struct Place {
    calls: PathBuf,
    vectors: PathBuf,
    scratch: PathBuf,
}

impl Place {
    fn new() -> Result<Self> {
        let calls = shell::root().join("fixtures/demo/replies.jsonl");
        let scratch = shell::root().join("target/record-demo");
        if scratch.exists() {
            fs::remove_dir_all(&scratch)?;
        }
        fs::create_dir_all(&scratch)?;
        Ok(Self {
            vectors: calls.with_extension("vectors.jsonl"),
            calls,
            scratch,
        })
    }

    fn recording(&self) -> Result<Vec<Call>> {
        let text = fs::read_to_string(&self.calls)?;
        parsed(&text).with_context(|| format!("reading {}", self.calls.display()))
    }

    fn record(&self, calls: impl Iterator<Item = Call>) -> Result<()> {
        let line = |call| Ok(serde_json::to_string(&call)? + "\n");
        let lines: String = calls.map(line).collect::<Result<_>>()?;
        Ok(fs::write(&self.calls, lines)?)
    }

    /// A memory in `folder` of the scratch, with the settings of `tmem --replay`.
    fn options(&self, folder: &str) -> Result<Options> {
        let mut options = Options::new(self.scratch.join(folder));
        options.access = Access::Write;
        let settings = Layers::new().file(&shell::root().join(demo::SETTINGS))?;
        options.config = settings.replayed(true).resolve()?;
        Ok(options)
    }

    fn replaying(&self, folder: &str) -> Result<Options> {
        let mut options = self.options(folder)?;
        options.replay = Some(self.calls.clone());
        Ok(options)
    }
}

fn parsed(lines: &str) -> Result<Vec<Call>> {
    lines
        .lines()
        .map(|line| Ok(serde_json::from_str(line)?))
        .collect()
}

/// Builds and asks with the real encoder, and keeps every vector it gave.
async fn record_vectors(place: &Place, models: &Path) -> Result<()> {
    let spec = EncoderSpec::minilm();
    let files = OnnxFiles::in_models(models, &spec.model);
    let loaded = tokio::task::spawn_blocking(move || OnnxEncoder::load(&files, spec)).await??;
    let noting = Noting {
        encoder: Arc::new(loaded),
        noted: Arc::default(),
    };
    let tmem = Tmem::builder(place.replaying("encoded")?)
        .encoder(noting.clone())
        .open()?;
    build(&tmem).await?;
    for asked in Asked::all() {
        tmem.recall(&question(asked)?, &tmem.config().retrieve)
            .await?;
    }
    let noted = noting.noted.lock().unwrap_or_else(PoisonError::into_inner);
    let texts: Vec<_> = noted
        .iter()
        .map(|(role, text, vector)| (*role, text.as_str(), vector.as_slice()))
        .collect();
    fs::write(
        &place.vectors,
        RecordedEncoder::record(noting.spec(), &texts),
    )?;
    println!("{} vectors recorded", texts.len());
    Ok(())
}

async fn build(tmem: &Tmem) -> Result<()> {
    tmem.add(&ConversationId::new("demo")?, &conversation()?)?;
    let summary = tmem.build(&BuildOptions::default(), &|_| ()).await?;
    ensure!(
        summary.is_complete(),
        "the recording does not build: {:?}",
        summary.problems
    );
    ensure!(
        summary.notes.is_empty(),
        "the build complains: {}",
        summary.notes.join("; ")
    );
    Ok(())
}

fn conversation() -> Result<Conversation> {
    let text = fs::read_to_string(shell::root().join("fixtures/demo/conversation.txt"))?;
    let mut found = ingest::parse(&text, &ingest::Options::default())?;
    found.pop().context("the demo holds no conversation")
}

/// Renews the recording; gives how many questions it answers, and the calls that it does not.
async fn record_answers(place: &Place, replies: Option<&str>) -> Result<(usize, Vec<String>)> {
    build(&Tmem::open(place.replaying("asked")?)?).await?;
    let (older, construction): (Vec<Call>, Vec<Call>) = place
        .recording()?
        .into_iter()
        .partition(|call| call.request.prompt.name == ANSWER);
    let model = construction
        .first()
        .context("nothing is recorded")?
        .model
        .clone();
    let tmem = asking(place, model)?;
    let asked = ask(&tmem).await?;
    replies.map(|lines| tmem.batch_import(lines)).transpose()?;
    let newer = parsed(&tmem.recording()?.0)?;
    let answer_to = |line: &String| {
        newer
            .iter()
            .chain(&older)
            .find(|call| line.contains(&call.key.0))
            .cloned()
    };
    let answers: Vec<Call> = asked.iter().filter_map(answer_to).collect();
    let waiting = asked
        .into_iter()
        .filter(|line| answer_to(line).is_none())
        .collect();
    let answered = answers.len();
    place.record(construction.into_iter().chain(answers))?;
    Ok((answered, waiting))
}

/// The memory just built, its calls left to be answered elsewhere.
fn asking(place: &Place, model: String) -> Result<Tmem> {
    let mut options = place.options("asked")?;
    options.batch = true;
    options.config.llm.model = model;
    let vectors = fs::read_to_string(&place.vectors)?;
    let encoder = RecordedEncoder::parse(&vectors).map_err(anyhow::Error::msg)?;
    Ok(Tmem::builder(options).encoder(encoder).open()?)
}

fn question(asked: Asked) -> Result<Question> {
    let mut question = Question::new(asked.text);
    question.speaker = asked.speaker.map(str::to_owned);
    question.at = asked.at.map(str::parse).transpose()?;
    Ok(question)
}

/// The calls that the questions lead to, a line each.
async fn ask(tmem: &Tmem) -> Result<Vec<String>> {
    for asked in Asked::all() {
        let question = question(asked)?;
        match tmem.answer(&question, &tmem.config().retrieve).await {
            Err(TmemError::Llm(LlmError::Pending(_))) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => bail!("{asked:?} leads to no call: nothing was recalled"),
        }
    }
    Ok(tmem.batch_export()?.0.lines().map(str::to_owned).collect())
}

/// A text in its role, with its vector.
type Noted = (TextRole, String, Vec<f32>);

/// An encoder that remembers what it was asked.
#[derive(Clone)]
struct Noting {
    encoder: Arc<OnnxEncoder>,
    noted: Arc<Mutex<Vec<Noted>>>,
}

#[async_trait]
impl Encoder for Noting {
    fn spec(&self) -> &EncoderSpec {
        self.encoder.spec()
    }

    async fn encode(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = self.encoder.encode(role, texts).await?;
        let new = texts
            .iter()
            .zip(&vectors)
            .map(|(text, vector)| (role, text.clone(), vector.clone()));
        self.noted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(new);
        Ok(vectors)
    }
}
