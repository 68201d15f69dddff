//! [`MemberMap`]: where the parts of the first member of a file are.
//!
//! ```text
//!   header | metadata | offset table     | chunks ...... | trailing bytes
//!                       offsets()          chunks_end()    trailing_after()
//!   └────────── has_sound_seal() ──────┘
//! ```

use crate::walk::Walk;
use blosc1::{ChunkHeader, HEADER_LEN};
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_storage::internal::{GAP, for_each_step};
use bloscpack_storage::{ReadAt, SourceReader};
use bloscpack_wire::{
    Event, FormatError, Geometry, Hashers, Header, Limits, Metadata, MetadataHeader, MetadataPlace,
    Offsets, Position, Section, Trailing,
    internal::{ENTRY_LEN, Seal},
};
use std::io::ErrorKind::UnexpectedEof;

/// The parts of the first member of a file.
pub(crate) struct MemberMap {
    pub header: Header,
    pub metadata: Option<Metadata>,
    /// The header of the metadata, in V3.
    pub metadata_header: Option<MetadataHeader>,
    /// Where metadata, offset table and chunks begin.
    pub geometry: Geometry,
}

impl MemberMap {
    /// Reads header and metadata. Returns `None` if the source ends before or within them. The other methods read their parts.
    pub(crate) fn read<S: ReadAt>(
        source: &S,
        limits: &Limits,
        hashers: &Hashers,
    ) -> Result<Option<Self>> {
        let (mut header, mut map) = (None, None);
        let mut walk = Walk::of_file(SourceReader::new(source), limits, hashers)?;
        walk.run_until(|event, parser| {
            let (metadata, metadata_header) = match event {
                Event::Header(found) => {
                    let is_all = found.metadata == MetadataPlace::Absent;
                    header = Some(found);
                    if !is_all {
                        return false;
                    }
                    (None, None)
                }
                Event::Metadata(metadata, header) => (Some(metadata), header),
                _ => return false,
            };
            map = header.take().map(|header| Self {
                header,
                metadata,
                metadata_header,
                geometry: parser.geometry(),
            });
            true
        })?;
        Ok(map)
    }

    /// Bytes of the metadata in the file, its spare space included.
    pub(crate) fn metadata_len(&self) -> u64 {
        self.geometry.table_at - self.geometry.metadata_at
    }

    /// The offset table, read at once and checked in the same way as in the parser.
    pub(crate) fn offsets<S: ReadAt>(
        &self,
        source: &S,
    ) -> Result<std::result::Result<Offsets, FormatError>> {
        let entries = self.header.nchunks.filter(|_| self.header.offsets);
        let mut table = vec![0; in_memory(entries.unwrap_or(0) * ENTRY_LEN)?];
        source.read_exact_at(self.geometry.table_at, &mut table)?;
        Ok(Offsets::decode(&table, self.geometry.chunks_at))
    }

    /// Where the last chunk ends, including its digest, according to the last entry of the offset table and the chunk there.
    /// Returns `None` if the table or the first or last chunk contradicts the header; a walk then finds the wrong part.
    ///
    /// No digest covers the header of V3. One flipped bit in its sizes would shift all positions of the content.
    pub(crate) fn chunks_end<S: ReadAt>(&self, source: &S) -> Result<Option<u64>> {
        let (header, geometry) = (&self.header, &self.geometry);
        let Some(others) = header.nchunks.and_then(|chunks| chunks.checked_sub(1)) else {
            return Ok(None);
        };
        let first_at = entry(source, geometry.table_at)?;
        let last_at = entry(source, geometry.table_at + others * ENTRY_LEN)?;
        let (Some(first_at), Some(last_at)) = (first_at, last_at) else {
            return Ok(None);
        };
        if first_at != geometry.chunks_at {
            return Ok(None);
        }
        let first = chunk_header(source, first_at)?;
        let (Some(first), Some(last)) = (first, chunk_header(source, last_at)?) else {
            return Ok(None);
        };
        let is_full = others == 0 || header.chunk_size == Some(first.nbytes);
        let fits = is_full && header.last_chunk == Some(last.nbytes);
        if !fits && !header.varlen {
            return Ok(None);
        }
        let end = last_at + u64::from(last.ctbytes) + to_u64(header.checksum.digest_len());
        Ok(Some(end))
    }

    /// Whether the seal of the header matches the bytes before the chunks; true without a seal. If it does not match, the
    /// parser reports the error.
    pub(crate) fn has_sound_seal<S: ReadAt>(&self, source: &S) -> Result<bool> {
        let Some(found) = self.header.seal else {
            return Ok(true);
        };
        let mut header = vec![0; self.header.version.header_len()];
        source.read_exact_at(0, &mut header)?;
        let mut seal = Seal::of_header(&header);
        let from = self.geometry.metadata_at;
        let len = self.geometry.chunks_at - from;
        for_each_step(source, from, len, |bytes| seal.update(bytes))?;
        Ok(seal.check(found).is_ok())
    }
}

/// The bytes after the last chunk, which ends at `end`, if no walk is needed: `Some(None)` if there are none, and
/// `Some(Some(_))` if they begin with zeros, as during an append. Returns `None` for any other bytes.
pub(crate) fn trailing_after<S: ReadAt>(source: &S, end: u64) -> Result<Option<Option<Trailing>>> {
    let Some(len) = source.size()?.checked_sub(end) else {
        return Ok(None);
    };
    let mut first = vec![0; in_memory(len.min(GAP))?];
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

/// An entry of the offset table; `None` for -1, and past the end.
fn entry<S: ReadAt>(source: &S, at: u64) -> Result<Option<u64>> {
    let bytes = bytes_at(source, at)?;
    Ok(bytes.and_then(|bytes| u64::try_from(i64::from_le_bytes(bytes)).ok()))
}

/// The header of the chunk at this position, if it can be parsed.
pub(crate) fn chunk_header<S: ReadAt>(source: &S, at: u64) -> Result<Option<ChunkHeader>> {
    let bytes: Option<[u8; HEADER_LEN]> = bytes_at(source, at)?;
    Ok(bytes.and_then(|bytes| ChunkHeader::parse(&bytes).ok()))
}

/// `LEN` bytes, or `None` if the source ends within them.
fn bytes_at<const LEN: usize>(source: &impl ReadAt, at: u64) -> Result<Option<[u8; LEN]>> {
    let mut bytes = [0; LEN];
    match source.read_exact_at(at, &mut bytes) {
        Err(error) if error.kind() == UnexpectedEof => Ok(None),
        result => Ok(result.map(|()| Some(bytes))?),
    }
}
