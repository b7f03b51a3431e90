//! [`RecordedEncoder`]: vectors made once and kept in a file, for runs without weights.
//!
//! A recording is JSON Lines: first the encoder's spec, then a line per text, which is named by its
//! hash. Vectors are stored as signed bytes under a scale, which moves a cosine by less than 0.01.

use std::collections::BTreeMap;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::check::{bad, no_blank, unit};
use crate::{EmbedError, Encoder, EncoderSpec, TextRole, text_hash};

/// Gives the vectors of a recording, and refuses every other text.
#[derive(Clone, Debug)]
pub struct RecordedEncoder {
    spec: EncoderSpec,
    vectors: BTreeMap<String, Vec<f32>>,
}

#[derive(Deserialize, Serialize)]
struct Head {
    encoder: EncoderSpec,
}

#[derive(Deserialize, Serialize)]
struct Line {
    text: String,
    vector: String,
}

impl RecordedEncoder {
    /// Reads a recording.
    ///
    /// # Errors
    /// A message naming the line that is wrong.
    pub fn parse(recording: &str) -> Result<Self, String> {
        let mut lines = recording.lines().enumerate();
        let (_, head) = lines.next().ok_or("the recording is empty")?;
        let Head { encoder } = from_json(0, head)?;
        let vectors = lines
            .map(|(at, line)| vector(&encoder, at, line))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            spec: encoder,
            vectors,
        })
    }

    /// Writes a recording of `texts` (role, text, vector).
    ///
    /// # Panics
    /// Never: specs and lines are always JSON.
    #[must_use]
    pub fn record(spec: &EncoderSpec, texts: &[(TextRole, &str, &[f32])]) -> String {
        let lines: BTreeMap<String, String> = texts
            .iter()
            .map(|(role, text, vector)| (text_hash(*role, text), STANDARD.encode(codes(vector))))
            .collect();
        let mut out = to_json(&Head {
            encoder: spec.clone(),
        });
        for (text, vector) in lines {
            out.push('\n');
            out.push_str(&to_json(&Line { text, vector }));
        }
        out.push('\n');
        out
    }
}

#[async_trait]
impl Encoder for RecordedEncoder {
    fn spec(&self) -> &EncoderSpec {
        &self.spec
    }

    async fn encode(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        no_blank(texts)?;
        let found = |text: &String| match self.vectors.get(&text_hash(role, text)) {
            Some(vector) => Ok(vector.clone()),
            None => Err(bad(
                &self.spec.model,
                format!(
                    "the recording has no vector of {:?}: `tmem models pull {}` fetches the encoder",
                    text.chars().take(60).collect::<String>(),
                    self.spec.model
                ),
            )),
        };
        texts.iter().map(found).collect()
    }
}

fn vector(spec: &EncoderSpec, at: usize, line: &str) -> Result<(String, Vec<f32>), String> {
    let Line { text, vector } = from_json(at, line)?;
    let wrong = |why: String| format!("line {}: {why}", at + 1);
    let bytes = STANDARD
        .decode(vector)
        .map_err(|error| wrong(error.to_string()))?;
    let numbers = bytes
        .into_iter()
        .map(|byte| f32::from(byte.cast_signed()))
        .collect();
    let vector = unit(&spec.model, spec.dimensions, numbers).map_err(|e| wrong(e.to_string()))?;
    Ok((text, vector))
}

/// The vector in steps of its largest component; the scale is of no use to a unit vector.
fn codes(vector: &[f32]) -> Vec<u8> {
    let largest = vector
        .iter()
        .fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let code = |x: &f32| ((x / largest * 127.0).round() as i8).cast_unsigned();
    vector.iter().map(code).collect()
}

fn from_json<'a, T: Deserialize<'a>>(at: usize, line: &'a str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("specs and lines are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashEncoder;

    fn recording(texts: &[&str]) -> String {
        let hash = HashEncoder::new(64);
        let vectors: Vec<_> = texts
            .iter()
            .map(|t| hash.vector(t).expect("not blank"))
            .collect();
        let lines = texts
            .iter()
            .zip(&vectors)
            .map(|(t, v)| (TextRole::Passage, *t, v.as_slice()));
        RecordedEncoder::record(hash.spec(), &lines.collect::<Vec<_>>())
    }

    #[tokio::test]
    async fn a_recorded_vector_comes_back_nearly_as_it_was() {
        let text = "a kite over the old harbour".to_owned();
        let encoder = RecordedEncoder::parse(&recording(&[&text])).expect("a recording");
        let found = &encoder
            .encode(TextRole::Passage, std::slice::from_ref(&text))
            .await
            .expect("known")[0];
        let meant = HashEncoder::new(64).vector(&text).expect("not blank");
        let cosine: f32 = found.iter().zip(&meant).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.999, "{cosine}");
    }

    #[tokio::test]
    async fn a_text_that_was_not_recorded_is_an_error_that_names_it() {
        let encoder = RecordedEncoder::parse(&recording(&["a kite"])).expect("a recording");
        let error = encoder
            .encode(TextRole::Query, &["a kite".to_owned()])
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("no vector of \"a kite\""),
            "{error}"
        );
    }

    #[test]
    fn a_damaged_recording_names_the_line() {
        let short = recording(&["a kite"]).replace("\"vector\":\"", "\"vector\":\"AA");
        assert!(
            RecordedEncoder::parse(&short)
                .unwrap_err()
                .starts_with("line 2: ")
        );
        assert_eq!(
            RecordedEncoder::parse("").unwrap_err(),
            "the recording is empty"
        );
    }
}
