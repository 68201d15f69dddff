//! [`Survey`]: the contents of an input, from its headers alone.

use super::engine::Warning;
use super::walk::Walk;
use crate::Options;
use blosc1::{ChunkHeader, CompressorFormat, Filter};
use bloscpack_error::{IoSide, Result};
use bloscpack_wire::{
    Event, Form, Header, Metadata, MetadataHeader, MetadataPlace, Offsets, Parser,
};
use std::io::{Read, Seek};

/// Whether a member is complete.
///
/// ```
/// use bloscpack::{Encoder, survey::Survey};
/// use std::io::Write;
/// let mut encoder = Encoder::new(Vec::new())?;
/// encoder.write_all(b"content")?;
/// encoder.flush()?; // and no `finish`
/// let survey = Survey::of(encoder.get_ref().as_slice(), &Default::default())?;
/// assert_eq!(survey.members[0].state.name(), "unterminated");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// All counted chunks are present, or the end mark is.
    Complete,
    /// All counted chunks are present, but the offsets are still -1.
    Unindexed,
    /// A stream of unknown length without its end mark.
    Unterminated,
    /// Offsets of -1 and missing chunks: its writer did not finish.
    Unfinished,
}

impl State {
    /// The lower-case name in reports.
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

/// A member: its header, its metadata, and the totals of its chunks.
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
    /// Number of chunks that are present.
    pub chunks: u64,
    /// Uncompressed bytes of these chunks.
    pub uncompressed: u64,
    /// Compressed bytes of these chunks, without digests.
    pub compressed: u64,
    /// The formats of the streams in the chunks, each once; pure copies have none.
    pub compressors: Vec<CompressorFormat>,
    /// The filters of the chunks, each once, without those of Blosc 2, which has up to six in each chunk.
    pub filters: Vec<Filter>,
    /// Whether the member is complete.
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
        self.chunks += 1;
        // Saturates: a few bytes may claim gigabytes, and hostile ones more than a `u64` can count.
        self.uncompressed = self.uncompressed.saturating_add(chunk.nbytes.into());
        self.compressed += u64::from(chunk.ctbytes);
        if let Some(format) = chunk
            .compressor_format()
            .filter(|_| chunk.may_have_streams())
            && !self.compressors.contains(&format)
        {
            self.compressors.push(format);
        }
        // An extended header of Blosc 2 has its filters in the half that is not read.
        if !chunk.is_extended() && !self.filters.contains(&chunk.filter()) {
            self.filters.push(chunk.filter());
        }
    }
}

/// The contents of an input: its members, read without decompressing anything.
///
/// ```
/// use bloscpack::{Options, survey::{State, Survey}};
/// let file = bloscpack::compress(&[0; 5000])?;
/// let survey = Survey::of(file.as_slice(), &Options::new())?;
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
    /// Things that are unusual but not wrong.
    pub warnings: Vec<Warning>,
}

impl Survey {
    /// Reads all of the input and parses its headers. Digests of chunks are not checked.
    ///
    /// # Errors
    /// Returns any error of the reader, and an error in the structure. A stream or file that its writer did not finish is not
    /// an error here, but a [`State`].
    pub fn of<R: Read>(reader: R, options: &Options) -> Result<Self> {
        Self::collect(|take| each_member(reader, options, take))
    }

    /// As [`of`](Self::of), but seeks past the chunks, so that it is fast on large files.
    ///
    /// # Errors
    /// Returns the same errors as [`of`](Self::of), and any error of seeking.
    pub fn of_file<R: Read + Seek>(file: R, options: &Options) -> Result<Self> {
        Self::collect(|take| each_member_of_file(file, options, take))
    }

    fn collect(
        each: impl FnOnce(&mut dyn FnMut(Member) -> Result<()>) -> Result<(u64, Vec<Warning>)>,
    ) -> Result<Self> {
        let mut members = Vec::new();
        let (len, warnings) = each(&mut |member| {
            members.push(member);
            Ok(())
        })?;
        Ok(Self {
            members,
            len,
            warnings,
        })
    }
}

