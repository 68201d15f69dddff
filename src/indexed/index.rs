//! [`Index`]: the position of every chunk, in the input and in the content.
//!
//! A single V3 or sealed V2 member with a filled offset table and chunks of one size needs no walk: its table is the index. A
//! short table is read and checked on opening; entries of a longer one are read as needed, and checked with their neighbours.
//! Any other input is walked once, from chunk header to chunk header.

use super::table::OffsetTable;
use crate::engine::Warning;
use crate::member_map::{MemberMap, chunk_header, trailing_after};
use crate::walk::Walk;
use blosc1::ChunkHeader;
use bloscpack_error::checked::{in_memory, len_of, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAhead, ReadAt, SourceReader};
use bloscpack_wire::{
    Checksum, Event, Form, FormatError, FormatVersion, Hashers, Header, Limit, Limits, Metadata,
    Parser, Position, Section, internal::ENTRY_LEN,
};
use std::ops::Range;

/// Bytes that are read at once on opening: header, metadata and a short offset table.
const HEAD: usize = 8 << 10;
/// The most bytes that may be read there without being used.
const SPARE: u64 = 12 << 10;

/// Where a chunk is in the input.
#[derive(Debug, Clone)]
pub(crate) struct ChunkExtent {
    pub position: Position,
    /// Where the next part begins. Chunk and digest end there or earlier.
    pub end: u64,
    pub checksum: Checksum,
    /// Whether spare space may follow it.
    pub allows_spare: bool,
}

/// Where a chunk is, in the input and in the content.
#[derive(Debug, Clone)]
pub(crate) struct ChunkSpan {
    pub extent: ChunkExtent,
    /// Its uncompressed bytes, counted over all members.
    pub content: Range<u64>,
}

/// A member, and the positions of its chunks.
struct IndexedMember {
    header: Header,
    form: std::result::Result<Form, FormatError>,
    chunks: Chunks,
    /// Number of chunks up to its end, including the members before it.
    chunks_end: u64,
    /// Where it ends in the content of all members.
    content_end: u64,
}

/// How the chunks of a member are found.
enum Chunks {
    /// By a filled offset table. Without a common chunk size, as for records, chunks have no positions in one content.
    Table {
        entries: OffsetTable,
        chunk_size: Option<u64>,
        /// Where the last chunk ends.
        end: u64,
    },
    /// By a walk, in ascending order.
    Walked {
        member: u64,
        chunks: Vec<WalkedChunk>,
    },
}

/// What a walk keeps of a chunk. Keep it small: the chunk itself may be equally short.
struct WalkedChunk {
    at: u64,
    ctbytes: u32,
    nbytes: u32,
    /// Where it ends in the content of all members.
    content_end: u64,
}

/// The positions of all chunks of an input.
#[derive(Default)]
pub(crate) struct Index {
    parts: Vec<IndexedMember>,
    pub metadata: Option<Metadata>,
    pub warnings: Vec<Warning>,
}

impl Index {
    /// The index of a source. `known` is the index of the same file before it was changed; its entries are not read again.
    pub(crate) fn of<S: ReadAt>(
        source: &S,
        limits: &Limits,
        hashers: &Hashers,
        allow_unterminated: bool,
        known: Option<&Self>,
    ) -> Result<Self> {
        match Self::by_table(source, limits, hashers, false, known)? {
            Some(index) => Ok(index),
            None => Self::by_walk(source, limits, hashers, allow_unterminated),
        }
    }

    /// As [`of`](Self::of), for records, whose chunks need no position in a content.
    pub(crate) fn of_records<S: ReadAt>(
        source: &S,
        limits: &Limits,
        hashers: &Hashers,
        allow_unterminated: bool,
        known: Option<&Self>,
    ) -> Result<Self> {
        match Self::by_table(source, limits, hashers, true, known)? {
            Some(index) => Ok(index),
            None => Self::by_walk(source, limits, hashers, allow_unterminated),
        }
    }

