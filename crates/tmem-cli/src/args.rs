//! What can be typed: global options and the commands. What they do stands in `command`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use jiff::civil::Time;
use tmem::model::DateTime;
use tmem::retrieve::Preset;

/// Long-term conversational memory that anticipates.
#[derive(Debug, Parser)]
#[command(name = "tmem", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "\
Examples:
  tmem add chat.txt                      build a memory from a transcript
  tmem ask \"Where does Ana work?\"        answer from it, with the turns that say so
  tmem recall \"dinner plans\" --explain   the evidence alone, and how it was reached

Settings: flags, then TMEM_<SECTION>_<KEY> (as in TMEM_LLM_MODEL), then tmem.toml, then defaults;
`tmem config` prints what holds.

Exit codes: 0 done, 1 failed, 2 usage, 3 finished or stopped with steps left, failed or refused.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// Folder of the memory [default: the platform's data folder]
    #[arg(long, global = true, value_name = "DIR", env = "TMEM_HOME")]
    pub(crate) data: Option<PathBuf>,
    /// Space within it; spaces share nothing
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "TMEM_SPACE",
        default_value = "default"
    )]
    pub(crate) space: String,
    /// Settings [default: tmem.toml in the data folder, if it is there]
    #[arg(long, global = true, value_name = "FILE", env = "TMEM_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show no progress and no notes
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Answer every model call from this recording; a missing one is an error
    #[arg(long, global = true, value_name = "FILE", env = "TMEM_REPLAY")]
    pub(crate) replay: Option<PathBuf>,
    /// Prompts from this folder instead of the built-in ones
    #[arg(long, global = true, value_name = "DIR", env = "TMEM_PROMPTS")]
    pub(crate) prompts: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Store conversations and build their memory
    Add(Add),
    /// Finish work that is pending
    Build(Build),
    /// Answer a question, citing turns
    Ask(Ask),
    /// Find evidence without asking a model
    Recall(Recall),
    /// Read the memory
    Show(Show),
    /// Write a conversation's memory as one JSON document
    Export(Export),
    /// Read documents that `export` wrote
    Import(Import),
    /// Delete, with everything derived from it
    Forget(Forget),
    /// Count what is there, and what is missing
    #[command(after_help = "\
Exit codes: 0 all that was worked on has its triggers and items; 3 the work on a scene, item or
topic is over, done or failed, and left it without: it is named. What is still to be built is
listed and is no reason for 3.

Examples:
  tmem add chat.txt && tmem stats
  tmem stats --json | jq .coverage")]
    Stats,
    /// What model calls have cost, by stage and model
    Cost,
    /// Have calls answered elsewhere, in bulk
    #[command(subcommand)]
    Batch(Batch),
    /// Make all vectors anew, as after a change of encoder
    #[command(after_help = "\
The old vectors serve until the new ones are complete; stopped half-way, nothing has changed.

Example:
  TMEM_EMBED_MODEL=bge-m3 tmem reindex")]
    Reindex,
    /// List or fetch models that run on this machine
    #[command(subcommand)]
    Models(Models),
    /// Check store, models and endpoints
    Doctor,
    /// Print the settings that hold
    Config,
}

