//! [`Survey`]: what an input holds, from its headers alone.

use super::engine::Warning;
use super::source::Source;
use crate::blosc::{ChunkHeader, CompressorFormat, Filter};
use crate::error::Result;
use crate::limits::Limits;
use crate::wire::{Event, Hashers, Header, Metadata, MetadataHeader, Offsets, Parser};
use std::io::{Read, Seek, SeekFrom};

/// Whether a member is all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// All counted chunks are there, or the end mark is.
    Complete,
    /// All counted chunks are there, but the offsets are still -1.
    Unindexed,
    /// A stream of unknown length without its end mark.
    Unterminated,
    /// Offsets of -1 and missing chunks: its writer did not finish.
    Unfinished,
}

impl State {
    /// A lower-case name, as reports have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Unindexed => "unindexed",
            Self::Unterminated => "unterminated",
            Self::Unfinished => "unfinished",
        }
    }
}

/// A member: its header, its metadata, and what its chunks add up to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Member {
    /// The header.
    pub header: Header,
    /// The metadata.
    pub metadata: Option<Metadata>,
    /// The header of the metadata section, in V3.
    pub metadata_header: Option<MetadataHeader>,
    /// The table of offsets.
    pub offsets: Offsets,
    /// Where the member begins in the input.
    pub at: u64,
    /// Where its first chunk begins in the input, if it has one.
    pub first_chunk_at: Option<u64>,
    /// The header of its first chunk.
    pub first_chunk: Option<ChunkHeader>,
    /// Chunks that are there.
    pub chunks: u64,
    /// Uncompressed bytes of these chunks.
    pub uncompressed: u64,
    /// Compressed bytes of these chunks, digests not counted.
    pub compressed: u64,
    /// What the streams of the chunks were made by, each once; pure copies have none.
    pub compressors: Vec<CompressorFormat>,
    /// The filters of the chunks, each once.
    pub filters: Vec<Filter>,
    /// Whether all of it is there.
    pub state: State,
    /// A chunk that has begun but not ended.
    begun: Option<ChunkHeader>,
}

impl Member {
    fn new(header: Header, at: u64) -> Self {
        Self {
            header,
            metadata: None,
            metadata_header: None,
            offsets: Offsets::Absent,
            at,
            first_chunk_at: None,
            first_chunk: None,
            chunks: 0,
            uncompressed: 0,
            compressed: 0,
            compressors: Vec::new(),
            filters: Vec::new(),
            state: State::Complete,
            begun: None,
        }
    }

    /// Counts the chunk that has ended.
    fn count(&mut self) {
        let Some(chunk) = self.begun.take() else {
            return;
        };
        self.chunks = self.chunks.saturating_add(1);
        self.uncompressed = self.uncompressed.saturating_add(chunk.nbytes.into());
        self.compressed = self.compressed.saturating_add(chunk.ctbytes.into());
        if let Some(format) = chunk.compressor_format().filter(|_| !chunk.is_pure_copy())
            && !self.compressors.contains(&format)
        {
            self.compressors.push(format);
        }
        if !self.filters.contains(&chunk.filter()) {
            self.filters.push(chunk.filter());
        }
    }
}

/// What an input holds: its members, read without decompressing anything.
///
/// ```
/// use bloscpack::{Limits, State, Survey};
/// let file = bloscpack::compress(&[0; 5000])?;
/// let survey = Survey::of(file.as_slice(), &Limits::default())?;
/// assert_eq!(survey.members.len(), 1);
/// assert_eq!(survey.members[0].uncompressed, 5000);
/// assert_eq!(survey.members[0].state, State::Complete);
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Survey {
    /// The members, in order; at least one.
    pub members: Vec<Member>,
    /// Bytes of the input.
    pub len: u64,
    /// What is odd without being wrong.
    pub warnings: Vec<Warning>,
}

