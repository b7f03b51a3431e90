//! The decoder and the vocabulary, below the seam.

use super::tiny::Tiny;
use crate::cache::KvCache;
use crate::decoder::{Decoder, Span};
use crate::gguf::Gguf;
use crate::vocab::Vocab;

fn load(tiny: Tiny) -> (Decoder, Vocab) {
    let (_folder, path) = tiny.write();
    let mut gguf = Gguf::open(&path).expect("it opens");
    let shape = gguf.shape().expect("a shape");
    let vocab = Vocab::of(&gguf, shape.vocab).expect("a vocabulary");
    (
        Decoder::load(&mut gguf, shape, 512).expect("weights"),
        vocab,
    )
}

/// Logits after reading the tokens in pieces of that size.
fn logits(decoder: &Decoder, tokens: &[u32], piece: usize) -> Vec<f32> {
    let mut cache = KvCache::new(decoder.shape()).expect("a cache");
    let mut last = Vec::new();
    for tokens in tokens.chunks(piece) {
        last = decoder
            .forward(&mut [Span {
                cache: &mut cache,
                tokens,
            }])
            .expect("logits");
    }
    last.remove(0)
}

#[track_caller]
fn assert_close(one: &[f32], two: &[f32]) {
    let gap = one
        .iter()
        .zip(two)
        .map(|(one, two)| (one - two).abs())
        .fold(0.0, f32::max);
    assert!(gap < 1e-4, "{gap}");
}

#[test]
fn reading_in_pieces_is_reading_at_once() {
    let tokens: Vec<u32> = (0..300).map(|index| index * 7 % 250).collect();
    for architecture in crate::gguf::ARCHITECTURES {
        let (decoder, _) = load(Tiny {
            architecture,
            ..Tiny::new()
        });
        let whole = logits(&decoder, &tokens, 300);
        for piece in [1, 7, 256] {
            assert_close(&whole, &logits(&decoder, &tokens, piece));
        }
    }
}

#[test]
fn the_order_of_tokens_matters() {
    let (decoder, _) = load(Tiny::new());
    let one = logits(&decoder, &[1, 2, 3, 4], 4);
    let two = logits(&decoder, &[2, 1, 3, 4], 4);
    let gap = one
        .iter()
        .zip(&two)
        .map(|(one, two)| (one - two).abs())
        .fold(0.0, f32::max);
    assert!(gap > 1e-2, "{gap}");
}

#[test]
fn sequences_read_together_do_not_see_each_other() {
    let (decoder, _) = load(Tiny::new());
    let (mut one, mut two) = (
        KvCache::new(decoder.shape()).expect("a cache"),
        KvCache::new(decoder.shape()).expect("a cache"),
    );
    let mut spans = [
        Span {
            cache: &mut one,
            tokens: &[5, 6, 7],
        },
        Span {
            cache: &mut two,
            tokens: &[8],
        },
    ];
    let together = decoder.forward(&mut spans).expect("logits");
    assert_close(&together[0], &logits(&decoder, &[5, 6, 7], 3));
    assert_close(&together[1], &logits(&decoder, &[8], 1));
}

#[test]
fn a_forked_cache_goes_its_own_way() {
    let (decoder, _) = load(Tiny::new());
    let mut cache = KvCache::new(decoder.shape()).expect("a cache");
    decoder
        .read(&mut [Span {
            cache: &mut cache,
            tokens: &[1, 2, 3],
        }])
        .expect("read");
    let mut fork = cache.fork().expect("a fork");
    decoder
        .read(&mut [Span {
            cache: &mut fork,
            tokens: &[9, 9, 9],
        }])
        .expect("read");
    let after = decoder
        .forward(&mut [Span {
            cache: &mut cache,
            tokens: &[4],
        }])
        .expect("logits");
    assert_close(&after[0], &logits(&decoder, &[1, 2, 3, 4], 4));
}

#[test]
fn a_token_out_of_the_vocabulary_is_an_error() {
    let (decoder, vocab) = load(Tiny::new());
    let mut cache = KvCache::new(decoder.shape()).expect("a cache");
    let error = decoder.forward(&mut [Span {
        cache: &mut cache,
        tokens: &[vocab.len() as u32],
    }]);
    assert!(
        error
            .expect_err("unknown")
            .to_string()
            .contains("not in the vocabulary")
    );
}

#[test]
fn control_tokens_spelled_in_a_text_are_text() {
    let (_, vocab) = load(Tiny::new());
    for text in [
        "<|im_start|>",
        "a <|endoftext|> b",
        "<|im_end|>\n<|im_start|>system\n",
    ] {
        let tokens = vocab.encode(text);
        assert!(
            tokens.iter().all(|&token| !vocab.bytes(token).is_empty()),
            "{text}: {tokens:?}"
        );
        let back: Vec<u8> = tokens
            .iter()
            .flat_map(|&token| vocab.bytes(token))
            .copied()
            .collect();
        assert_eq!(back, text.as_bytes());
    }
}

#[test]
fn every_text_comes_back_from_its_tokens() {
    for pre in ["qwen2", "llama3", "smollm"] {
        let (_, vocab) = load(Tiny { pre, ..Tiny::new() });
        for text in [
            "the thin an",
            "día 🦊 日本語",
            "\u{1}\u{7f}\u{ad}\t\r\n",
            "",
        ] {
            let tokens = vocab.encode(text);
            let back: Vec<u8> = tokens
                .iter()
                .flat_map(|&token| vocab.bytes(token))
                .copied()
                .collect();
            assert_eq!(String::from_utf8_lossy(&back), text, "{pre}");
        }
    }
}
