//! Encodes chunks with the codecs in the metadata of an array: the reverse of [`Unpacker`](super::Unpacker).

use super::{BytesCodec, Codecs, Serializer, Shard};
use crate::error::{unsupported, wrong_field};
use crate::meta::Fields;
use crate::read::{ENTRY, MISSING};
use blosc1::{ChunkEncoder, ChunkSettings, Compressor, Filter};
use bloscpack_array::strided::{self, Strided, strides};
use bloscpack_array::{Grid, copy};
use bloscpack_dtype::ByteOrder;
use bloscpack_error::checked::{in_memory, to_u64, zeros};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::Pool;
use serde_json::Value;
use std::borrow::Cow;

/// Encodes chunks. Several threads can share it.
#[derive(Debug)]
pub(crate) struct Packer {
    codecs: Codecs,
    steps: Vec<Step>,
    /// The encoder of the smaller chunks in a shard.
    inner: Option<Box<Packer>>,
    /// The bytes of the fill value. Their number is the element size.
    fill: Vec<u8>,
}

/// A codec of bytes with its settings.
#[derive(Debug)]
enum Step {
    Blosc(ChunkSettings, Pool<ChunkEncoder>),
    Gzip(i32),
    Zlib(i32),
    Zstd(i32, bool),
    Lz4,
    Crc32c,
}

impl Packer {
    /// The encoder for codecs of version 3, whose settings are in this list of the metadata.
    pub(crate) fn of_list(codecs: &Codecs, list: &[Value], fill: &[u8]) -> Result<Self> {
        let (mut steps, mut inner) = (Vec::new(), None);
        let mut kinds = codecs.bytes.iter();
        for value in list {
            let (name, fields) = Fields::named("codecs", value)?;
            match (name, &codecs.serializer) {
                ("transpose" | "bytes", _) => {}
                ("sharding_indexed", Serializer::Sharding(shard)) => {
                    let list = fields.list("codecs")?;
                    inner = Some(Box::new(Self::of_list(&shard.codecs, list, fill)?));
                }
                _ => {
                    let kind = kinds.next();
                    let kind = kind.ok_or_else(|| Error::bug("codecs that were not parsed"))?;
                    steps.push(Step::of(*kind, &fields, fill.len())?);
                }
            }
        }
        let (codecs, fill) = (codecs.clone(), fill.to_vec());
        Ok(Self {
            codecs,
            steps,
            inner,
            fill,
        })
    }

    /// The encoder for the compressor of version 2; `None` stores chunks uncompressed.
    pub(crate) fn of_compressor(
        codecs: &Codecs,
        compressor: Option<&Value>,
        fill: &[u8],
    ) -> Result<Self> {
        let steps = match (codecs.bytes.as_slice(), compressor) {
            ([kind], Some(value)) => {
                vec![Step::of(
                    *kind,
                    &Fields::of("compressor", value)?,
                    fill.len(),
                )?]
            }
            _ => Vec::new(),
        };
        Ok(Self {
            codecs: codecs.clone(),
            steps,
            inner: None,
            fill: fill.to_vec(),
        })
    }

    /// An encoder of Blosc chunks with these settings, and with the axes in this order.
    pub(crate) fn of_blosc(
        settings: ChunkSettings,
        transpose: Option<Vec<usize>>,
        fill: Vec<u8>,
    ) -> Self {
        let codecs = Codecs {
            transpose,
            serializer: Serializer::Bytes,
            bytes: vec![BytesCodec::Blosc],
        };
        Self {
            codecs,
            steps: vec![Step::Blosc(settings, Pool::default())],
            inner: None,
            fill,
        }
    }

