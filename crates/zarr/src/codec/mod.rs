//! [`Codecs`]: how a chunk is encoded.

mod bytes;
mod pack;
mod unpack;

pub(crate) use bytes::check_crc32c;
pub(crate) use pack::{Packer, joined};
pub(crate) use unpack::Unpacker;

use bloscpack_dtype::ByteOrder;

/// How a chunk is encoded: its axes are reordered, its elements become bytes, and these are compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Codecs {
    /// The axes in the order in which they are stored, if that is not that of C.
    pub transpose: Option<Vec<usize>>,
    /// The codec that makes bytes of the elements.
    pub serializer: Serializer,
    /// The codecs of the bytes, in the order of writing.
    pub bytes: Vec<BytesCodec>,
}

/// The codecs that make bytes of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Serializer {
    /// They are their bytes.
    Bytes,
    /// They are cut into smaller chunks, which are encoded one by one, with an index.
    Sharding(Box<Shard>),
}

/// A chunk that consists of smaller ones.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shard {
    /// Elements of a smaller chunk along each axis.
    pub chunk_shape: Vec<u64>,
    /// How they are encoded.
    pub codecs: Codecs,
    /// The byte order of the index.
    pub index_order: ByteOrder,
    /// Whether a checksum follows the index.
    pub has_crc: bool,
    /// Whether the index precedes the chunks.
    pub at_start: bool,
}

/// A codec of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BytesCodec {
    /// A Blosc chunk.
    Blosc,
    /// A gzip member.
    Gzip,
    /// A zlib stream.
    Zlib,
    /// Zstandard frames.
    Zstd,
    /// The length, and a block of LZ4, as numcodecs writes it.
    Lz4,
    /// The bytes, and their checksum.
    Crc32c,
}

impl BytesCodec {
    /// The name in reports.
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
    /// The names of all codecs, those of smaller chunks last.
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

    /// Elements along each axis of the smallest chunks in a chunk of this shape.
    pub(crate) fn inner_shape<'a>(&'a self, chunk: &'a [u64]) -> &'a [u64] {
        match &self.serializer {
            // In another order of the axes, it is not worth to find out.
            Serializer::Sharding(shard) if !self.is_whole() => {
                shard.codecs.inner_shape(&shard.chunk_shape)
            }
            _ => chunk,
        }
    }

    /// Whether any part of a chunk needs all of it.
    pub(crate) fn is_whole(&self) -> bool {
        self.transpose.is_some() || !self.bytes.is_empty()
    }

    /// Whether a chunk is one of Blosc, of elements in C order.
    pub(crate) fn is_blosc(&self) -> bool {
        self.transpose.is_none()
            && self.serializer == Serializer::Bytes
            && self.bytes == [BytesCodec::Blosc]
    }

    /// The shape of a chunk in the order in which its axes are stored. The order was checked.
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
