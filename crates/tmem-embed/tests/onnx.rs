//! How ONNX files of every kind are run, on models of a few hundred bytes.

#![cfg(feature = "onnx")]

mod common;

use common::{data, tiny, tiny_spec};
use tmem_embed::{
    EmbedError, Encoder, EncoderSpec, OnnxEncoder, OnnxFiles, OnnxOptions, OnnxReranker, Pooling,
    Reranker,
    TextRole::{Passage, Query},
};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

async fn one(encoder: &OnnxEncoder, text: &str) -> Vec<f32> {
    encoder
        .encode(Passage, &texts(&[text]))
        .await
        .unwrap()
        .remove(0)
}

fn near(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
}

#[tokio::test]
async fn inputs_are_those_the_model_asks_for() {
    for model in ["two_inputs.onnx", "three_inputs.onnx", "pooled_int32.onnx"] {
        let Some(files) = tiny(model) else { return };
        let encoder = OnnxEncoder::load(&files, tiny_spec()).unwrap();
        let vector = one(&encoder, "red kite").await;
        let norm: f32 = vector.iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() < 1e-6, "{model}: {vector:?}");
    }
}

#[tokio::test]
async fn the_mean_is_over_the_tokens_of_the_text() {
    let Some(files) = tiny("two_inputs.onnx") else {
        return;
    };
    let encoder = OnnxEncoder::load(&files, tiny_spec()).unwrap();
    // [CLS] + kite + [SEP] of the table: (-2 - 1.5 + 1.75, -0.75 + 1.25 - 2, -2.5, 2.5).
    let sum = [-1.75_f32, -1.5, -2.5, 2.5];
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    assert!(near(&one(&encoder, "kite").await, &sum.map(|x| x / norm)));
}

#[tokio::test]
async fn the_first_token_speaks_for_the_text_if_so_configured() {
    let Some(files) = tiny("two_inputs.onnx") else {
        return;
    };
    let spec = EncoderSpec {
        pooling: Pooling::Cls,
        ..tiny_spec()
    };
    let encoder = OnnxEncoder::load(&files, spec).unwrap();
    assert_eq!(one(&encoder, "kite").await, one(&encoder, "soup").await);
}

#[tokio::test]
async fn limits_are_the_specs_and_not_those_of_the_tokenizer_file() {
    let Some(files) = tiny("two_inputs.onnx") else {
        return;
    };
    let encoder = OnnxEncoder::load(&files, tiny_spec()).unwrap();
    // The file says 4 tokens; the spec 8, of which 6 are words.
    let inside = ["a a a a red kite", "a a a a red soup"];
    assert_ne!(
        one(&encoder, inside[0]).await,
        one(&encoder, inside[1]).await
    );
    let beyond = ["a a a a a red kite", "a a a a a red soup"];
    assert_eq!(
        one(&encoder, beyond[0]).await,
        one(&encoder, beyond[1]).await
    );
}

#[tokio::test]
async fn an_endless_query_is_cut_to_the_window() {
    let Some(files) = tiny("two_inputs.onnx") else {
        return;
    };
    let encoder = OnnxEncoder::load(&files, tiny_spec()).unwrap();
    let long = texts(&[&"kite ".repeat(8_000)]);
    let vector = encoder.encode(Query, &long).await.unwrap().remove(0);
    assert!(near(
        &vector,
        &one(&encoder, "kite kite kite kite kite kite").await
    ));
}

#[tokio::test]
async fn a_vector_does_not_depend_on_its_neighbours_nor_on_its_place() {
    let Some(files) = tiny("three_inputs.onnx") else {
        return;
    };
    let encoder = OnnxEncoder::load(&files, tiny_spec()).unwrap();
    let words = ["kite", "soup", "rain", "drum", "red", "old", "sun"];
    let batch: Vec<String> = (0..30)
        .map(|i| {
            words
                .iter()
                .cycle()
                .skip(i % 5)
                .take(1 + i * 7 % 6)
                .copied()
                .collect()
        })
        .map(|words: Vec<&str>| words.join(" "))
        .collect();
    let together = encoder.encode(Passage, &batch).await.unwrap();
    assert_eq!(together.len(), batch.len());
    for (text, vector) in batch.iter().zip(&together) {
        assert!(near(vector, &one(&encoder, text).await), "{text}");
    }
}

