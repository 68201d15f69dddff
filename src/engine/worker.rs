//! What is done with one chunk: check its digest, decode it.

use crate::chunk_buffer::Fill;
use crate::pipeline::Panicked;
use crate::shared_source::Fetch;
use blosc1::{ChunkDecoder, ChunkHeader};
use bloscpack_wire::{Checksum, Digest, Form, FormatError, Hashers, Position};
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Where a chunk lies, in the input and in the content.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub position: Position,
    /// Its uncompressed bytes, counted over all members; from a later piece on those that are left.
    pub content: Range<u64>,
    pub header: ChunkHeader,
    /// What the chunks of its member hold, where that is known.
    pub form: Option<Form>,
    /// False for all but the first piece of a chunk that comes in several.
    pub first: bool,
}

/// Decoded bytes, or why there are none.
pub(crate) struct Piece {
    pub place: Place,
    /// The bytes are the first `len` of these.
    pub buffer: Vec<u8>,
    pub len: usize,
    pub result: Result<(), FormatError>,
}

impl Piece {
    /// Whether no further piece of its chunk follows.
    pub(crate) fn is_last(&self) -> bool {
        let len = u64::try_from(self.len).unwrap_or(u64::MAX);
        self.place.content.start.saturating_add(len) >= self.place.content.end
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or_default()
    }
}

/// A chunk that is to be checked and decoded.
pub(super) struct Job {
    pub place: Place,
    pub checksum: Checksum,
    pub digest: Digest,
    pub chunk: Fill,
    /// Where the rest of the chunk is, if it is not there.
    pub fetch: Option<Fetch>,
    /// Why the rest could not be read, when that was tried already.
    pub failed: Option<io::Error>,
    /// Those of its uncompressed bytes that are wanted.
    pub wanted: Range<u32>,
    pub buffer: Vec<u8>,
}

impl Job {
    /// Fetches what is not there.
    pub(super) fn fetch(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match self.fetch.take() {
            Some(fetch) => self.chunk.fetch(&fetch),
            None => Ok(()),
        }
    }
}

/// A job done, with its buffers to be used again.
pub(super) struct Done {
    pub chunk: Fill,
    /// Without bytes if these are not to be had.
    pub piece: io::Result<Piece>,
}

/// What came of a chunk.
pub(super) type Outcome = Result<Done, Panicked>;

/// What a worker does with some chunks. Behind one that it panicked over there is nothing, but before it all is there.
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

/// What a worker does with a chunk: fetch what is not there, check, then decode.
fn work(decoder: &mut ChunkDecoder, hashers: &Hashers, mut job: Job) -> Done {
    if let Err(error) = job.fetch() {
        return Done {
            chunk: job.chunk,
            piece: Err(error),
        };
    }
    let checked = check(hashers, &job);
    let Job {
        place,
        chunk,
        wanted,
        buffer,
        ..
    } = job;
    let piece = match checked {
        Ok(()) => decode(decoder, place, chunk.data(), wanted, buffer),
        Err(error) => Piece {
            place,
            buffer,
            len: 0,
            result: Err(error),
        },
    };
    Done {
        chunk,
        piece: Ok(piece),
    }
}

pub(super) fn check(hashers: &Hashers, job: &Job) -> Result<(), FormatError> {
    let computed = hashers.digest(job.checksum, job.chunk.data());
    FormatError::check_digest(job.checksum, job.digest, computed)
}

pub(super) fn decode(
    decoder: &mut ChunkDecoder,
    place: Place,
    chunk: &[u8],
    wanted: Range<u32>,
    mut buffer: Vec<u8>,
) -> Piece {
    let len = usize::try_from(wanted.end.saturating_sub(wanted.start)).unwrap_or(usize::MAX);
    if buffer.len() < len {
        // Fresh zeroed memory costs nothing until it is written to.
        buffer = vec![0; len];
    }
    let room = buffer.get_mut(..len).unwrap_or_default();
    let whole = wanted == (0..place.header.nbytes);
    let decoded = if whole {
        decoder.decode(chunk, room)
    } else {
        decoder.decode_range(chunk, wanted.start, room)
    };
    Piece {
        place,
        buffer,
        len,
        result: decoded.map(|_| ()).map_err(FormatError::from),
    }
}
