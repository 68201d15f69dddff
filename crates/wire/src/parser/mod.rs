//! The incremental parser: bytes in, events out, no I/O.
//!
//! ```text
//!  start ─► metadata ─► table ─► boundary ─► [gap] ─► chunk header ─► body ─► digest
//!   ▲        (head.rs)              │  ▲                  (body.rs)                 │
//!   └──────── after ◄───────────────┘  └───────────────────────────────────────────┘
//!           (tail.rs)
//! ```
//!
//! Each state has a step, which takes bytes from the input and returns an event, or asks to
//! continue or for more input. The input may be cut in any way: the events are the same, except
//! that the pieces of a chunk follow the cuts.

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

/// Parses members as their bytes arrive, in pieces of any size.
///
/// [`parse`](Self::parse) returns one [`Event`] at a time. At the end of the input, call
/// [`finish`](Self::finish): it reports whether anything is missing.
///
/// The parser compares all parts that must agree with each other: header fields, the seal, the
/// digest of the metadata, the offset table with the positions of the chunks, each chunk's length
/// with the header and the [`Limits`], the number of chunks, and the end mark. It does not check
/// the digests of chunks, so a caller may do this on another thread or not at all, and it does not
/// decompress.
///
/// It keeps at most one incomplete part in memory, such as metadata, and the offset table of the
/// current member. Buffers grow as bytes arrive, never by a length that a header claims.
///
/// ```
/// use bloscpack_wire::{Event, Parser};
///
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
///
/// The digest of each chunk is computed from two events:
///
/// ```
/// use bloscpack_wire::{Checksum, Event, FormatError, Hasher, Hashers, Parser};
///
/// let file = bloscpack::compress(b"some bytes")?;
/// let (mut parser, mut input) = (Parser::default(), file.as_slice());
/// let mut hasher = Hashers::default().hasher(Checksum::default());
/// loop {
///     match parser.parse(&mut input)? {
///         Event::NeedInput => break,
///         Event::Header(header) => hasher = Hashers::default().hasher(header.checksum),
///         Event::Chunk(_, bytes) => hasher.update(&bytes),
///         Event::ChunkData(bytes) => hasher.update(bytes),
///         Event::ChunkEnd(digest) => {
///             let checksum = parser.header().checksum;
///             FormatError::check_digest(checksum, digest, hasher.finish())?;
///         }
///         _ => {}
///     }
/// }
/// assert_eq!(parser.finish()?.members, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Parser {
    limits: Limits,
    hashers: Hashers,
    state: State,
    /// Bytes of an incomplete part, and sometimes the first bytes of the next one.
    buf: Vec<u8>,
    /// Bytes taken from the caller so far, including those in `buf`.
    taken: u64,
    /// Where the current part begins in the input.
    part_at: u64,
    /// Members whose header has been seen.
    members: u64,
    /// Uncompressed bytes of all chunks that have begun, over all members.
    content: u64,
    member: Member,
}

/// The current member, as far as it has been parsed.
struct Member {
    header: Header,
    /// Where it begins in the input.
    at: u64,
    /// The positions of its parts, as far as they are known.
    geometry: Geometry,
    offsets: Offsets,
    /// The number of the next chunk, which is the number of complete chunks.
    chunk: u64,
    /// In a stream of unknown length: whether a chunk shorter than the others has been seen, which
    /// must be the last.
    short_chunk: bool,
    /// The seal, computed so far; `None` if the header is not sealed, and after the check.
    seal: Option<Seal>,
}

/// The part that is parsed next, with what its step must remember. `Start` is the header of a
/// member.
enum State {
    Start,
    /// The JSON text of V2, or the stored form of Dev2012.
    RawMetadata {
        len: u32,
        zlib: bool,
    },
    /// The header of a V3 metadata section.
    SectionHeader,
    /// The stored form in a section.
    SectionBody(MetadataHeader),
    /// The room after the stored form, which is skipped; `left` bytes remain.
    SectionRoom {
        header: MetadataHeader,
        stored: Vec<u8>,
        left: u64,
    },
    /// The digest of the stored form.
    SectionDigest {
        header: MetadataHeader,
        stored: Vec<u8>,
    },
    /// The offset table, at this entry.
    Table {
        entry: u64,
    },
    /// An offset table of unknown length.
    OpenTable,
    /// Before a chunk, or after the last one.
    Boundary,
    /// Spare space before the next chunk; `left` bytes remain.
    Gap {
        left: u64,
    },
    /// The first 16 bytes of a chunk.
    ChunkHeader,
    /// The rest of a chunk; `left` bytes remain.
    Body {
        left: u64,
    },
    /// The digest of a chunk.
    Digest,
    /// The end mark, which is in `buf`, and its digest.
    EndMarkDigest,
    /// The first bytes after the last counted chunk.
    After,
    /// The rest of a possible chunk after the last counted one.
    Candidate {
        left: u64,
        hasher: Box<dyn Hasher>,
    },
    /// The digest of that possible chunk.
    CandidateDigest {
        hasher: Box<dyn Hasher>,
    },
    /// Bytes that belong to no part.
    Trailing,
    /// An error was returned; every later call returns it again.
    Failed(ParseError),
}

/// The result of a step.
enum Step<'a> {
    Event(Event<'a>),
    /// The state has changed: continue with its step.
    Again,
    /// The input is used up; the state is unchanged, or remembers how far it came.
    Hungry,
}

