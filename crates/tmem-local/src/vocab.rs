//! Text to tokens and back. Text of a message is always plain: a control token spelled out in it is
//! encoded letter by letter, and only this crate places real ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use candle_core::quantized::gguf_file::Value;
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use llguidance::toktrie::{TokEnv, TokRxInfo, TokTrie, TokenizerEnv};
use tokenizers::Tokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use crate::error::{LocalError, first_line};
use crate::gguf::Gguf;

/// `tokenizer.ggml.token_type` of a token that is ordinary text.
const NORMAL: i64 = 1;
/// `tokenizer.ggml.token_type` of a single byte.
const BYTE: i64 = 6;

/// Values of `tokenizer.ggml.pre` whose rule the reader knows. For all others it would put a space
/// before every text, which these models never saw after a control token.
const SPLIT_BY_THEIR_OWN_RULE: [&str; 4] = ["qwen2", "llama3", "smaug-bpe", "lfm2"];

/// Fewer letters begin too many words (count).
const TELLING: usize = 3;

/// First byte of the characters from U+3000 on.
const FAR: u8 = 0xe3;

/// Whether a token is how a word that begins with `word` begins, or its first letters.
fn begins(token: &str, word: &str) -> bool {
    let token = token.trim_start().to_lowercase();
    let telling = word.chars().count() >= TELLING;
    telling
        && (token.starts_with(word) || token.chars().count() > TELLING && word.starts_with(&token))
}

/// The vocabulary of a model.
#[derive(Clone)]
pub(crate) struct Vocab {
    inner: Arc<Inner>,
}

struct Inner {
    tokenizer: Tokenizer,
    trie: TokTrie,
    /// Control tokens by their spelling.
    control: HashMap<String, u32>,
    ends: Vec<u32>,
    begin: Option<u32>,
}

impl Vocab {
    /// The vocabulary in the header of a file whose embedding has `rows` rows.
    pub(crate) fn of(gguf: &Gguf, rows: usize) -> Result<Self, LocalError> {
        let content = gguf.content();
        let mut tokenizer = Tokenizer::from_gguf(content).map_err(|error| {
            gguf.unsupported(format!(
                "its tokenizer cannot be used: {}",
                first_line(&error)
            ))
        })?;
        tokenizer.set_encode_special_tokens(true);
        if !SPLIT_BY_THEIR_OWN_RULE.contains(&gguf.text("tokenizer.ggml.pre").unwrap_or_default()) {
            tokenizer.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
        }
        let spellings = spellings(gguf)?;
        if spellings.len() > rows {
            return Err(gguf.unsupported(format!(
                "{} tokens, but {rows} rows of embedding",
                spellings.len()
            )));
        }
        let control = spellings
            .iter()
            .enumerate()
            .filter(|(_, s)| s.kind != NORMAL && s.kind != BYTE);
        let control: HashMap<_, _> = control
            .map(|(id, spelling)| (spelling.text.clone(), id as u32))
            .collect();
        let ends = ends(gguf, &control);
        let Some(&end) = ends.first() else {
            return Err(gguf.unsupported("no token ends a reply".to_owned()));
        };
        let trie = trie(&spellings, rows, end).with_eos_tokens(&ends);
        let begin = begin(gguf);
        Ok(Self {
            inner: Arc::new(Inner {
                tokenizer,
                trie,
                control,
                ends,
                begin,
            }),
        })
    }

    /// The tokens of plain text.
    pub(crate) fn encode(&self, text: &str) -> Vec<u32> {
        self.inner.encode(text)
    }

    /// Tokens that begin a word that begins with one of `words`, all of it or its first letters.
    pub(crate) fn beginning_with(&self, words: &[String]) -> HashSet<u32> {
        let spelled = |id: &u32| {
            let token = std::str::from_utf8(self.bytes(*id)).unwrap_or_default();
            words.iter().any(|word| begins(token, word))
        };
        match words.is_empty() {
            true => HashSet::new(),
            false => (0..self.len() as u32).filter(spelled).collect(),
        }
    }

    /// Tokens of Chinese, Korean and the like, unless `said` has a character of theirs: a small model
    /// slips into them when the word that is next is not to be had.
    pub(crate) fn strange_to(&self, said: &str) -> HashSet<u32> {
        let far = |bytes: &[u8]| bytes.iter().any(|byte| *byte >= FAR);
        match far(said.as_bytes()) {
            true => HashSet::new(),
            false => (0..self.len() as u32)
                .filter(|id| far(self.bytes(*id)))
                .collect(),
        }
    }

    /// The control token spelled so.
    pub(crate) fn control(&self, spelling: &str) -> Option<u32> {
        self.inner.control.get(spelling).copied()
    }

    /// The token that opens every prompt, if the model wants one.
    pub(crate) fn begin(&self) -> Option<u32> {
        self.inner.begin
    }

    /// Whether a token ends a reply.
    pub(crate) fn is_end(&self, token: u32) -> bool {
        self.inner.ends.contains(&token)
    }

    /// The bytes of a token; empty for a control token.
    pub(crate) fn bytes(&self, token: u32) -> &[u8] {
        match self.inner.trie.is_special_token(token) {
            true => &[],
            false => self.inner.trie.token(token),
        }
    }

    /// Tokens there are, unused ones included.
    pub(crate) fn len(&self) -> usize {
        self.inner.trie.vocab_size()
    }

