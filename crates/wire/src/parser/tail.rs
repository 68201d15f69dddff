//! The bytes after the last counted chunk, and the meaning of the end of the input in each state.
//!
//! A member may be followed by
//!
//! - nothing, or the next member;
//! - zeros, if it has spare space;
//! - meaningless bytes, in files where an append by the reference implementation leaves them.
//!
//! One more sound chunk means that the header's count is wrong.

use super::body::body_len;
use super::{Ending, Parser, State, Step, Trailing};
use crate::checksum::{Checksum, MAX_DIGEST_LEN};
use crate::error::{FormatError, ParseError};
use crate::header::{Header, MAGIC};
use crate::metadata::METADATA_HEADER_LEN;
use crate::offsets::{CHUNK_HEADER_LEN, Offsets};
use crate::version::FormatVersion;
use blosc1::{ChunkHeader, HEADER_LEN};

impl Parser {
    /// State `After`: tells the next member, a possible chunk, and other bytes apart.
    ///
    /// Spare zeros are skipped. Bytes that differ from the magic in at most one bit begin a member,
    /// whose header is then reported as damaged.
    pub(super) fn after<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, FormatError> {
        if self.buf.is_empty() && self.allows_spare() {
            let zeros = input.iter().take_while(|byte| **byte == 0).count();
            self.pull(input, zeros);
        }
        if !self.gather(input, MAGIC.len()) {
            return Ok(Step::Hungry);
        }
        if self.buf.first_chunk().is_some_and(is_nearly_magic) {
            return Ok(self.enter(State::Start));
        }
        if !self.gather(input, HEADER_LEN) {
            return Ok(Step::Hungry);
        }
        let bytes = self.peek()?;
        let Ok(header) = ChunkHeader::parse(&bytes) else {
            self.state = State::Trailing;
            return Ok(Step::Again);
        };
        let mut hasher = self.hashers.hasher(self.member.header.checksum);
        hasher.update(&self.take(HEADER_LEN)?);
        let left = body_len(&header)?;
        self.state = State::Candidate { left, hasher };
        Ok(Step::Again)
    }

    /// State `Candidate`: bytes that look like a chunk. They are one if the digest after them
    /// matches.
    pub(super) fn candidate<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, FormatError> {
        let State::Candidate { left, mut hasher } =
            std::mem::replace(&mut self.state, State::Trailing)
        else {
            return Err(self.wrong_state());
        };
        let (piece, passed) = self.pull_u64(input, left);
        hasher.update(piece);
        let left = left - passed;
        if left > 0 {
            self.state = State::Candidate { left, hasher };
            return Ok(Step::Hungry);
        }
        self.state = State::CandidateDigest { hasher };
        Ok(Step::Again)
    }