/// How much may be spent on a build.
#[derive(Clone, Debug, Args)]
pub(crate) struct Spending {
    /// Stop cleanly after this many tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// Model calls at once
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<NonZeroUsize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Formats, told apart by content: LoCoMo JSON, OpenAI chat JSON or JSON Lines, turns as JSON Lines,
`Name: text` transcripts with optional dates. A turn is known by conversation and id: adding a
file again stores nothing twice.

Exit codes: 0 all stored and built; 1 nothing could be stored; 3 a file could not be read, or a
step of the build failed, was refused or is left: what could be done is done, the rest is named.

Examples:
  tmem add march.txt april.txt --conversation ana
  cat chat.jsonl | tmem add - --no-build
  tmem add big.json --dry-run
  tmem add years.json --batch-older calls.jsonl     then `tmem batch import answers.jsonl`")]
pub(crate) struct Add {
    /// Files to read; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Name of the conversation [default: the one in the file, or the file's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) conversation: Option<String>,
    /// Leave out turns that contain this text, such as what a framework injects (repeatable)
    #[arg(long, value_name = "TEXT")]
    pub(crate) skip: Vec<String>,
    /// Store only; build later
    #[arg(long)]
    pub(crate) no_build: bool,
    /// Say what building would take; store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// More turns will follow: leave the last scene open
    #[arg(long)]
    pub(crate) keep_open: bool,
    /// Build the newest session now; write the calls of what was said before to this file, as
    /// `tmem batch export` does, to be answered elsewhere
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_build", "dry_run", "keep_open"])]
    pub(crate) batch_older: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) spending: Spending,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tmem build --retry-failed --budget 200000")]
pub(crate) struct Build {
    /// Try failed and refused steps again
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// More turns will follow: leave the last scene open
    #[arg(long)]
    pub(crate) keep_open: bool,
    /// Say what is left to do and what it would take; do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) spending: Spending,
}

/// Who asks, as of when, of what.
#[derive(Clone, Debug, Args)]
pub(crate) struct Asker {
    /// Who asks; their persona is added to the evidence
    #[arg(long, value_name = "NAME")]
    pub(crate) speaker: Option<String>,
    /// As of this date, all of that day included: later turns are not there yet, and facts that
    /// changed since still hold
    #[arg(long, value_name = "DATE", value_parser = date_or_its_end)]
    pub(crate) at: Option<DateTime>,
    /// Only this conversation
    #[arg(long, value_name = "NAME")]
    pub(crate) conversation: Option<String>,
    /// Print how each piece of evidence was reached
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
With nothing in memory that bears on the question, it says so and asks no model.

Example:
  tmem ask \"What should I cook for Leo?\" --speaker Ana --explain")]
pub(crate) struct Ask {
    /// The question
    #[arg(allow_hyphen_values = true)]
    pub(crate) question: String,
    #[command(flatten)]
    pub(crate) asker: Asker,
    #[command(flatten)]
    pub(crate) knobs: Knobs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tmem recall \"allergies\" --k-items 30
  tmem recall \"dinner for the team\" --explain --no-topic-filter")]
pub(crate) struct Recall {
    /// What to look for
    #[arg(allow_hyphen_values = true)]
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) asker: Asker,
    #[command(flatten)]
    pub(crate) knobs: Knobs,
}

/// Budgets and switches of retrieval.
#[derive(Clone, Debug, Args)]
pub(crate) struct Knobs {
    /// Start from `paper`, `balanced` or `wide`
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<Preset>,
    /// Topics that filter scenes
    #[arg(long, value_name = "N")]
    pub(crate) k_topics: Option<usize>,
    /// Scenes by similarity
    #[arg(long, value_name = "N")]
    pub(crate) k_scenes: Option<usize>,
    /// Scenes that only triggers reach
    #[arg(long, value_name = "N")]
    pub(crate) k_associative: Option<usize>,
    /// Items
    #[arg(long, value_name = "N")]
    pub(crate) k_items: Option<usize>,
    /// Items that triggers may add to the pool
    #[arg(long, value_name = "N")]
    pub(crate) k_triggers: Option<usize>,
    /// No scenes
    #[arg(long)]
    pub(crate) no_scenes: bool,
    /// No items
    #[arg(long)]
    pub(crate) no_items: bool,
    /// No item triggers
    #[arg(long)]
    pub(crate) no_item_triggers: bool,
    /// No personas
    #[arg(long)]
    pub(crate) no_persona: bool,
    /// No topic filter
    #[arg(long)]
    pub(crate) no_topic_filter: bool,
    /// No scene triggers
    #[arg(long)]
    pub(crate) no_scene_triggers: bool,
    /// No horizon triggers
    #[arg(long)]
    pub(crate) no_horizons: bool,
}

/// In which order `show triggers` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Those that fired most often without becoming evidence; others are left out
    Misfires,
}

/// What `show` shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Conversations with their sizes
    #[default]
    Conversations,
    /// What happened
    Scenes,
    /// Facts
    Items,
    /// What belongs together
    Topics,
    /// What leads to scenes and items
    Triggers,
    /// Standing traits
    Personas,
    /// What was said
    Turns,
    /// Steps of construction
    Jobs,
    /// Spaces of this data folder
    Spaces,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tmem show scenes --conversation ana
  tmem show triggers ana/i0003
  tmem show triggers --by misfires
  tmem show turns ana/s002")]
