//! Where the tests find model files, and which are theirs.

use std::path::{Path, PathBuf};

use tmem_embed::{EncoderSpec, OnnxFiles};

/// The folder named by `TMEM_MODELS`, if it holds `file`; says so and gives `None` if not.
#[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
pub(crate) fn models_with(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TMEM_MODELS").map(PathBuf::from);
    let found = folder.filter(|folder| folder.join(file).exists());
    if found.is_none() {
        eprintln!("skipped: TMEM_MODELS names no folder with {file} (`tmem models pull`)");
    }
    found
}

/// A file of `tests/data`.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// One of the small models of `tests/data`, run by the real library.
///
/// They look token vectors up in a table of 12 and do nothing else. Made with `onnx.helper`.
#[allow(dead_code, reason = "not every test file uses it")]
pub(crate) fn tiny(model: &str) -> Option<OnnxFiles> {
    let library = Path::new("onnxruntime").join(tmem_embed::onnx::runtime_file_name());
    let models = models_with(&library.to_string_lossy())?;
    Some(OnnxFiles {
        runtime: models.join(library),
        model: data(model),
        tokenizer: data("tokenizer.json"),
    })
}

/// What belongs to them.
#[allow(dead_code, reason = "not every test file uses it")]
pub(crate) fn tiny_spec() -> EncoderSpec {
    EncoderSpec::plain("tiny", 4, 8)
}
