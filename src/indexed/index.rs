//! Where every chunk of an input lies, in the input and in the content.
//!
//! A single V3 member with a filled table of offsets and chunks of one size needs no index: its
//! table is read entry by entry as chunks are asked for, so that opening costs the same for ten
//! chunks and for ten million. Everything else is walked once, from chunk header to chunk header.

use super::head::{Head, head};
use super::table::{Entries, bad_offset, chunk_header, nothing_behind, seal_holds, table_end};
use crate::engine::Warning;
use crate::walk::Walk;
use blosc1::HEADER_LEN;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{
    Checksum, Event, Form, FormatError, FormatVersion, Geometry, Header, Limits, Metadata,
    Position, Section, offsets::ENTRY_LEN,
};
use std::ops::Range;

/// Where a chunk lies in the input.
#[derive(Debug, Clone)]
pub(crate) struct Extent {
    pub position: Position,
    /// Where what follows it begins: no byte of chunk or digest lies there or behind.
    pub end: u64,
    pub checksum: Checksum,
    /// Whether spare space may lie behind it.
    pub allows_spare: bool,
}

/// Where a chunk lies, in the input and in the content.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    pub extent: Extent,
    /// Its uncompressed bytes, counted over all members.
    pub content: Range<u64>,
}

/// A member, and how its chunks are found.
struct Part {
    header: Header,
    form: std::result::Result<Form, FormatError>,
    chunks: Chunks,
    /// Chunks up to its end, those of the members before it included.
    chunks_end: u64,
    /// Where it ends in the content of all members.
    content_end: u64,
}

enum Chunks {
    /// By the table of offsets, which is filled and lies here in the input. Records have no common
    /// size, and so no positions in one content.
    Table {
        entries: Entries,
        chunk_size: Option<u64>,
        end: u64,
    },
    /// By a walk: ascending in the input and in the content.
    Walked { member: u64, chunks: Vec<Walked> },
}

/// What a walk has to keep of a chunk, which itself may be no longer than this.
struct Walked {
    at: u64,
    ctbytes: u32,
    nbytes: u32,
    /// Where it ends in the content of all members.
    content_end: u64,
}

pub(crate) struct Index {
    parts: Vec<Part>,
    pub metadata: Option<Metadata>,
    pub warnings: Vec<Warning>,
}

impl Index {
    pub(crate) fn of<S: ReadAt>(
        source: &S,
        limits: &Limits,
        allow_unterminated: bool,
    ) -> Result<Self> {
        match Self::by_table(source, limits, false)? {
            Some(index) => Ok(index),
            None => Self::by_walk(source, limits, allow_unterminated),
        }
    }

    /// As [`of`](Self::of), for chunks that are only asked for by number: those of records may have
    /// no place in the content.
    pub(crate) fn of_records<S: ReadAt>(
        source: &S,
        limits: &Limits,
        allow_unterminated: bool,
    ) -> Result<Self> {
        match Self::by_table(source, limits, true)? {
            Some(index) => Ok(index),
            None => Self::by_walk(source, limits, allow_unterminated),
        }
    }

    /// The index of a single member whose table tells all, and of which nothing is missing.
    fn by_table<S: ReadAt>(source: &S, limits: &Limits, records: bool) -> Result<Option<Self>> {
        let Some(Head {
            header,
            metadata,
            metadata_len,
            ..
        }) = head(source, limits)?
        else {
            return Ok(None);
        };
        let uniform = header.chunk_size.zip(header.content_len());
        let size = match uniform {
            None if records && header.varlen => None,
            Some((size, _)) if !header.varlen && size > 0 && size <= limits.chunk => Some(size),
            _ => return Ok(None),
        };
        // Spare space may lie behind the chunks of V2: without a seal, an entry that leads to another
        // chunk would not be noticed.
        let is_known =
            header.layout == FormatVersion::V3 || (header.varlen && header.seal.is_some());
        let (Some(count @ 1..), true, true) = (header.nchunks, is_known, header.offsets) else {
            return Ok(None);
        };
        if header.seal.is_some() && count.saturating_mul(ENTRY_LEN) > limits.offsets {
            return Ok(None);
        }
        let geometry = Geometry::of(&header, metadata_len)?;
        let Some(end) = table_end(source, &header, &geometry)? else {
            return Ok(None);
        };
        let Some(trailing) = nothing_behind(source, end)? else {
            return Ok(None);
        };
        if header.layout == FormatVersion::V2 && trailing.is_some() {
            return Ok(None);
        }
        if !seal_holds(source, &header, &geometry)? {
            return Ok(None);
        }
        let chunks = Chunks::Table {
            entries: Entries::new(geometry.table_at, count, header.varlen),
            chunk_size: size.map(u64::from),
            end,
        };
        let part = Part {
            form: Form::of(&header, metadata.as_ref()),
            header,
            chunks,
            chunks_end: count,
            content_end: uniform.map_or(0, |(_, content)| content),
        };
        Ok(Some(Self {
            parts: vec![part],
            metadata,
            warnings: trailing.map(Warning::Trailing).into_iter().collect(),
        }))
    }