    /// The index of a single complete member whose table is sufficient.
    fn by_table<S: ReadAt>(
        source: &S,
        limits: &Limits,
        hashers: &Hashers,
        records: bool,
        known: Option<&Self>,
    ) -> Result<Option<Self>> {
        let source = &ReadAhead::new(source, HEAD).spare(SPARE);
        let Some(map) = MemberMap::read(source, limits, hashers)? else {
            return Ok(None);
        };
        let header = &map.header;
        let uniform = header.chunk_size.zip(header.content_len());
        let size = match uniform {
            None if records && header.varlen => None,
            Some((size, _)) if !header.varlen && size > 0 && size <= limits.chunk => Some(size),
            _ => return Ok(None),
        };
        // Spare space may follow the chunks of V2. Without a seal, an entry that leads to another chunk would go undetected.
        let is_known = header.version == FormatVersion::V3 || header.seal.is_some();
        let (Some(count @ 1..), true, true) = (header.nchunks, is_known, header.offsets) else {
            return Ok(None);
        };
        if header.seal.is_some() && count > limits.offsets / ENTRY_LEN {
            return Ok(None);
        }
        let Some(end) = map.chunks_end(source)? else {
            return Ok(None);
        };
        let Some(trailing) = trailing_after(source, end)? else {
            return Ok(None);
        };
        if header.version == FormatVersion::V2 && trailing.is_some() {
            return Ok(None);
        }
        if !map.has_sound_seal(source)? {
            return Ok(None);
        }
        let known = known.and_then(Self::table);
        let Some(entries) = OffsetTable::of(source, &map, count, end, known)? else {
            return Ok(None);
        };
        let part = IndexedMember {
            form: Form::of(header, map.metadata.as_ref()),
            chunks: Chunks::Table {
                entries,
                chunk_size: size.map(u64::from),
                end,
            },
            chunks_end: count,
            content_end: uniform.map_or(0, |(_, content)| content),
            header: map.header,
        };
        Ok(Some(Self {
            parts: vec![part],
            metadata: map.metadata,
            warnings: trailing.map(Warning::Trailing).into_iter().collect(),
        }))
    }

    /// The offset table, if it is the index.
    fn table(&self) -> Option<&OffsetTable> {
        match &self.parts.first()?.chunks {
            Chunks::Table { entries, .. } => Some(entries),
            Chunks::Walked { .. } => None,
        }
    }

    /// The index by a walk over all chunks. A table that contradicts them is an error.
    pub(crate) fn by_walk<S: ReadAt>(
        source: &S,
        limits: &Limits,
        hashers: &Hashers,
        allow_unterminated: bool,
    ) -> Result<Self> {
        let mut found = WalkState::default();
        let source = ReadAhead::new(source, 0);
        let mut walk = Walk::of_file(SourceReader::new(source), limits, hashers)?;
        let outcome = walk.run(|event, parser| found.take(event, parser))?;
        if found.is_too_long {
            let (limit, found, allowed) = (Limit::Total, u64::MAX, limits.total);
            return Err(FormatError::Limit {
                limit,
                found,
                allowed,
            }
            .into());
        }
        let mut index = found.index;
        match outcome {
            Ok(ending) => index
                .warnings
                .extend(ending.trailing.map(Warning::Trailing)),
            Err(error) if allow_unterminated && error.error.is_unended() => {
                index.warnings.push(Warning::Unended(error));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(index)
    }

    /// Refuses members with packed records, whose chunks are not the bytes of one content.
    pub(crate) fn check_content(&self) -> Result<()> {
        for (_, form) in self.forms() {
            form.clone()?.check_content()?;
        }
        Ok(())
    }

    pub(crate) fn header(&self) -> Option<&Header> {
        self.parts.first().map(|part| &part.header)
    }

    pub(crate) fn members(&self) -> usize {
        self.parts.len()
    }

    /// Number of chunks of all members.
    pub(crate) fn chunks(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.chunks_end)
    }

    /// Uncompressed bytes of all members.
    pub(crate) fn content_len(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.content_end)
    }

    /// The chunk that holds this byte of the content.
    pub(crate) fn chunk_at(&self, content: u64) -> Option<u64> {
        let number = self
            .parts
            .partition_point(|part| part.content_end <= content);
        let within = self.parts.get(number)?.chunk_at(content);
        Some(self.chunks_before(number) + within)
    }