impl Survey {
    /// Reads all of the input and looks at its headers. Digests are not checked.
    ///
    /// # Errors
    /// Those of the reader, and whatever is wrong with the structure. A stream or file whose
    /// writer's last word is missing is no error here; its [`State`] tells.
    pub fn of<R: Read>(reader: R, limits: &Limits) -> Result<Self> {
        Walk::new(reader, limits, |_, _| Ok(0)).run()
    }

    /// As [`of`](Self::of), but passes over the chunks by seeking, so that it is fast on large
    /// files.
    ///
    /// # Errors
    /// As for [`of`](Self::of), and those of seeking.
    pub fn of_file<R: Read + Seek>(mut file: R, limits: &Limits) -> Result<Self> {
        let from = file.stream_position()?;
        let end = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(from))?;
        let pass = move |file: &mut R, count: u64| {
            let here = file.stream_position()?;
            // What lies behind the end was not passed over but is missing.
            let to = here.saturating_add(count).min(end.max(here));
            file.seek(SeekFrom::Start(to))
                .map(|_| to.saturating_sub(here))
        };
        Walk::new(file, limits, pass).run()
    }
}

/// Seeking is slower than reading for less than this.
const WORTH_SEEKING: u64 = 64 << 10;

struct Walk<R, P> {
    source: Source<R>,
    /// Passes over so many bytes without reading them, and tells how many it were.
    pass: P,
    parser: Parser,
    members: Vec<Member>,
    passed: u64,
}

impl<R: Read, P: FnMut(&mut R, u64) -> std::io::Result<u64>> Walk<R, P> {
    fn new(reader: R, limits: &Limits, pass: P) -> Self {
        let parser = Parser::new(*limits, Hashers::default());
        Self {
            source: Source::new(reader),
            pass,
            parser,
            members: Vec::new(),
            passed: 0,
        }
    }

    fn run(mut self) -> Result<Survey> {
        let mut warnings = Vec::new();
        loop {
            let mut input = self.source.unused();
            let event = self.parser.parse(&mut input)?;
            let left = input.len();
            let hungry = matches!(event, Event::NeedInput);
            note(&mut self.members, event, &self.parser);
            self.source.keep(left);
            if hungry && !self.read_more()? {
                break;
            }
        }
        match self.parser.finish() {
            Ok(ending) => warnings.extend(ending.trailing.map(Warning::Trailing)),
            Err(error) if error.error.is_unended() && !self.members.is_empty() => {
                if let Some(member) = self.members.last_mut() {
                    let stream = !member.header.offsets;
                    member.state = if stream {
                        State::Unterminated
                    } else {
                        State::Unfinished
                    };
                }
                warnings.push(Warning::Unended(error));
            }
            Err(error) => return Err(error.into()),
        }
        let len = self.source.total().saturating_add(self.passed);
        Ok(Survey {
            members: self.members,
            len,
            warnings,
        })
    }

    /// Gets more input; false at its end.
    fn read_more(&mut self) -> Result<bool> {
        let left = self.parser.body_left();
        if left >= WORTH_SEEKING {
            let passed = (self.pass)(self.source.get_mut(), left)?;
            self.passed = self.passed.saturating_add(self.parser.skip(passed));
        }
        Ok(self.source.fill()?)
    }
}

/// Adds what the parser has told to the member that it is about.
fn note(members: &mut Vec<Member>, event: Event<'_>, parser: &Parser) {
    if let Event::Header(header) = event {
        members.push(Member::new(header, parser.member_at()));
        return;
    }
    let Some(member) = members.last_mut() else {
        return;
    };
    match event {
        Event::Metadata(metadata, header) => {
            member.metadata = Some(metadata);
            member.metadata_header = header;
        }
        Event::ChunksBegin => member.offsets = parser.offsets().clone(),
        Event::Chunk(header, _) => {
            member.first_chunk_at.get_or_insert(parser.position().byte);
            member.first_chunk.get_or_insert(header);
            member.begun = Some(header);
        }
        Event::ChunkEnd(_) => member.count(),
        Event::MemberEnd if member.offsets == Offsets::Unfilled => member.state = State::Unindexed,
        _ => {}
    }
}
