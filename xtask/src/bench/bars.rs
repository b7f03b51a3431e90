//! Progress bars.

use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressStyle};
use tmem_eval::Progress;

/// One bar at a time.
pub(super) struct Bars {
    quiet: bool,
    bar: Mutex<ProgressBar>,
}

impl Bars {
    /// Draws on standard error, unless `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            bar: Mutex::new(ProgressBar::hidden()),
        }
    }

    /// Begins a bar whose length is not known yet.
    pub(super) fn open(&self, what: &str) {
        if !self.quiet {
            self.draw(what, 0);
        }
    }

    /// There is more to do than was known.
    pub(super) fn grow(&self, by: usize) {
        self.bar().inc_length(by as u64);
    }

    fn draw(&self, what: &str, total: usize) {
        let style = "{msg:>16} {bar:36} {pos}/{len} {elapsed_precise} {eta:>5}";
        let style = ProgressStyle::with_template(style).expect("a good template");
        let bar = ProgressBar::new(total as u64)
            .with_style(style)
            .with_message(what.to_owned());
        if let Ok(mut held) = self.bar.lock() {
            *held = bar;
        }
    }

    fn bar(&self) -> ProgressBar {
        self.bar
            .lock()
            .map(|bar| bar.clone())
            .unwrap_or_else(|_| ProgressBar::hidden())
    }
}

impl Progress for Bars {
    fn begin(&self, what: &str, total: usize) {
        if !self.quiet && total > 0 {
            self.draw(what, total);
        }
    }

    fn advance(&self, by: usize) {
        self.bar().inc(by as u64);
    }

    fn end(&self) {
        self.bar().finish();
    }
}
