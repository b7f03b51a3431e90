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

    fn bar(&self) -> ProgressBar {
        self.bar
            .lock()
            .map(|bar| bar.clone())
            .unwrap_or_else(|_| ProgressBar::hidden())
    }
}

impl Progress for Bars {
    fn begin(&self, what: &str, total: usize) {
        if self.quiet || total == 0 {
            return;
        }
        let style = "{msg:>16} {bar:36} {pos}/{len} {elapsed_precise} {eta:>5}";
        let style = ProgressStyle::with_template(style).expect("a good template");
        let bar = ProgressBar::new(total as u64)
            .with_style(style)
            .with_message(what.to_owned());
        if let Ok(mut held) = self.bar.lock() {
            *held = bar;
        }
    }

    fn advance(&self, by: usize) {
        self.bar().inc(by as u64);
    }

    fn end(&self) {
        self.bar().finish();
    }
}
