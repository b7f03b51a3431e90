//! `tmem build`, and the building that `tmem add` does.

use anyhow::Result;
use serde_json::{Value, json};
use tmem::model::JobState;
use tmem::model::text::{counted, plural};
use tmem::{BuildOptions, Estimate, Stopped, Summary, Tmem};

use crate::args::{Add, Build};
use crate::outcome::{Exit, Outcome};
use crate::session::Session;
use crate::ui::Ui;

/// How many problems are spelt out.
const SHOWN: usize = 10;

/// What to do about steps that failed or were refused.
const RETRY: &str = "`tmem build --retry-failed` tries what failed or was refused once more";

/// What kind of build is wanted.
pub(crate) struct Order {
    keep_open: bool,
    retry_failed: bool,
    newest_only: bool,
}

impl From<&Add> for Order {
    fn from(args: &Add) -> Self {
        Self {
            keep_open: args.keep_open,
            retry_failed: false,
            newest_only: args.batch_older.is_some(),
        }
    }
}

impl From<&Build> for Order {
    fn from(args: &Build) -> Self {
        Self {
            keep_open: args.keep_open,
            retry_failed: args.retry_failed,
            newest_only: false,
        }
    }
}

impl Order {
    /// For a batch, where what failed is asked again in the next round.
    pub(crate) fn batch(keep_open: bool) -> Self {
        Self {
            keep_open,
            retry_failed: true,
            newest_only: false,
        }
    }

    fn options(&self) -> BuildOptions {
        let mut options = BuildOptions::default();
        options.flush = !self.keep_open;
        options.retry_failed = self.retry_failed;
        options.newest_only = self.newest_only;
        options
    }
}

pub(crate) async fn run(args: &Build, session: Session, ui: &Ui) -> Result<Outcome> {
    let session = session
        .with("llm.concurrency", args.spending.concurrency)
        .with("budget.run_tokens", args.spending.budget);
    let order = Order::from(args);
    if args.dry_run {
        return estimate(&session.read()?, &order);
    }
    let built = work(&session.existing()?, &order, ui).await?;
    let exit = built.exit();
    Ok(Outcome::new(built.lines().join("\n"), built.json()).exit(exit))
}

/// Builds what there is to build. The first Ctrl-C lets the calls under way end, the second does
/// not wait.
pub(crate) async fn work(tmem: &Tmem, order: &Order, ui: &Ui) -> Result<Built> {
    let stop = tmem::Stop::default();
    let watch = tokio::spawn(interrupted(stop.clone()));
    let mut options = order.options();
    options.stop = stop;
    let summary = tmem.build(&options, &|event| ui.event(event)).await;
    watch.abort();
    ui.finish();
    Ok(Built {
        summary: summary?,
        memory: sizes(tmem),
    })
}

async fn interrupted(stop: tmem::Stop) {
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    stop.ask();
    crate::ui::line(
        "stopping after the calls under way (Ctrl-C again: at once); `tmem build` resumes",
    );
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(Exit::Unfinished as i32);
    }
}

pub(crate) fn estimate(tmem: &Tmem, order: &Order) -> Result<Outcome> {
    let estimate = tmem.estimate(&order.options())?;
    Ok(Outcome::new(
        estimate_lines(&estimate).join("\n"),
        &estimate,
    ))
}

fn estimate_lines(estimate: &Estimate) -> Vec<String> {
    let mut lines: Vec<String> = estimate
        .stages
        .iter()
        .map(|(stage, spent)| {
            format!(
                "{:>16} {:>6} {:<5} {:>10} tokens",
                stage.name(),
                spent.calls,
                plural(spent.calls, "call"),
                spent.tokens()
            )
        })
        .collect();
    let total = estimate.total();
    lines.push(format!(
        "about {} and {} tokens ({} in, {} out)",
        counted(total.calls, "call"),
        total.tokens(),
        total.prompt_tokens,
        total.reply_tokens
    ));
    lines.extend(
        estimate
            .price
            .map(|price| format!("about {price:.2} at the configured prices")),
    );
    lines
}

/// What is in the memory now, for a person.
fn sizes(tmem: &Tmem) -> String {
    let memory = tmem.memory();
    let of_items = memory.items().map(|item| item.triggers.len());
    let of_scenes = memory
        .scenes()
        .map(|scene| usize::from(scene.scene_trigger.is_some()) + scene.horizon_triggers.len());
    let triggers: usize = of_items.chain(of_scenes).sum();
    let (scenes, items) = (memory.scenes().count(), memory.items().count());
    format!("the memory holds {scenes} scenes and {items} facts, reached by {triggers} triggers")
}

/// What a build did, and what the memory holds after it.
pub(crate) struct Built {
    summary: Summary,
    memory: String,
}

impl Built {
    pub(crate) fn exit(&self) -> Exit {
        if self.summary.is_complete() {
            Exit::Done
        } else {
            Exit::Unfinished
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!(self.summary)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.tally(), self.memory.clone()];
        lines.extend(self.summary.problems.iter().take(SHOWN).map(problem));
        let more = self.summary.problems.len().saturating_sub(SHOWN);
        lines.extend((more > 0).then(|| format!("  and {more} more: `tmem show jobs`")));
        lines.extend(self.is_stuck().then(|| RETRY.to_owned()));
        let superseded = self.summary.superseded;
        let out_of_date = || format!("{} put out of date", counted(superseded, "fact"));
        lines.extend((superseded > 0).then(out_of_date));
        lines.extend(holes(self.summary.holes));
        lines.extend(
            self.summary
                .notes
                .iter()
                .map(|note| format!("note: {note}")),
        );
        lines.extend(self.summary.stopped.map(|why| stopped(why).to_owned()));
        lines
    }

    /// Whether something is left that the next build does not try by itself.
    fn is_stuck(&self) -> bool {
        let mut problems = self.summary.problems.iter();
        problems.any(|problem| problem.state != JobState::Pending)
    }

    fn tally(&self) -> String {
        let total = self.summary.total();
        let parts = [
            (total.done, "steps done"),
            (total.failed, "failed"),
            (total.refused, "refused"),
            (total.pending, "pending"),
        ];
        let said = parts.iter().filter(|(count, _)| *count > 0);
        let said: Vec<String> = said
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        match said.is_empty() {
            true => "nothing to build".to_owned(),
            false => format!("built: {}", said.join(", ")),
        }
    }
}

/// What building has left bare for good, if it has.
pub(crate) fn holes(count: usize) -> Option<String> {
    let what = if count == 1 { "hole" } else { "holes" };
    (count > 0).then(|| {
        format!("note: {count} {what}, where no trigger or item was fit to keep: `tmem stats` names them")
    })
}

fn problem(problem: &tmem::Problem) -> String {
    let state = format!("{:?}", problem.state).to_lowercase();
    let reason = problem.reason.as_deref().unwrap_or("no reason is known");
    format!(
        "  {state}: {} {} of {}: {reason}",
        problem.stage.name(),
        problem.target,
        problem.conversation
    )
}

fn stopped(why: Stopped) -> &'static str {
    match why {
        Stopped::Budget => "stopped: the budget is spent; `tmem build` resumes where it ended",
        Stopped::Interrupted => "stopped as asked; `tmem build` resumes where it ended",
        Stopped::Outage => {
            "stopped: the language model cannot be asked now; `tmem build` resumes where it ended"
        }
        _ => "stopped; `tmem build` resumes where it ended",
    }
}
