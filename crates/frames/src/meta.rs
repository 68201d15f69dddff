//! [`FrameMeta`]: header, index and trailer of a frame, that is, everything except the chunks.

use crate::part::FramePart;
use crate::storage::{Origin, SMALL};
use crate::wire::header::{FrameHeader, Sizes};
use crate::wire::kind::FrameKind;
use crate::wire::{ChunkPlace, Trailer, decode_index, encode_index};
use blosc1::internal::has_blocks;
use blosc1::{
    Blosc2Encoder, Blosc2Settings, ChunkError, ChunkHeader, ChunkSettings, FilterPipeline,
    HEADER_LEN,
};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAhead, ReadAt};
use bloscpack_wire::{Limit, Limits, Position, Section};
use std::ops::Range;

/// Bytes of an index entry.
pub(crate) const ENTRY_LEN: u64 = 8;

/// The maximum number of chunks if all index entries refer to the same stored chunk. No program writes such an index; without
/// this bound, a file of a few bytes could make a reader decompress one chunk any number of times.
const MOST_SHARED: u64 = 1 << 16;

/// Header, index and trailer of a frame.
///
/// ```text
///   contiguous   header | chunks | index | trailer        one file
///   sparse       header | index | trailer                 chunks.b2frame, next to a file for each chunk
/// ```
#[derive(Debug, Clone)]
pub(crate) struct FrameMeta {
    pub header: FrameHeader,
    pub trailer: Trailer,
    /// The decoded index: the place of each chunk, by chunk number.
    pub places: Vec<ChunkPlace>,
}

impl FrameMeta {
    /// Reads header, trailer and index, and checks them against each other. Reads no chunk except the index.
    ///
    /// The source may be longer than the frame. Memory is allocated only for parts that lie within the source and within
    /// `limits`.
    pub(crate) fn read(source: &dyn ReadAt, origin: &Origin, limits: &Limits) -> Result<Self> {
        Self::read_as(source, origin, limits, Sizes::Fixed)
    }

    /// Like [`read`](Self::read). With [`Sizes::Varying`], accepts chunks and blocks of varying length.
    pub(crate) fn read_as(
        source: &dyn ReadAt,
        origin: &Origin,
        limits: &Limits,
        sizes: Sizes,
    ) -> Result<Self> {
        let source = ReadAhead::new(source, SMALL);
        let reader = Reader {
            source: &source,
            origin,
            limits,
        };
        let size = origin.io(source.size())?;
        let prefix_len = to_u64(FrameHeader::PREFIX_LEN);
        let prefix = reader.section(FramePart::Header, 0..prefix_len, size)?;
        let prefix = FrameHeader::prefix(&prefix)?;
        let (header_len, frame_len) = (u64::from(prefix.header_len), prefix.frame_len);
        check_metadata(FramePart::Header, header_len, limits)?;
        if size < frame_len {
            return Err(FramePart::Frame.cut_short(None, size, frame_len));
        }
        let header = reader.section(FramePart::Header, 0..header_len, frame_len)?;
        let mut header = FrameHeader::decode_as(&header, sizes)?;
        let (found, allowed) = (header.content_len, limits.total);
        FramePart::Header.check_limit(Limit::Total, found, allowed)?;
        let trailer_at = reader.trailer_at(frame_len)?;
        let trailer = reader.section(FramePart::Trailer, trailer_at..frame_len, frame_len)?;
        let trailer = Trailer::decode(&trailer)?;
        let index_at = match header.kind {
            FrameKind::Contiguous => header_len + header.section_len,
            FrameKind::Sparse => header_len,
        };
        // If chunks vary in length, only the index gives their number.
        let nchunks = match sizes {
            Sizes::Varying if header.content_len > 0 => None,
            _ => Some(header.nchunks()?),
        };
        let places = match nchunks {
            Some(0) => {
                // A contiguous frame whose last chunk was removed keeps its old section length.
                header.section_len = 0;
                Vec::new()
            }
            _ => reader.index(index_at..trailer_at, nchunks)?,
        };
        Ok(Self {
            header,
            trailer,
            places,
        })
    }

    /// Bytes of the header.
    pub(crate) fn header_len(&self) -> u64 {
        to_u64(self.header.encoded_len())
    }

    /// Refuses a header or trailer over the limit `metadata`: a reader with the same limits would refuse the file.
    pub(crate) fn check_len(&self, limits: &Limits) -> Result<()> {
        check_metadata(FramePart::Header, self.header_len(), limits)?;
        let len = to_u64(self.trailer.encoded_len());
        check_metadata(FramePart::Trailer, len, limits)
    }

    /// The bytes after the chunks: the index, unless there are no chunks, and the trailer.
    pub(crate) fn encoded_end(&self) -> Result<Vec<u8>> {
        let mut end = Vec::new();
        if !self.places.is_empty() {
            let entries = encode_index(&self.places)?;
            let mut encoder = Blosc2Encoder::new(index_settings())?;
            encoder.encode(&entries, &mut end)?;
        }
        end.extend_from_slice(&self.trailer.encode()?);
        Ok(end)
    }
}

/// The settings with which the index is compressed: the default compressor, level 5, shuffle, elements of 8 bytes.
fn index_settings() -> Blosc2Settings {
    let ChunkSettings { compressor, .. } = ChunkSettings::default();
    Blosc2Settings::default()
        .compressor(compressor)
        .level(5)
        .filters(FilterPipeline::default())
        .typesize(8)
}

