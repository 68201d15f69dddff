//! [`Unpacker`]: undoes the codecs of bytes.

use super::{BytesCodec, Codecs, bytes};
use blosc1::{ChunkContext, read_header};
use bloscpack_array::Resources;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};
use bloscpack_wire::{Limit, Limits};

/// Bytes that codecs may add to incompressible data, as headers and checksums.
const SLACK: u64 = 64 << 10;

/// Undoes the codecs of bytes. Several threads can share it.
#[derive(Debug)]
pub(crate) struct Unpacker(Resources);

impl Unpacker {
    pub(crate) fn new(resources: Resources) -> Self {
        Self(resources)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Refuses a stored chunk that is longer than any codec makes one of `expected` bytes: 1/16 more, and 64 KiB.
    pub(crate) fn check_stored(found: u64, expected: u64) -> Result<()> {
        let most = expected.saturating_add(expected / 16).saturating_add(SLACK);
        if found > most {
            Err(Error::unexpected(
                Code::Chunk,
                "bytes of a stored chunk",
                found,
                format!("at most {most}, for {expected} bytes of elements"),
            ))
        } else {
            Ok(())
        }
    }

    /// Undoes all codecs of bytes. The result must be `expected` bytes long; with `None`, any length up to the limit of a chunk
    /// is accepted.
    pub(crate) fn unpack(
        &self,
        codecs: &Codecs,
        mut stored: Vec<u8>,
        expected: Option<u64>,
    ) -> Result<Vec<u8>> {
        let mut rest = codecs.bytes.len();
        for codec in codecs.bytes.iter().rev() {
            rest -= 1;
            let expected = expected.filter(|_| rest == 0);
            stored = self.undo(*codec, stored, expected)?;
        }
        let found = to_u64(stored.len());
        match expected {
            Some(expected) if found < expected => {
                Err(Error::cut_short("elements of a chunk", found, expected))
            }
            Some(expected) if found > expected => Err(Error::unexpected(
                Code::Chunk,
                "bytes of a chunk",
                found,
                expected,
            )),
            _ => Ok(stored),
        }
    }

    /// Undoes one codec. If the length of the result is not known, it is bounded by the limit of a chunk.
    fn undo(&self, codec: BytesCodec, stored: Vec<u8>, expected: Option<u64>) -> Result<Vec<u8>> {
        let most = u64::from(self.limits().chunk).saturating_add(SLACK);
        if let Some(bytes) = expected {
            Error::check_limit(Limit::Chunk, bytes, most)?;
        }
        let room = bytes::Room {
            expected: expected.map(in_memory).transpose()?,
            most: in_memory(most)?,
        };
        match codec {
            BytesCodec::Blosc => self.blosc(&stored, expected),
            BytesCodec::Gzip => bytes::gzip(&stored, room),
            BytesCodec::Zlib => bytes::zlib(&stored, room),
            BytesCodec::Zstd => bytes::zstd(&stored, room),
            BytesCodec::Lz4 => bytes::lz4(&stored, room),
            BytesCodec::Crc32c => bytes::crc32c(stored),
        }
    }

    /// Decompresses a Blosc chunk, whose header must give the expected length.
    fn blosc(&self, stored: &[u8], expected: Option<u64>) -> Result<Vec<u8>> {
        let header = read_header(stored)?;
        let nbytes = u64::from(header.nbytes);
        if let Some(expected) = expected.filter(|expected| *expected != nbytes) {
            let what = "bytes in the header of a Blosc chunk";
            return Err(Error::unexpected(Code::Chunk, what, nbytes, expected));
        }
        Error::check_limit(Limit::Chunk, nbytes, self.limits().chunk.into())?;
        // Like numcodecs, ignores bytes after the chunk.
        let stored = stored
            .get(..in_memory(header.ctbytes.into())?)
            .unwrap_or(stored);
        let resources = &self.0;
        let decoded = resources.with_decoder(ChunkContext::default(), |decoder| {
            decoder.decode_to_vec(stored)
        });
        Ok(decoded?)
    }
}