    /// The index as the chunks have it; a table that says otherwise is an error.
    pub(crate) fn by_walk<S: ReadAt>(
        source: &S,
        limits: &Limits,
        allow_unterminated: bool,
    ) -> Result<Self> {
        let mut index = Self {
            parts: Vec::new(),
            metadata: None,
            warnings: Vec::new(),
        };
        let (mut content, mut count, mut begun) = (0u64, 0u64, None);
        let outcome =
            Walk::of_file(Cursor::new(source), limits)?.run(|event, parser| match event {
                Event::Header(header) => {
                    index.parts.push(Part {
                        form: Form::of(&header, None),
                        header,
                        chunks: Chunks::Walked {
                            member: parser.position().member,
                            chunks: Vec::new(),
                        },
                        chunks_end: count,
                        content_end: content,
                    });
                }
                Event::Metadata(metadata, _) => {
                    if let Some(part) = index.parts.last_mut() {
                        part.form = Form::of(&part.header, Some(&metadata));
                    }
                    if index.parts.len() == 1 {
                        index.metadata = Some(metadata);
                    }
                }
                Event::Chunk(header, _) => begun = Some((parser.position().byte, header)),
                Event::ChunkEnd(_) => {
                    let (Some((at, header)), Some(part)) = (begun.take(), index.parts.last_mut())
                    else {
                        return;
                    };
                    let end = content.saturating_add(header.nbytes.into());
                    if let Chunks::Walked { chunks, .. } = &mut part.chunks {
                        chunks.push(Walked {
                            at,
                            ctbytes: header.ctbytes,
                            nbytes: header.nbytes,
                            content_end: end,
                        });
                    }
                    (content, count) = (end, count.saturating_add(1));
                    (part.content_end, part.chunks_end) = (content, count);
                }
                _ => {}
            })?;
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

    /// Refuses members whose chunks are no bytes of a content.
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
        Some(self.chunks_before(number).saturating_add(within))
    }

    /// What the chunks of each member hold.
    pub(crate) fn forms(
        &self,
    ) -> impl Iterator<Item = (u64, &std::result::Result<Form, FormatError>)> {
        let parts = self.parts.iter();
        parts.map(|part| (part.chunks_end, &part.form))
    }

    /// Where a chunk lies in the input, by its number over all members; nothing behind the last.
    pub(crate) fn extent<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<Option<Extent>> {
        let Some((part, within)) = self.part_of(chunk) else {
            return Ok(None);
        };
        part.extent(source, within).map(Some)
    }

    /// Where a chunk lies, by its number over all members; nothing behind the last. A record found
    /// by its number alone has the content that it is itself.
    pub(crate) fn spot<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<Option<Spot>> {
        let Some((part, within)) = self.part_of(chunk) else {
            return Ok(None);
        };
        let extent = part.extent(source, within)?;
        let content = part.content(source, within, &extent)?;
        Ok(Some(Spot { extent, content }))
    }

    /// The member that has a chunk, and its number there.
    fn part_of(&self, chunk: u64) -> Option<(&Part, u64)> {
        let number = self.parts.partition_point(|part| part.chunks_end <= chunk);
        let within = chunk.saturating_sub(self.chunks_before(number));
        self.parts.get(number).map(|part| (part, within))
    }

    /// Uncompressed bytes of every chunk of a single member but the last, if they are all as long.
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

    /// Where each chunk of a single member lies, with its digest and the spare space behind it.
    pub(crate) fn extents<S: ReadAt>(&self, source: &S) -> Result<Vec<Range<u64>>> {
        let Some(part) = self.parts.first() else {
            return Ok(Vec::new());
        };
        let (mut starts, end) = match &part.chunks {
            Chunks::Table { entries, end, .. } => (entries.all(source)?, *end),
            Chunks::Walked { chunks, .. } => {
                let digest_len = part.header.checksum.digest_len() as u64;
                let end = chunks.last().map_or(0, |last| {
                    last.at
                        .saturating_add(last.ctbytes.into())
                        .saturating_add(digest_len)
                });
                (chunks.iter().map(|chunk| chunk.at).collect(), end)
            }
        };
        starts.push(end);
        let extents = starts.iter().zip(starts.iter().skip(1));
        Ok(extents.map(|(from, to)| *from..*to).collect())
    }

