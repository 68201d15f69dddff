//! The parts of a header, each from where the cursor is.

use super::super::cursor::{Cursor, FALSE, I32, SIXTEEN, TEXT, TRUE};
use super::super::error::FrameError;
use super::super::trailer::Trailer;
use super::{
    FILTERS, FrameHeader, FrameKind, FramePrefix, MAGIC, NO_CHUNK_SIZE, SECTION, VARLEN_CHUNKS,
    VARLEN_FLAGS,
};
use blosc1::Fault;

/// Bytes of a header without metalayers.
const MIN_LEN: u32 = 97;
/// Blocks that vary in length are a version of the format, chunks that do a bit.
const VARLEN_BLOCKS: u8 = 3;
/// From the flags to where the content's length ends.
const FLAGS_TO_CONTENT: usize = 13;
const DICT_BIT: u8 = 1;

/// Nobody is told that something else is a frame cut short.
pub(super) fn check_magic(bytes: &[u8]) -> Result<(), FrameError> {
    let found = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    if MAGIC.starts_with(found) {
        return Ok(());
    }
    let (found, expected) = (found.escape_ascii(), MAGIC.escape_ascii());
    let what = format!("it begins with \"{found}\", should be \"{expected}\"");
    Err(FrameError::new(Fault::Unsupported, SECTION, Some(0), what))
}

/// What follows a magic that has been checked.
pub(super) fn read_prefix(cursor: &mut Cursor) -> Result<FramePrefix, FrameError> {
    cursor.take(MAGIC.len(), "magic")?;
    let header_len = cursor.count32(I32, "length of the header")?;
    if header_len < MIN_LEN {
        let what = format!("length of the header: {header_len}, should be {MIN_LEN} or more");
        return Err(cursor.damaged(4, what));
    }
    let frame_len = cursor.u64("length of the frame")?;
    let least = u64::from(header_len).saturating_add(Trailer::MIN_LEN as u64);
    if frame_len < least {
        let what = format!("length of the frame: {frame_len}, should be {least} or more");
        return Err(cursor.damaged(8, what));
    }
    Ok(FramePrefix {
        header_len,
        frame_len,
    })
}

/// Flags, kind, codec with level, and split mode.
pub(super) fn read_flags(cursor: &mut Cursor) -> Result<[u8; 4], FrameError> {
    cursor.marker(TEXT | 4, "flags")?;
    let found: [u8; 4] = cursor.array("flags")?;
    let [flags, ..] = found;
    if flags == FrameHeader::FLAGS || VARLEN_FLAGS.contains(&flags) {
        return Ok(found);
    }
    let expected = FrameHeader::FLAGS;
    let what =
        format!("flags {flags:02x}, should be {expected:02x}: version 2, offsets of 64 bits");
    Err(cursor.error(Fault::Unsupported, found.len(), what))
}

pub(super) fn read_kind(cursor: &Cursor, kind: u8) -> Result<FrameKind, FrameError> {
    match kind {
        0 => Ok(FrameKind::Contiguous),
        1 => Ok(FrameKind::Sparse),
        _ => {
            let what = format!("kind {kind}, should be 0 (contiguous) or 1 (sparse)");
            Err(cursor.error(Fault::Unsupported, 3, what))
        }
    }
}

/// Nothing here reads chunks or blocks that vary in length, but what has neither can be read.
pub(super) fn refuse_varlen(cursor: &Cursor, flags: u8) -> Result<(), FrameError> {
    let what = match (flags & 0x0f == VARLEN_BLOCKS, flags & VARLEN_CHUNKS != 0) {
        (false, false) => return Ok(()),
        (true, _) => "blocks",
        (false, true) => "chunks",
    };
    let what = format!("flags {flags:02x}: {what} that vary in length");
    Err(cursor.error(Fault::Unsupported, FLAGS_TO_CONTENT, what))
}

pub(super) fn read_chunk_size(
    cursor: &mut Cursor,
    content_len: u64,
) -> Result<Option<u32>, FrameError> {
    let found = cursor.i32("chunk size")?;
    let at = Some(cursor.at().saturating_sub(4));
    match u32::try_from(found) {
        Ok(0) if content_len > 0 => Err(without_chunk_size(Fault::Unsupported, at)),
        Err(_) if content_len > 0 => Err(without_chunk_size(Fault::Damaged, at)),
        Ok(size) => Ok((size > 0).then_some(size)),
        Err(_) if found == NO_CHUNK_SIZE => Ok(None),
        Err(_) => {
            let what = format!("chunk size: {found}, should be -1 or more");
            Err(cursor.damaged(4, what))
        }
    }
}

/// There is content, and no size of chunks.
pub(super) fn without_chunk_size(fault: Fault, at: Option<usize>) -> FrameError {
    let what = match fault {
        Fault::Unsupported => "chunk size: 0, for chunks that vary in length",
        _ => "chunk size: negative, should be 1 or more since there is content",
    };
    FrameError::new(fault, SECTION, at, what)
}

pub(super) fn read_truth(cursor: &mut Cursor) -> Result<bool, FrameError> {
    match cursor.byte("vlmetalayers")? {
        TRUE => Ok(true),
        FALSE => Ok(false),
        found => {
            let what = format!("vlmetalayers: {found:02x}, should be c2 (none) or c3");
            Err(cursor.damaged(1, what))
        }
    }
}

/// How new chunks are filtered and compressed.
pub(super) struct Pipeline {
    pub filters: [u8; 6],
    pub codec_id: u8,
    pub codec_meta: u8,
    pub filters_meta: [u8; 6],
    pub use_dict: bool,
}

impl Pipeline {
    pub fn read(cursor: &mut Cursor) -> Result<Self, FrameError> {
        cursor.marker(SIXTEEN, "filters")?;
        cursor.marker(FILTERS, "number of filters")?;
        let filters = cursor.array("filters")?;
        let [codec_id, codec_meta] = cursor.array("codec")?;
        let filters_meta = cursor.array("filters")?;
        let [flags, reserved] = cursor.array("flags of the codec")?;
        if flags & !DICT_BIT != 0 || reserved != 0 {
            let what = format!(
                "flags of the codec: {flags:02x} {reserved:02x}, should be 00 or 01, and 00"
            );
            return Err(cursor.error(Fault::Unsupported, 2, what));
        }
        Ok(Self {
            filters,
            codec_id,
            codec_meta,
            filters_meta,
            use_dict: flags != 0,
        })
    }
}
