//! What can go wrong between a text and its vector. Where the user can do something about it, the
//! message ends with what to do.

use std::path::PathBuf;

/// Why texts could not be embedded or scored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A text without a visible character.
    #[error("text {index} of the batch is blank")]
    Blank {
        /// Its position.
        index: usize,
    },
    /// The model answered something other than one finite vector (or score) per text.
    #[error("{model}: {message}")]
    BadVectors {
        /// The model.
        model: String,
        /// What is wrong.
        message: String,
    },
    /// The vectors have another length than the configuration says.
    #[error(
        "{model} gives vectors of {found} numbers, configured are {expected}: correct \
         `dimensions`, then rebuild the stored vectors with `tmem reindex`"
    )]
    Dimensions {
        /// The model.
        model: String,
        /// As configured.
        expected: usize,
        /// As received.
        found: usize,
    },
    /// The file of the runtime library is not there.
    #[error(
        "no ONNX Runtime library at {path}: run `tmem models pull onnxruntime`, or give the path \
         of an installed one"
    )]
    RuntimeMissing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file is no usable runtime library.
    #[error(
        "{path} cannot be used as ONNX Runtime library ({message}): run `tmem models pull \
         onnxruntime`"
    )]
    RuntimeUnusable {
        /// The file.
        path: PathBuf,
        /// What the loader said.
        message: String,
    },
    /// The runtime library is older than what we are built for.
    #[error(
        "{path} is ONNX Runtime {found}, needed is {required} or later: run `tmem models pull \
         onnxruntime`"
    )]
    RuntimeTooOld {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The oldest that works.
        required: String,
    },
    /// A file of the model is not there.
    #[error("no file {path}: run `tmem models pull {model}`, or correct the path")]
    ModelMissing {
        /// The model.
        model: String,
        /// The file.
        path: PathBuf,
    },
    /// The runtime refuses the model file.
    #[error(
        "{path} is not a usable ONNX model ({message}): delete it and run `tmem models pull \
         {model}`"
    )]
    NotOnnx {
        /// The model.
        model: String,
        /// The file.
        path: PathBuf,
        /// What the runtime said.
        message: String,
    },
    /// The tokenizer file cannot be read.
    #[error("{path} is not a tokenizer ({message}): delete it and run `tmem models pull {model}`")]
    BadTokenizer {
        /// The model.
        model: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Tokenizer and model belong to different models.
    #[error(
        "the tokenizer of {model} has {tokens} tokens, which its ONNX file refuses ({message}): \
         take both files from the same model"
    )]
    TokenizerMismatch {
        /// The model.
        model: String,
        /// Size of the tokenizer's vocabulary.
        tokens: usize,
        /// What the runtime said.
        message: String,
    },
    /// The model asks for an input we cannot give, or answers in a shape we cannot read.
    #[error("{model} is not a text encoder we can run: {message}")]
    Unsupported {
        /// The model.
        model: String,
        /// What is out of the ordinary.
        message: String,
    },
    /// The runtime failed on a batch.
    #[error("{model} failed: {message}")]
    Run {
        /// The model.
        model: String,
        /// What the runtime said.
        message: String,
    },
    /// The endpoint could not be asked, or refused.
    #[error("{model} could not be asked")]
    Request {
        /// The model.
        model: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