    /// Chunks of the members before this one.
    fn chunks_before(&self, member: usize) -> u64 {
        let before = member.checked_sub(1).and_then(|at| self.parts.get(at));
        before.map_or(0, |part| part.chunks_end)
    }
}

impl Part {
    /// The number within the member of the chunk that holds this byte, which is in the member.
    fn chunk_at(&self, content: u64) -> u64 {
        match &self.chunks {
            Chunks::Table { chunk_size, .. } => {
                let size = chunk_size.unwrap_or(0);
                content.checked_div(size).unwrap_or(0)
            }
            Chunks::Walked { chunks, .. } => {
                let before = chunks.partition_point(|chunk| chunk.content_end <= content);
                u64::try_from(before).unwrap_or(u64::MAX)
            }
        }
    }

    fn extent<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<Extent> {
        let (checksum, header) = (self.header.checksum, &self.header);
        let allows_spare = header.layout == FormatVersion::V2 && header.offsets;
        let (position, end) = match &self.chunks {
            Chunks::Table { entries, end, .. } => self.place(source, chunk, entries, *end)?,
            Chunks::Walked { member, chunks } => {
                let walked = usize::try_from(chunk).ok().and_then(|at| chunks.get(at));
                let walked =
                    walked.ok_or_else(|| Error::usage(format!("there is no chunk {chunk}")))?;
                walked.place(*member, chunk, checksum)
            }
        };
        Ok(Extent {
            position,
            end,
            checksum,
            allows_spare,
        })
    }

    /// Which bytes of the content a chunk holds.
    fn content<S: ReadAt>(&self, source: &S, chunk: u64, extent: &Extent) -> Result<Range<u64>> {
        let from = match &self.chunks {
            Chunks::Table {
                chunk_size: Some(size),
                ..
            } => {
                let from = chunk.saturating_mul(*size);
                return Ok(from..from.saturating_add(*size).min(self.content_end));
            }
            Chunks::Table { .. } => {
                let header = chunk_header(source, extent.position.byte)?;
                return Ok(0..header.map_or(0, |header| header.nbytes.into()));
            }
            Chunks::Walked { chunks, .. } => {
                usize::try_from(chunk).ok().and_then(|at| chunks.get(at))
            }
        };
        let range = |chunk: &Walked| {
            let begin = chunk.content_end.saturating_sub(chunk.nbytes.into());
            begin..chunk.content_end
        };
        Ok(from.map_or(0..0, range))
    }

    /// Where a chunk begins and what follows it, by a table.
    fn place<S: ReadAt>(
        &self,
        source: &S,
        chunk: u64,
        entries: &Entries,
        end: u64,
    ) -> Result<(Position, u64)> {
        let entry_at = entries.place(chunk);
        // It is the only member, so that its numbers are those over all members.
        let is_last = chunk.saturating_add(1) == self.chunks_end;
        let [at, next] = entries.two(source, chunk)?;
        let next = if is_last { Some(end) } else { next };
        let position = Position {
            byte: entry_at,
            member: 0,
            chunk: None,
            section: Section::Offsets,
        };
        let least = HEADER_LEN as u64 + self.header.checksum.digest_len() as u64;
        let Some(at) = at else {
            return Err(bad_offset(position, chunk, at, "filled, since others are"));
        };
        let Some(next) = next else {
            let after = chunk.saturating_add(1);
            let position = Position {
                byte: entry_at.saturating_add(ENTRY_LEN),
                ..position
            };
            return Err(bad_offset(
                position,
                after,
                next,
                "filled, since others are",
            ));
        };
        if next < at.saturating_add(least) || next > end {
            return Err(bad_offset(
                position,
                chunk,
                Some(at),
                "before the next one and inside the file",
            ));
        }
        let position = Position {
            byte: at,
            member: 0,
            chunk: Some(chunk),
            section: Section::Chunk,
        };
        Ok((position, next))
    }
}

impl Walked {
    /// Where it begins, and where its digest ends.
    fn place(&self, member: u64, chunk: u64, checksum: Checksum) -> (Position, u64) {
        let position = Position {
            byte: self.at,
            member,
            chunk: Some(chunk),
            section: Section::Chunk,
        };
        let end = self
            .at
            .saturating_add(self.ctbytes.into())
            .saturating_add(checksum.digest_len() as u64);
        (position, end)
    }
}
