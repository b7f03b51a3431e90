//! Standard error: notes and progress. Bars on a terminal, a line now and then elsewhere, nothing
//! when told to be quiet.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tmem::Event;

/// Least time between two lines of plain progress.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

/// Where a command tells how it gets on.
pub(crate) struct Ui {
    quiet: bool,
    bars: MultiProgress,
    tasks: Mutex<BTreeMap<String, Task>>,
    /// When something was last told without a terminal.
    plain: Option<Mutex<Option<Instant>>>,
}

struct Task {
    bar: ProgressBar,
    done: u64,
    total: u64,
    troubled: u64,
}

impl Ui {
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let target = match terminal && !quiet {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        Self {
            quiet,
            bars: MultiProgress::with_draw_target(target),
            tasks: Mutex::default(),
            plain: (!terminal && !quiet).then(Mutex::default),
        }
    }

    /// A line for the person at the terminal.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.bars.suspend(|| line(text));
        }
    }

    /// Takes up one event of a build.
    pub(crate) fn event(&self, event: &Event) {
        match event {
            Event::Ready { stage, steps } => self.update(stage.name(), |task| {
                task.total += *steps as u64;
            }),
            Event::Finished { stage, done, .. } => self.update(stage.name(), |task| {
                task.done += 1;
                task.troubled += u64::from(!done);
            }),
            Event::Embedded { done, total } => self.set("vectors", *done as u64, *total as u64),
            _ => {}
        }
    }

    /// Sets a task of known size, as of a download.
    pub(crate) fn set(&self, name: &str, done: u64, total: u64) {
        self.update(name, |task| (task.done, task.total) = (done, total));
    }

    /// Sets a download, told in megabytes.
    pub(crate) fn bytes(&self, name: &str, done: u64, total: u64) {
        self.set(&format!("{name} MB"), done / 1_000_000, total / 1_000_000);
    }

    /// Takes the bars away.
    pub(crate) fn finish(&self) {
        let mut tasks = self.tasks.lock().expect("no holder panics");
        tasks.values().for_each(|task| task.bar.finish_and_clear());
        tasks.clear();
    }

    fn update(&self, name: &str, change: impl FnOnce(&mut Task)) {
        let mut tasks = self.tasks.lock().expect("no holder panics");
        let task = tasks
            .entry(name.to_owned())
            .or_insert_with(|| self.task(name));
        change(task);
        task.bar.set_length(task.total);
        task.bar.set_position(task.done);
        if task.troubled > 0 {
            task.bar.set_message(format!("{} not done", task.troubled));
        }
        self.tell_plainly(&tasks);
    }

    fn task(&self, name: &str) -> Task {
        let style =
            ProgressStyle::with_template("{prefix:>24} {bar:30} {pos}/{len} {elapsed} {msg}")
                .expect("the template is well formed");
        let bar = self
            .bars
            .add(ProgressBar::new(0))
            .with_prefix(name.to_owned());
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_secs(1));
        Task {
            bar,
            done: 0,
            total: 0,
            troubled: 0,
        }
    }

    /// Without a terminal: where things stand, every few seconds.
    fn tell_plainly(&self, tasks: &BTreeMap<String, Task>) {
        let Some(last) = &self.plain else { return };
        let mut last = last.lock().expect("no holder panics");
        if last.is_none_or(|last| last.elapsed() >= PLAIN_INTERVAL) {
            *last = Some(Instant::now());
            let open = tasks.iter().filter(|(_, task)| task.done < task.total);
            let said = open.map(|(name, task)| format!("{name} {}/{}", task.done, task.total));
            let said: Vec<String> = said.collect();
            if !said.is_empty() {
                line(&said.join(", "));
            }
        }
    }
}

/// One line to standard error; there is nobody to tell if that fails.
pub(crate) fn line(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