/// Passes the header of each chunk to `take`, in order and across all members, without reading what is between them. An input
/// that its writer did not finish ends where it ends.
///
/// ```
/// use bloscpack::{Options, survey::each_chunk};
/// let file = bloscpack::compress(&[0; 5000])?;
/// let mut bytes = 0;
/// each_chunk(std::io::Cursor::new(file), &Options::new(), |chunk| bytes += chunk.nbytes)?;
/// assert_eq!(bytes, 5000);
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns any error of the reader and of seeking, and an error in the structure, after the chunks before it.
pub fn each_chunk<R: Read + Seek>(
    file: R,
    options: &Options,
    mut take: impl FnMut(&ChunkHeader),
) -> Result<()> {
    let mut walk = Walk::of_file(file, &options.limits, &options.hashers).reading()?;
    let outcome = walk.run(|event, _| {
        if let Event::Chunk(header, _) = event {
            take(&header);
        }
    });
    match outcome.reading()? {
        Err(error) if !error.error.is_unended() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Calls `take` with each member as soon as it is complete, and keeps only one in memory. Returns the length of the input and the
/// warnings about it.
///
/// # Errors
/// Returns the errors of [`Survey::of`], and those of `take`.
pub fn each_member<R: Read>(
    reader: R,
    options: &Options,
    take: impl FnMut(Member) -> Result<()>,
) -> Result<(u64, Vec<Warning>)> {
    visit(Walk::of(reader, &options.limits, &options.hashers), take)
}

/// As [`each_member`], but seeks past the chunks.
///
/// # Errors
/// Returns the errors of [`Survey::of_file`], and those of `take`.
pub fn each_member_of_file<R: Read + Seek>(
    file: R,
    options: &Options,
    take: impl FnMut(Member) -> Result<()>,
) -> Result<(u64, Vec<Warning>)> {
    let walk = Walk::of_file(file, &options.limits, &options.hashers);
    visit(walk.reading()?, take)
}

/// The form of the chunks: content or records. Reads up to the metadata. `None` if the beginning is damaged or truncated; reading
/// the rest returns that error.
///
/// # Errors
/// Returns any error of the reader.
pub fn form(reader: impl Read, options: &Options) -> Result<Option<Form>> {
    let mut form = None;
    let mut walk = Walk::of_start(reader, &options.limits, &options.hashers);
    let outcome = walk.run_until(|event, parser| {
        form = match event {
            Event::NeedInput => return false,
            Event::Header(header) if !header.varlen => Some(Form::Content),
            Event::Header(header) if header.metadata == MetadataPlace::Absent => {
                Form::of(&header, None).ok()
            }
            Event::Header(_) => return false,
            Event::Metadata(metadata, _) => Form::of(parser.header(), Some(&metadata)).ok(),
            _ => None,
        };
        true
    });
    match outcome.reading() {
        Err(error) if !error.is_format() => Err(error),
        _ => Ok(form),
    }
}

fn visit<R: Read>(
    mut walk: Walk<R>,
    mut take: impl FnMut(Member) -> Result<()>,
) -> Result<(u64, Vec<Warning>)> {
    let (mut last, mut taken) = (None, Ok(()));
    let outcome = walk.run(|event, parser| {
        let ended = note(&mut last, event, parser);
        if let (Some(member), Ok(())) = (ended, &taken) {
            taken = take(member);
        }
    });
    let outcome = outcome.reading()?;
    taken?;
    let mut warnings = Vec::new();
    match (outcome, &mut last) {
        (Ok(ending), _) => warnings.extend(ending.trailing.map(Warning::Trailing)),
        (Err(error), Some(member)) if error.error.is_unended() => {
            member.state = if member.header.offsets {
                State::Unfinished
            } else {
                State::Unterminated
            };
            warnings.push(Warning::Unended(error));
        }
        (Err(error), _) => return Err(error.into()),
    }
    last.map_or(Ok(()), take)?;
    Ok((walk.len(), warnings))
}

/// Adds an event of the parser to its member. Returns the member before, if another one begins.
fn note(last: &mut Option<Member>, event: Event<'_>, parser: &Parser) -> Option<Member> {
    if let Event::Header(header) = event {
        return last.replace(Member::new(header, parser.member_at()));
    }
    let member = last.as_mut()?;
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
    None
}
