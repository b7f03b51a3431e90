//! The constant beginnings of prompts, kept as the decoder remembers them, so that calls of one
//! kind read theirs once.

use crate::cache::KvCache;

/// A few beginnings, the one used last in front.
pub(crate) struct Prefixes {
    kept: Vec<(Vec<u32>, KvCache)>,
    limit: usize,
}

impl Prefixes {
    /// Keeps at most `limit`.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            kept: Vec::new(),
            limit,
        }
    }

    /// What the decoder remembers of exactly these tokens, to be added to.
    pub(crate) fn find(&mut self, tokens: &[u32]) -> candle_core::Result<Option<KvCache>> {
        let Some(index) = self.kept.iter().position(|(kept, _)| kept == tokens) else {
            return Ok(None);
        };
        let found = self.kept.remove(index);
        let copy = found.1.fork()?;
        self.kept.insert(0, found);
        Ok(Some(copy))
    }

    /// Keeps a copy of `cache`, which holds exactly these tokens, in place of the one used longest ago.
    pub(crate) fn keep(&mut self, tokens: &[u32], cache: &KvCache) -> candle_core::Result<()> {
        if self.limit > 0 && !tokens.is_empty() {
            self.kept.truncate(self.limit - 1);
            self.kept.insert(0, (tokens.to_vec(), cache.fork()?));
        }
        Ok(())
    }
}