impl Parser {
    /// A parser at the beginning of an input. `hashers` compute the digests of metadata and of the
    /// end mark.
    ///
    /// Of the limits, the parser checks `chunk`, `metadata`, `offsets` and `total`; `block` and
    /// `ratio` apply to the decoder, which [`Limits::decoder`] makes.
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
    /// `input` is advanced past these bytes. [`Event::NeedInput`] is returned only when it is used
    /// up: pass the next piece, or call [`finish`](Self::finish) at the end.
    ///
    /// # Errors
    /// Returns the error in the input and its position; every later call returns the same error.
    /// The events before it remain valid.
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

    /// Runs the step of the current state.
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

    /// The header of the current member; of the last one after its end, and of an empty V3 header
    /// before the first.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.member.header
    }

    /// The positions of its parts, valid after [`Event::Metadata`], or after [`Event::Header`] if
    /// it has no metadata.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.member.geometry
    }

    /// Its offset table, complete after [`Event::ChunksBegin`].
    #[must_use]
    pub fn offsets(&self) -> &Offsets {
        &self.member.offsets
    }

    /// The position of its first byte in the input.
    #[must_use]
    pub fn member_at(&self) -> u64 {
        self.member.at
    }

    /// Number of members whose header has been seen.
    #[must_use]
    pub fn members(&self) -> u64 {
        self.members
    }

    /// Where the current part, or after an error the wrong part, begins.
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

    /// Skips up to `count` bytes of the current chunk's body that the caller does not pass to the
    /// parser. A caller that can seek need not read bodies that it does not use.
    ///
    /// Returns how many of them belong to the body, which may be fewer, and 0 outside of a body.
    ///
    /// ```
    /// use bloscpack_wire::{Event, Parser};
    ///
    /// let file = bloscpack::compress(b"some bytes")?;
    /// let (mut parser, mut input) = (Parser::default(), file.as_slice());
    /// let mut nbytes = 0;
    /// loop {
    ///     match parser.parse(&mut input)? {
    ///         Event::NeedInput => break,
    ///         Event::Chunk(header, _) => {
    ///             nbytes += header.nbytes;
    ///             let skipped = parser.skip(parser.body_left());
    ///             input = &input[usize::try_from(skipped)?..]; // a file would seek
    ///         }
    ///         _ => {}
    ///     }
    /// }
    /// parser.finish()?;
    /// assert_eq!(nbytes, 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn skip(&mut self, count: u64) -> u64 {
        let State::Body { left } = &mut self.state else {
            return 0;
        };
        let skipped = count.min(*left);
        *left -= skipped;
        self.taken += skipped;
        skipped
    }

    /// Bytes of the current chunk's body that have not been parsed yet; 0 outside of a body.
    #[must_use]
    pub fn body_left(&self) -> u64 {
        if let State::Body { left } = self.state {
            left
        } else {
            0
        }
    }

    /// Adds the position to an error, and keeps it for later calls.
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

    /// The position in the input of the next byte that no part has used.
    fn here(&self) -> u64 {
        self.taken - to_u64(self.buf.len())
    }

    /// Begins the next part, here.
    fn enter<'a>(&mut self, state: State) -> Step<'a> {
        self.part_at = self.here();
        self.state = state;
        Step::Again
    }

    /// Moves bytes from the input to the buffer until it has `want` bytes; `false` if the input is
    /// used up before.
    fn gather(&mut self, input: &mut &[u8], want: usize) -> bool {
        // Saturates: the buffer may contain more than `want` bytes.
        let missing = want.saturating_sub(self.buf.len());
        let piece = self.pull(input, missing);
        // The room doubles as bytes arrive, and never exceeds `want` bytes.
        let room = self.buf.capacity() - self.buf.len();
        if room < piece.len() {
            let more = piece.len().max(self.buf.len()).min(missing);
            self.buf.reserve_exact(more);
        }
        self.buf.extend_from_slice(piece);
        self.buf.len() >= want
    }

    /// Takes up to `most` bytes from the front of the input.
    fn pull<'a>(&mut self, input: &mut &'a [u8], most: usize) -> &'a [u8] {
        let (piece, rest) = input.split_at_checked(most).unwrap_or((input, &[]));
        *input = rest;
        self.taken += to_u64(piece.len());
        piece
    }

    /// [`pull`](Self::pull) for a length in 64 bits; also returns the length of the piece.
    fn pull_u64<'a>(&mut self, input: &mut &'a [u8], most: u64) -> (&'a [u8], u64) {
        let most = usize::try_from(most).map_or(input.len(), |most| most.min(input.len()));
        let piece = self.pull(input, most);
        (piece, to_u64(piece.len()))
    }

    /// Takes the first `len` gathered bytes out of the buffer.
    fn take(&mut self, len: usize) -> Result<Vec<u8>, FormatError> {
        if len > self.buf.len() {
            return Err(self.not_gathered(len));
        }
        let rest = self.buf.split_off(len);
        Ok(std::mem::replace(&mut self.buf, rest))
    }

    /// The first `LEN` gathered bytes, which stay in the buffer.
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

    /// The error for a step that did not gather enough bytes.
    fn not_gathered(&self, len: usize) -> FormatError {
        FormatError::bug(format!("{} of {len} bytes were gathered", self.buf.len()))
    }

    /// The error for a step that runs in the state of another one.
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
    /// The part of a member to which the state belongs.
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
