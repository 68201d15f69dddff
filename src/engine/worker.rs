//! The work on one chunk: read the rest of it if necessary, check its digest, decode it.

use crate::buffered_input::Part;
use crate::chunk_buffer::ChunkBuffer;
use crate::shared_source::Fetch;
use blosc1::{ChunkDecoder, ChunkHeader};
use bloscpack_error::Result;
use bloscpack_error::checked::{slice, slice_mut, to_u64, to_usize};
use bloscpack_storage::parallel::Panicked;
use bloscpack_wire::{Checksum, Digest, Form, FormatError, Hashers, Position};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A chunk, with its places in the input and in the content.
#[derive(Debug, Clone)]
pub(crate) struct ChunkInfo {
    pub position: Position,
    /// Its uncompressed bytes, counted over all members; in a later piece, the bytes that are left.
    pub content: Range<u64>,
    pub header: ChunkHeader,
    /// The form of the chunks of its member, if it is known.
    pub form: Option<Form>,
    /// False for later pieces of a chunk that is delivered in several.
    pub is_first_piece: bool,
}

/// Decoded bytes of a chunk, or the damage.
pub(crate) struct Piece {
    pub info: ChunkInfo,
    /// The first `len` bytes are the content.
    pub buffer: Vec<u8>,
    pub len: usize,
    pub result: std::result::Result<(), FormatError>,
}

impl Piece {
    /// Whether this is the last piece of its chunk.
    pub(crate) fn is_last(&self) -> bool {
        let content = &self.info.content;
        content.start + to_u64(self.len) >= content.end
    }

    pub(crate) fn bytes(&self) -> Result<&[u8]> {
        slice(&self.buffer, 0..self.len)
    }
}

/// A chunk for a worker.
pub(super) struct Job {
    pub info: ChunkInfo,
    pub checksum: Checksum,
    /// `None` if it has been checked.
    pub digest: Option<Digest>,
    pub chunk: ChunkBuffer,
    pub rest: Rest,
    /// The part of its uncompressed bytes to decode.
    pub wanted: Range<u32>,
    pub buffer: Vec<u8>,
}

/// The bytes of a chunk that its worker adds to those in its buffer.
#[derive(Default)]
pub(super) struct Rest {
    pub parts: Vec<Part>,
    /// The range of the source that follows them, if the bytes do not pass through the parser.
    pub fetch: Option<Fetch>,
}

impl Rest {
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.fetch.is_none()
    }
}

impl Job {
    /// Adds the rest of the chunk, unless all of it lies in one place and is needed only once.
    fn gather(&mut self) -> Result<()> {
        let is_once = self.wanted == (0..self.info.header.nbytes);
        let rest = &mut self.rest;
        if is_once && self.chunk.len() == 0 && rest.parts.len() == 1 && rest.fetch.is_none() {
            return Ok(());
        }
        for part in rest.parts.drain(..) {
            let bytes = part.bytes()?;
            self.chunk.append(|chunk| chunk.extend_from_slice(bytes));
        }
        match rest.fetch.take() {
            Some(fetch) => self.chunk.fetch(&fetch),
            None => Ok(()),
        }
    }

    /// The gathered bytes.
    fn bytes(&self) -> Result<&[u8]> {
        match self.rest.parts.first() {
            Some(part) => part.bytes(),
            None => self.chunk.data(),
        }
    }
}

/// A finished job, with its buffers for reuse.
pub(super) struct Done {
    pub chunk: ChunkBuffer,
    /// An error if the bytes of the chunk could not be read.
    pub piece: Result<Piece>,
}

/// The result of the work on a chunk.
pub(super) type Outcome = std::result::Result<Done, Panicked>;

/// The work on several chunks. It ends after a chunk that makes the worker panic.
pub(super) fn work_all(
    decoder: &mut ChunkDecoder,
    hashers: &Hashers,
    jobs: Vec<Job>,
) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs {
        let done = catch_unwind(AssertUnwindSafe(|| work(decoder, hashers, job)));
        let panicked = done.is_err();
        outcomes.push(done.map_err(|_| Panicked));
        if panicked {
            break;
        }
    }
    outcomes
}

/// The work on one chunk.
fn work(decoder: &mut ChunkDecoder, hashers: &Hashers, mut job: Job) -> Done {
    let piece = match job.gather().and_then(|()| check(hashers, &job)) {
        Err(error) => Err(error),
        Ok(Err(error)) => Ok(Piece {
            info: job.info,
            buffer: job.buffer,
            len: 0,
            result: Err(error),
        }),
        Ok(Ok(())) => {
            let buffer = std::mem::take(&mut job.buffer);
            let (info, wanted) = (job.info.clone(), job.wanted.clone());
            job.bytes()
                .and_then(|chunk| decode(decoder, info, chunk, wanted, buffer))
        }
    };
    Done {
        chunk: job.chunk,
        piece,
    }
}

/// Whether the digest of a chunk is right; the outer error is a bug.
fn check(hashers: &Hashers, job: &Job) -> Result<std::result::Result<(), FormatError>> {
    let Some(digest) = job.digest else {
        return Ok(Ok(()));
    };
    let computed = hashers.digest(job.checksum, job.bytes()?);
    Ok(FormatError::check_digest(job.checksum, digest, computed))
}

/// Decodes the wanted part of a chunk into a reused buffer.
fn decode(
    decoder: &mut ChunkDecoder,
    info: ChunkInfo,
    chunk: &[u8],
    wanted: Range<u32>,
    mut buffer: Vec<u8>,
) -> Result<Piece> {
    let len = to_usize(wanted.end - wanted.start);
    if buffer.len() < len {
        // Fresh zeroed memory costs nothing until it is written to.
        buffer = vec![0; len];
    }
    let room = slice_mut(&mut buffer, 0..len)?;
    let is_whole = wanted == (0..info.header.nbytes);
    let decoded = if is_whole {
        decoder.decode(chunk, room)
    } else {
        decoder.decode_range(chunk, wanted.start, room)
    };
    Ok(Piece {
        info,
        buffer,
        len,
        result: decoded.map(|_| ()).map_err(FormatError::from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloscpack_error::Code;
    use bloscpack_wire::Section;

    #[test]
    fn a_piece_of_another_length_than_its_bytes_is_a_bug() {
        let header = ChunkHeader::END_MARK;
        let info = ChunkInfo {
            position: Position {
                byte: 0,
                member: 0,
                chunk: None,
                section: Section::Chunk,
            },
            content: 0..10,
            header: ChunkHeader::parse(&header).unwrap(),
            form: None,
            is_first_piece: true,
        };
        let piece = Piece {
            info,
            buffer: vec![0; 9],
            len: 10,
            result: Ok(()),
        };
        let error = piece.bytes().unwrap_err();
        assert_eq!(error.code(), Code::Bug, "{error}");
    }
}