/// Reads the parts of a frame.
struct Reader<'a> {
    source: &'a dyn ReadAt,
    origin: &'a Origin,
    limits: &'a Limits,
}

impl Reader<'_> {
    /// Reads the bytes of `part` at `range`, which must not extend past `end`. A range outside of it is
    /// [`Code::CutShort`](bloscpack_error::Code::CutShort).
    fn section(&self, part: FramePart, range: Range<u64>, end: u64) -> Result<Vec<u8>> {
        let len = range.end.checked_sub(range.start);
        let Some(len) = len.filter(|_| range.end <= end) else {
            // The part may begin past the end.
            let found = end.saturating_sub(range.start);
            let expected = range.end.saturating_sub(range.start);
            return Err(part.cut_short(None, found, expected));
        };
        let mut bytes = part.zeros(len)?;
        self.origin
            .io(self.source.read_exact_at(range.start, &mut bytes))?;
        Ok(bytes)
    }

    /// The offset of the trailer, computed from the length in the last 23 bytes of the frame.
    fn trailer_at(&self, frame_len: u64) -> Result<u64> {
        let tail_len = to_u64(Trailer::TAIL_LEN);
        let Some(tail_at) = frame_len.checked_sub(tail_len) else {
            let part = FramePart::TrailerEnd;
            return Err(part.cut_short(None, frame_len, tail_len));
        };
        let tail = self.section(FramePart::TrailerEnd, tail_at..frame_len, frame_len)?;
        let len = u64::from(Trailer::len_from_tail(&tail)?);
        check_metadata(FramePart::Trailer, len, self.limits)?;
        let at = frame_len.checked_sub(len);
        at.ok_or_else(|| {
            let expected = format!("at most {frame_len}, the length of the frame");
            FramePart::TrailerEnd.damaged(None, "length", len, expected)
        })
    }

    /// Reads and decodes the index chunk, which begins at `room.start` and must end at or before `room.end`.
    ///
    /// The data must be 8 bytes for each of `nchunks` chunks; with `None`, the index itself gives the number. An index that
    /// repeats one entry is not expanded: one of a few bytes may describe millions of chunks that are not stored.
    fn index(&self, room: Range<u64>, nchunks: Option<u64>) -> Result<Vec<ChunkPlace>> {
        let failed = |error| index_error(room.start, error);
        let first = room.start..room.start + to_u64(HEADER_LEN);
        let first = self.section(FramePart::Index, first, room.end)?;
        let first = first.first_chunk().ok_or_else(|| {
            Error::bug(format!("{} bytes of {HEADER_LEN} were read", first.len()))
        })?;
        let header = ChunkHeader::parse(first).map_err(failed)?;
        let nchunks = nchunks.unwrap_or(u64::from(header.nbytes) / ENTRY_LEN);
        // `nchunks` is less than 2^29, so the product does not overflow.
        let len = nchunks * ENTRY_LEN;
        FramePart::Index.check_limit(Limit::Offsets, len, self.limits.offsets)?;
        if u64::from(header.nbytes) != len {
            let (found, expected) = (header.nbytes, format!("{len} for {nchunks} chunks"));
            return Err(FramePart::Index.damaged(None, "length", found, expected));
        }
        let end = room.start + u64::from(header.ctbytes);
        let chunk = self.section(FramePart::Index, room.start..end, room.end)?;
        let mut decoder = self.limits.decoder();
        let is_value = !header.is_pure_copy() && !has_blocks(&chunk);
        if is_value && [1, 2, 4, 8].contains(&header.typesize) {
            let mut entry = [0; size_of::<i64>()];
            let decoded = decoder.decode_range(&chunk, 0, &mut entry);
            decoded.map_err(failed)?;
            return all_alike(&entry, nchunks);
        }
        let mut entries = FramePart::Index.zeros(len)?;
        decoder.decode(&chunk, &mut entries).map_err(failed)?;
        decode_index(&entries, nchunks)
    }
}

/// The error of the index chunk, with the byte at which the chunk begins.
fn index_error(byte: u64, error: ChunkError) -> Error {
    let position = Position {
        byte,
        member: 0,
        chunk: None,
        section: Section::Offsets,
    };
    Error::from(error).at(position)
}

/// The places of `nchunks` chunks whose index repeats this entry, as in an array that was never written to.
fn all_alike(entry: &[u8; size_of::<i64>()], nchunks: u64) -> Result<Vec<ChunkPlace>> {
    let place = ChunkPlace::decode(i64::from_le_bytes(*entry))?;
    if let ChunkPlace::At(at) = place
        && nchunks > MOST_SHARED
    {
        let found = format!("{nchunks} times the offset {at}");
        let expected = format!("at most {MOST_SHARED} of one chunk");
        return Err(FramePart::Index.damaged(None, "entries", found, expected));
    }
    let mut places = Vec::new();
    let no_memory = || {
        let bytes = nchunks * to_u64(size_of::<ChunkPlace>());
        Error::no_memory(bytes).in_part(FramePart::Index)
    };
    let len = usize::try_from(nchunks).map_err(|_| no_memory())?;
    places.try_reserve_exact(len).map_err(|_| no_memory())?;
    places.resize(len, place);
    Ok(places)
}

/// Refuses a header or trailer of more than `limits.metadata` bytes.
fn check_metadata(part: FramePart, found: u64, limits: &Limits) -> Result<()> {
    part.check_limit(Limit::Metadata, found, limits.metadata.into())
}