    /// For each member the number of chunks up to its end, and the form of its chunks.
    pub(crate) fn forms(
        &self,
    ) -> impl Iterator<Item = (u64, &std::result::Result<Form, FormatError>)> {
        let parts = self.parts.iter();
        parts.map(|part| (part.chunks_end, &part.form))
    }

    /// The place of a chunk in the input, by its number over all members; `None` after the last.
    pub(crate) fn extent<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<Option<ChunkExtent>> {
        let Some((part, within)) = self.part_of(chunk) else {
            return Ok(None);
        };
        part.extent(source, within).map(Some)
    }

    /// The place of a chunk in the input and in the content, by its number over all members; `None` after the last. The content
    /// of a record without such a position begins at 0.
    pub(crate) fn span<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<Option<ChunkSpan>> {
        let Some((part, within)) = self.part_of(chunk) else {
            return Ok(None);
        };
        let extent = part.extent(source, within)?;
        let content = part.content(source, within, &extent)?;
        Ok(Some(ChunkSpan { extent, content }))
    }

    /// The member that contains a chunk, and the number of the chunk in it.
    fn part_of(&self, chunk: u64) -> Option<(&IndexedMember, u64)> {
        let number = self.parts.partition_point(|part| part.chunks_end <= chunk);
        let within = chunk - self.chunks_before(number);
        self.parts.get(number).map(|part| (part, within))
    }

    /// Uncompressed bytes of every chunk of a single member except the last, if this number is the same for all.
    pub(crate) fn chunk_size(&self) -> Option<u32> {
        match self.parts.first().map(|part| (&part.chunks, &part.header)) {
            Some((Chunks::Walked { chunks, .. }, _)) => {
                let mut sizes = chunks.iter().rev().skip(1).map(|chunk| chunk.nbytes);
                let first = sizes.next()?;
                sizes.all(|size| size == first).then_some(first)
            }
            Some((Chunks::Table { .. }, header)) => header.chunk_size,
            None => None,
        }
    }

    /// The range of each chunk of a single member, with its digest and the spare space after it.
    pub(crate) fn extents<S: ReadAt>(&self, source: &S) -> Result<Vec<Range<u64>>> {
        let Some(part) = self.parts.first() else {
            return Ok(Vec::new());
        };
        let (mut starts, end) = match &part.chunks {
            Chunks::Table { entries, end, .. } => (entries.all(source)?, *end),
            Chunks::Walked { chunks, .. } => {
                let checksum = part.header.checksum;
                let end = chunks.last().map_or(0, |last| last.end(checksum));
                (chunks.iter().map(|chunk| chunk.at).collect(), end)
            }
        };
        starts.push(end);
        let extents = starts.iter().zip(starts.iter().skip(1));
        Ok(extents.map(|(from, to)| *from..*to).collect())
    }

    /// Number of chunks in all members before this one.
    fn chunks_before(&self, member: usize) -> u64 {
        let before = member.checked_sub(1).and_then(|at| self.parts.get(at));
        before.map_or(0, |part| part.chunks_end)
    }
}

/// The index that a walk builds, and its state.
#[derive(Default)]
struct WalkState {
    index: Index,
    /// Uncompressed bytes of the chunks so far, and their number.
    content: u64,
    chunks: u64,
    /// Position and header of the chunk that has begun.
    begun: Option<(u64, ChunkHeader)>,
    /// The sum of all uncompressed bytes exceeds 64 bits.
    is_too_long: bool,
}

impl WalkState {
    fn take(&mut self, event: Event<'_>, parser: &Parser) {
        let index = &mut self.index;
        match event {
            Event::Header(header) => index.parts.push(IndexedMember {
                form: Form::of(&header, None),
                header,
                chunks: Chunks::Walked {
                    member: parser.position().member,
                    chunks: Vec::new(),
                },
                chunks_end: self.chunks,
                content_end: self.content,
            }),
            Event::Metadata(metadata, _) => {
                if let Some(part) = index.parts.last_mut() {
                    part.form = Form::of(&part.header, Some(&metadata));
                }
                if index.parts.len() == 1 {
                    index.metadata = Some(metadata);
                }
            }
            Event::Chunk(header, _) => self.begun = Some((parser.position().byte, header)),
            Event::ChunkEnd(_) => self.end_chunk(),
            _ => {}
        }
    }

