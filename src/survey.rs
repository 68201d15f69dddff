//! What an input contains, by its headers alone: members, sizes, metadata, chunk headers. Nothing is decompressed.
//!
//! ```text
//!   Read, or Read + Seek ─► headers of members and chunks ─┬─► Survey: all members in memory
//!                           (bodies are skipped)           ├─► each_member, each_member_of_file: one member at a time
//!                                                          ├─► each_chunk: the header of each chunk
//!                                                          └─► form: content or records, from the first bytes
//! ```
//!
//! The structure is checked (headers, metadata, offset table, seal, the number of chunks), but not the digests of chunks; see
//! [`verify`](mod@crate::verify).

use super::engine::Warning;
use super::walk::Walk;
use crate::Options;
use blosc1::{ChunkHeader, CompressorFormat, Filter};
use bloscpack_error::{IoSide, Result};
use bloscpack_wire::{
    Event, Form, Header, Metadata, MetadataHeader, MetadataPlace, Offsets, Parser,
};
use std::io::{Read, Seek};

/// Whether a member (one of several concatenated Bloscpack files) is complete.
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
    /// All counted chunks are present, or the stream ends with its end mark.
    Complete,
    /// All counted chunks are present, but all entries of the offset table are -1, as after writing a known number of records
    /// to a pipe. [`Editor::reindex`](crate::edit::Editor::reindex) and
    /// [`RecordEditor::reindex`](crate::edit::RecordEditor::reindex) fill the table in.
    Unindexed,
    /// A stream of unknown length without its end mark: it was cut, or is still being written.
    Unterminated,
    /// An offset table of -1, and missing chunks: its writer did not finish.
    Unfinished,
}

impl State {
    /// The lower-case name in reports: `complete`, `unindexed`, `unterminated` or `unfinished`.
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

/// A member: its header, its metadata, and totals over its chunks.
///
/// Only the last member of an input can lack chunks. Its totals then cover the chunks that are whole.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Member {
    /// The header, with -1 as `None`.
    pub header: Header,
    /// The metadata; `None` if the member has none.
    pub metadata: Option<Metadata>,
    /// The header of the metadata section; `None` in all versions except V3, and without metadata.
    pub metadata_header: Option<MetadataHeader>,
    /// The offset table: absent, all -1, or filled in.
    pub offsets: Offsets,
    /// The position of its first byte in the input.
    pub at: u64,
    /// The position of its first chunk in the input, if it has one.
    pub first_chunk_at: Option<u64>,
    /// The header of its first chunk, also if that chunk is cut.
    pub first_chunk: Option<ChunkHeader>,
    /// Number of whole chunks.
    pub chunks: u64,
    /// Uncompressed bytes of these chunks, by their headers; at most `u64::MAX`, whatever hostile headers claim.
    pub uncompressed: u64,
    /// Compressed bytes of these chunks with their headers, without digests.
    pub compressed: u64,
    /// The compressors of the chunks, each once, in the order of their first use. Uncompressed chunks (pure copies) have none.
    pub compressors: Vec<CompressorFormat>,
    /// The filters of the chunks, each once, in the order of their first use. Chunks of Blosc 2 are left out: they have up to
    /// six filters each, in a part of the header that is not read.
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

/// The contents of an input: its members, read without decompressing anything. It keeps all members in memory;
/// [`each_member`] keeps one.
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
    /// Bytes of the input, from the position at which reading began.
    pub len: u64,
    /// Things that are unusual but not wrong: bytes after the last chunk, and a last member whose writer did not finish.
    pub warnings: Vec<Warning>,
}

impl Survey {
    /// Reads all of the input and parses its headers. Digests of chunks are not checked. Of the options, the limits and the
    /// hashers are used.
    ///
    /// # Errors
    /// Returns any error of the reader, an error in the structure, and [`Code::CutShort`](bloscpack_error::Code::CutShort) for
    /// an empty input. A stream or file that its writer did not finish is not an error here, but a [`State`].
    pub fn of<R: Read>(reader: R, options: &Options) -> Result<Self> {
        Self::collect(|take| each_member(reader, options, take))
    }

    /// As [`of`](Self::of), but seeks past the bodies of chunks, which is faster for large files. The first member begins at
    /// the current position.
    ///
    /// ```
    /// use bloscpack::{Encoder, Options, survey::Survey};
    /// use std::io::{Cursor, Write};
    /// let mut encoder = Encoder::builder().chunk_size(1000).write_to_file(Cursor::new(Vec::new()))?;
    /// encoder.write_all(&[7; 2500])?;
    /// let file = encoder.finish()?.into_inner();
    /// let survey = Survey::of_file(Cursor::new(&file), &Options::new())?;
    /// assert_eq!((survey.members[0].chunks, survey.len), (3, file.len() as u64));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

/// Passes the header of each chunk to `take`, in order and across all members. It seeks past the bodies of chunks. The last
/// chunk of an unfinished input may be cut.
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
/// Returns any error of the reader and of seeking, and an error in the structure, after `take` has received the chunks before
/// it. An unfinished input is no error.
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

/// Calls `take` with each member as soon as it has ended, and keeps only one in memory. Returns the length of the input in
/// bytes, and the warnings about it.
///
/// ```
/// use bloscpack::{Options, compress, survey::each_member};
/// let both = [compress(b"one, ")?, compress(b"two")?].concat();
/// let mut lens = Vec::new();
/// let (len, warnings) = each_member(both.as_slice(), &Options::new(), |member| {
///     lens.push(member.uncompressed);
///     Ok(())
/// })?;
/// assert_eq!(lens, [5, 3]);
/// assert_eq!((len, warnings.len()), (both.len() as u64, 0));
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`Survey::of`], and the first error of `take`, after which it is not called again.
pub fn each_member<R: Read>(
    reader: R,
    options: &Options,
    take: impl FnMut(Member) -> Result<()>,
) -> Result<(u64, Vec<Warning>)> {
    visit(Walk::of(reader, &options.limits, &options.hashers), take)
}

/// As [`each_member`], but seeks past the bodies of chunks.
///
/// # Errors
/// Returns the errors of [`Survey::of_file`], and the first error of `take`.
pub fn each_member_of_file<R: Read + Seek>(
    file: R,
    options: &Options,
    take: impl FnMut(Member) -> Result<()>,
) -> Result<(u64, Vec<Warning>)> {
    let walk = Walk::of_file(file, &options.limits, &options.hashers);
    visit(walk.reading()?, take)
}

/// The form of the chunks of the first member: content, records, or packed records. Reads the header and, if the header
/// declares records, the metadata. `None` if these are damaged, cut or of another format; a [`Decoder`](crate::Decoder)
/// reports that error.
///
/// ```
/// use bloscpack::{Options, records::RecordWriter, survey::form, wire::Form};
/// let stream = RecordWriter::builder().small().write_to(Vec::new())?.finish()?;
/// assert!(matches!(form(stream.as_slice(), &Options::new())?, Some(Form::Packed { .. })));
/// let content = bloscpack::compress(b"content")?;
/// assert_eq!(form(content.as_slice(), &Options::new())?, Some(Form::Content));
/// assert_eq!(form(&b"something else"[..], &Options::new())?, None);
/// # Ok::<(), bloscpack::Error>(())
/// ```
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

/// Passes each member of a walk to `take` when it has ended.
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

/// Adds an event of the parser to its member. Returns the previous member when another one begins.
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