    /// State `CandidateDigest`: a matching digest shows a sound chunk that the header does not
    /// count.
    pub(super) fn candidate_digest<'a>(
        &mut self,
        input: &mut &'a [u8],
    ) -> Result<Step<'a>, FormatError> {
        let checksum = self.member.header.checksum;
        if !self.gather(input, checksum.digest_len()) {
            return Ok(Step::Hungry);
        }
        let found = self.take_digest(checksum)?;
        let State::CandidateDigest { mut hasher } =
            std::mem::replace(&mut self.state, State::Trailing)
        else {
            return Err(self.wrong_state());
        };
        if found == hasher.finish() {
            return Err(FormatError::UncountedChunk {
                counted: self.member.chunk,
            });
        }
        Ok(Step::Again)
    }

    /// State `Trailing`: checks the first bytes and skips all others.
    pub(super) fn trailing<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, FormatError> {
        self.gather(input, MAX_DIGEST_LEN + MAGIC.len());
        self.check_trailing()?;
        self.pull(input, input.len());
        Ok(Step::Hungry)
    }

    /// Accepts the bytes that an append by the reference implementation may leave: it shortens the
    /// last chunk and does not truncate the file. Without checksums, the reference ignores any
    /// bytes there.
    ///
    /// If the next member begins one digest length later, the header names no checksum only because
    /// of a flipped bit.
    fn check_trailing(&self) -> Result<(), FormatError> {
        let header = &self.member.header;
        let unchecked = header.checksum == Checksum::None;
        let hides_member = || {
            let after = |kind: Checksum| self.buf.get(kind.digest_len()..);
            let is_member = |kind| after(kind).is_some_and(|rest| rest.starts_with(&MAGIC));
            unchecked && Checksum::ALL.into_iter().any(is_member)
        };
        // An append to an empty file leaves zeros at first. Other bytes mean that the header's
        // count is damaged, or that its option for metadata was cleared.
        let hides_chunks = || header.nchunks == Some(0) && self.buf.iter().any(|byte| *byte != 0);
        let is_passed_over =
            header.version == FormatVersion::V3 && (header.offsets || unchecked) && !hides_chunks();
        if is_passed_over && !hides_member() {
            return Ok(());
        }
        Err(FormatError::Trailing)
    }

    /// Ends the input. Call it after the last piece has been parsed.
    ///
    /// # Errors
    /// - [`FormatError::Empty`] for an empty input;
    /// - an error of the category [`CutShort`](blosc1::Fault::CutShort) if something is missing:
    ///   [`FormatError::is_unended`] tells an unfinished file or stream from a cut one;
    /// - [`FormatError::Trailing`] for unexpected bytes at the end;
    /// - the error of an earlier call of [`parse`](Self::parse).
    pub fn finish(&mut self) -> Result<Ending, ParseError> {
        let trailing = self.at_end().map_err(|error| self.fail(error))?;
        let len = self.taken - self.part_at;
        let trailing = trailing.then(|| Trailing {
            position: self.position(),
            len,
        });
        Ok(Ending {
            members: self.members,
            trailing,
        })
    }

    /// Whether bytes trail after the last member; an error if the input must not end in this state.
    fn at_end(&mut self) -> Result<bool, FormatError> {
        match &self.state {
            State::Failed(error) => Err(error.error.clone()),
            State::Start if self.buf.is_empty() && self.members == 0 => Err(FormatError::Empty),
            State::Start => self.torn_header(),
            State::After if self.buf.is_empty() => Ok(false),
            State::After if MAGIC.starts_with(&self.buf) => self.torn_header(),
            State::After
            | State::Candidate { .. }
            | State::CandidateDigest { .. }
            | State::Trailing => self.check_trailing().map(|()| true),
            _ => Err(self.cut()),
        }
    }

    /// The error for an input that ends within a header.
    fn torn_header(&self) -> Result<bool, FormatError> {
        // Bytes that cannot begin a header belong to another format: the header is not torn.
        Header::needed(&self.buf)?;
        Err(FormatError::TornHeader {
            found: self.buf.len(),
        })
    }

    /// The error for an input that ends within a member.
    fn cut(&self) -> FormatError {
        match &self.state {
            State::RawMetadata { len, .. } => self.cut_in(u64::from(*len)),
            State::SectionHeader => self.cut_in(METADATA_HEADER_LEN as u64),
            State::SectionBody(header)
            | State::SectionRoom { header, .. }
            | State::SectionDigest { header, .. } => self.cut_in(header.section_len()),
            State::Table { .. } => self.cut_in(self.member.geometry.chunks_at - self.table_at()),
            State::OpenTable | State::Boundary => self.missing_chunks(),
            State::ChunkHeader if self.buf.is_empty() => self.missing_chunks(),
            _ if self.is_unended() => self.missing_chunks(),
            State::ChunkHeader => self.cut_in(CHUNK_HEADER_LEN),
            State::Body { left } | State::Gap { left } => {
                self.cut_in(self.here() - self.part_at + *left)
            }
            _ => self.cut_in(self.member.header.checksum.digest_len() as u64),
        }
    }

    /// The error for a part of `expected` bytes that is incomplete.
    fn cut_in(&self, expected: u64) -> FormatError {
        FormatError::Cut {
            found: self.taken - self.part_at,
            expected,
        }
    }

    /// The position of the current part, the offset table, within its member.
    fn table_at(&self) -> u64 {
        self.part_at - self.member.at
    }

    /// Whether the writer did not finish: the number of chunks is unknown, or all offsets are -1.
    fn is_unended(&self) -> bool {
        self.member.header.nchunks.is_none() || self.member.offsets == Offsets::Unfilled
    }

    /// The error for a member with fewer chunks than it should have.
    pub(super) fn missing_chunks(&self) -> FormatError {
        let found = self.member.chunk;
        match self.member.header.nchunks {
            _ if self.member.header.offsets && self.is_unended() => {
                FormatError::Unfinished { found }
            }
            None => FormatError::Unterminated,
            Some(expected) => FormatError::MissingChunks { found, expected },
        }
    }
}

/// Whether these bytes are the magic, or differ from it in one bit.
fn is_nearly_magic(bytes: &[u8; 4]) -> bool {
    (u32::from_le_bytes(*bytes) ^ u32::from_le_bytes(MAGIC)).count_ones() <= 1
}
