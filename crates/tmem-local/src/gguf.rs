//! Reading a GGUF file: what kind of model it is, and its tensors in a form the kernels like.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{Device, Tensor};
use rayon::prelude::*;

use crate::error::{LocalError, first_line};

/// Values of `general.architecture` that the decoder runs.
pub(crate) const ARCHITECTURES: &[&str] = &["qwen2", "qwen3", "llama"];

/// The sizes and constants of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) layers: usize,
    /// Numbers per token between layers.
    pub(crate) width: usize,
    /// Numbers per token inside a feed-forward block.
    pub(crate) inner: usize,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head: usize,
    pub(crate) vocab: usize,
    /// Tokens the model was trained for.
    pub(crate) context: usize,
    pub(crate) rope_base: f32,
    /// Whether rotary pairs lie side by side (llama) or half a head apart (qwen).
    pub(crate) rope_interleaved: bool,
    pub(crate) eps: f32,
}

/// An open GGUF file.
pub(crate) struct Gguf {
    path: PathBuf,
    reader: BufReader<File>,
    content: Content,
}

impl Gguf {
    /// Opens the file and reads its header, not its tensors.
    pub(crate) fn open(path: &Path) -> Result<Self, LocalError> {
        let mut reader = BufReader::with_capacity(1 << 20, open_file(path)?);
        check_magic(path, &mut reader)?;
        let content = Content::read(&mut reader).map_err(|error| header_error(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            reader,
            content,
        })
    }

    /// The header, for the tokenizer.
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// The sizes that the header states.
    pub(crate) fn shape(&self) -> Result<Shape, LocalError> {
        let architecture = self.architecture()?;
        let number = |key: &str| self.number(&format!("{architecture}.{key}"));
        let (width, heads) = (number("embedding_length")?, number("attention.head_count")?);
        let shape = Shape {
            layers: number("block_count")?,
            width,
            inner: number("feed_forward_length")?,
            heads,
            kv_heads: number("attention.head_count_kv").unwrap_or(heads),
            head: number("attention.key_length").unwrap_or(width / heads.max(1)),
            vocab: self.rows("token_embd.weight")?,
            context: number("context_length")?,
            rope_base: self
                .float(&format!("{architecture}.rope.freq_base"))
                .unwrap_or(10_000.0),
            rope_interleaved: architecture == "llama",
            eps: self
                .float(&format!("{architecture}.attention.layer_norm_rms_epsilon"))
                .unwrap_or(1e-6),
        };
        self.check_shape(&shape)?;
        Ok(shape)
    }

    /// Whether there is such a tensor.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }

    /// A matrix of weights; formats without a fast kernel are turned into `Q8_0`.
    pub(crate) fn matrix(
        &mut self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<QTensor, LocalError> {
        let tensor = self.tensor(name, &[rows, columns])?;
        let slow = match tensor.dtype() {
            GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1 => true,
            GgmlDType::Q6K => has_byte_products(),
            _ => false,
        };
        Ok(if slow {
            requantised(&tensor, rows, columns)?
        } else {
            tensor
        })
    }

    /// A vector of plain numbers.
    pub(crate) fn vector(&mut self, name: &str, length: usize) -> Result<Tensor, LocalError> {
        Ok(self.tensor(name, &[length])?.dequantize(&Device::Cpu)?)
    }

    /// A text of the metadata.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.content.metadata.get(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// A number of the metadata that must be there.
    pub(crate) fn number(&self, key: &str) -> Result<usize, LocalError> {
        let value = self.content.metadata.get(key);
        let number = match value {
            Some(Value::I32(n)) => u64::try_from(*n).ok(),
            Some(Value::I64(n)) => u64::try_from(*n).ok(),
            Some(value) => value.to_u64().ok(),
            None => None,
        };
        let number = number.and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| self.unsupported(format!("the metadata have no usable `{key}`")))
    }

    /// An error about what this file needs.
    pub(crate) fn unsupported(&self, message: String) -> LocalError {
        LocalError::Unsupported {
            path: self.path.clone(),
            message,
        }
    }

    fn architecture(&self) -> Result<&str, LocalError> {
        let found = self.text("general.architecture").unwrap_or_default();
        if ARCHITECTURES.contains(&found) {
            return Ok(found);
        }
        Err(LocalError::Architecture {
            path: self.path.clone(),
            found: found.to_owned(),
        })
    }

