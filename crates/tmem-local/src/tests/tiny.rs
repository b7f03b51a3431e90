//! A model of a few thousand random numbers in a real GGUF file: it writes nonsense, but through all
//! the same code as a model of billions.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{Value, write};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use tempfile::TempDir;

const WIDTH: usize = 32;
const INNER: usize = 64;
const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const HEAD: usize = 8;
const LAYERS: usize = 2;
const MERGES: [&str; 8] = ["t h", "th e", "Ġ a", "i n", "\" ,", "\" :", "\" }", "a n"];
const CONTROL: [&str; 3] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];

/// A tiny model to be written; change what a test is about.
pub(crate) struct Tiny {
    pub(crate) architecture: &'static str,
    /// Which rule splits text before its bytes are merged.
    pub(crate) pre: &'static str,
    pub(crate) dtype: GgmlDType,
    pub(crate) tied: bool,
    pub(crate) left_out: Option<&'static str>,
    pub(crate) metadata: Vec<(String, Value)>,
    pub(crate) seed: u64,
}

impl Tiny {
    pub(crate) fn new() -> Self {
        Self {
            architecture: "qwen2",
            pre: "qwen2",
            dtype: GgmlDType::F32,
            tied: true,
            left_out: None,
            metadata: Vec::new(),
            seed: 7,
        }
    }

    /// Writes it; the folder lives as long as the first value.
    pub(crate) fn write(self) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tiny.gguf");
        self.write_to(&path);
        (folder, path)
    }

    fn write_to(mut self, path: &Path) {
        let tokens = tokens();
        self.describe(&tokens);
        let tensors = self.tensors(tokens.len());
        let metadata: Vec<_> = self
            .metadata
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .collect();
        let tensors: Vec<_> = tensors
            .iter()
            .map(|(name, tensor)| (name.as_str(), tensor))
            .collect();
        let mut file = BufWriter::new(std::fs::File::create(path).expect("a file"));
        write(&mut file, &metadata, &tensors).expect("written");
    }

    fn describe(&mut self, tokens: &[String]) {
        let texts =
            |texts: &[String]| Value::Array(texts.iter().cloned().map(Value::String).collect());
        let merges: Vec<String> = MERGES.iter().map(|merge| (*merge).to_owned()).collect();
        let kinds = tokens.iter().map(|token| {
            Value::I32(if CONTROL.contains(&token.as_str()) {
                3
            } else {
                1
            })
        });
        let end = tokens.len() as u32 - 1;
        let general = [
            (
                "general.architecture",
                Value::String(self.architecture.to_owned()),
            ),
            ("tokenizer.ggml.model", Value::String("gpt2".to_owned())),
            ("tokenizer.ggml.pre", Value::String(self.pre.to_owned())),
            ("tokenizer.ggml.tokens", texts(tokens)),
            ("tokenizer.ggml.merges", texts(&merges)),
            ("tokenizer.ggml.token_type", Value::Array(kinds.collect())),
            ("tokenizer.ggml.eos_token_id", Value::U32(end)),
        ];
        self.metadata
            .extend(general.map(|(key, value)| (key.to_owned(), value)));
        let sizes = [
            ("block_count", LAYERS),
            ("embedding_length", WIDTH),
            ("feed_forward_length", INNER),
            ("attention.head_count", HEADS),
            ("attention.head_count_kv", KV_HEADS),
            ("context_length", 4096),
        ];
        let key = |key: &str| format!("{}.{key}", self.architecture);
        let sizes: Vec<_> = sizes
            .iter()
            .map(|(name, size)| (key(name), Value::U32(*size as u32)))
            .collect();
        self.metadata.extend(sizes);
    }

    fn tensors(&mut self, vocab: usize) -> Vec<(String, QTensor)> {
        let mut tensors = vec![
            self.matrix("token_embd.weight", vocab, WIDTH),
            self.vector("output_norm.weight", WIDTH),
        ];
        if !self.tied {
            tensors.push(self.matrix("output.weight", vocab, WIDTH));
        }
        for layer in 0..LAYERS {
            for (part, rows, columns) in [
                ("attn_q", HEADS * HEAD, WIDTH),
                ("attn_k", KV_HEADS * HEAD, WIDTH),
                ("attn_v", KV_HEADS * HEAD, WIDTH),
                ("attn_output", WIDTH, HEADS * HEAD),
                ("ffn_gate", INNER, WIDTH),
                ("ffn_up", INNER, WIDTH),
                ("ffn_down", WIDTH, INNER),
            ] {
                tensors.push(self.matrix(&format!("blk.{layer}.{part}.weight"), rows, columns));
            }
            tensors.push(self.vector(&format!("blk.{layer}.attn_norm.weight"), WIDTH));
            tensors.push(self.vector(&format!("blk.{layer}.ffn_norm.weight"), WIDTH));
            if self.architecture == "qwen2" {
                tensors.push(self.vector(&format!("blk.{layer}.attn_q.bias"), HEADS * HEAD));
            }
            if self.architecture == "qwen3" {
                tensors.push(self.vector(&format!("blk.{layer}.attn_q_norm.weight"), HEAD));
            }
        }
        tensors.retain(|(name, _)| Some(name.as_str()) != self.left_out);
        tensors
    }

    fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> (String, QTensor) {
        let numbers: Vec<f32> = (0..rows * columns).map(|_| self.number()).collect();
        let tensor = Tensor::from_vec(numbers, (rows, columns), &Device::Cpu).expect("a matrix");
        (
            name.to_owned(),
            QTensor::quantize(&tensor, self.dtype).expect("quantised"),
        )
    }

    fn vector(&mut self, name: &str, length: usize) -> (String, QTensor) {
        let numbers: Vec<f32> = (0..length).map(|_| 1.0 + self.number() / 4.0).collect();
        let tensor = Tensor::from_vec(numbers, length, &Device::Cpu).expect("a vector");
        (
            name.to_owned(),
            QTensor::quantize(&tensor, GgmlDType::F32).expect("plain"),
        )
    }

    /// The next number of a fixed sequence, between -0.5 and 0.5.
    fn number(&mut self) -> f32 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
    }
}

/// Every byte, the results of the merges, then the control tokens.
fn tokens() -> Vec<String> {
    let printable = |byte: &u32| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    let bytes = (0..256)
        .filter(printable)
        .chain(256..324)
        .filter_map(char::from_u32)
        .map(String::from);
    let merged = MERGES.iter().map(|merge| merge.replace(' ', ""));
    let control = CONTROL.iter().map(|token| (*token).to_owned());
    bytes.chain(merged).chain(control).collect()
}
