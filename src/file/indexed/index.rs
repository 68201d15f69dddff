//! Where every chunk of an input lies, in the input and in the content.
//!
//! A single V3 member with a filled table of offsets and chunks of one size needs no index: its
//! table is read entry by entry as chunks are asked for, so that opening costs the same for ten
//! chunks and for ten million. Everything else is walked once, from chunk header to chunk header.

use crate::blosc::{ChunkHeader, HEADER_LEN};
use crate::error::{Error, Result};
use crate::file::engine::Warning;
use crate::file::walk::Walk;
use crate::limits::Limits;
use crate::storage::{Cursor, GAP, ReadAt};
use crate::wire::offsets::ENTRY_LEN;
use crate::wire::{
    Checksum, Event, FormatError, Geometry, Header, Layout, Metadata, MetadataHeader,
    MetadataPlace, ParseError, Position, Section, Trailing,
};
use std::ops::Range;

/// Where a chunk lies.
#[derive(Debug, Clone)]
pub(in crate::file) struct Spot {
    pub position: Position,
    /// Where what follows it begins: no byte of chunk or digest lies there or behind.
    pub end: u64,
    /// Its uncompressed bytes, counted over all members.
    pub content: Range<u64>,
    pub checksum: Checksum,
}

/// A member, and how its chunks are found.
struct Part {
    header: Header,
    chunks: Chunks,
    /// Chunks up to its end, those of the members before it included.
    chunks_end: u64,
    /// Where it ends in the content of all members.
    content_end: u64,
}

enum Chunks {
    /// By the table of offsets, which is filled and lies here in the input.
    Table { at: u64, chunk_size: u64, end: u64 },
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

pub(in crate::file) struct Index {
    parts: Vec<Part>,
    pub metadata: Option<Metadata>,
    pub warnings: Vec<Warning>,
}

impl Index {
    pub(in crate::file) fn of<S: ReadAt>(
        source: &S,
        limits: &Limits,
        allow_unterminated: bool,
    ) -> Result<Self> {
        match Self::by_table(source, limits)? {
            Some(index) => Ok(index),
            None => Self::by_walk(source, limits, allow_unterminated),
        }
    }

    /// The index of a single member whose table tells all, and of which nothing is missing.
    fn by_table<S: ReadAt>(source: &S, limits: &Limits) -> Result<Option<Self>> {
        let Some(Head {
            header,
            metadata,
            metadata_len,
            ..
        }) = head(source, limits)?
        else {
            return Ok(None);
        };
        let uniform = (header.nchunks, header.chunk_size, header.content_len());
        let (Some(count @ 1..), Some(chunk_size), Some(content)) = uniform else {
            return Ok(None);
        };
        if header.layout != Layout::V3
            || !header.offsets
            || chunk_size == 0
            || chunk_size > limits.chunk
        {
            return Ok(None);
        }
        let geometry = Geometry::of(&header, metadata_len)?;
        let Some(end) = table_end(source, &header, &geometry)? else {
            return Ok(None);
        };
        let Some(trailing) = nothing_behind(source, end)? else {
            return Ok(None);
        };
        let chunks = Chunks::Table {
            at: geometry.table_at,
            chunk_size: chunk_size.into(),
            end,
        };
        let part = Part {
            header,
            chunks,
            chunks_end: count,
            content_end: content,
        };
        Ok(Some(Self {
            parts: vec![part],
            metadata,
            warnings: trailing.map(Warning::Trailing).into_iter().collect(),
        }))
    }

