//! [`OnnxEncoder`]: a sentence encoder on this machine.

use std::sync::Arc;

use async_trait::async_trait;

use super::{OnnxFiles, OnnxOptions, off_the_runtime, pool, session::Model, tokens::Tokens};
use crate::{
    EmbedError, Encoder, EncoderSpec, TextRole,
    batch::{Limits, by_length, in_input_order},
    check::{no_blank, unit},
};

/// A sentence encoder in ONNX form. One run at a time: clones share the model.
#[derive(Clone)]
pub struct OnnxEncoder(Arc<Inner>);

struct Inner {
    spec: EncoderSpec,
    limits: Limits,
    model: Model,
}

impl OnnxEncoder {
    /// Loads a model and runs it once, which shows whether files and `spec` belong together.
    ///
    /// # Errors
    /// [`EmbedError`] for a runtime library that is missing, unusable or too old, a file that is
    /// missing or not what it should be, a tokenizer of another model, other dimensions than
    /// `spec` says.
    pub fn load(files: &OnnxFiles, spec: EncoderSpec) -> Result<Self, EmbedError> {
        Self::load_with(files, spec, OnnxOptions::default())
    }

    /// [`OnnxEncoder::load`] with options.
    ///
    /// # Errors
    /// As there.
    pub fn load_with(
        files: &OnnxFiles,
        spec: EncoderSpec,
        options: OnnxOptions,
    ) -> Result<Self, EmbedError> {
        let model = Model::load(&spec.model, spec.max_tokens, files, &options)?;
        let found = pool::dimensions(&model.probe()?);
        if found != spec.dimensions {
            return Err(EmbedError::Dimensions {
                model: spec.model,
                expected: spec.dimensions,
                found,
            });
        }
        Ok(Self(Arc::new(Inner {
            spec,
            limits: options.limits(),
            model,
        })))
    }
}

#[async_trait]
impl Encoder for OnnxEncoder {
    fn spec(&self) -> &EncoderSpec {
        &self.0.spec
    }

    async fn encode(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        no_blank(texts)?;
        let prefix = self.0.spec.prefix(role);
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let inner = Arc::clone(&self.0);
        off_the_runtime(move || inner.encode(&texts)).await
    }
}

impl Inner {
    fn encode(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let rows = texts.iter().map(|text| self.model.tokenizer.one(text));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let lengths: Vec<usize> = rows.iter().map(|row| row.ids.len()).collect();
        let runs = by_length(&lengths, self.limits);
        let mut vectors = Vec::with_capacity(rows.len());
        for run in &runs {
            let batch: Vec<&Tokens> = run.iter().map(|position| &rows[*position]).collect();
            vectors.extend(self.run(&batch)?);
        }
        Ok(in_input_order(&runs, vectors))
    }

    fn run(&self, batch: &[&Tokens]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let EncoderSpec {
            model,
            dimensions,
            pooling,
            ..
        } = &self.spec;
        let pooled = self.model.run(batch, |output| {
            pool::vectors(model, *pooling, batch, &output)
        })?;
        let unit = |vector| unit(model, *dimensions, vector);
        pooled.into_iter().map(unit).collect()
    }
}
