//! One chunk after 16 bytes: the superchunk that bcolz, BLZ and carray write.
//!
//! ```text
//!    0         4             5       8                         16
//!    | b l p k | version 1   | 0 0 0 | number of chunks: 1     | Blosc chunk
//! ```

use super::{Slot, SuperchunkIndex, cut_short, read_up_to};
use crate::error::wrong_superchunk_header;
use blosc1::{ChunkHeader, HEADER_LEN};
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Checksum, FormatVersion, Header};

/// Bytes before the chunk.
const HEAD_LEN: usize = 16;
/// Bytes of both headers: the minimum length of a superchunk.
pub(crate) const SINGLE_HEAD_LEN: u64 = (HEAD_LEN + HEADER_LEN) as u64;

pub(super) fn read(file: &dyn ReadAt, lenient: bool) -> Result<SuperchunkIndex> {
    let size = file.size()?;
    let head = read_up_to(file, 0, SINGLE_HEAD_LEN)?;
    let chunk = head
        .last_chunk()
        .filter(|_| to_u64(head.len()) == SINGLE_HEAD_LEN);
    let chunk: &[u8; HEADER_LEN] = chunk.ok_or_else(|| cut_short(size, SINGLE_HEAD_LEN))?;
    if !lenient {
        check(head.split_at(HEAD_LEN).0)?;
    }
    let at = to_u64(HEAD_LEN);
    // Saturates if the file has become shorter since its head was read.
    let room = size.saturating_sub(at);
    // Bytes after the chunk are ignored, as by bcolz. A damaged chunk header is reported when the chunk is read.
    let len = ChunkHeader::parse(chunk).map_or(room, |header| header.ctbytes.into());
    let slot = Slot {
        at,
        len: room.min(len),
    };
    Ok(SuperchunkIndex {
        checksum: Checksum::None,
        slots: vec![slot],
        spare: false,
        trailing: room - slot.len,
        metadata: Vec::new(),
        chunk_size: None,
        last_chunk: None,
    })
}

/// Refuses a header that none of these programs writes. bcolz ignores it.
fn check(head: &[u8]) -> Result<()> {
    let header = Header::decode(head)?;
    if header.version != FormatVersion::V1 || header.nchunks != Some(1) {
        let chunks = match header.nchunks {
            Some(count) => count.to_string(),
            None => "an unknown number of".to_owned(),
        };
        let found = format!("{}, {chunks} chunks", header.version);
        return Err(wrong_superchunk_header(found, "format version 1, 1 chunk"));
    }
    Ok(())
}

/// The 16 bytes before the chunk.
pub(super) fn header() -> Result<Vec<u8>> {
    let header = Header {
        nchunks: Some(1),
        ..Header::new(FormatVersion::V1)
    };
    Ok(header.encode()?)
}

pub(super) fn write(chunks: &[impl AsRef<[u8]>]) -> Result<Vec<u8>> {
    let mut bytes = header()?;
    for chunk in chunks {
        bytes.extend_from_slice(chunk.as_ref());
    }
    Ok(bytes)
}
