//! Texts to token ids. Padding and truncation are ours: what a `tokenizer.json` says about them is
//! often the setting of whoever exported it, not the model's.

use std::path::Path;

use tokenizers::{Encoding, Tokenizer, TruncationParams};

use crate::EmbedError;

/// No model packs this many characters into a token; what lies beyond is not even tokenised.
const CHARS_PER_TOKEN: usize = 64;

/// One text, or a pair of texts, as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) ids: Vec<u32>,
    pub(crate) types: Vec<u32>,
}

impl From<Encoding> for Tokens {
    fn from(encoding: Encoding) -> Self {
        Self {
            ids: encoding.get_ids().to_vec(),
            types: encoding.get_type_ids().to_vec(),
        }
    }
}

/// A tokenizer with a limit of our own.
pub(crate) struct TextTokenizer {
    inner: Tokenizer,
    model: String,
    max_chars: usize,
    pad_id: u32,
}

impl TextTokenizer {
    pub(crate) fn load(model: &str, path: &Path, max_tokens: usize) -> Result<Self, EmbedError> {
        if !path.is_file() {
            return Err(missing(model, path));
        }
        let bad = |error: tokenizers::Error| EmbedError::BadTokenizer {
            model: model.to_owned(),
            path: path.to_owned(),
            message: error.to_string(),
        };
        let mut inner = Tokenizer::from_file(path).map_err(bad)?;
        let pad_id = pad_id(&inner);
        inner.with_padding(None);
        let limit = TruncationParams {
            max_length: max_tokens,
            ..TruncationParams::default()
        };
        inner.with_truncation(Some(limit)).map_err(bad)?;
        Ok(Self {
            inner,
            model: model.to_owned(),
            max_chars: max_tokens.saturating_mul(CHARS_PER_TOKEN),
            pad_id,
        })
    }

    /// What stands where a row of a batch is shorter than its longest.
    pub(crate) fn pad_id(&self) -> u32 {
        self.pad_id
    }

    /// The highest id it can give.
    pub(crate) fn last_id(&self) -> u32 {
        let ids = self.inner.get_vocab(true).into_values();
        ids.max().unwrap_or_default()
    }

    /// One text with the model's special tokens; what exceeds the limit is cut at its end.
    pub(crate) fn one(&self, text: &str) -> Result<Tokens, EmbedError> {
        let encoding = self.inner.encode_fast(self.clamp(text), true);
        encoding.map(Tokens::from).map_err(|e| self.failed(&e))
    }

    /// Two texts; what exceeds the limit is cut from the longer one.
    pub(crate) fn pair(&self, first: &str, second: &str) -> Result<Tokens, EmbedError> {
        let pair = (self.clamp(first), self.clamp(second));
        let encoding = self.inner.encode_fast(pair, true);
        encoding.map(Tokens::from).map_err(|e| self.failed(&e))
    }

    fn clamp<'t>(&self, text: &'t str) -> &'t str {
        match text.char_indices().nth(self.max_chars) {
            Some((end, _)) => &text[..end],
            None => text,
        }
    }

    fn failed(&self, error: &tokenizers::Error) -> EmbedError {
        EmbedError::Run {
            model: self.model.clone(),
            message: format!("tokenizing: {error}"),
        }
    }
}

pub(crate) fn missing(model: &str, path: &Path) -> EmbedError {
    EmbedError::ModelMissing {
        model: model.to_owned(),
        path: path.to_owned(),
    }
}

/// Models of the RoBERTa family count positions by comparing ids with the padding id, so the
/// attention mask alone is not enough.
fn pad_id(tokenizer: &Tokenizer) -> u32 {
    let declared = tokenizer.get_padding().map(|padding| padding.pad_id);
    let known = || {
        ["[PAD]", "<pad>"]
            .iter()
            .find_map(|token| tokenizer.token_to_id(token))
    };
    declared.or_else(known).unwrap_or_default()
}
