//! [`Codecs`]: how a chunk is encoded.
//!
//! ```text
//!  writing  elements in C order ─> transpose ─> serializer: bytes, or a shard ─> codecs of bytes, in order ─> chunk file
//!  reading                                                   the same, from right to left
//! ```

mod bytes;
mod pack;
mod unpack;

pub(crate) use bytes::check_crc32c;
pub(crate) use pack::{Packer, joined};
pub(crate) use unpack::Unpacker;

use bloscpack_dtype::ByteOrder;

/// How a chunk is encoded: its axes are reordered, its elements become bytes, and these are compressed.
///
/// | field | version 2 | version 3 |
/// |---|---|---|
/// | `transpose` | `"order": "F"` | `transpose` |
/// | `serializer` | always [`Serializer::Bytes`] | `bytes` or `sharding_indexed` |
/// | `bytes` | `compressor` | `blosc`, `gzip`, `zstd`, `zlib`, `lz4`, `crc32c` |
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Codecs {
    /// The numbers of the axes in the order in which they are stored, the last varying fastest; `None` for C order.
    pub transpose: Option<Vec<usize>>,
    /// The codec that makes bytes of the elements.
    pub serializer: Serializer,
    /// The codecs of bytes, in the order of writing. Empty if chunks are not compressed.
    pub bytes: Vec<BytesCodec>,
}

/// The codecs that make bytes of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Serializer {
    /// The elements themselves, in the byte order of the dtype.
    Bytes,
    /// The elements are cut into smaller chunks, which are encoded one by one and stored with an index.
    Sharding(Box<Shard>),
}

/// A shard: a chunk file that consists of smaller chunks and an index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shard {
    /// Elements of a smaller chunk along each axis. They divide the lengths of the shard.
    pub chunk_shape: Vec<u64>,
    /// How the smaller chunks are encoded.
    pub codecs: Codecs,
    /// The byte order of the index.
    pub index_order: ByteOrder,
    /// Whether a checksum (crc32c) follows the index.
    pub has_crc: bool,
    /// Whether the index precedes the chunks instead of following them.
    pub at_start: bool,
}

/// A codec that changes bytes to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BytesCodec {
    /// A Blosc chunk.
    Blosc,
    /// Members of a gzip file (RFC 1952).
    Gzip,
    /// A zlib stream.
    Zlib,
    /// A Zstandard frame, or several.
    Zstd,
    /// The uncompressed length in four bytes, and an LZ4 block, as numcodecs writes them.
    Lz4,
    /// The bytes, and their checksum in four bytes, little-endian.
    Crc32c,
}

impl BytesCodec {
    /// The name in reports, the same as in metadata: `blosc`, `gzip`, `zlib`, `zstd`, `lz4` or `crc32c`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blosc => "blosc",
            Self::Gzip => "gzip",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
            Self::Crc32c => "crc32c",
        }
    }
}

impl Codecs {
    /// The names of all codecs in the order of writing, followed by the codecs of smaller chunks.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        names.extend(self.transpose.as_ref().map(|_| "transpose"));
        let inner = match &self.serializer {
            Serializer::Bytes => {
                names.push("bytes");
                None
            }
            Serializer::Sharding(shard) => {
                names.push("sharding_indexed");
                Some(shard.codecs.names())
            }
        };
        names.extend(self.bytes.iter().map(|codec| codec.name()));
        names.extend(inner.unwrap_or_default());
        names
    }

    /// Elements of the smallest chunks that can be read on their own, in a chunk of this shape.
    pub(crate) fn inner_shape<'a>(&'a self, chunk: &'a [u64]) -> &'a [u64] {
        match &self.serializer {
            // With reordered axes, the shard is read as a whole.
            Serializer::Sharding(shard) if !self.is_whole() => {
                shard.codecs.inner_shape(&shard.chunk_shape)
            }
            _ => chunk,
        }
    }

    /// Whether reading any part of a chunk requires all of it.
    pub(crate) fn is_whole(&self) -> bool {
        self.transpose.is_some() || !self.bytes.is_empty()
    }

    /// Whether a chunk file is a single Blosc chunk of elements in C order.
    pub(crate) fn is_blosc(&self) -> bool {
        self.transpose.is_none()
            && self.serializer == Serializer::Bytes
            && self.bytes == [BytesCodec::Blosc]
    }

    /// The shape of a chunk with its axes in stored order. The order of axes was checked.
    pub(crate) fn stored_shape(&self, chunk: &[u64]) -> Vec<u64> {
        match &self.transpose {
            None => chunk.to_vec(),
            Some(order) => order
                .iter()
                .filter_map(|axis| chunk.get(*axis).copied())
                .collect(),
        }
    }
}
