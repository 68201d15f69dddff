//! The incremental parser: bytes in, events out, no I/O.
//!
//! ```text
//!  start ─► metadata ─► table ─► boundary ─► [gap] ─► chunk header ─► body ─► digest
//!   ▲        (head.rs)              │  ▲                  (body.rs)                 │
//!   └──────── after ◄───────────────┘  └───────────────────────────────────────────┘
//!           (tail.rs)
//! ```
//!
//! Input may be cut in any way: the events are the same. Digests of chunks are handed on, not
//! checked, so that a caller may check them on another thread or not at all. All other parts
//! that must agree with each other are compared here.

mod body;
mod event;
mod head;
mod tail;

use super::checksum::{Checksum, Digest};
use super::error::{FormatError, ParseError};
use super::geometry::Geometry;
use super::hasher::{Hasher, Hashers};
use super::header::Header;
use super::metadata::MetadataHeader;
use super::offsets::Offsets;
use super::position::{Position, Section};
use super::seal::Seal;
use crate::Limits;
use crate::int::to_u64;
pub use event::{Ending, Event, Trailing};

/// Parses members as their bytes arrive.
///
/// ```
/// use bloscpack_wire::{Event, Parser};
/// let file = bloscpack::compress(b"some bytes")?;
/// let mut parser = Parser::default();
/// let (mut input, mut chunks) = (file.as_slice(), 0);
/// loop {
///     match parser.parse(&mut input)? {
///         Event::NeedInput => break, // read more here
///         Event::ChunkEnd(_) => chunks += 1,
///         _ => {}
///     }
/// }
/// parser.finish()?;
/// assert_eq!(chunks, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Parser {
    limits: Limits,
    hashers: Hashers,
    state: State,
    /// Bytes of a part that is not complete, and now and then the first bytes of the next.
    buf: Vec<u8>,
    /// Bytes taken from the caller so far, those in `buf` included.
    taken: u64,
    /// Where the part begins that is being parsed.
    part_at: u64,
    /// Members begun.
    members: u64,
    /// Uncompressed bytes of the chunks begun.
    content: u64,
    member: Member,
}

/// The member that is being parsed, as far as it is known.
struct Member {
    header: Header,
    /// Its first byte in the input.
    at: u64,
    /// Where its parts are, as far as they are known.
    geometry: Geometry,
    offsets: Offsets,
    /// The number of the next chunk, and thus the count of complete chunks.
    chunk: u64,
    /// Where the length is unknown: a chunk shorter than the others has been seen.
    short_chunk: bool,
    seal: Option<Seal>,
}

enum State {
    Start,
    RawMetadata {
        len: u32,
        zlib: bool,
    },
    SectionHeader,
    SectionBody(MetadataHeader),
    SectionRoom {
        header: MetadataHeader,
        stored: Vec<u8>,
        left: u64,
    },
    SectionDigest {
        header: MetadataHeader,
        stored: Vec<u8>,
    },
    Table {
        entry: u64,
    },
    OpenTable,
    Boundary,
    Gap {
        left: u64,
    },
    ChunkHeader,
    Body {
        left: u64,
    },
    Digest,
    EndMarkDigest,
    After,
    Candidate {
        left: u64,
        hasher: Box<dyn Hasher>,
    },
    CandidateDigest {
        hasher: Box<dyn Hasher>,
    },
    Trailing,
    Failed(ParseError),
}

/// The result of a step.
enum Step<'a> {
    Event(Event<'a>),
    /// The state has changed: continue.
    Again,
    /// The input is used up.
    Hungry,
}

impl Parser {
    /// A parser that waits for the first byte of the first member.
    #[must_use]
    pub fn new(limits: Limits, hashers: Hashers) -> Self {
        let header = Header::new(super::FormatVersion::V3);
        Self {
            limits,
            hashers,
            state: State::Start,
            buf: Vec::new(),
            taken: 0,
            part_at: 0,
            members: 0,
            content: 0,
            member: Member::new(header, 0),
        }
    }

