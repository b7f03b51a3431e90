//! The default encoder against a reference that shares no code with it.
//!
//! `data/minilm.json` holds, for four texts of our own, vectors to four places: `float64` from a
//! forward pass written in numpy over the published 32-bit weights (embeddings, six layers, mean
//! over all tokens, norm 1), `int8` from onnxruntime 1.32 for Python on the ONNX file whose weights
//! are stored in 8 bits. The last text is longer than the model's 256 tokens.

#![cfg(feature = "onnx")]

mod common;

use common::{data, models_with};
use serde::Deserialize;
use tmem_embed::{Encoder, EncoderSpec, OnnxEncoder, OnnxFiles, TextRole::Passage};

#[derive(Deserialize)]
struct Golden {
    texts: Vec<String>,
    float64: Vec<Vec<f32>>,
    int8: Vec<Vec<f32>>,
}

fn golden() -> Golden {
    let text = std::fs::read_to_string(data("minilm.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn minilm() -> Option<(OnnxEncoder, bool)> {
    let models = models_with("all-MiniLM-L6-v2/model.onnx")?;
    let files = OnnxFiles::in_models(&models, "all-MiniLM-L6-v2");
    let eight_bit = files.model.metadata().unwrap().len() < 40_000_000;
    Some((
        OnnxEncoder::load(&files, EncoderSpec::minilm()).unwrap(),
        eight_bit,
    ))
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[tokio::test]
async fn vectors_are_those_of_the_reference() {
    let Some((encoder, eight_bit)) = minilm() else {
        return;
    };
    let golden = golden();
    let vectors = encoder.encode(Passage, &golden.texts).await.unwrap();
    let exact = if eight_bit {
        &golden.int8
    } else {
        &golden.float64
    };
    for (index, vector) in vectors.iter().enumerate() {
        let same = vector.iter().zip(&exact[index]);
        let off = same.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-3, "text {index} is off by {off}");
        let cosine = cosine(vector, &golden.float64[index]);
        assert!(1.0 - cosine < 1e-3, "text {index}: cosine {cosine}");
    }
}

#[tokio::test]
async fn batches_give_what_single_texts_give() {
    let Some((encoder, _)) = minilm() else { return };
    let names = ["Ines", "Tomasz", "Wren", "Okello", "Bao"];
    let batch: Vec<String> = (0..21)
        .map(|i| {
            format!(
                "{} repaired the {} clock",
                names[i % 5],
                "old ".repeat(i * 5 % 13)
            )
        })
        .collect();
    let together = encoder.encode(Passage, &batch).await.unwrap();
    for (text, vector) in batch.iter().zip(&together) {
        let alone = encoder
            .encode(Passage, std::slice::from_ref(text))
            .await
            .unwrap();
        assert!(1.0 - cosine(vector, &alone[0]) < 1e-5, "{text}");
    }
}

#[tokio::test]
async fn texts_that_differ_inside_the_window_have_different_vectors() {
    let Some((encoder, _)) = minilm() else { return };
    for tokens in [100, 200, 400] {
        let text =
            |end: &str| format!("{} {end}", "snow ".repeat(tokens - 50)) + &" and".repeat(48);
        let pair = [text("apricot"), text("tractor")];
        let vectors = encoder.encode(Passage, &pair).await.unwrap();
        let differ = vectors[0] != vectors[1];
        assert_eq!(differ, tokens < 256, "{tokens}");
    }
}
