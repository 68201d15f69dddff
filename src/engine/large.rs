//! Large chunks, which are decoded and delivered piece by piece.

use super::worker::{ChunkInfo, Job, Piece, check, decode};
use super::{Engine, State};
use crate::checked::to_usize;
use crate::chunk_buffer::ChunkBuffer;
use blosc1::internal::has_blocks;
use bloscpack_error::{Error, Result};
use std::io::Read;
use std::ops::Range;

/// A chunk of more uncompressed bytes than this is decoded and delivered in pieces.
pub(super) const LARGE: u32 = 64 << 20;
/// The least length of such a piece, except for the last.
const PIECE: u32 = 1 << 20;

/// A chunk that is delivered piece by piece. Its digest has been checked.
pub(super) struct LargeChunk {
    info: ChunkInfo,
    chunk: ChunkBuffer,
    left: Range<u32>,
}

impl<R: Read> Engine<R> {
    /// Checks a large chunk, whose pieces then follow.
    pub(super) fn end_large(&mut self, mut job: Job) -> Result<()> {
        if let Err(error) = job.fetch() {
            // Reported in its turn. A second try might succeed, and its result would never be decoded.
            job.failed = Some(error);
            self.dispatcher.add(job);
            return Ok(());
        }
        match check(&self.settings.hashers, &job)? {
            Ok(()) => {
                self.state = State::Splitting(Box::new(LargeChunk {
                    info: job.info,
                    chunk: job.chunk,
                    left: job.wanted,
                }));
            }
            Err(_) => {
                // The worker will find the same error, so the bytes need no room.
                job.wanted.end = job.wanted.start;
                self.dispatcher.add(job);
            }
        }
        Ok(())
    }

    /// Decodes the next piece of a large chunk, in whole blocks if possible.
    pub(super) fn next_of_large(&mut self) -> Result<Option<Piece>> {
        let State::Splitting(mut large) = std::mem::replace(&mut self.state, State::Reading) else {
            return Err(Error::bug("a piece of a large chunk, where there is none"));
        };
        let chunk = large.chunk.data()?;
        let step = match large.info.header.blocksize {
            0 => PIECE,
            _ if !has_blocks(chunk) => PIECE,
            block => block * PIECE.div_ceil(block),
        };
        let Range { start, end } = large.left;
        let to = start + (step - start % step).min(end - start);
        let buffer = self.content_buffers.take(to_usize(to - start));
        let info = large.info.clone();
        let mut piece = decode(&mut self.decoder, info, chunk, start..to, buffer)?;
        piece.info.content.start += u64::from(start);
        if to < end && piece.result.is_ok() {
            large.info.is_first_piece = false;
            large.left = to..end;
            self.state = State::Splitting(large);
        } else {
            self.end_of_range();
        }
        Ok(Some(piece))
    }
}
