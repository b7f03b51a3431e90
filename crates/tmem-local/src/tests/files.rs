//! Files that are no good: each gives one error that says what to do.

use std::path::Path;

use candle_core::quantized::GgmlDType;
use expect_test::{Expect, expect};

use super::tiny::Tiny;
use super::{complete, request};
use crate::{LocalConfig, LocalModel};

#[track_caller]
fn check(path: &Path, expect: Expect) {
    let Err(error) = LocalModel::load(path, &LocalConfig::default()) else {
        panic!("it loaded");
    };
    let folder = path.parent().expect("a folder").display().to_string();
    expect.assert_eq(&error.to_string().replace(&folder, "models"));
}

/// Writes a tiny model and changes its bytes.
#[track_caller]
fn check_changed(change: impl FnOnce(&mut Vec<u8>), expect: Expect) {
    let (_folder, path) = Tiny::new().write();
    let mut bytes = std::fs::read(&path).expect("it was written");
    change(&mut bytes);
    std::fs::write(&path, bytes).expect("a file");
    check(&path, expect);
}

#[test]
fn a_missing_file() {
    let folder = tempfile::tempdir().expect("a folder");
    check(
        &folder.path().join("none.gguf"),
        expect![
            "no model at models/none.gguf: `tmem models pull` fetches one, or name another GGUF file"
        ],
    );
}

#[test]
fn a_file_of_another_kind() {
    check_changed(
        |bytes| bytes[..4].copy_from_slice(b"PK\x03\x04"),
        expect!["models/tiny.gguf is not a GGUF file: `tmem models pull` fetches one that works"],
    );
}

#[test]
fn an_empty_file() {
    check_changed(
        Vec::clear,
        expect!["models/tiny.gguf is not a GGUF file: `tmem models pull` fetches one that works"],
    );
}

#[test]
fn a_file_cut_in_its_header() {
    check_changed(
        |bytes| bytes.truncate(1000),
        expect![
            "models/tiny.gguf is damaged or cut short (gguf: array of 267 elements needs at least 2136 bytes, only 799 remaining): delete it and run `tmem models pull`"
        ],
    );
}

#[test]
fn a_file_cut_in_its_weights() {
    check_changed(
        |bytes| bytes.truncate(bytes.len() - 5000),
        expect![
            "models/tiny.gguf is damaged or cut short (tensor needs 128 bytes at offset 114048, only 0 remaining in file): delete it and run `tmem models pull`"
        ],
    );
}

#[test]
fn a_quantisation_nobody_knows() {
    let dtype_of_first_tensor = |bytes: &mut Vec<u8>| {
        let name = b"token_embd.weight";
        let at = bytes
            .windows(name.len())
            .position(|window| window == name)
            .expect("it is there");
        bytes[at + name.len() + 4 + 16] = 20;
    };
    check_changed(
        dtype_of_first_tensor,
        expect![
            "models/tiny.gguf cannot be run (it is quantised in a way the decoder does not know): choose a Q4_K_M or Q8_0 file, or run `tmem models pull`"
        ],
    );
}

#[test]
fn an_architecture_the_decoder_does_not_run() {
    let (_folder, path) = Tiny {
        architecture: "gemma3",
        ..Tiny::new()
    }
    .write();
    check(
        &path,
        expect![[
            r#"models/tiny.gguf holds a model of architecture "gemma3"; supported are qwen2, qwen3, llama: `tmem models pull` fetches one that works"#
        ]],
    );
}

#[test]
fn a_model_with_a_part_missing() {
    let (_folder, path) = Tiny {
        left_out: Some("blk.1.ffn_up.weight"),
        ..Tiny::new()
    }
    .write();
    check(
        &path,
        expect![
            "models/tiny.gguf cannot be run (there is no tensor `blk.1.ffn_up.weight`): choose a Q4_K_M or Q8_0 file, or run `tmem models pull`"
        ],
    );
}

#[test]
fn every_architecture_and_old_quantisations_run() {
    use GgmlDType::{F16, F32, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0};
    for architecture in crate::gguf::ARCHITECTURES {
        for (dtype, tied) in [
            (F32, true),
            (F16, false),
            (Q4_0, true),
            (Q4_1, false),
            (Q5_0, true),
            (Q5_1, true),
            (Q8_0, false),
        ] {
            let (_folder, path) = Tiny {
                architecture,
                dtype,
                tied,
                ..Tiny::new()
            }
            .write();
            let model =
                LocalModel::load(&path, &LocalConfig::default()).expect("a model that loads");
            let reply = complete(&model, &request("Hello", None, 3)).expect("a reply");
            assert!(
                reply.usage.expect("counted").completion_tokens <= 3,
                "{architecture} {dtype:?}"
            );
        }
    }
}
