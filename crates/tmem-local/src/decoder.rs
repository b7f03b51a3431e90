//! The decoder: a transformer of the llama shape, with the biases or norms of the qwen families.
//!
//! Several sequences can be read in one pass; the weights are then streamed through memory once for
//! all of them. Attention runs per sequence, so that a sequence never sees another.

use candle_core::quantized::{QMatMul, QTensor};
use candle_core::{Device, Module, Result, Tensor};
use candle_nn::ops::rms_norm;

use crate::attention::{self, Rope};
use crate::cache::KvCache;
use crate::error::LocalError;
use crate::gguf::{Gguf, Shape};

/// Up to this many rows, products of the same input run as one pass.
const FUSE_UP_TO: usize = 16;

/// A decoder with its weights.
pub(crate) struct Decoder {
    shape: Shape,
    rope: Rope,
    embedding: QMatMul,
    layers: Vec<Layer>,
    norm: Tensor,
    /// `None` if the embedding serves as the output matrix too.
    head: Option<QMatMul>,
}

/// The new tokens of one sequence, and what it remembers of those before.
pub(crate) struct Span<'a> {
    pub(crate) cache: &'a mut KvCache,
    pub(crate) tokens: &'a [u32],
}

struct Layer {
    attention_norm: Tensor,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    inner_norm: Tensor,
    gate: Linear,
    up: Linear,
    down: Linear,
    query_norm: Option<Tensor>,
    key_norm: Option<Tensor>,
}

struct Linear {
    weight: QMatMul,
    bias: Option<Tensor>,
}

impl Decoder {
    /// Reads all weights; `context` tokens at most will be asked for.
    pub(crate) fn load(
        gguf: &mut Gguf,
        shape: Shape,
        context: usize,
    ) -> std::result::Result<Self, LocalError> {
        let head = match gguf.has("output.weight") {
            true => Some(QMatMul::from_qtensor(gguf.matrix(
                "output.weight",
                shape.vocab,
                shape.width,
            )?)?),
            false => None,
        };
        let layers = (0..shape.layers)
            .map(|index| Layer::load(gguf, &shape, index))
            .collect::<std::result::Result<_, _>>()?;
        Ok(Self {
            rope: Rope::new(gguf, &shape, context)?,
            embedding: QMatMul::from_qtensor(gguf.matrix(
                "token_embd.weight",
                shape.vocab,
                shape.width,
            )?)?,
            layers,
            norm: gguf.vector("output_norm.weight", shape.width)?,
            head,
            shape,
        })
    }