pub(crate) struct Show {
    /// What to show
    #[arg(value_enum, default_value_t)]
    pub(crate) kind: Kind,
    /// Only this one, or what belongs to it (`conversation/id`, or `id` if it is unambiguous)
    pub(crate) id: Option<String>,
    /// Triggers by what became of them in recalls and answers
    #[arg(long, value_enum)]
    pub(crate) by: Option<By>,
    /// Only this conversation
    #[arg(long, value_name = "NAME")]
    pub(crate) conversation: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tmem export --conversation ana --out ana.json")]
pub(crate) struct Export {
    /// Which conversation; may be left out if there is only one
    #[arg(long, value_name = "NAME")]
    pub(crate) conversation: Option<String>,
    /// Where to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A file holds a document or a list of them; one that breaks a rule is refused whole, naming the id
and the field.

Example:
  tmem import ana.json --space work")]
pub(crate) struct Import {
    /// Documents to read; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Deleting a turn deletes what was derived from it: items that cite it, texts and triggers of its
scene, personas of its conversation, vectors, logged calls. What has other sources too is built
anew by the next `tmem build`. The bytes leave the disk as well.

Examples:
  tmem forget --turn ana/D1:4
  tmem forget --speaker Ana --dry-run
  tmem forget --before 2024-01-01")]
#[command(group = ArgGroup::new("what").required(true)
    .args(["turn", "scene", "item", "speaker", "forgotten", "before"]))]
pub(crate) struct Forget {
    /// One turn
    #[arg(long, value_name = "ID")]
    pub(crate) turn: Option<String>,
    /// One scene with its turns
    #[arg(long, value_name = "ID")]
    pub(crate) scene: Option<String>,
    /// One item
    #[arg(long, value_name = "ID")]
    pub(crate) item: Option<String>,
    /// Everything one person said, in every conversation of the space
    #[arg(long, value_name = "NAME")]
    pub(crate) speaker: Option<String>,
    /// One conversation
    #[arg(long = "conversation", id = "forgotten", value_name = "NAME")]
    pub(crate) conversation: Option<String>,
    /// Turns before this date
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) before: Option<DateTime>,
    /// Say what would go; delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Batch {
    /// Write every call that is ready and unanswered, as JSON Lines in the OpenAI Batch format
    #[command(after_help = "\
Example:
  tmem batch export calls.jsonl     have them answered elsewhere, then
  tmem batch import answers.jsonl   and again, until nothing is pending")]
    Export {
        /// Where to write [default: standard output; with --json, under `requests`]
        file: Option<PathBuf>,
        /// More turns will follow: leave the last scene open
        #[arg(long)]
        keep_open: bool,
    },
    /// Read answers back and go on as far as they lead
    #[command(after_help = "\
Example:
  tmem batch import answers.jsonl")]
    Import {
        /// Answers; - for standard input
        file: PathBuf,
        /// More turns will follow: leave the last scene open
        #[arg(long)]
        keep_open: bool,
    },
    /// Write every answered call as a recording, which `--replay` reads
    #[command(after_help = "\
Example:
  tmem batch record replies.jsonl")]
    Record {
        /// Where to write
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// Which there are, and which are here
    List,
    /// Fetch by name, checking sizes and sums
    #[command(after_help = "\
Example:
  tmem models pull onnxruntime all-MiniLM-L6-v2")]
    Pull {
        /// Names as `list` shows them [default: what the settings need]
        names: Vec<String>,
    },
}

/// `2024-05-09`, `2024-05-09 16:02` or `2024-05-09T16:02:00`, in no zone.
fn date(text: &str) -> Result<DateTime, &'static str> {
    let parsed = text.trim().parse();
    parsed.map_err(|_| "write a date like 2024-05-09 or 2024-05-09T16:02")
}

/// The same; a date without a time is the last moment of that day.
fn date_or_its_end(text: &str) -> Result<DateTime, &'static str> {
    let at = date(text)?;
    let bare = text.trim().len() == "2024-05-09".len();
    Ok(if bare {
        at.date().to_datetime(Time::MAX)
    } else {
        at
    })
}
