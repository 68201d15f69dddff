//! [`Reader`]: decodes whole chunks.

mod shard;

pub(crate) use shard::{ENTRY, MISSING, ShardIndex};

use crate::codec::{Codecs, Serializer, Unpacker};
use crate::int::byte_len;
use bloscpack_array::bytes_of;
use bloscpack_array::strided::{self, Strided, strides};
use bloscpack_error::checked::{in_memory, zeros};
use bloscpack_error::{Code, Error, IoSide as _, Result};
use bloscpack_storage::{Key, ReadAt, Store};
use std::io;
use std::ops::Range;

/// Opens a file of an array or group; `None` if there is none. A link, folder or pipe in its place is [`Code::MissingFile`].
pub(crate) fn open_file(store: &dyn Store, key: &Key) -> Result<Option<Box<dyn ReadAt>>> {
    match store.open(key) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // The key is valid, so the entry is not a regular file.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(Error::new(
            Code::MissingFile,
            "not a regular file in regular folders (links are not followed)",
        )),
        Err(error) => Err(error).reading(),
    }
}

/// The encoded bytes of a chunk: a range of a file or of memory.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    bytes: &'a dyn ReadAt,
    at: u64,
    len: u64,
}

impl<'a> Chunk<'a> {
    /// All bytes of a source.
    pub(crate) fn of(bytes: &'a dyn ReadAt) -> io::Result<Self> {
        Ok(Self::with_len(bytes, bytes.size()?))
    }

    /// All bytes of a source whose length is known.
    pub(crate) fn with_len(bytes: &'a dyn ReadAt, len: u64) -> Self {
        Self { bytes, at: 0, len }
    }

    /// A part of the chunk; `None` if it extends past the end.
    fn range(&self, at: u64, len: u64) -> Option<Self> {
        let end = at.checked_add(len)?;
        (end <= self.len).then(|| Self {
            at: self.at + at,
            len,
            ..*self
        })
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads the bytes into a new vector. The range was checked against the source, so they are stored.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads the bytes into a vector of any content and length.
    pub(crate) fn read_into(&self, bytes: &mut Vec<u8>) -> Result<()> {
        let len = in_memory(self.len)?;
        if bytes.capacity() < len {
            *bytes = zeros(self.len)?;
        }
        bytes.resize(len, 0);
        self.bytes.read_exact_at(self.at, bytes).reading()
    }
}

/// Decodes the chunks of an array whose metadata was checked: a chunk that is decoded whole is within the limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub unpacker: &'a Unpacker,
    pub itemsize: u64,
    pub fill: Option<&'a [u8]>,
}

impl Codecs {
    /// Whether a chunk file is read as a whole, even if only a part of it is needed.
    pub(crate) fn is_read_whole(&self) -> bool {
        self.is_whole() || self.serializer == Serializer::Bytes
    }
}

impl Reader<'_> {
    /// All elements of a chunk of this shape, in C order.
    pub(crate) fn whole(
        &self,
        codecs: &Codecs,
        shape: &[u64],
        chunk: Chunk<'_>,
    ) -> Result<Vec<u8>> {
        let stored_shape = codecs.stored_shape(shape);
        let expected = self.bytes(shape)?;
        let data = match &codecs.serializer {
            Serializer::Bytes => {
                Unpacker::check_stored(chunk.len, expected)?;
                self.unpacker
                    .unpack(codecs, chunk.read()?, Some(expected))?
            }
            Serializer::Sharding(shard) => {
                let unpacked;
                let chunk = if codecs.bytes.is_empty() {
                    chunk
                } else {
                    unpacked = self.unpacker.unpack(codecs, chunk.read()?, None)?;
                    let bytes: &dyn ReadAt = &unpacked;
                    Chunk::of(bytes).reading()?
                };
                self.shard(shard, &stored_shape, chunk)?
            }
        };
        match &codecs.transpose {
            None => Ok(data),
            Some(order) => self.restored(&data, &stored_shape, order),
        }
    }

    /// Bytes of a box of this shape.
    fn bytes(&self, shape: &[u64]) -> Result<u64> {
        byte_len(shape, self.itemsize).ok_or_else(|| Error::no_memory(u64::MAX))
    }

    /// A box of this shape that contains only the fill value.
    pub(crate) fn filled(&self, part: &[Range<u64>]) -> Result<Vec<u8>> {
        let mut data = zeros(bytes_of(part, self.itemsize))?;
        if let Some(fill) = self.fill.filter(|fill| fill.iter().any(|byte| *byte != 0)) {
            data.chunks_exact_mut(fill.len())
                .for_each(|to| to.copy_from_slice(fill));
        }
        Ok(data)
    }

    /// Elements in C order, from elements whose axes were stored in this order.
    fn restored(&self, data: &[u8], stored_shape: &[u64], order: &[usize]) -> Result<Vec<u8>> {
        let itemsize = in_memory(self.itemsize)?;
        let stored = stored_shape.iter().map(|len| in_memory(*len));
        let stored = stored.collect::<Result<Vec<usize>>>()?;
        let stored_strides = strides(&stored, itemsize);
        let (mut lens, mut from) = (vec![0; order.len()], vec![0; order.len()]);
        for ((axis, len), stride) in order.iter().zip(stored).zip(stored_strides) {
            if let (Some(to_len), Some(to_stride)) = (lens.get_mut(*axis), from.get_mut(*axis)) {
                (*to_len, *to_stride) = (len, stride);
            }
        }
        let mut out = vec![0; data.len()];
        let from = Strided {
            bytes: data,
            start: 0,
            strides: &from,
        };
        let to = Strided {
            bytes: out.as_mut_slice(),
            start: 0,
            strides: &strides(&lens, itemsize),
        };
        strided::copy(&lens, itemsize, from, to)?;
        Ok(out)
    }
}
