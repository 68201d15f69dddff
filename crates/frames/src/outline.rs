//! [`Outline`]: all of a frame but its chunks.

use crate::wire::{ChunkPlace, FrameHeader, FrameKind, Trailer, decode_index, encode_index};
use blosc1::internal::has_blocks;
use blosc1::{
    Blosc2Encoder, Blosc2Settings, ChunkHeader, ChunkSettings, Fault, FilterPipeline, HEADER_LEN,
};
use bloscpack_error::{Error, ErrorKind, Result};
use bloscpack_storage::Object;
use bloscpack_wire::{Limits, Position, Section};

/// Bytes of an entry of the index.
const ENTRY_LEN: u64 = 8;

/// So many entries may all lead to one chunk where the index has nothing but these: no writer makes it, and a few bytes
/// would be any number of chunks that each cost what the one does.
const MOST_SHARED: u64 = 1 << 16;

/// What stands before the chunks of a frame, and behind them.
///
/// ```text
///   contiguous   header | chunks | index | trailer        one file
///   sparse       header | index | trailer                 chunks.b2frame, beside a file for each chunk
/// ```
#[derive(Debug, Clone)]
pub(super) struct Outline {
    pub header: FrameHeader,
    pub trailer: Trailer,
    /// Where each chunk lies.
    pub places: Vec<ChunkPlace>,
}

impl Outline {
    /// Reads a frame's beginning and end, and compares the one with the other.
    pub(super) fn read(source: &dyn Object, limits: &Limits) -> Result<Self> {
        let size = source.size()?;
        let prefix = read_section(source, 0..FrameHeader::PREFIX_LEN as u64, size, HEADER)?;
        let prefix = FrameHeader::prefix(&prefix)?;
        let (header_len, frame_len) = (u64::from(prefix.header_len), prefix.frame_len);
        within(header_len, limits.metadata, "header")?;
        if size < frame_len {
            return Err(cut(format!(
                "{size} bytes of a frame of {frame_len} are there"
            )));
        }
        let header = read_section(source, 0..header_len, frame_len, HEADER)?;
        let mut header = FrameHeader::decode(&header)?;
        check_total(&header, limits)?;
        let trailer_at = trailer_at(source, frame_len, limits)?;
        let trailer = read_section(source, trailer_at..frame_len, frame_len, TRAILER)?;
        let trailer = Trailer::decode(&trailer)?;
        let index_at = match header.kind {
            FrameKind::Contiguous => header_len.saturating_add(header.section_len),
            FrameKind::Sparse => header_len,
        };
        let nchunks = header.nchunks()?;
        let places = match nchunks {
            0 => {
                // A frame that was emptied keeps its old length, which means nothing.
                header.section_len = 0;
                Vec::new()
            }
            _ => read_index(source, index_at..trailer_at, nchunks, limits)?,
        };
        Ok(Self {
            header,
            trailer,
            places,
        })
    }

    /// Bytes before the chunks.
    pub(super) fn header_len(&self) -> u64 {
        u64::try_from(self.header.encoded_len()).unwrap_or(u64::MAX)
    }

    /// Refuses what could not be opened again.
    pub(super) fn check_metadata(&self, limits: &Limits) -> Result<()> {
        within(self.header_len(), limits.metadata, HEADER)?;
        let len = u64::try_from(self.trailer.encoded_len()).unwrap_or(u64::MAX);
        within(len, limits.metadata, TRAILER)
    }

    /// What stands behind the chunks: the index, if there are any, and the trailer.
    pub(super) fn back(&self) -> Result<Vec<u8>> {
        let mut back = Vec::new();
        if !self.places.is_empty() {
            let entries = encode_index(&self.places)?;
            let mut encoder = Blosc2Encoder::new(index_settings())?;
            encoder.encode(&entries, &mut back)?;
        }
        back.extend_from_slice(&self.trailer.encode()?);
        Ok(back)
    }
}

/// How indexes are compressed.
fn index_settings() -> Blosc2Settings {
    let ChunkSettings { compressor, .. } = ChunkSettings::default();
    Blosc2Settings::default()
        .compressor(compressor)
        .level(5)
        .filters(FilterPipeline::default())
        .typesize(8)
}

const HEADER: &str = "header";
const TRAILER: &str = "trailer";
const INDEX: &str = "index";

/// The bytes of a part of the frame, which ends at `end`.
fn read_section(
    source: &dyn Object,
    range: std::ops::Range<u64>,
    end: u64,
    what: &str,
) -> Result<Vec<u8>> {
    if range.start > range.end || range.end > end {
        return Err(cut(format!(
            "{what}: bytes {} to {} of a frame of {end}",
            range.start, range.end
        )));
    }
    let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| too_long(what))?;
    bytes.resize(len, 0);
    source.read_exact_at(range.start, &mut bytes)?;
    Ok(bytes)
}

