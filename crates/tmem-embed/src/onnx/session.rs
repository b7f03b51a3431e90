//! One loaded model: rows of tokens in, the numbers of one output tensor out.
//!
//! Which inputs a model gets is read off the model: exports of the same family differ in it.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use ort::{
    session::{Session, SessionInputValue},
    value::{Outlet, Tensor, TensorElementType, ValueType},
};

use super::{
    OnnxFiles, OnnxOptions, runtime,
    tokens::{TextTokenizer, Tokens, missing},
};
use crate::EmbedError;

/// What a model may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Ids,
    Mask,
    Types,
    Positions,
}

#[derive(Debug)]
struct Input {
    name: String,
    content: Content,
    wide: bool,
}

/// The tensor that a run gave.
pub(crate) struct Output<'a> {
    /// Its dimensions.
    pub(crate) shape: &'a [i64],
    /// Its numbers, last dimension fastest.
    pub(crate) data: &'a [f32],
}

/// A model with its tokenizer.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) tokenizer: TextTokenizer,
    session: Mutex<Session>,
    inputs: Vec<Input>,
    output: usize,
}

impl Model {
    pub(crate) fn load(
        name: &str,
        max_tokens: usize,
        files: &OnnxFiles,
        options: &OnnxOptions,
    ) -> Result<Self, EmbedError> {
        if !files.model.is_file() {
            return Err(missing(name, &files.model));
        }
        let tokenizer = TextTokenizer::load(name, &files.tokenizer, max_tokens)?;
        let session = session(name, files, options)?;
        let inputs = session.inputs().iter().map(|outlet| input(name, outlet));
        let inputs = inputs.collect::<Result<_, _>>()?;
        let output = output(name, session.outputs())?;
        Ok(Self {
            name: name.to_owned(),
            tokenizer,
            session: Mutex::new(session),
            inputs,
            output,
        })
    }

    /// Runs the highest token id once, and gives the shape of the answer: whether the tokenizer
    /// fits the model shows here rather than at some rare word later.
    pub(crate) fn probe(&self) -> Result<Vec<i64>, EmbedError> {
        let row = |id| Tokens {
            ids: vec![id],
            types: vec![0],
        };
        let shape = |output: Output<'_>| Ok(output.shape.to_vec());
        let last = self.tokenizer.last_id();
        self.run(&[&row(last)], shape).map_err(|error| match error {
            EmbedError::Run { model, message } if self.run(&[&row(0)], shape).is_ok() => {
                EmbedError::TokenizerMismatch {
                    model,
                    tokens: last as usize + 1,
                    message,
                }
            }
            other => other,
        })
    }

    /// Runs rows as one batch, padded to the longest, and hands the output to `read`.
    pub(crate) fn run<T>(
        &self,
        rows: &[&Tokens],
        read: impl FnOnce(Output<'_>) -> Result<T, EmbedError>,
    ) -> Result<T, EmbedError> {
        let failed = |error: ort::Error| self.failed(error.to_string());
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let values = self.inputs.iter().map(|input| {
            let value = self.value(input, rows)?;
            Ok((input.name.as_str(), value))
        });
        let values = values.collect::<Result<Vec<_>, ort::Error>>();
        let outputs = session.run(values.map_err(failed)?).map_err(failed)?;
        let tensor = outputs[self.output].try_extract_tensor::<f32>();
        let (shape, data) = tensor.map_err(failed)?;
        read(Output { shape, data })
    }

    /// An error of a run.
    pub(crate) fn failed(&self, message: impl Into<String>) -> EmbedError {
        EmbedError::Run {
            model: self.name.clone(),
            message: message.into(),
        }
    }

    fn value(&self, input: &Input, rows: &[&Tokens]) -> ort::Result<SessionInputValue<'static>> {
        let width = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        let pad = i64::from(self.tokenizer.pad_id());
        let cells = rows
            .iter()
            .flat_map(|row| (0..width).map(move |column| cell(input.content, row, column, pad)));
        let shape = [rows.len(), width];
        Ok(match input.wide {
            true => Tensor::from_array((shape, cells.collect::<Vec<_>>()))?.into(),
            false => {
                let narrow = cells.map(|cell| cell as i32).collect::<Vec<_>>();
                Tensor::from_array((shape, narrow))?.into()
            }
        })
    }
}

fn cell(content: Content, row: &Tokens, column: usize, pad: i64) -> i64 {
    let inside = column < row.ids.len();
    match content {
        Content::Ids if inside => i64::from(row.ids[column]),
        Content::Ids => pad,
        Content::Mask => i64::from(inside),
        Content::Types if inside => i64::from(row.types[column]),
        Content::Types => 0,
        Content::Positions => column as i64,
    }
}

fn session(name: &str, files: &OnnxFiles, options: &OnnxOptions) -> Result<Session, EmbedError> {
    let environment = runtime::environment(&files.runtime)?;
    let not_onnx = |message: String| not_onnx(name, &files.model, message);
    let builder = Session::builder(environment).map_err(|e| not_onnx(e.to_string()))?;
    let builder = builder.with_intra_threads(options.threads());
    let builder = builder.map_err(|e| not_onnx(e.to_string()))?;
    // Threads that spin while they wait only pay on a machine that has nothing else to do.
    let builder = builder.with_intra_op_spinning(false);
    let mut builder = builder.map_err(|e| not_onnx(e.to_string()))?;
    let session = builder.commit_from_file(&files.model);
    session.map_err(|e| not_onnx(e.to_string()))
}

fn not_onnx(name: &str, path: &Path, message: String) -> EmbedError {
    EmbedError::NotOnnx {
        model: name.to_owned(),
        path: path.to_owned(),
        message,
    }
}

fn input(model: &str, outlet: &Outlet) -> Result<Input, EmbedError> {
    let unsupported = |message: String| EmbedError::Unsupported {
        model: model.to_owned(),
        message,
    };
    let name = outlet.name().to_owned();
    let content = match name.as_str() {
        "input_ids" => Content::Ids,
        "attention_mask" => Content::Mask,
        "token_type_ids" => Content::Types,
        "position_ids" => Content::Positions,
        _ => return Err(unsupported(format!("it asks for an input {name:?}"))),
    };
    let wide = match outlet.dtype() {
        ValueType::Tensor { ty, .. } if *ty == TensorElementType::Int64 => true,
        ValueType::Tensor { ty, .. } if *ty == TensorElementType::Int32 => false,
        other => {
            return Err(unsupported(format!(
                "its input {name:?} is of type {other:?}"
            )));
        }
    };
    Ok(Input {
        name,
        content,
        wide,
    })
}

/// The first output with a vector per token, else the first with one per text.
fn output(model: &str, outlets: &[Outlet]) -> Result<usize, EmbedError> {
    let of_rank = |rank: usize| outlets.iter().position(|outlet| is_float(outlet, rank));
    let found = of_rank(3).or_else(|| of_rank(2)).or_else(|| of_rank(1));
    found.ok_or_else(|| EmbedError::Unsupported {
        model: model.to_owned(),
        message: "it has no output of 32-bit floats per token or per text".to_owned(),
    })
}

fn is_float(outlet: &Outlet, rank: usize) -> bool {
    let ValueType::Tensor { ty, shape, .. } = outlet.dtype() else {
        return false;
    };
    *ty == TensorElementType::Float32 && shape.len() == rank
}
