//! [`HashEncoder`]: a bag of words in vector form, for tests.

use async_trait::async_trait;

use crate::{
    EmbedError, Encoder, EncoderSpec, TextRole,
    check::{no_blank, unit},
};

/// Puts every word into a signed bucket. Texts that share words are near each other, texts that
/// share none are about orthogonal, and nothing needs to be fetched: it exercises what surrounds an
/// encoder and knows nothing of meaning, so no memory of value should be built with it.
#[derive(Clone, Debug)]
pub struct HashEncoder {
    spec: EncoderSpec,
}

impl HashEncoder {
    /// With vectors of `dimensions` numbers (one at least).
    pub fn new(dimensions: usize) -> Self {
        let dimensions = dimensions.max(1);
        Self {
            spec: EncoderSpec::plain("hash", dimensions, 1 << 20),
        }
    }

    /// The vector of one text; `None` for a blank one.
    pub fn vector(&self, text: &str) -> Option<Vec<f32>> {
        if crate::is_blank(text) {
            return None;
        }
        let words = words(text);
        let sum = self.sum(&words);
        // Two words can cancel out in one bucket; the whole text as one word cannot.
        let whole = || self.sum(&[text.to_owned()]);
        let vector = if sum.iter().all(|x| *x == 0.0) {
            whole()
        } else {
            sum
        };
        unit(&self.spec.model, self.spec.dimensions, vector).ok()
    }

    fn sum(&self, words: &[String]) -> Vec<f32> {
        let mut vector = vec![0.0; self.spec.dimensions];
        for word in words {
            let hash = fnv1a(word.as_bytes());
            let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
            vector[(hash % self.spec.dimensions as u64) as usize] += sign;
        }
        vector
    }
}

impl Default for HashEncoder {
    /// 256 buckets.
    fn default() -> Self {
        Self::new(256)
    }
}

#[async_trait]
impl Encoder for HashEncoder {
    fn spec(&self) -> &EncoderSpec {
        &self.spec
    }

    async fn encode(&self, _role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        no_blank(texts)?;
        let vectors = texts.iter().filter_map(|text| self.vector(text));
        Ok(vectors.collect())
    }
}

/// Runs of letters and digits in lower case; where there are none, the characters.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words.filter(|w| !w.is_empty()).map(str::to_owned).collect();
    match words.is_empty() {
        true => lower.chars().map(String::from).collect(),
        false => words,
    }
}

/// FNV-1a with a final mix: the same on every machine and in every version.
fn fnv1a(bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let encoder = HashEncoder::default();
        let (a, b) = (encoder.vector(a).unwrap(), encoder.vector(b).unwrap());
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn shared_words_bring_texts_together() {
        assert!(cosine("The red kite is up.", "a RED kite") > 0.5);
        assert!(cosine("The red kite is up.", "soup for dinner").abs() < 0.3);
        assert!((cosine("one two", "two, one!") - 1.0).abs() < 1e-6);
    }

    #[test]
    fn any_visible_text_has_a_vector() {
        for text in ["…", "🦜", "ok", "好", "a b c d e f g h"] {
            let vector = HashEncoder::new(1).vector(text).unwrap();
            assert!((vector[0].abs() - 1.0).abs() < 1e-6, "{text}");
        }
        assert_eq!(HashEncoder::default().vector(" \n"), None);
    }

    #[tokio::test]
    async fn a_blank_text_fails_the_call() {
        let texts = ["fine".to_owned(), " ".to_owned()];
        let result = HashEncoder::default()
            .encode(TextRole::Passage, &texts)
            .await;
        assert!(matches!(result, Err(EmbedError::Blank { index: 1 })));
    }
}
