//! The parts of a header, each read at the position of the cursor.

use super::super::cursor::{Cursor, FALSE, I32, SIXTEEN, TEXT, TRUE};
use super::super::kind::FrameKind;
use super::super::trailer::Trailer;
use super::{
    FILTERS, FrameHeader, FramePrefix, MAGIC, NO_CHUNK_SIZE, PART, Sizes, VARLEN_CHUNKS,
    VARLEN_FLAGS,
};
use crate::error::not_a_frame;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};

/// Bytes of a header without metalayers.
const MIN_LEN: u32 = 97;
/// The version of frames with blocks of varying length. Chunks of varying length are a flag instead.
const VARLEN_BLOCKS: u8 = 3;
/// Bytes from the flags to the end of the content length, for error offsets.
const FLAGS_TO_CONTENT: usize = 13;
const DICT_BIT: u8 = 1;

/// Refuses bytes that do not begin like a frame, with [`Code::UnknownFormat`](bloscpack_error::Code::UnknownFormat). Fewer
/// bytes than the magic are accepted if they match its beginning: the caller reports them as cut short.
pub(super) fn check_magic(bytes: &[u8]) -> Result<()> {
    let found = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    if MAGIC.starts_with(found) {
        return Ok(());
    }
    let (found, expected) = (found.escape_ascii(), MAGIC.escape_ascii());
    Err(not_a_frame(format_args!(
        "it begins with \"{found}\", expected \"{expected}\""
    )))
}

/// Reads the magic, which was checked before, and the two lengths after it.
pub(super) fn read_prefix(cursor: &mut Cursor) -> Result<FramePrefix> {
    cursor.take(MAGIC.len())?;
    let header_len = cursor.count32(I32, "length of the header")?;
    if header_len < MIN_LEN {
        let expected = format!("at least {MIN_LEN}");
        return Err(cursor.damaged(4, "length of the header", header_len, expected));
    }
    let frame_len = cursor.u64("length of the frame")?;
    let least = u64::from(header_len) + to_u64(Trailer::MIN_LEN);
    if frame_len < least {
        let expected = format!("at least {least}");
        return Err(cursor.damaged(8, "length of the frame", frame_len, expected));
    }
    Ok(FramePrefix {
        header_len,
        frame_len,
    })
}

/// Reads flags, kind, codec with level, and split mode. Unknown flags are unsupported.
pub(super) fn read_flags(cursor: &mut Cursor) -> Result<[u8; 4]> {
    cursor.marker(TEXT | 4, "flags")?;
    let found: [u8; 4] = cursor.array()?;
    let [flags, ..] = found;
    if flags == FrameHeader::FLAGS || VARLEN_FLAGS.contains(&flags) {
        return Ok(found);
    }
    let expected = format!("{:02x}: version 2, offsets of 64 bits", FrameHeader::FLAGS);
    let flags = format!("{flags:02x}");
    Err(cursor.unsupported(found.len(), "flags", flags, expected))
}

/// The kind of frame with this number. Others than 0 and 1 are unsupported.
pub(super) fn read_kind(cursor: &Cursor, kind: u8) -> Result<FrameKind> {
    match kind {
        0 => Ok(FrameKind::Contiguous),
        1 => Ok(FrameKind::Sparse),
        _ => Err(cursor.unsupported(3, "kind", kind, "0: contiguous, or 1: sparse")),
    }
}

/// Refuses flags for chunks or blocks of varying length. Called only for frames with content.
pub(super) fn refuse_varlen(cursor: &Cursor, flags: u8) -> Result<()> {
    let what = match (flags & 0x0f == VARLEN_BLOCKS, flags & VARLEN_CHUNKS != 0) {
        (false, false) => return Ok(()),
        (true, _) => "blocks",
        (false, true) => "chunks",
    };
    let found = format!("{flags:02x} ({what} of varying length)");
    let expected = format!("{:02x}", FrameHeader::FLAGS);
    Err(cursor.unsupported(FLAGS_TO_CONTENT, "flags", found, expected))
}

/// Reads the chunk size. With content it must be at least 1, or 0 if the reader accepts chunks of varying length. Without
/// content, 0 and -1 are `None`.
pub(super) fn read_chunk_size(
    cursor: &mut Cursor,
    content_len: u64,
    sizes: Sizes,
) -> Result<Option<u32>> {
    let field = "chunk size";
    let found = cursor.i32(field)?;
    match u32::try_from(found) {
        Ok(0) if content_len > 0 && sizes == Sizes::Fixed => {
            let at = cursor.at().checked_sub(4).map(to_u64);
            Err(chunks_vary(at))
        }
        Err(_) if content_len > 0 => {
            Err(cursor.damaged(4, field, found, "at least 1, since there is content"))
        }
        Ok(size) => Ok((size > 0).then_some(size)),
        Err(_) if found == NO_CHUNK_SIZE => Ok(None),
        Err(_) => Err(cursor.damaged(4, field, found, "at least -1")),
    }
}

/// The error for content without a chunk size.
pub(super) fn chunks_vary(at: Option<u64>) -> Error {
    let found = "0 (chunks of varying length)";
    PART.unsupported(at, "chunk size", found, "at least 1")
}

/// Reads whether the trailer has metalayers.
pub(super) fn read_vlmetalayers(cursor: &mut Cursor) -> Result<bool> {
    match cursor.byte()? {
        TRUE => Ok(true),
        FALSE => Ok(false),
        found => {
            let found = format!("{found:02x}");
            Err(cursor.damaged(1, "vlmetalayers", found, "c2 (none) or c3"))
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
    /// Reads the filters, the codec, their parameters and the dictionary flag. Other flags are unsupported.
    pub fn read(cursor: &mut Cursor) -> Result<Self> {
        cursor.marker(SIXTEEN, "filters")?;
        cursor.marker(FILTERS, "number of filters")?;
        let filters = cursor.array()?;
        let [codec_id, codec_meta] = cursor.array()?;
        let filters_meta = cursor.array()?;
        let [flags, reserved] = cursor.array()?;
        if flags & !DICT_BIT != 0 || reserved != 0 {
            let found = format!("{flags:02x} {reserved:02x}");
            return Err(cursor.unsupported(2, "flags of the codec", found, "00 00 or 01 00"));
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
