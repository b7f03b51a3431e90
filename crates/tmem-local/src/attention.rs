//! The parts of the decoder that are not products with weights: rotary positions, attention over a
//! cache, and the gate of the feed-forward block.

use candle_core::{Device, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::rotary_emb::{rope_i, rope_thd};

use crate::error::LocalError;
use crate::gguf::{Gguf, Shape};

/// Rotary position embedding: a table of cosines and sines a position.
pub(crate) struct Rope {
    cosines: Tensor,
    sines: Tensor,
    interleaved: bool,
}

impl Rope {
    /// Tables for `context` positions. Long-context models of the llama family stretch the slow
    /// frequencies by factors stored in the file.
    pub(crate) fn new(gguf: &mut Gguf, shape: &Shape, context: usize) -> std::result::Result<Self, LocalError> {
        let half = shape.head / 2;
        let factors = match gguf.has("rope_freqs.weight") {
            true => gguf.vector("rope_freqs.weight", half)?.to_vec1()?,
            false => vec![1.0; half],
        };
        let frequencies: Vec<f32> = (0..half)
            .map(|index| shape.rope_base.powf(-((2 * index) as f32) / shape.head as f32) / factors[index])
            .collect();
        let table = |f: fn(f32) -> f32| {
            let angles = (0..context).flat_map(|position| frequencies.iter().map(move |frequency| f(position as f32 * frequency)));
            Tensor::from_iter(angles, &Device::Cpu)?.reshape((context, half))
        };
        Ok(Self { cosines: table(f32::cos)?, sines: table(f32::sin)?, interleaved: shape.rope_interleaved })
    }

    /// Cosines and sines of these positions.
    pub(crate) fn rows(&self, positions: &[u32]) -> Result<(Tensor, Tensor)> {
        let positions = Tensor::new(positions, &Device::Cpu)?;
        Ok((self.cosines.index_select(&positions, 0)?, self.sines.index_select(&positions, 0)?))
    }

    /// Turns heads, `[tokens, heads, head]`, to their positions.
    pub(crate) fn turn(&self, heads: &Tensor, (cosines, sines): &(Tensor, Tensor)) -> Result<Tensor> {
        let heads = heads.unsqueeze(0)?;
        if self.interleaved {
            let turned = rope_i(&heads.transpose(1, 2)?.contiguous()?, cosines, sines)?;
            return turned.transpose(1, 2)?.contiguous()?.squeeze(0);
        }
        rope_thd(&heads, cosines, sines)?.squeeze(0)
    }
}

/// Causal attention of the last tokens of a sequence over all of it.
///
/// `query` is `[tokens, heads, head]`, `keys` and `values` are `[kv_heads, length, head]` and end
/// with those tokens. Returns `[tokens, heads * head]`.
pub(crate) fn attend(query: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor> {
    let (tokens, heads, head) = query.dims3()?;
    let (kv_heads, length, _) = keys.dims3()?;
    let group = heads / kv_heads;
    let query = (query / (head as f64).sqrt())?;
    let query = query.reshape((tokens, kv_heads, group, head))?.permute((1, 2, 0, 3))?;
    let query = query.contiguous()?.reshape((kv_heads, group * tokens, head))?;
    let scores = query.matmul(&keys.t()?)?;
    let weights = softmax_last_dim(&masked(scores, tokens, length)?)?;
    let mixed = weights.matmul(values)?.reshape((kv_heads, group, tokens, head))?;
    mixed.permute((2, 0, 1, 3))?.contiguous()?.reshape((tokens, heads * head))
}

/// Hides what lies behind each token. `scores` is `[kv_heads, group * tokens, length]`.
fn masked(scores: Tensor, tokens: usize, length: usize) -> Result<Tensor> {
    if tokens == 1 {
        return Ok(scores);
    }
    let before = length - tokens;
    let cells = (0..tokens).flat_map(|row| (0..length).map(move |column| if column > before + row { f32::NEG_INFINITY } else { 0.0 }));
    let mask = Tensor::from_iter(cells, &Device::Cpu)?.reshape((tokens, length))?;
    let (kv_heads, rows, _) = scores.dims3()?;
    let scores = scores.reshape((kv_heads * rows / tokens, tokens, length))?;
    scores.broadcast_add(&mask)?.reshape((kv_heads, rows, length))
}

/// `silu(gate) * up`, element by element.
pub(crate) fn gated(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    gate.silu()? * up
}