    /// Encodes a chunk of this shape, from its elements in C order. Returns the content of its file.
    pub(crate) fn pack(&self, data: &[u8], shape: &[u64]) -> Result<Vec<u8>> {
        let mut data = match &self.codecs.transpose {
            None => Cow::Borrowed(data),
            Some(order) => self.transposed(data, shape, order)?.into(),
        };
        if let (Serializer::Sharding(shard), Some(inner)) = (&self.codecs.serializer, &self.inner) {
            let shape = self.codecs.stored_shape(shape);
            data = self.shard((shard, inner), &data, &shape)?.into();
        }
        for step in &self.steps {
            data = step.act(&data)?.into();
        }
        Ok(data.into_owned())
    }

    /// Elements with their axes in this order.
    fn transposed(&self, data: &[u8], shape: &[u64], order: &[usize]) -> Result<Vec<u8>> {
        let lens = shape.iter().map(|len| in_memory(*len));
        let lens = lens.collect::<Result<Vec<usize>>>()?;
        let plain = strides(&lens, self.fill.len());
        let ordered = |all: &[usize]| -> Vec<usize> {
            let axes = order.iter().filter_map(|axis| all.get(*axis).copied());
            axes.collect()
        };
        let (lens, from) = (ordered(&lens), ordered(&plain));
        let mut out = zeros(to_u64(data.len()))?;
        let to = Strided {
            bytes: out.as_mut_slice(),
            start: 0,
            strides: &strides(&lens, self.fill.len()),
        };
        let from = Strided {
            bytes: data,
            start: 0,
            strides: &from,
        };
        strided::copy(&lens, self.fill.len(), from, to)?;
        Ok(out)
    }

    /// Encodes a shard. Chunks that contain only the fill value are not stored.
    fn shard(
        &self,
        (shard, inner): (&Shard, &Self),
        data: &[u8],
        shape: &[u64],
    ) -> Result<Vec<u8>> {
        let grid = Grid::new(shape.to_vec(), shard.chunk_shape.clone());
        let (whole, itemsize) = (grid.whole(), to_u64(self.fill.len()));
        let chunks = grid.positions(&whole).map(|at| {
            let part = grid.extent(&at);
            let mut elements = zeros(part.bytes(itemsize))?;
            copy(&part, (&whole, data), (&part, &mut elements), itemsize)?;
            let mut each = elements.chunks_exact(self.fill.len().max(1));
            if each.all(|element| element == self.fill) {
                return Ok(None);
            }
            inner.pack(&elements, &shard.chunk_shape).map(Some)
        });
        let chunks = chunks.collect::<Result<Vec<_>>>()?;
        let form = (shard.index_order, shard.has_crc, shard.at_start);
        Ok(joined(&chunks, form))
    }
}

/// The file of a shard with these encoded chunks; `None` is a chunk that is not stored. The index has this byte order, a
/// checksum if the second value is true, and precedes the chunks if the third is true.
pub(crate) fn joined(
    chunks: &[Option<Vec<u8>>],
    (order, has_crc, at_start): (ByteOrder, bool, bool),
) -> Vec<u8> {
    let index_len = chunks.len() * ENTRY + if has_crc { 4 } else { 0 };
    let mut at = if at_start { to_u64(index_len) } else { 0 };
    let mut index = Vec::with_capacity(index_len);
    for chunk in chunks {
        let len = chunk.as_ref().map(|chunk| to_u64(chunk.len()));
        let entry = len.map_or([MISSING, MISSING], |len| [at, len]);
        index.extend(entry.into_iter().flat_map(|number| match order {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        }));
        // All chunks are in memory: the sum does not overflow.
        at += len.unwrap_or(0);
    }
    if has_crc {
        index.extend_from_slice(&crc32c::crc32c(&index).to_le_bytes());
    }
    let body = chunks.iter().flatten().map(Vec::as_slice);
    let parts: Vec<&[u8]> = if at_start {
        std::iter::once(&*index).chain(body).collect()
    } else {
        body.chain(std::iter::once(&*index)).collect()
    };
    parts.concat()
}