    /// The vocabulary as the grammar engine wants it.
    pub(crate) fn environment(&self) -> TokEnv {
        self.inner.clone()
    }
}

impl Inner {
    fn encode(&self, text: &str) -> Vec<u32> {
        match self.tokenizer.encode_fast(text, false) {
            Ok(encoding) => encoding.get_ids().to_vec(),
            Err(_) => self.trie.greedy_tokenize(text.as_bytes()),
        }
    }
}

impl TokenizerEnv for Inner {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        self.trie
            .tokenize_with_greedy_fallback(bytes, |text| self.encode(text))
    }
}

/// One entry of the token list.
struct Spelling {
    text: String,
    kind: i64,
}

fn spellings(gguf: &Gguf) -> Result<Vec<Spelling>, LocalError> {
    let metadata = &gguf.content().metadata;
    let Some(Value::Array(tokens)) = metadata.get("tokenizer.ggml.tokens") else {
        return Err(gguf.unsupported("it has no token list".to_owned()));
    };
    let kinds = match metadata.get("tokenizer.ggml.token_type") {
        Some(Value::Array(kinds)) => kinds.as_slice(),
        _ => &[],
    };
    let spelling = |(index, token): (usize, &Value)| match token {
        Value::String(text) => Spelling {
            text: text.clone(),
            kind: kinds.get(index).map_or(NORMAL, kind),
        },
        _ => Spelling {
            text: String::new(),
            kind: NORMAL,
        },
    };
    Ok(tokens.iter().enumerate().map(spelling).collect())
}

fn kind(value: &Value) -> i64 {
    match value {
        Value::I32(kind) => i64::from(*kind),
        other => other.to_u64().map_or(NORMAL, |kind| kind as i64),
    }
}

/// Tokens that end a reply: the declared one first, then the usual spellings.
fn ends(gguf: &Gguf, control: &HashMap<String, u32>) -> Vec<u32> {
    let declared = gguf
        .number("tokenizer.ggml.eos_token_id")
        .ok()
        .map(|id| id as u32);
    let usual = ["<|im_end|>", "<|eot_id|>", "<|endoftext|>", "</s>"];
    let usual = usual
        .iter()
        .filter_map(|spelling| control.get(*spelling).copied());
    let mut ends: Vec<u32> = declared.into_iter().chain(usual).collect();
    let mut seen = Vec::new();
    ends.retain(|end| {
        !seen.contains(end) && {
            seen.push(*end);
            true
        }
    });
    ends
}

fn begin(gguf: &Gguf) -> Option<u32> {
    let wanted = matches!(
        gguf.content().metadata.get("tokenizer.ggml.add_bos_token"),
        Some(Value::Bool(true))
    );
    let id = gguf.number("tokenizer.ggml.bos_token_id").ok()?;
    wanted.then_some(id as u32)
}

/// All tokens by their bytes. Rows without a token get no spelling, so that they are never chosen.
fn trie(spellings: &[Spelling], rows: usize, end: u32) -> TokTrie {
    let table = byte_table();
    let mut words: Vec<Vec<u8>> = spellings
        .iter()
        .map(|spelling| word(spelling, &table))
        .collect();
    words.resize(rows, Vec::new());
    TokTrie::from(&TokRxInfo::new(rows as u32, end), &words)
}

fn word(spelling: &Spelling, table: &HashMap<char, u8>) -> Vec<u8> {
    if spelling.kind != NORMAL && spelling.kind != BYTE {
        let mark = std::iter::once(TokTrie::SPECIAL_TOKEN_MARKER);
        return mark.chain(spelling.text.bytes()).collect();
    }
    let bytes: Option<Vec<u8>> = spelling
        .text
        .chars()
        .map(|char| table.get(&char).copied())
        .collect();
    bytes.unwrap_or_else(|| spelling.text.clone().into_bytes())
}

/// How byte-level vocabularies spell bytes: printable ones as themselves, the others as characters
/// from 256 on, in order.
fn byte_table() -> HashMap<char, u8> {
    let mut spare = 256;
    let spell = |byte: u8| {
        if matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff) {
            return (char::from(byte), byte);
        }
        let char = char::from_u32(spare).expect("256 to 511 are characters");
        spare += 1;
        (char, byte)
    };
    (0..=255).map(spell).collect()
}

#[cfg(test)]
mod tests {
    use super::begins;
    use crate::tests::vocab;

    #[track_caller]
    fn check(token: &str, word: &str, expect: bool) {
        assert_eq!(begins(token, word), expect, "{token:?} for {word:?}");
    }

    #[test]
    fn a_word_begins_with_its_token_whatever_its_ending() {
        check(" Lifting", "lift", true);
        check("lif", "lift", false);
        check(" christ", "christmas", true);
        check(" chris", "christmas", true);
        check(" uplift", "lift", false);
        check(" at", "at", false);
        check(" ", "lift", false);
    }

    #[test]
    fn a_far_script_is_strange_unless_it_was_said() {
        let vocab = vocab();
        let strange = vocab.strange_to("Grüße aus København");
        let lead = (0..vocab.len() as u32).filter(|id| vocab.bytes(*id).contains(&0xe6));
        assert!(lead.clone().count() > 0 && lead.clone().all(|id| strange.contains(&id)));
        assert!(!strange.contains(&vocab.encode("a")[0]));
        assert!(vocab.strange_to("你好").is_empty());
    }
}
