//! Keys and values of the tokens read so far, in buffers that can be cut and copied.

use candle_core::{DType, Device, Result, Tensor};

use crate::gguf::Shape;

/// Room is added in steps of this many tokens.
const STEP: usize = 256;

/// What the attention of every layer remembers of one token sequence.
pub(crate) struct KvCache {
    layers: Vec<Layer>,
    length: usize,
}

/// Both buffers are `[kv_heads, capacity, head]`.
struct Layer {
    keys: Tensor,
    values: Tensor,
}

impl KvCache {
    /// An empty cache.
    pub(crate) fn new(shape: &Shape) -> Result<Self> {
        let (kv_heads, head) = (shape.kv_heads, shape.head);
        let layers = (0..shape.layers)
            .map(|_| Layer::new(kv_heads, head))
            .collect::<Result<_>>()?;
        Ok(Self { layers, length: 0 })
    }

    /// Tokens remembered.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// A copy that shares nothing with this one.
    pub(crate) fn fork(&self) -> Result<Self> {
        let layers = self
            .layers
            .iter()
            .map(|layer| layer.resized(self.length, self.room(0)))
            .collect::<Result<_>>()?;
        Ok(Self {
            layers,
            length: self.length,
        })
    }

    /// Makes room for `added` more tokens in every layer.
    pub(crate) fn reserve(&mut self, added: usize) -> Result<()> {
        let room = self.room(added);
        for layer in &mut self.layers {
            if layer.keys.dim(1)? < room {
                *layer = layer.resized(self.length, room)?;
            }
        }
        Ok(())
    }

    /// Writes the keys and values of the tokens that follow, `[kv_heads, tokens, head]` each, and
    /// returns those of all tokens so far. Room must have been reserved.
    pub(crate) fn extend(
        &self,
        layer: usize,
        keys: &Tensor,
        values: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        let stored = &self.layers[layer];
        let end = self.length + keys.dim(1)?;
        stored.keys.slice_set(keys, 1, self.length)?;
        stored.values.slice_set(values, 1, self.length)?;
        Ok((
            stored.keys.narrow(1, 0, end)?,
            stored.values.narrow(1, 0, end)?,
        ))
    }

    /// Counts `added` tokens as read, once every layer has been extended by them.
    pub(crate) fn advance(&mut self, added: usize) {
        self.length += added;
    }

    fn room(&self, added: usize) -> usize {
        (self.length + added + 1).next_multiple_of(STEP)
    }
}

impl Layer {
    fn new(kv_heads: usize, head: usize) -> Result<Self> {
        Ok(Self {
            keys: zeros(kv_heads, STEP, head)?,
            values: zeros(kv_heads, STEP, head)?,
        })
    }

    fn resized(&self, length: usize, room: usize) -> Result<Self> {
        Ok(Self {
            keys: resized(&self.keys, length, room)?,
            values: resized(&self.values, length, room)?,
        })
    }
}

fn resized(buffer: &Tensor, length: usize, room: usize) -> Result<Tensor> {
    let (kv_heads, _, head) = buffer.dims3()?;
    let larger = zeros(kv_heads, room, head)?;
    if length > 0 {
        larger.slice_set(&buffer.narrow(1, 0, length)?.contiguous()?, 1, 0)?;
    }
    Ok(larger)
}

fn zeros(kv_heads: usize, room: usize, head: usize) -> Result<Tensor> {
    Tensor::zeros((kv_heads, room, head), DType::F32, &Device::Cpu)
}