#[tokio::test]
async fn prefixes_go_by_role() {
    let Some(files) = tiny("two_inputs.onnx") else {
        return;
    };
    let spec = EncoderSpec {
        query_prefix: "red ".to_owned(),
        ..tiny_spec()
    };
    let encoder = OnnxEncoder::load(&files, spec).unwrap();
    let query = encoder.encode(Query, &texts(&["kite"])).await.unwrap();
    assert_eq!(query[0], one(&encoder, "red kite").await);
    assert_ne!(query[0], one(&encoder, "kite").await);
}

#[tokio::test]
async fn blank_texts_and_vectors_that_are_no_numbers_are_refused() {
    let Some(files) = tiny("nan.onnx") else {
        return;
    };
    let encoder = OnnxEncoder::load(&files, tiny_spec()).unwrap();
    let blank = encoder.encode(Passage, &texts(&["kite", " \n"])).await;
    assert!(matches!(blank, Err(EmbedError::Blank { index: 1 })));
    let nan = encoder.encode(Passage, &texts(&["kite", "nan"])).await;
    assert_eq!(nan.unwrap_err().to_string(), "tiny: a vector of norm NaN");
    assert!(encoder.encode(Passage, &[]).await.unwrap().is_empty());
}

#[test]
fn a_caller_without_a_runtime_is_served_too() {
    let Some(files) = tiny("two_inputs.onnx") else {
        return;
    };
    let encoder = OnnxEncoder::load(&files, tiny_spec()).unwrap();
    let batch = texts(&["kite"]);
    let mut call = encoder.encode(Passage, &batch);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_ready());
}

/// What loading `files` fails with.
#[track_caller]
fn failure(files: &OnnxFiles, spec: EncoderSpec) -> String {
    match OnnxEncoder::load(files, spec) {
        Ok(_) => panic!("{} loaded", files.model.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_wrong_file_has_an_error_with_the_way_out() {
    let Some(good) = tiny("two_inputs.onnx") else {
        return;
    };
    let check = |change: fn(&mut OnnxFiles), start: &str, end: &str| {
        let mut files = good.clone();
        change(&mut files);
        let message = failure(&files, tiny_spec());
        let message = message.replace(&data("").display().to_string(), "");
        assert!(message.starts_with(start), "{message}");
        assert!(message.ends_with(end), "{message}");
    };
    let pull = "run `tmem models pull tiny`";
    let correct = "run `tmem models pull tiny`, or correct the path";
    check(
        |f| f.model = data("none.onnx"),
        "no file none.onnx: ",
        correct,
    );
    check(
        |f| f.tokenizer = data("none.json"),
        "no file none.json: ",
        correct,
    );
    let not_onnx = "tokenizer.json is not a usable ONNX model (";
    check(|f| f.model = data("tokenizer.json"), not_onnx, pull);
    let not_tokens = "nan.onnx is not a tokenizer (";
    check(|f| f.tokenizer = data("nan.onnx"), not_tokens, pull);
    let mismatch = "the tokenizer of tiny has 13 tokens, which its ONNX file refuses (";
    let same = "take both files from the same model";
    check(
        |f| f.tokenizer = data("tokenizer_large.json"),
        mismatch,
        same,
    );
    let pixels = r#"tiny is not a text encoder we can run: it asks for an input "pixel_values""#;
    check(|f| f.model = data("pixels.onnx"), pixels, "");
}

#[test]
fn other_dimensions_than_configured_are_an_error_at_once() {
    let Some(files) = tiny("two_inputs.onnx") else {
        return;
    };
    let spec = EncoderSpec {
        dimensions: 384,
        ..tiny_spec()
    };
    let message = failure(&files, spec);
    assert!(
        message.starts_with("tiny gives vectors of 4 numbers, configured are 384: "),
        "{message}"
    );
    assert!(message.contains("`tmem reindex`"), "{message}");
}

#[tokio::test]
async fn a_cross_encoder_scores_in_input_order() {
    let Some(files) = tiny("reranker.onnx") else {
        return;
    };
    let reranker = OnnxReranker::load(&files, 8, OnnxOptions::default()).unwrap();
    // It sums the ids of the second text and its [SEP] (3): soup 5, kite 4, red 8.
    let scores = reranker
        .score("kite", &texts(&["soup", "red kite soup", "kite"]))
        .await;
    assert_eq!(scores.unwrap(), [8.0, 20.0, 7.0]);
}