    /// Takes bytes from the front of `input` until there is an event.
    ///
    /// It returns [`Event::NeedInput`] only when `input` is used up.
    ///
    /// # Errors
    /// Returns the error in the input and its position; every later call returns the same error.
    pub fn parse<'a>(&mut self, input: &mut &'a [u8]) -> Result<Event<'a>, ParseError> {
        loop {
            match self.step(input) {
                Ok(Step::Event(event)) => return Ok(event),
                Ok(Step::Again) => {}
                Ok(Step::Hungry) => return Ok(Event::NeedInput),
                Err(error) => return Err(self.fail(error)),
            }
        }
    }

    fn step<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, FormatError> {
        match &self.state {
            State::Start => self.start(input),
            State::RawMetadata { len, zlib } => self.raw_metadata(input, *len, *zlib),
            State::SectionHeader => self.section_header(input),
            State::SectionBody(header) => self.section_body(input, *header),
            State::SectionRoom { .. } => self.section_room(input),
            State::SectionDigest { .. } => self.section_digest(input),
            State::Table { entry } => self.table(input, *entry),
            State::OpenTable => self.open_table(input),
            State::Boundary => self.boundary(),
            State::Gap { left } => self.gap(input, *left),
            State::ChunkHeader => self.chunk_header(input),
            State::Body { left } => Ok(self.body(input, *left)),
            State::Digest => self.digest(input),
            State::EndMarkDigest => self.end_mark_digest(input),
            State::After => self.after(input),
            State::Candidate { .. } => self.candidate(input),
            State::CandidateDigest { .. } => self.candidate_digest(input),
            State::Trailing => self.trailing(input),
            State::Failed(error) => Err(error.error.clone()),
        }
    }

    /// The header of the member that is being parsed, or that was parsed last.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.member.header
    }

    /// The positions of its parts: from [`Event::Metadata`] on, or from [`Event::Header`] on if it has no metadata.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.member.geometry
    }

    /// Its table of offsets, complete from [`Event::ChunksBegin`] on.
    #[must_use]
    pub fn offsets(&self) -> &Offsets {
        &self.member.offsets
    }

    /// The position of its first byte in the input.
    #[must_use]
    pub fn member_at(&self) -> u64 {
        self.member.at
    }

    /// Members whose header has been seen.
    #[must_use]
    pub fn members(&self) -> u64 {
        self.members
    }

    /// Where the part begins that is being parsed or was parsed last.
    #[must_use]
    pub fn position(&self) -> Position {
        let section = self.state.section();
        let in_chunk = matches!(section, Section::Chunk | Section::Digest | Section::Spare);
        Position {
            byte: if let State::Failed(error) = &self.state {
                error.position.byte
            } else {
                self.part_at
            },
            // Saturates: before the first header, the position is in the first member.
            member: self.members.saturating_sub(1),
            chunk: in_chunk.then_some(self.member.chunk),
            section,
        }
    }

    /// Skips `count` bytes of the body of a chunk that the caller does not pass to the parser: a caller
    /// that can seek need not read bodies that it does not want.
    ///
    /// Returns how many of them belong to the body, which may be fewer, and 0 outside of one.
    pub fn skip(&mut self, count: u64) -> u64 {
        let State::Body { left } = &mut self.state else {
            return 0;
        };
        let skipped = count.min(*left);
        *left -= skipped;
        self.taken += skipped;
        skipped
    }

    /// Bytes of the current chunk's body that have not arrived yet.
    #[must_use]
    pub fn body_left(&self) -> u64 {
        if let State::Body { left } = self.state {
            left
        } else {
            0
        }
    }

    fn fail(&mut self, error: FormatError) -> ParseError {
        if let State::Failed(error) = &self.state {
            return error.clone();
        }
        let error = ParseError {
            error,
            position: self.position(),
        };
        self.state = State::Failed(error.clone());
        error
    }

    /// Position of the next byte that no part has used yet.
    fn here(&self) -> u64 {
        self.taken - to_u64(self.buf.len())
    }

    /// Continues with the next part, which begins here.
    fn enter<'a>(&mut self, state: State) -> Step<'a> {
        self.part_at = self.here();
        self.state = state;
        Step::Again
    }

    /// Moves bytes from the input to the buffer until it holds `want`; false if they run out.
    fn gather(&mut self, input: &mut &[u8], want: usize) -> bool {
        // Saturates: the buffer may contain more than is wanted now.
        let missing = want.saturating_sub(self.buf.len());
        let piece = self.pull(input, missing);
        // Room doubles as bytes arrive, and never exceeds the wanted length.
        let room = self.buf.capacity() - self.buf.len();
        if room < piece.len() {
            let more = piece.len().max(self.buf.len()).min(missing);
            self.buf.reserve_exact(more);
        }
        self.buf.extend_from_slice(piece);
        self.buf.len() >= want
    }

    /// Up to `most` bytes from the front of the input.
    fn pull<'a>(&mut self, input: &mut &'a [u8], most: usize) -> &'a [u8] {
        let (piece, rest) = input.split_at_checked(most).unwrap_or((input, &[]));
        *input = rest;
        self.taken += to_u64(piece.len());
        piece
    }

    /// As [`pull`](Self::pull), for a length in 64 bits.
    fn pull_u64<'a>(&mut self, input: &mut &'a [u8], most: u64) -> (&'a [u8], u64) {
        let most = usize::try_from(most).map_or(input.len(), |most| most.min(input.len()));
        let piece = self.pull(input, most);
        (piece, to_u64(piece.len()))
    }

    /// Takes the gathered bytes of a part out of the buffer.
    fn take(&mut self, len: usize) -> Result<Vec<u8>, FormatError> {
        if len > self.buf.len() {
            return Err(self.not_gathered(len));
        }
        let rest = self.buf.split_off(len);
        Ok(std::mem::replace(&mut self.buf, rest))
    }

    /// The first gathered bytes, which stay in the buffer.
    fn peek<const LEN: usize>(&self) -> Result<[u8; LEN], FormatError> {
        let bytes = self.buf.first_chunk().copied();
        bytes.ok_or_else(|| self.not_gathered(LEN))
    }

    /// Takes a gathered digest out of the buffer.
    fn take_digest(&mut self, checksum: Checksum) -> Result<Digest, FormatError> {
        let bytes = self.take(checksum.digest_len())?;
        let digest = Digest::from_bytes(&bytes);
        digest.ok_or_else(|| FormatError::bug(format!("a digest of {} bytes", bytes.len())))
    }

    fn not_gathered(&self, len: usize) -> FormatError {
        FormatError::bug(format!("{} of {len} bytes were gathered", self.buf.len()))
    }

    /// The error for a step that was begun in the state of another.
    fn wrong_state(&self) -> FormatError {
        FormatError::bug(format!(
            "the parser is in the section {:?}",
            self.state.section()
        ))
    }
}

impl Default for Parser {
    fn default() -> Self {
        Self::new(Limits::default(), Hashers::default())
    }
}

impl std::fmt::Debug for Parser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parser")
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}

impl Member {
    fn new(header: Header, at: u64) -> Self {
        Self {
            header,
            at,
            geometry: Geometry::default(),
            offsets: Offsets::Absent,
            chunk: 0,
            short_chunk: false,
            seal: None,
        }
    }
}

impl State {
    fn section(&self) -> Section {
        match self {
            Self::Start => Section::Header,
            Self::RawMetadata { .. }
            | Self::SectionHeader
            | Self::SectionBody(_)
            | Self::SectionRoom { .. }
            | Self::SectionDigest { .. } => Section::Metadata,
            Self::Table { .. } | Self::OpenTable => Section::Offsets,
            Self::Gap { .. } => Section::Spare,
            Self::Boundary | Self::ChunkHeader | Self::Body { .. } => Section::Chunk,
            Self::Digest | Self::EndMarkDigest => Section::Digest,
            Self::After
            | Self::Candidate { .. }
            | Self::CandidateDigest { .. }
            | Self::Trailing => Section::Trailer,
            Self::Failed(error) => error.position.section,
        }
    }
}