    /// The sizes of the model.
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Reads the new tokens of every sequence, and returns one row of logits a sequence: those that
    /// follow its last token.
    pub(crate) fn forward(&self, spans: &mut [Span<'_>]) -> Result<Vec<Vec<f32>>> {
        let hidden = self.read(spans)?;
        let rows = Tensor::new(last_rows(spans), &Device::Cpu)?;
        let hidden = rms_norm(&hidden.index_select(&rows, 0)?, &self.norm, self.shape.eps)?;
        let logits = self
            .head
            .as_ref()
            .unwrap_or(&self.embedding)
            .forward(&hidden)?;
        logits.to_vec2()
    }

    /// Reads the new tokens of every sequence into its cache; returns a row a token.
    pub(crate) fn read(&self, spans: &mut [Span<'_>]) -> Result<Tensor> {
        let (tokens, positions) = self.flatten(spans)?;
        for span in spans.iter_mut() {
            span.cache.reserve(span.tokens.len())?;
        }
        let angles = self.rope.rows(&positions)?;
        let mut hidden = self
            .embedding
            .embedding(&Tensor::new(tokens, &Device::Cpu)?)?;
        for (index, layer) in self.layers.iter().enumerate() {
            let attended = self.attend(layer, index, &hidden, &angles, spans)?;
            hidden = (hidden + attended)?;
            hidden = (&hidden + layer.feed_forward(&hidden, self.shape.eps)?)?;
        }
        for span in spans.iter_mut() {
            span.cache.advance(span.tokens.len());
        }
        Ok(hidden)
    }

    fn flatten(&self, spans: &[Span<'_>]) -> Result<(Vec<u32>, Vec<u32>)> {
        let tokens: Vec<u32> = spans.iter().flat_map(|span| span.tokens).copied().collect();
        if let Some(token) = tokens
            .iter()
            .find(|&&token| token as usize >= self.shape.vocab)
        {
            candle_core::bail!(
                "token {token} is not in the vocabulary of {}",
                self.shape.vocab
            );
        }
        let positions = spans
            .iter()
            .flat_map(|span| (span.cache.len()..).take(span.tokens.len()));
        Ok((tokens, positions.map(|position| position as u32).collect()))
    }

    fn attend(
        &self,
        layer: &Layer,
        index: usize,
        hidden: &Tensor,
        angles: &(Tensor, Tensor),
        spans: &[Span<'_>],
    ) -> Result<Tensor> {
        let [query, key, value] = layer.project(hidden, &self.shape)?;
        let query = self.rope.turn(&query, angles)?;
        let key = self.rope.turn(&key, angles)?;
        let mut start = 0;
        let mut attended = Vec::with_capacity(spans.len());
        for span in spans {
            let count = span.tokens.len();
            let (keys, values) = (
                heads_first(&key, start, count)?,
                heads_first(&value, start, count)?,
            );
            let (keys, values) = span.cache.extend(index, &keys, &values)?;
            attended.push(attention::attend(
                &query.narrow(0, start, count)?,
                &keys,
                &values,
            )?);
            start += count;
        }
        layer.output.forward(&Tensor::cat(&attended, 0)?)
    }
}

impl Layer {
    fn load(gguf: &mut Gguf, shape: &Shape, index: usize) -> std::result::Result<Self, LocalError> {
        let name = |part: &str| format!("blk.{index}.{part}");
        let (queries, keys) = (shape.heads * shape.head, shape.kv_heads * shape.head);
        Ok(Self {
            attention_norm: gguf.vector(&name("attn_norm.weight"), shape.width)?,
            query: Linear::load(gguf, &name("attn_q"), queries, shape.width)?,
            key: Linear::load(gguf, &name("attn_k"), keys, shape.width)?,
            value: Linear::load(gguf, &name("attn_v"), keys, shape.width)?,
            output: Linear::load(gguf, &name("attn_output"), shape.width, queries)?,
            inner_norm: gguf.vector(&name("ffn_norm.weight"), shape.width)?,
            gate: Linear::load(gguf, &name("ffn_gate"), shape.inner, shape.width)?,
            up: Linear::load(gguf, &name("ffn_up"), shape.inner, shape.width)?,
            down: Linear::load(gguf, &name("ffn_down"), shape.width, shape.inner)?,
            query_norm: optional(gguf, &name("attn_q_norm.weight"), shape.head)?,
            key_norm: optional(gguf, &name("attn_k_norm.weight"), shape.head)?,
        })
    }

    /// Queries, keys and values, each `[tokens, heads, head]`.
    fn project(&self, hidden: &Tensor, shape: &Shape) -> Result<[Tensor; 3]> {
        let tokens = hidden.dim(0)?;
        let normed = rms_norm(hidden, &self.attention_norm, shape.eps)?;
        let query = self
            .query
            .forward(&normed)?
            .reshape((tokens, shape.heads, shape.head))?;
        let key = self
            .key
            .forward(&normed)?
            .reshape((tokens, shape.kv_heads, shape.head))?;
        let value = self
            .value
            .forward(&normed)?
            .reshape((tokens, shape.kv_heads, shape.head))?;
        Ok([
            normed_heads(query, self.query_norm.as_ref(), shape)?,
            normed_heads(key, self.key_norm.as_ref(), shape)?,
            value,
        ])
    }

    fn feed_forward(&self, hidden: &Tensor, eps: f32) -> Result<Tensor> {
        let normed = rms_norm(hidden, &self.inner_norm, eps)?;
        let [gate, up] = both(&self.gate, &self.up, &normed)?;
        self.down.forward(&attention::gated(&gate, &up)?)
    }
}

impl Linear {
    fn load(
        gguf: &mut Gguf,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> std::result::Result<Self, LocalError> {
        let weight =
            QMatMul::from_qtensor(gguf.matrix(&format!("{name}.weight"), rows, columns)?)?;
        Ok(Self {
            weight,
            bias: optional(gguf, &format!("{name}.bias"), rows)?,
        })
    }

    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let output = self.weight.forward(input)?;
        match &self.bias {
            Some(bias) => output.broadcast_add(bias),
            None => Ok(output),
        }
    }
}

/// Two products of one input. A few rows share one quantisation of the input where the processor
/// has a kernel for it.
fn both(first: &Linear, second: &Linear, input: &Tensor) -> Result<[Tensor; 2]> {
    if let (QMatMul::QTensor(one), QMatMul::QTensor(two), None, None) =
        (&first.weight, &second.weight, &first.bias, &second.bias)
        && input.dim(0)? <= FUSE_UP_TO
        && let Some(outputs) = QTensor::gemv_fused_shared_lhs(&[one, two], input)?
        && let Ok(outputs) = outputs.try_into()
    {
        return Ok(outputs);
    }
    Ok([first.forward(input)?, second.forward(input)?])
}

fn optional(
    gguf: &mut Gguf,
    name: &str,
    length: usize,
) -> std::result::Result<Option<Tensor>, LocalError> {
    gguf.has(name)
        .then(|| gguf.vector(name, length))
        .transpose()
}

fn normed_heads(heads: Tensor, norm: Option<&Tensor>, shape: &Shape) -> Result<Tensor> {
    match norm {
        Some(norm) => rms_norm(&heads, norm, shape.eps),
        None => Ok(heads),
    }
}

/// `[tokens, heads, head]` rows from `start` on, as `[heads, tokens, head]`.
fn heads_first(rows: &Tensor, start: usize, count: usize) -> Result<Tensor> {
    rows.narrow(0, start, count)?.transpose(0, 1)?.contiguous()
}

fn last_rows(spans: &[Span<'_>]) -> Vec<u32> {
    let mut end = 0;
    let ends = spans.iter().map(|span| {
        end += span.tokens.len() as u32;
        end - 1
    });
    ends.collect()
}