    fn check_shape(&self, shape: &Shape) -> Result<(), LocalError> {
        let whole = shape.kv_heads > 0 && shape.heads.is_multiple_of(shape.kv_heads);
        let sane = [shape.layers, shape.width, shape.inner, shape.context]
            .iter()
            .all(|&n| (1..1 << 24).contains(&n));
        if whole && sane && shape.head > 0 && shape.head.is_multiple_of(2) {
            return Ok(());
        }
        Err(self.unsupported(format!("impossible sizes {shape:?}")))
    }

    fn float(&self, key: &str) -> Option<f32> {
        self.content.metadata.get(key)?.to_f32().ok()
    }

    fn rows(&self, name: &str) -> Result<usize, LocalError> {
        let info = self.content.tensor_infos.get(name);
        let rows = info.and_then(|info| info.shape.dims().first().copied());
        rows.ok_or_else(|| self.unsupported(format!("there is no tensor `{name}`")))
    }

    fn tensor(&mut self, name: &str, dims: &[usize]) -> Result<QTensor, LocalError> {
        let Some(info) = self.content.tensor_infos.get(name) else {
            return Err(self.unsupported(format!("there is no tensor `{name}`")));
        };
        if info.shape.dims() != dims {
            let found = info.shape.dims();
            return Err(
                self.unsupported(format!("tensor `{name}` is {found:?} instead of {dims:?}"))
            );
        }
        info.read(
            &mut self.reader,
            self.content.tensor_data_offset,
            &Device::Cpu,
        )
        .map_err(|error| tensor_error(&self.path, &error))
    }
}

/// Whether the processor multiplies bytes four at a time (VNNI): then `Q8_0` takes half the time of
/// `Q6_K`, and its kernel treats a row alike whatever rows are beside it.
fn has_byte_products() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = is_x86_feature_detected!("avx512vnni") || is_x86_feature_detected!("avxvnni");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    has
}

/// The matrix in `Q8_0`, some rows at a time on every core, so that it is never all there in full width.
fn requantised(tensor: &QTensor, rows: usize, columns: usize) -> candle_core::Result<QTensor> {
    let data = tensor.data()?;
    let row = data.len() / rows;
    let parts = data.par_chunks(512 * row).map(|part| {
        let storage = QStorage::from_data(part.into(), &Device::Cpu, tensor.dtype())?;
        let plain = QTensor::new(storage, (part.len() / row, columns))?.dequantize(&Device::Cpu)?;
        let requantised = QTensor::quantize(&plain, GgmlDType::Q8_0)?;
        Ok(requantised.data()?.into_owned())
    });
    let bytes = parts
        .collect::<candle_core::Result<Vec<Vec<u8>>>>()?
        .concat();
    QTensor::new(
        QStorage::from_data(bytes.into(), &Device::Cpu, GgmlDType::Q8_0)?,
        (rows, columns),
    )
}

fn open_file(path: &Path) -> Result<File, LocalError> {
    File::open(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => LocalError::Missing {
            path: path.to_owned(),
        },
        _ => LocalError::Read {
            path: path.to_owned(),
            source,
        },
    })
}

fn check_magic(path: &Path, reader: &mut BufReader<File>) -> Result<(), LocalError> {
    let mut magic = [0; 4];
    match reader.read_exact(&mut magic) {
        Ok(()) if magic == *b"GGUF" => {}
        Err(source) if source.kind() != std::io::ErrorKind::UnexpectedEof => {
            return Err(LocalError::Read {
                path: path.to_owned(),
                source,
            });
        }
        _ => {
            return Err(LocalError::NotGguf {
                path: path.to_owned(),
            });
        }
    }
    reader.rewind().map_err(|source| LocalError::Read {
        path: path.to_owned(),
        source,
    })
}

fn header_error(path: &Path, error: &candle_core::Error) -> LocalError {
    let message = first_line(error);
    let path = path.to_owned();
    if message.contains("unknown dtype") {
        let message = "it is quantised in a way the decoder does not know".to_owned();
        return LocalError::Unsupported { path, message };
    }
    LocalError::Damaged { path, message }
}

fn tensor_error(path: &Path, error: &candle_core::Error) -> LocalError {
    let (path, message) = (path.to_owned(), first_line(error));
    if message.contains("not supported") {
        return LocalError::Unsupported { path, message };
    }
    LocalError::Damaged { path, message }
}
