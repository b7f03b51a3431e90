//! What a wrong runtime library leads to. Apart from the other tests: a process that has loaded a
//! good library keeps it.

#![cfg(feature = "onnx")]

mod common;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use common::{data, tiny_spec};
use tmem_embed::{OnnxEncoder, OnnxFiles};

/// What loading with this library fails with, its folder left out.
fn failure(library: PathBuf) -> String {
    let folder = library.parent().unwrap().join("");
    let files = OnnxFiles {
        runtime: library.clone(),
        model: data("two_inputs.onnx"),
        tokenizer: data("tokenizer.json"),
    };
    match OnnxEncoder::load(&files, tiny_spec()) {
        Ok(_) => panic!("{} loaded", library.display()),
        Err(error) => error.to_string().replace(folder.to_str().unwrap(), ""),
    }
}

/// Compiles `data/old_runtime.rs` to a library.
fn library(folder: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let output = folder.join(name);
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let source = data("old_runtime.rs");
    let mut compiler = Command::new(rustc);
    compiler.args([
        "--edition",
        "2024",
        "--crate-type",
        "cdylib",
        "--cap-lints",
        "allow",
    ]);
    compiler.args(flags).arg(source).arg("-o").arg(&output);
    assert!(compiler.status().unwrap().success());
    output
}

#[test]
fn a_missing_library_names_the_command_that_fetches_it() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        failure(folder.path().join("libnone.so")),
        "no ONNX Runtime library at libnone.so: run `tmem models pull onnxruntime`, or give the \
         path of an installed one"
    );
}

#[test]
fn a_file_that_is_no_library_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libtext.so");
    std::fs::write(&path, "not a library").unwrap();
    let message = failure(path);
    assert!(
        message.starts_with("libtext.so cannot be used as ONNX Runtime library ("),
        "{message}"
    );
    assert!(
        message.ends_with("): run `tmem models pull onnxruntime`"),
        "{message}"
    );
}

#[test]
fn an_old_library_is_named_with_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        failure(library(folder.path(), "libold.so", &[])),
        "libold.so is ONNX Runtime 1.10.0, needed is 1.17 or later: run `tmem models pull \
         onnxruntime`"
    );
}

#[test]
fn another_library_is_no_runtime() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        failure(library(folder.path(), "libother.so", &["--cfg", "stub"])),
        "libother.so cannot be used as ONNX Runtime library (it does not export \
         `OrtGetApiBase`): run `tmem models pull onnxruntime`"
    );
}
