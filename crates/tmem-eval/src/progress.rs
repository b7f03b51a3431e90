//! Where long work reports how far it has come; bars are drawn by the caller.

/// Told of every stretch of work: begun, advanced, ended.
pub trait Progress: Send + Sync {
    /// `total` units of `what` begin.
    fn begin(&self, what: &str, total: usize);

    /// `by` of them are done.
    fn advance(&self, by: usize);

    /// They are over.
    fn end(&self);
}

/// Reports nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _: &str, _: usize) {}

    fn advance(&self, _: usize) {}

    fn end(&self) {}
}
