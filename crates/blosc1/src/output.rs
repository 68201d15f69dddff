//! Where the encoder writes a chunk: a vector that grows, or a slice.

use super::ChunkError;
use super::compressor::StreamEncoder;
use super::layout::HEADER_LEN;
use super::scratch::{le_u32, room_for};

/// Where a chunk is written, from its first byte on.
pub(super) trait Output {
    /// Bytes written so far.
    fn written(&self) -> usize;

    /// Appends zeros: room for header and table.
    fn zeros(&mut self, len: usize) -> Result<(), ChunkError>;

    /// Appends bytes.
    fn append(&mut self, bytes: &[u8]) -> Result<(), ChunkError>;

    /// Notes in the table that the block begins at the end of what is written.
    fn note_start(&mut self, block: u32) -> Result<(), ChunkError>;

    /// Appends one stream, its length first: in its compressed form if that has at most `largest`
    /// bytes, else as it is. Returns its length, or `None` if that exceeds `most`.
    fn append_stream(
        &mut self,
        compressor: &mut StreamEncoder,
        stream: &[u8],
        largest: usize,
        most: usize,
    ) -> Result<Option<usize>, ChunkError>;
}

/// The end of a vector. Streams are compressed into a buffer first, since room in a vector would have
/// to be filled with zeros.
pub(super) struct Growing<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    compressed: &'a mut Vec<u8>,
}

impl<'a> Growing<'a> {
    pub fn new(out: &'a mut Vec<u8>, compressed: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Self {
            out,
            start,
            compressed,
        }
    }
}

impl Output for Growing<'_> {
    fn written(&self) -> usize {
        self.out.len() - self.start
    }

    fn zeros(&mut self, len: usize) -> Result<(), ChunkError> {
        self.out.resize(self.out.len() + len, 0);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), ChunkError> {
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn note_start(&mut self, block: u32) -> Result<(), ChunkError> {
        let at = le_u32(self.written())?;
        let table = self.out.get_mut(self.start..);
        note(table.unwrap_or_default(), block, at)
    }

    fn append_stream(
        &mut self,
        compressor: &mut StreamEncoder,
        stream: &[u8],
        largest: usize,
        most: usize,
    ) -> Result<Option<usize>, ChunkError> {
        let compressed = room_for(self.compressed, stream.len());
        let bytes = match compressor.compress(stream, &mut compressed[..largest]) {
            Some(len) => &compressed[..len],
            None => stream,
        };
        if bytes.len() > most {
            return Ok(None);
        }
        self.out.extend_from_slice(&le_u32(bytes.len())?);
        self.out.extend_from_slice(bytes);
        Ok(Some(bytes.len()))
    }
}

/// The beginning of a slice. Streams are compressed to where they belong.
pub(super) struct Slice<'a> {
    out: &'a mut [u8],
    written: usize,
}

impl<'a> Slice<'a> {
    pub fn new(out: &'a mut [u8]) -> Self {
        Self { out, written: 0 }
    }

    /// The next `len` bytes.
    fn next(&mut self, len: usize) -> Result<&mut [u8], ChunkError> {
        let found = self.out.len();
        let place = self.out.get_mut(self.written..);
        let place = place.and_then(|rest| rest.get_mut(..len));
        let place = place.ok_or(ChunkError::OutputTooShort { found })?;
        self.written += len;
        Ok(place)
    }
}

impl Output for Slice<'_> {
    fn written(&self) -> usize {
        self.written
    }

    fn zeros(&mut self, len: usize) -> Result<(), ChunkError> {
        self.next(len)?.fill(0);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), ChunkError> {
        self.next(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    fn note_start(&mut self, block: u32) -> Result<(), ChunkError> {
        note(self.out, block, le_u32(self.written)?)
    }

    fn append_stream(
        &mut self,
        compressor: &mut StreamEncoder,
        stream: &[u8],
        largest: usize,
        most: usize,
    ) -> Result<Option<usize>, ChunkError> {
        let at = self.written;
        self.next(4)?;
        let place = self.next(largest)?;
        let len = match compressor.compress(stream, place) {
            Some(len) => len,
            None if stream.len() > most => return Ok(None),
            None => {
                self.written = at + 4;
                self.append(stream)?;
                stream.len()
            }
        };
        self.written = at;
        self.next(4)?.copy_from_slice(&le_u32(len)?);
        self.written += len;
        Ok(Some(len))
    }
}

/// Writes the start of a block to the table after the header.
fn note(chunk: &mut [u8], block: u32, at: [u8; 4]) -> Result<(), ChunkError> {
    let slot = HEADER_LEN + 4 * block as usize;
    let slot = chunk.get_mut(slot..).and_then(<[u8]>::first_chunk_mut);
    let what = "the table of a new chunk is too short";
    *slot.ok_or(ChunkError::Bug { what })? = at;
    Ok(())
}