    /// The index as the chunks have it; a table that says otherwise is an error.
    pub(in crate::file) fn by_walk<S: ReadAt>(
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
                        header,
                        chunks: Chunks::Walked {
                            member: parser.position().member,
                            chunks: Vec::new(),
                        },
                        chunks_end: count,
                        content_end: content,
                    });
                }
                Event::Metadata(metadata, _) if index.parts.len() == 1 => {
                    index.metadata = Some(metadata)
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

    pub(in crate::file) fn header(&self) -> Option<&Header> {
        self.parts.first().map(|part| &part.header)
    }

    pub(in crate::file) fn members(&self) -> usize {
        self.parts.len()
    }

    /// Number of chunks of all members.
    pub(in crate::file) fn chunks(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.chunks_end)
    }

    /// Uncompressed bytes of all members.
    pub(in crate::file) fn content_len(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.content_end)
    }

    /// The chunk that holds this byte of the content.
    pub(in crate::file) fn chunk_at(&self, content: u64) -> Option<u64> {
        let number = self
            .parts
            .partition_point(|part| part.content_end <= content);
        let within = self.parts.get(number)?.chunk_at(content);
        Some(self.chunks_before(number).saturating_add(within))
    }

    /// Where a chunk lies, by its number over all members; nothing behind the last.
    pub(in crate::file) fn spot<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<Option<Spot>> {
        let number = self.parts.partition_point(|part| part.chunks_end <= chunk);
        let Some(part) = self.parts.get(number) else {
            return Ok(None);
        };
        let within = chunk.saturating_sub(self.chunks_before(number));
        part.spot(source, within).map(Some)
    }

    /// Uncompressed bytes of every chunk of a single member but the last, if they are all as long.
    pub(in crate::file) fn chunk_size(&self) -> Option<u32> {
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
    pub(in crate::file) fn extents<S: ReadAt>(&self, source: &S) -> Result<Vec<Range<u64>>> {
        let Some(part) = self.parts.first() else {
            return Ok(Vec::new());
        };
        let (mut starts, end) = match &part.chunks {
            Chunks::Table { at, end, .. } => (table(source, *at, part.chunks_end)?, *end),
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
            Chunks::Table { chunk_size, .. } => content.checked_div(*chunk_size).unwrap_or(0),
            Chunks::Walked { chunks, .. } => {
                let before = chunks.partition_point(|chunk| chunk.content_end <= content);
                u64::try_from(before).unwrap_or(u64::MAX)
            }
        }
    }

    fn spot<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<Spot> {
        let (table, chunk_size, end) = match &self.chunks {
            Chunks::Table {
                at,
                chunk_size,
                end,
            } => (*at, *chunk_size, *end),
            Chunks::Walked { member, chunks } => {
                let walked = usize::try_from(chunk).ok().and_then(|at| chunks.get(at));
                let spot = walked.map(|walked| walked.spot(*member, chunk, self.header.checksum));
                return spot.ok_or_else(|| Error::usage(format!("there is no chunk {chunk}")));
            }
        };
        let entry_at = table.saturating_add(chunk.saturating_mul(ENTRY_LEN));
        let at = entry(source, entry_at)?;
        // It is the only member, so that its numbers are those over all members.
        let next = if chunk.saturating_add(1) == self.chunks_end {
            Some(end)
        } else {
            entry(source, entry_at.saturating_add(ENTRY_LEN))?
        };
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
        let from = chunk.saturating_mul(chunk_size);
        let content = from..from.saturating_add(chunk_size).min(self.content_end);
        let position = Position {
            byte: at,
            member: 0,
            chunk: Some(chunk),
            section: Section::Chunk,
        };
        Ok(Spot {
            position,
            end: next,
            content,
            checksum: self.header.checksum,
        })
    }
}

impl Walked {
    fn spot(&self, member: u64, chunk: u64, checksum: Checksum) -> Spot {
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
        let begin = self.content_end.saturating_sub(self.nbytes.into());
        Spot {
            position,
            end,
            content: begin..self.content_end,
            checksum,
        }
    }
}

fn bad_offset(position: Position, entry: u64, found: Option<u64>, expected: &str) -> Error {
    let found = found
        .and_then(|found| i64::try_from(found).ok())
        .unwrap_or(-1);
    let error = FormatError::Offset {
        entry,
        found,
        expected: expected.to_owned(),
    };
    ParseError { error, position }.into()
}

/// What lies before the table and the chunks of the first member.
pub(in crate::file) struct Head {
    pub header: Header,
    pub metadata: Option<Metadata>,
    /// The header of the metadata, in V3.
    pub section: Option<MetadataHeader>,
    /// How long the metadata is in the file.
    pub metadata_len: u64,
}

/// The head of the first member, if there is one.
pub(in crate::file) fn head<S: ReadAt>(source: &S, limits: &Limits) -> Result<Option<Head>> {
    let mut head: Option<Head> = None;
    let mut walk = Walk::of_file(Cursor::new(source), limits)?;
    walk.run_until(|event, _| match (event, &mut head) {
        (Event::Header(header), _) => {
            let raw = match header.metadata {
                MetadataPlace::Raw { len, .. } => len.into(),
                _ => 0,
            };
            let is_all = header.metadata == MetadataPlace::Absent;
            head = Some(Head {
                header,
                metadata: None,
                section: None,
                metadata_len: raw,
            });
            is_all
        }
        (Event::Metadata(metadata, section), Some(head)) => {
            head.metadata = Some(metadata);
            if let Some(section) = section {
                head.metadata_len = section.section_len();
                head.section = Some(section);
            }
            true
        }
        _ => false,
    })?;
    Ok(head)
}