    /// Adds the chunk that has ended to the current member.
    fn end_chunk(&mut self) {
        let (Some((at, header)), Some(part)) = (self.begun.take(), self.index.parts.last_mut())
        else {
            return;
        };
        let Some(end) = self.content.checked_add(header.nbytes.into()) else {
            self.is_too_long = true;
            return;
        };
        if let Chunks::Walked { chunks, .. } = &mut part.chunks {
            chunks.push(WalkedChunk {
                at,
                ctbytes: header.ctbytes,
                nbytes: header.nbytes,
                content_end: end,
            });
        }
        self.content = end;
        self.chunks += 1;
        (part.content_end, part.chunks_end) = (self.content, self.chunks);
    }
}

impl IndexedMember {
    /// The number within the member of the chunk that holds this byte of the member.
    fn chunk_at(&self, content: u64) -> u64 {
        match &self.chunks {
            // Without a chunk size there are no positions, and no caller asks for one.
            Chunks::Table { chunk_size, .. } => chunk_size.map_or(0, |size| content / size),
            Chunks::Walked { chunks, .. } => {
                to_u64(chunks.partition_point(|chunk| chunk.content_end <= content))
            }
        }
    }

    /// The place of a chunk of this member in the input.
    fn extent<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<ChunkExtent> {
        let (checksum, header) = (self.header.checksum, &self.header);
        let allows_spare = header.version == FormatVersion::V2 && header.offsets;
        let (position, end) = match &self.chunks {
            Chunks::Table { entries, .. } => {
                let extent = entries.get(source, chunk)?;
                // It is the only member, so numbers in it equal numbers over all members.
                let position = Position {
                    byte: extent.start,
                    member: 0,
                    chunk: Some(chunk),
                    section: Section::Chunk,
                };
                (position, extent.end)
            }
            Chunks::Walked { member, chunks } => {
                let walked = walked(chunks, chunk)?;
                (walked.position(*member, chunk), walked.end(checksum))
            }
        };
        Ok(ChunkExtent {
            position,
            end,
            checksum,
            allows_spare,
        })
    }

    /// The bytes of the content that a chunk holds.
    fn content<S: ReadAt>(
        &self,
        source: &S,
        chunk: u64,
        extent: &ChunkExtent,
    ) -> Result<Range<u64>> {
        match &self.chunks {
            Chunks::Table {
                chunk_size: Some(size),
                ..
            } => {
                // All chunks before it are full, and the content's end fits in 64 bits, so this does not overflow.
                let from = chunk * size;
                Ok(from..from + len_of(&(from..self.content_end)).min(*size))
            }
            Chunks::Table { .. } => {
                let header = chunk_header(source, extent.position.byte)?;
                Ok(0..header.map_or(0, |header| header.nbytes.into()))
            }
            Chunks::Walked { chunks, .. } => {
                let WalkedChunk {
                    content_end,
                    nbytes,
                    ..
                } = walked(chunks, chunk)?;
                Ok(content_end - u64::from(*nbytes)..*content_end)
            }
        }
    }
}

/// A chunk by its number within the member.
fn walked(chunks: &[WalkedChunk], chunk: u64) -> Result<&WalkedChunk> {
    let found = chunks.get(in_memory(chunk)?);
    found.ok_or_else(|| Error::bug(format!("chunk {chunk} of {}", chunks.len())))
}

impl WalkedChunk {
    /// Where it begins.
    fn position(&self, member: u64, chunk: u64) -> Position {
        Position {
            byte: self.at,
            member,
            chunk: Some(chunk),
            section: Section::Chunk,
        }
    }

    /// Where its digest ends. The walk has passed it, so the position is within the input.
    fn end(&self, checksum: Checksum) -> u64 {
        self.at + u64::from(self.ctbytes) + to_u64(checksum.digest_len())
    }
}
