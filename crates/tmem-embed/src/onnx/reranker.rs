//! [`OnnxReranker`]: a cross-encoder on this machine.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;

use super::{
    OnnxFiles, OnnxOptions, off_the_runtime,
    session::{Model, Output},
    tokens::Tokens,
};
use crate::{
    EmbedError, Reranker,
    batch::{Limits, by_length, in_input_order},
    check::{bad, no_blank},
};

/// A cross-encoder in ONNX form: reads query and text together, gives one logit (or two, of which
/// the second speaks for the text).
#[derive(Clone)]
pub struct OnnxReranker(Arc<Inner>);

struct Inner {
    limits: Limits,
    model: Model,
}

impl OnnxReranker {
    /// Loads a model and runs it once.
    ///
    /// `max_tokens`: the longest pair of query and text; what exceeds it is cut from the longer.
    ///
    /// # Errors
    /// As [`OnnxEncoder::load`](super::OnnxEncoder::load).
    pub fn load(
        files: &OnnxFiles,
        max_tokens: usize,
        options: OnnxOptions,
    ) -> Result<Self, EmbedError> {
        let model = Model::load(&name(&files.model), max_tokens, files, &options)?;
        let shape = model.probe()?;
        scores(&model.name, 1, &shape, &[0.0; 2])?;
        Ok(Self(Arc::new(Inner {
            limits: options.limits(),
            model,
        })))
    }
}

#[async_trait]
impl Reranker for OnnxReranker {
    async fn score(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        no_blank(texts)?;
        let (query, texts) = (query.to_owned(), texts.to_vec());
        let inner = Arc::clone(&self.0);
        off_the_runtime(move || inner.score(&query, &texts)).await
    }
}

impl Inner {
    fn score(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        let rows = texts
            .iter()
            .map(|text| self.model.tokenizer.pair(query, text));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let lengths: Vec<usize> = rows.iter().map(|row| row.ids.len()).collect();
        let runs = by_length(&lengths, self.limits);
        let mut logits = Vec::with_capacity(rows.len());
        for run in &runs {
            let batch: Vec<&Tokens> = run.iter().map(|position| &rows[*position]).collect();
            let read = |out: Output<'_>| scores(&self.model.name, batch.len(), out.shape, out.data);
            logits.extend(self.model.run(&batch, read)?);
        }
        Ok(in_input_order(&runs, logits))
    }
}

/// The folder of the model file, which is named after the model.
fn name(model: &Path) -> String {
    let folder = model.parent().and_then(Path::file_name);
    folder
        .unwrap_or(model.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn scores(model: &str, texts: usize, shape: &[i64], data: &[f32]) -> Result<Vec<f32>, EmbedError> {
    let scores: Vec<f32> = match *shape {
        [n] | [n, 1] if n as usize == texts => data[..texts].to_vec(),
        [n, 2] if n as usize == texts => data.chunks(2).map(|pair| pair[1] - pair[0]).collect(),
        _ => {
            return Err(bad(
                model,
                format!("an output of shape {shape:?} for {texts} pairs"),
            ));
        }
    };
    match scores.iter().find(|score| !score.is_finite()) {
        Some(score) => Err(bad(model, format!("a score of {score}"))),
        None => Ok(scores),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shape: &[i64], data: &[f32], expected: Result<&[f32], &str>) {
        let found = scores("m", 2, shape, data).map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn one_logit_or_two_make_a_score() {
        check(&[2, 1], &[0.5, -1.0], Ok(&[0.5, -1.0]));
        check(&[2], &[0.5, -1.0], Ok(&[0.5, -1.0]));
        check(&[2, 2], &[0.0, 1.0, 3.0, 1.0], Ok(&[1.0, -2.0]));
    }

    #[test]
    fn what_cannot_be_ordered_is_refused() {
        check(&[2, 1], &[0.5, f32::NAN], Err("m: a score of NaN"));
        check(
            &[2, 3],
            &[0.0; 6],
            Err("m: an output of shape [2, 3] for 2 pairs"),
        );
    }
}
