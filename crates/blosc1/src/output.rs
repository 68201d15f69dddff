//! The destinations of an encoded chunk: a vector that grows, or a slice.

use super::ChunkError;
use super::compressor::StreamEncoder;
use super::layout::HEADER_LEN;
use super::scratch::{copy, le_u32, room_for};

/// The destination of a chunk, written from its first byte to its last.
pub(super) trait Output {
    /// Bytes written so far.
    fn written(&self) -> usize;

    /// Appends zeros as room for the header and the block table.
    fn zeros(&mut self, len: usize) -> Result<(), ChunkError>;

    /// Appends bytes.
    fn append(&mut self, bytes: &[u8]) -> Result<(), ChunkError>;

    /// Writes to the block table that the block begins at the current end.
    fn note_start(&mut self, block: u32) -> Result<(), ChunkError>;

    /// Appends one stream, preceded by its length: compressed if that is shorter, else unchanged.
    ///
    /// Returns the length of the stored stream, or `None` if it exceeds `most`; then nothing is
    /// appended.
    fn append_stream(
        &mut self,
        compressor: &mut StreamEncoder,
        stream: &[u8],
        most: usize,
    ) -> Result<Option<usize>, ChunkError>;
}

/// The end of a vector.
///
/// Streams are compressed into a buffer first, since room in a vector would have to be filled with
/// zeros.
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
        most: usize,
    ) -> Result<Option<usize>, ChunkError> {
        let bytes = shorter(compressor, stream, self.compressed);
        if bytes.len() > most {
            return Ok(None);
        }
        self.out.extend_from_slice(&le_u32(bytes.len())?);
        self.out.extend_from_slice(bytes);
        Ok(Some(bytes.len()))
    }
}

/// The compressed stream if it is shorter, else the stream itself.
///
/// The compressor always gets one byte less room than the stream has, even if less is left for the
/// chunk. Compressors do not use all of a short buffer, so the result would depend on the room
/// otherwise.
fn shorter<'a>(
    compressor: &mut StreamEncoder,
    stream: &'a [u8],
    buffer: &'a mut Vec<u8>,
) -> &'a [u8] {
    let buffer = room_for(buffer, stream.len() - 1);
    match compressor.compress(stream, buffer) {
        Some(len) => &buffer[..len],
        None => stream,
    }
}

/// The beginning of a slice.
///
/// Streams are compressed directly to their place; near the end of the slice, through a buffer.
pub(super) struct Slice<'a> {
    out: &'a mut [u8],
    written: usize,
    compressed: &'a mut Vec<u8>,
}

impl<'a> Slice<'a> {
    pub fn new(out: &'a mut [u8], compressed: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            written: 0,
            compressed,
        }
    }
}

/// Takes the next `len` bytes of a slice.
fn next<'a>(
    out: &'a mut [u8],
    written: &mut usize,
    len: usize,
) -> Result<&'a mut [u8], ChunkError> {
    let found = out.len();
    let place = out.get_mut(*written..);
    let place = place.and_then(|rest| rest.get_mut(..len));
    let place = place.ok_or(ChunkError::OutputTooShort { found })?;
    *written += len;
    Ok(place)
}

impl Output for Slice<'_> {
    fn written(&self) -> usize {
        self.written
    }

    fn zeros(&mut self, len: usize) -> Result<(), ChunkError> {
        next(self.out, &mut self.written, len)?.fill(0);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), ChunkError> {
        copy(bytes, next(self.out, &mut self.written, bytes.len())?);
        Ok(())
    }

    fn note_start(&mut self, block: u32) -> Result<(), ChunkError> {
        note(self.out, block, le_u32(self.written)?)
    }

    fn append_stream(
        &mut self,
        compressor: &mut StreamEncoder,
        stream: &[u8],
        most: usize,
    ) -> Result<Option<usize>, ChunkError> {
        let Self {
            out,
            written,
            compressed,
        } = self;
        let place = out.get_mut(*written + 4..);
        let (len, elsewhere) = match place.and_then(|rest| rest.get_mut(..stream.len() - 1)) {
            Some(place) => match compressor.compress(stream, place) {
                Some(len) => (len, None),
                None => (stream.len(), Some(stream)),
            },
            None => {
                let bytes = shorter(compressor, stream, compressed);
                (bytes.len(), Some(bytes))
            }
        };
        if len > most {
            return Ok(None);
        }
        next(out, written, 4)?.copy_from_slice(&le_u32(len)?);
        let place = next(out, written, len)?;
        if let Some(bytes) = elsewhere {
            copy(bytes, place);
        }
        Ok(Some(len))
    }
}

/// Writes the start of a block to the block table after the header.
fn note(chunk: &mut [u8], block: u32, at: [u8; 4]) -> Result<(), ChunkError> {
    let slot = HEADER_LEN + 4 * block as usize;
    let slot = chunk.get_mut(slot..).and_then(<[u8]>::first_chunk_mut);
    let what = "the table of a new chunk is too short";
    *slot.ok_or(ChunkError::Bug { what })? = at;
    Ok(())
}
