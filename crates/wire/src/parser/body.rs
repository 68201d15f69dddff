//! The chunks, each with its digest and possibly spare space.

use super::{Event, Parser, State, Step};
use crate::error::FormatError;
use crate::header::MAGIC;
use crate::limits::Limit;
use crate::offsets::CHUNK_HEADER_LEN;
use crate::version::FormatVersion;
use blosc1::ChunkHeader;

const HEADER_LEN: usize = blosc1::HEADER_LEN;

impl Parser {
    /// State `Boundary`, before each chunk and after the last one: decides what follows.
    ///
    /// Ends with [`Event::MemberEnd`] after the last counted chunk. Otherwise the next chunk must
    /// begin where its entry in the offset table says: here, or in V2 after spare space.
    pub(super) fn boundary<'a>(&mut self) -> Result<Step<'a>, FormatError> {
        if self.member.header.nchunks == Some(self.member.chunk) {
            self.enter(State::After);
            return Ok(Step::Event(Event::MemberEnd));
        }
        let at = self.here() - self.member.at;
        let Some(offset) = self.member.offsets.get(self.member.chunk) else {
            return Ok(self.enter(State::ChunkHeader));
        };
        match offset.checked_sub(at) {
            Some(0) => Ok(self.enter(State::ChunkHeader)),
            Some(left) if self.allows_spare() => Ok(self.enter(State::Gap { left })),
            _ => {
                self.enter(State::ChunkHeader);
                let expected = format!("{at}, where the chunk before it ends");
                Err(FormatError::Offset {
                    entry: self.member.chunk,
                    found: offset.into(),
                    expected,
                })
            }
        }
    }

    /// Whether spare space may follow a digest: only in V2 with offsets, since released readers of
    /// V3 do not expect it.
    pub(super) fn allows_spare(&self) -> bool {
        self.member.header.version == FormatVersion::V2 && self.member.offsets.get(0).is_some()
    }

    /// State `Gap`: spare space, which must be zeros.
    pub(super) fn gap<'a>(
        &mut self,
        input: &mut &'a [u8],
        left: u64,
    ) -> Result<Step<'a>, FormatError> {
        let (piece, passed) = self.pull_u64(input, left);
        if let Some(found) = piece.iter().copied().find(|byte| *byte != 0) {
            return Err(FormatError::Spare { found });
        }
        let left = left - passed;
        if left > 0 {
            self.state = State::Gap { left };
            return Ok(Step::Hungry);
        }
        Ok(self.enter(State::ChunkHeader))
    }

    /// State `ChunkHeader`: the 16 bytes of a chunk, or an end mark. Ends with [`Event::Chunk`].
    ///
    /// The magic of another member here means that chunks are missing.
    pub(super) fn chunk_header<'a>(
        &mut self,
        input: &mut &'a [u8],
    ) -> Result<Step<'a>, FormatError> {
        if !self.gather(input, HEADER_LEN) {
            return Ok(Step::Hungry);
        }
        if self.buf.starts_with(&MAGIC) {
            return Err(self.missing_chunks());
        }
        let bytes = self.peek()?;
        let header = ChunkHeader::parse(&bytes)?;
        if header.is_end_mark() {
            return self.end_mark();
        }
        self.check_size(&header)?;
        self.take(HEADER_LEN)?;
        let left = body_len(&header)?;
        self.state = State::Body { left };
        Ok(Step::Event(Event::Chunk(header, bytes)))
    }

    /// The end mark is in the buffer: it is an error if the header counts the chunks.
    fn end_mark<'a>(&mut self) -> Result<Step<'a>, FormatError> {
        if let Some(expected) = self.member.header.nchunks {
            return Err(FormatError::EarlyEndMark {
                found: self.member.chunk,
                expected,
            });
        }
        self.state = State::EndMarkDigest;
        Ok(Step::Again)
    }

    /// Compares a chunk's uncompressed length with the limits and the header.
    ///
    /// A chunk has the chunk size of the header, the last one its last chunk. If their number is
    /// unknown, one chunk may be shorter, and must then be the last.
    fn check_size(&mut self, chunk: &ChunkHeader) -> Result<(), FormatError> {
        let (found, limit) = (chunk.nbytes, self.limits.chunk);
        if found > limit {
            return Err(FormatError::Limit {
                limit: Limit::Chunk,
                found: found.into(),
                allowed: limit.into(),
            });
        }
        // Saturates: no limit is above `u64::MAX`.
        self.content = self.content.saturating_add(found.into());
        if self.content > self.limits.total {
            return Err(FormatError::Limit {
                limit: Limit::Total,
                found: self.content,
                allowed: self.limits.total,
            });
        }
        let header = &self.member.header;
        let is_last = header.nchunks.map(|n| self.member.chunk + 1 == n);
        let expected = if is_last == Some(true) {
            header.last_chunk
        } else {
            header.chunk_size
        };
        let Some(expected) = expected else {
            return Ok(());
        };
        if is_last.is_none() && found < expected && !self.member.short_chunk {
            // In a stream of unknown length, only the last chunk may be shorter.
            self.member.short_chunk = true;
            return Ok(());
        }
        if found == expected && !self.member.short_chunk {
            return Ok(());
        }
        Err(FormatError::ChunkSize { found, expected })
    }

    /// State `Body`: returns the bytes as they arrive, with [`Event::ChunkData`].
    pub(super) fn body<'a>(&mut self, input: &mut &'a [u8], left: u64) -> Step<'a> {
        if left == 0 {
            return self.enter(State::Digest);
        }
        let (piece, passed) = self.pull_u64(input, left);
        if passed == 0 {
            return Step::Hungry;
        }
        self.state = State::Body {
            left: left - passed,
        };
        Step::Event(Event::ChunkData(piece))
    }

    /// State `Digest`: the digest of the chunk, possibly of no bytes. Ends with
    /// [`Event::ChunkEnd`].
    pub(super) fn digest<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, FormatError> {
        let checksum = self.member.header.checksum;
        if !self.gather(input, checksum.digest_len()) {
            return Ok(Step::Hungry);
        }
        let digest = self.take_digest(checksum)?;
        self.member.chunk += 1;
        self.enter(State::Boundary);
        Ok(Step::Event(Event::ChunkEnd(digest)))
    }

    /// State `EndMarkDigest`: the end mark is a chunk of known bytes, so its digest is checked
    /// here. Ends with [`Event::MemberEnd`].
    pub(super) fn end_mark_digest<'a>(
        &mut self,
        input: &mut &'a [u8],
    ) -> Result<Step<'a>, FormatError> {
        let checksum = self.member.header.checksum;
        if !self.gather(input, HEADER_LEN + checksum.digest_len()) {
            return Ok(Step::Hungry);
        }
        let mark = self.take(HEADER_LEN)?;
        let found = self.take_digest(checksum)?;
        let computed = self.hashers.digest(checksum, &mark);
        FormatError::check_digest(checksum, found, computed)?;
        self.enter(State::After);
        Ok(Step::Event(Event::MemberEnd))
    }
}

/// Bytes of a chunk after its header.
pub(super) fn body_len(header: &ChunkHeader) -> Result<u64, FormatError> {
    let len = u64::from(header.ctbytes).checked_sub(CHUNK_HEADER_LEN);
    len.ok_or_else(|| FormatError::bug(format!("a chunk of {} bytes", header.ctbytes)))
}