/// An entry of a table of offsets; nothing for -1.
fn entry<S: ReadAt>(source: &S, at: u64) -> Result<Option<u64>> {
    let mut bytes = [0; 8];
    match source.read_exact_at(at, &mut bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        result => {
            result?;
            Ok(u64::try_from(i64::from_le_bytes(bytes)).ok())
        }
    }
}

/// Entries of a table read at once.
const BATCH: u64 = 8192;

/// All entries of a table that is filled, checked to ascend.
fn table<S: ReadAt>(source: &S, at: u64, count: u64) -> Result<Vec<u64>> {
    let (mut starts, mut number) = (Vec::new(), 0u64);
    while number < count {
        let batch = count.saturating_sub(number).min(BATCH);
        let len = batch.saturating_mul(ENTRY_LEN);
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        let here = at.saturating_add(number.saturating_mul(ENTRY_LEN));
        source.read_exact_at(here, &mut bytes)?;
        for (entry, bytes) in (number..).zip(bytes.as_chunks().0) {
            let least = starts.last().map_or(0, |last: &u64| last.saturating_add(1));
            let found = u64::try_from(i64::from_le_bytes(*bytes)).ok();
            let position = Position {
                byte: here,
                member: 0,
                chunk: None,
                section: Section::Offsets,
            };
            let expected = "behind the one before it";
            let start = found.filter(|start| *start >= least);
            starts.push(start.ok_or_else(|| bad_offset(position, entry, found, expected))?);
        }
        number = number.saturating_add(batch);
    }
    Ok(starts)
}

/// Where the last chunk of a member with a filled table ends, its digest included; nothing if the
/// table or the chunks at both ends are not what the header says, which is for the walk to judge.
///
/// No digest stands over a header of V3: with a flipped bit in its sizes, every position of the
/// content would be wrong.
fn table_end<S: ReadAt>(source: &S, header: &Header, geometry: &Geometry) -> Result<Option<u64>> {
    let others = header.nchunks.unwrap_or(0).saturating_sub(1);
    let last_entry = geometry
        .table_at
        .saturating_add(others.saturating_mul(ENTRY_LEN));
    let (first_at, last_at) = (
        entry(source, geometry.table_at)?,
        entry(source, last_entry)?,
    );
    let (Some(first_at), Some(last_at)) = (first_at, last_at) else {
        return Ok(None);
    };
    if first_at != geometry.chunks_at {
        return Ok(None);
    }
    let (first, last) = (
        chunk_header(source, first_at)?,
        chunk_header(source, last_at)?,
    );
    let (Some(first), Some(last)) = (first, last) else {
        return Ok(None);
    };
    let is_full = others == 0 || header.chunk_size == Some(first.nbytes);
    if !is_full || header.last_chunk != Some(last.nbytes) {
        return Ok(None);
    }
    let digest_len = header.checksum.digest_len() as u64;
    let end = last_at
        .saturating_add(last.ctbytes.into())
        .saturating_add(digest_len);
    Ok(Some(end))
}

/// What lies behind the last chunk, if that cannot mean anything: nothing, or zeros first, where
/// somebody is appending just now. Anything else is for the walk to judge.
fn nothing_behind<S: ReadAt>(source: &S, end: u64) -> Result<Option<Option<Trailing>>> {
    let Some(len) = source.size()?.checked_sub(end) else {
        return Ok(None);
    };
    let mut first = vec![0; usize::try_from(len.min(GAP)).unwrap_or(0)];
    source.read_exact_at(end, &mut first)?;
    if first.iter().any(|byte| *byte != 0) {
        return Ok(None);
    }
    let position = Position {
        byte: end,
        member: 0,
        chunk: None,
        section: Section::Trailer,
    };
    Ok(Some((len > 0).then_some(Trailing { position, len })))
}

/// The header of the chunk at this position, if there is one.
fn chunk_header<S: ReadAt>(source: &S, at: u64) -> Result<Option<ChunkHeader>> {
    let mut bytes = [0; HEADER_LEN];
    match source.read_exact_at(at, &mut bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    Ok(ChunkHeader::parse(&bytes).ok())
}