fn check_total(header: &FrameHeader, limits: &Limits) -> Result<()> {
    let (found, limit) = (header.content_len, limits.total);
    match found <= limit {
        true => Ok(()),
        false => {
            let what = format!("content of {found} bytes, over the limit `total` of {limit}");
            Err(crate::error::frame(Fault::OverLimit, what))
        }
    }
}

/// Where the trailer begins, as the frame's last bytes tell.
fn trailer_at(source: &dyn Object, frame_len: u64, limits: &Limits) -> Result<u64> {
    let tail_len = Trailer::TAIL_LEN as u64;
    let tail_at = frame_len.checked_sub(tail_len);
    let tail_at = tail_at.ok_or_else(|| cut(format!("a frame of {frame_len} bytes")))?;
    let tail = read_section(source, tail_at..frame_len, frame_len, TRAILER)?;
    let len = u64::from(Trailer::len_from_tail(&tail)?);
    within(len, limits.metadata, TRAILER)?;
    frame_len.checked_sub(len).ok_or_else(|| {
        let what = format!("trailer: {len} bytes in a frame of {frame_len}");
        crate::error::frame(Fault::Damaged, what)
    })
}

/// Reads the chunk that tells where the others are.
fn read_index(
    source: &dyn Object,
    room: std::ops::Range<u64>,
    nchunks: u64,
    limits: &Limits,
) -> Result<Vec<ChunkPlace>> {
    let len = nchunks.saturating_mul(ENTRY_LEN);
    if len > limits.offsets {
        let what = format!("index: {len} bytes, over the limit of {}", limits.offsets);
        return Err(crate::error::frame(Fault::OverLimit, what));
    }
    let failed = |error| {
        let position = Position {
            byte: room.start,
            member: 0,
            chunk: None,
            section: Section::Offsets,
        };
        Error::new(ErrorKind::Format(error), Some(position))
    };
    let first = room.start..room.start.saturating_add(HEADER_LEN as u64);
    let first = read_section(source, first, room.end, INDEX)?;
    let first = first.first_chunk().unwrap_or(&[0; HEADER_LEN]);
    let header = ChunkHeader::parse(first).map_err(|error| failed(error.into()))?;
    if u64::from(header.nbytes) != len {
        return Err(crate::error::frame(
            Fault::Damaged,
            format!(
                "index (byte {}): {} bytes, expected {len} for {nchunks} chunks",
                room.start, header.nbytes
            ),
        ));
    }
    let end = room.start.saturating_add(header.ctbytes.into());
    let chunk = read_section(source, room.start..end, room.end, INDEX)?;
    let mut decoder = limits.decoder();
    let is_value = !header.is_pure_copy() && !has_blocks(&chunk);
    if is_value && [1, 2, 4, 8].contains(&header.typesize) {
        let mut entry = [0; size_of::<i64>()];
        let decoded = decoder.decode_range(&chunk, 0, &mut entry);
        decoded.map_err(|error| failed(error.into()))?;
        return all_alike(&entry, nchunks);
    }
    let mut entries = vec![0; usize::try_from(len).unwrap_or(0)];
    let decoded = decoder.decode(&chunk, &mut entries);
    decoded.map_err(|error| failed(error.into()))?;
    Ok(decode_index(&entries, nchunks)?)
}

/// Places by an index of one entry over and over, as where no chunk is stored.
fn all_alike(entry: &[u8], nchunks: u64) -> Result<Vec<ChunkPlace>> {
    let mut places = decode_index(entry, 1)?;
    if let [ChunkPlace::At(at)] = places.as_slice()
        && nchunks > MOST_SHARED
    {
        let what = format!("index: all of {nchunks} chunks are stored at {at}");
        return Err(crate::error::frame(Fault::Damaged, what));
    }
    let len = usize::try_from(nchunks).unwrap_or(usize::MAX);
    let more = len.saturating_sub(places.len());
    places
        .try_reserve_exact(more)
        .map_err(|_| too_long(INDEX))?;
    places.resize(len, places.first().copied().unwrap_or(ChunkPlace::Zeros));
    Ok(places)
}

fn within(len: u64, limit: u32, what: &str) -> Result<()> {
    match len <= u64::from(limit) {
        true => Ok(()),
        false => {
            let what = format!("{what} of {len} bytes, over the limit `metadata` of {limit}");
            Err(crate::error::frame(Fault::OverLimit, what))
        }
    }
}

fn too_long(what: &str) -> Error {
    crate::error::frame(Fault::OverLimit, format!("{what}: no memory for it"))
}

fn cut(what: String) -> Error {
    crate::error::frame(Fault::CutShort, format!("cut short: {what}"))
}
