//! Large chunks, which are decoded and delivered in pieces.

use super::worker::{ChunkInfo, Done, Job, Rest};
use super::{Engine, State};
use crate::chunk_buffer::ChunkBuffer;
use blosc1::internal::has_blocks;
use bloscpack_error::checked::to_usize;
use bloscpack_error::{Error, Result};
use bloscpack_wire::{Checksum, Digest};
use std::ops::Range;

/// A chunk of more uncompressed bytes than this is decoded and delivered in pieces.
pub(super) const LARGE: u32 = 64 << 20;
/// The least length of such a piece, except for the last.
const PIECE: u32 = 1 << 20;

/// A chunk that is delivered in pieces.
pub(super) struct LargeChunk {
    info: ChunkInfo,
    checksum: Checksum,
    /// Its digest, until a worker has checked it.
    digest: Option<Digest>,
    chunk: ChunkBuffer,
    rest: Rest,
    /// The bytes that have not been decoded.
    left: Range<u32>,
    /// If a worker has the chunk: the end of the piece that it decodes.
    decoding: Option<u32>,
}

impl From<Job> for LargeChunk {
    fn from(job: Job) -> Self {
        Self {
            info: job.info,
            checksum: job.checksum,
            digest: job.digest,
            chunk: job.chunk,
            rest: job.rest,
            left: job.wanted,
            decoding: None,
        }
    }
}

impl LargeChunk {
    /// The end of the next piece, if possible at the end of a block.
    fn next_border(&self) -> Result<u32> {
        let step = match self.info.header.blocksize {
            0 => PIECE,
            // Before the chunk is gathered, it is unknown whether it has blocks.
            _ if !self.rest.is_empty() || !has_blocks(self.chunk.data()?) => PIECE,
            block => block * PIECE.div_ceil(block),
        };
        let Range { start, end } = self.left;
        Ok(start + (step - start % step).min(end - start))
    }
}

impl<R> Engine<R> {
    /// Sends the large chunk to a worker, which decodes its next piece.
    pub(super) fn send_piece(&mut self) -> Result<()> {
        let State::Splitting(large) = &mut self.state else {
            return Err(Error::bug("a piece of a large chunk, where there is none"));
        };
        let (start, to) = (large.left.start, large.next_border()?);
        large.decoding = Some(to);
        self.dispatcher.add(Job {
            info: large.info.clone(),
            checksum: large.checksum,
            digest: large.digest.take(),
            chunk: std::mem::take(&mut large.chunk),
            rest: std::mem::take(&mut large.rest),
            wanted: start..to,
            buffer: self.content_buffers.take(to_usize(to - start)),
        });
        Ok(())
    }

    /// Takes the large chunk back from its worker. Returns the piece, or any other result unchanged.
    pub(super) fn take_piece(&mut self, mut done: Done) -> Done {
        let State::Splitting(large) = &mut self.state else {
            return done;
        };
        let Some(to) = large.decoding.take() else {
            return done;
        };
        let is_sound = match &mut done.piece {
            Ok(piece) => {
                piece.info.content.start += u64::from(large.left.start);
                piece.result.is_ok()
            }
            Err(_) => false,
        };
        if is_sound && to < large.left.end {
            large.chunk = std::mem::take(&mut done.chunk);
            large.info.is_first_piece = false;
            large.left.start = to;
        } else {
            self.state = State::Reading;
            self.end_of_range();
        }
        done
    }
}