impl Step {
    /// A codec with the settings in the metadata; missing ones get the defaults of numcodecs.
    fn of(codec: BytesCodec, fields: &Fields<'_>, itemsize: usize) -> Result<Self> {
        let level = |default: i32| match fields.get("level") {
            None => Ok(default),
            Some(value) => {
                let level = value.as_i64().and_then(|level| i32::try_from(level).ok());
                level.ok_or_else(|| wrong_field(fields.path("level"), value, "a level"))
            }
        };
        Ok(match codec {
            BytesCodec::Blosc => Self::Blosc(blosc(fields, itemsize)?, Pool::default()),
            BytesCodec::Gzip => Self::Gzip(level(5)?),
            BytesCodec::Zlib => Self::Zlib(level(1)?),
            BytesCodec::Zstd => {
                let checksum = fields.get("checksum").and_then(Value::as_bool);
                Self::Zstd(level(0)?, checksum.unwrap_or(false))
            }
            BytesCodec::Lz4 => Self::Lz4,
            BytesCodec::Crc32c => Self::Crc32c,
        })
    }

    /// Encodes bytes.
    fn act(&self, data: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Blosc(settings, encoders) => {
                let make = || ChunkEncoder::new(*settings);
                let encoded = encoders.lend(make, |encoder| {
                    let mut chunk = Vec::new();
                    encoder.encode(data, &mut chunk)?;
                    Ok::<_, blosc1::ChunkError>(chunk)
                });
                Ok(encoded?)
            }
            Self::Gzip(level) => super::bytes::to_gzip(data, *level),
            Self::Zlib(level) => super::bytes::to_zlib(data, *level),
            Self::Zstd(level, checksum) => super::bytes::to_zstd(data, *level, *checksum),
            Self::Lz4 => super::bytes::to_lz4(data),
            Self::Crc32c => {
                let digest = crc32c::crc32c(data).to_le_bytes();
                Ok([data, &digest].concat())
            }
        }
    }
}

/// The settings of Blosc chunks. Missing ones get the defaults of numcodecs.
fn blosc(fields: &Fields<'_>, itemsize: usize) -> Result<ChunkSettings> {
    let number = |field: &str, default: u64| match fields.get(field) {
        None => Ok(default),
        Some(value) => value
            .as_u64()
            .ok_or_else(|| wrong_field(fields.path(field), value, "a number")),
    };
    let compressor = match fields.get("cname") {
        None => Compressor::Lz4,
        Some(value) => {
            let mut all = Compressor::ALL.into_iter();
            let found = all.find(|codec| Some(codec.name()) == value.as_str());
            found.ok_or_else(|| unsupported("the compressor of Blosc", value, "another"))?
        }
    };
    let typesize = number("typesize", to_u64(itemsize))?;
    let typesize = u8::try_from(typesize).unwrap_or(1).max(1);
    let automatic = if typesize == 1 {
        Filter::Bit
    } else {
        Filter::Byte
    };
    let filter = match fields.get("shuffle") {
        None => Filter::Byte,
        Some(value) => match (value.as_i64(), value.as_str()) {
            (Some(0), _) | (_, Some("noshuffle")) => Filter::None,
            (Some(1), _) | (_, Some("shuffle")) => Filter::Byte,
            (Some(2), _) | (_, Some("bitshuffle")) => Filter::Bit,
            (Some(-1), _) => automatic,
            _ => return Err(wrong_field(fields.path("shuffle"), value, "a filter")),
        },
    };
    let level = u8::try_from(number("clevel", 5)?)
        .ok()
        .filter(|level| *level < 10);
    let level = level.ok_or_else(|| {
        let found = fields.get("clevel").cloned().unwrap_or_default();
        wrong_field(fields.path("clevel"), found, "a level of 0 to 9")
    })?;
    let blocksize = u32::try_from(number("blocksize", 0)?).ok();
    Ok(ChunkSettings::default()
        .compressor(compressor)
        .level(level)
        .filter(filter)
        .typesize(typesize)
        .blocksize(blocksize.filter(|bytes| *bytes > 0)))
}
