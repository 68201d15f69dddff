//! Reads boxes of elements from the chunks that contain them.

use super::ArrayStorage;
use crate::superchunk::StoredChunk;
use blosc1::ChunkContext;
use bloscpack_array::{ChunkStore as _, bytes_of};
use bloscpack_error::checked::{to_u64, to_usize};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// For larger reads, the first chunk is read before memory is allocated.
const CHECKED_FROM: u64 = 16 << 20;

impl ArrayStorage {
    /// Reads a box of elements into `out`: exactly their bytes, in C order.
    pub(crate) fn read_box(&self, selection: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.check_plain()?;
        self.grid().check(selection)?;
        let expected = bytes_of(selection, self.grid().itemsize());
        if to_u64(out.len()) != expected {
            return Err(Error::usage(format!(
                "buffer of {} bytes, but the slice has {expected}",
                out.len()
            )));
        }
        self.stage()?;
        self.chunks.read_into(selection, out)
    }

    /// Reads the first chunk of a large box, so that a box without chunks fails before memory is allocated for it.
    pub(crate) fn check_first(&self, selection: &[Range<u64>]) -> Result<()> {
        if bytes_of(selection, self.grid().itemsize()) <= CHECKED_FROM {
            return Ok(());
        }
        self.stage()?;
        match self.grid().parts(selection).next() {
            Some(part) => self.stored(part.number).map(drop),
            None => Ok(()),
        }
    }

    /// Decompresses the first bytes of a chunk into `out`.
    pub(crate) fn decompress(
        &self,
        chunk: u64,
        stored: &StoredChunk,
        out: &mut [u8],
    ) -> Result<()> {
        let is_whole = out.len() == to_usize(stored.header.nbytes);
        let resources = self.resources();
        let decoded = resources.with_decoder(ChunkContext::default(), |decoder| {
            if is_whole {
                decoder.decode(&stored.bytes, out)
            } else {
                // The last chunk may have uncounted rows of a writer that was killed.
                decoder.decode_range(&stored.bytes, 0, out)
            }
        });
        let decoded = decoded.map(drop);
        decoded.map_err(|error| self.located(chunk, error.into()))
    }

    /// Reads and decompresses a chunk into `out`.
    pub(super) fn read_chunk(&self, chunk: u64, out: &mut [u8]) -> Result<()> {
        let stored = self.stored(chunk)?;
        self.decompress(chunk, &stored, out)
    }

    /// Decompresses all data of a chunk, including uncounted rows.
    pub(crate) fn decompressed(&self, chunk: u64, stored: &StoredChunk) -> Result<Vec<u8>> {
        let mut data = vec![0; to_usize(stored.header.nbytes)];
        self.decompress(chunk, stored, &mut data)?;
        Ok(data)
    }
}
