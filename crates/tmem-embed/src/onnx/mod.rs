//! ONNX models on this machine, through the ONNX Runtime library that is loaded at run time.
//!
//! [`OnnxEncoder`] and [`OnnxReranker`] take three files ([`OnnxFiles`]): the runtime library, the
//! model and its tokenizer. All three come from the caller; nothing is looked for or fetched here.

mod encoder;
mod pool;
mod reranker;
mod runtime;
mod session;
mod tokens;

use std::{
    num::NonZero,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

pub use encoder::OnnxEncoder;
pub use reranker::OnnxReranker;

/// Where the parts of a model are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnnxFiles {
    /// The ONNX Runtime library, 1.17 or later. A process loads one; the first that worked stays.
    pub runtime: PathBuf,
    /// The model.
    pub model: PathBuf,
    /// Its `tokenizer.json`. Padding and truncation in it are not heeded.
    pub tokenizer: PathBuf,
}

impl OnnxFiles {
    /// As `tmem models pull` lays them out: `onnxruntime/<library>`, `<name>/model.onnx` and
    /// `<name>/tokenizer.json` below `models`.
    pub fn in_models(models: &Path, name: &str) -> Self {
        Self {
            runtime: models.join("onnxruntime").join(runtime_file_name()),
            model: models.join(name).join("model.onnx"),
            tokenizer: models.join(name).join("tokenizer.json"),
        }
    }
}

/// What the runtime library is called on this platform.
pub fn runtime_file_name() -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    format!("{DLL_PREFIX}onnxruntime{DLL_SUFFIX}")
}

/// How a model is run. None of it changes a vector beyond rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct OnnxOptions {
    /// Threads of one run; absent: as many as there are cores.
    pub threads: Option<NonZero<usize>>,
    /// Most texts of one run. Beyond 8 a processor gains nothing.
    pub batch: NonZero<usize>,
    /// Most tokens of one run, padding included: bounds the memory of long texts.
    pub batch_tokens: NonZero<usize>,
}

impl Default for OnnxOptions {
    fn default() -> Self {
        Self {
            threads: None,
            batch: NonZero::new(8).expect("8 is not 0"),
            batch_tokens: NonZero::new(4096).expect("4096 is not 0"),
        }
    }
}

impl OnnxOptions {
    fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism();
        self.threads.or(cores.ok()).map_or(1, NonZero::get)
    }

    fn limits(&self) -> crate::batch::Limits {
        crate::batch::Limits {
            texts: self.batch.get(),
            tokens: self.batch_tokens.get(),
        }
    }
}

/// Runs what computes for long beside the tasks of the runtime, or here if there is none.
async fn off_the_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return work();
    };
    match runtime.spawn_blocking(work).await {
        Ok(result) => result,
        Err(failed) => std::panic::resume_unwind(failed.into_panic()),
    }
}
