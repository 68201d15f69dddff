//! One chunk behind 16 bytes: the superchunk of bcolz, BLZ and carray as they are.
//!
//! ```text
//!    | b l p k | 1 | 0 0 0 | 1 0 0 0 0 0 0 0 |   chunk
//! ```

use super::{Contents, Place, damaged};
use blosc1::{ChunkHeader, Fault};
use bloscpack_error::Result;
use bloscpack_storage::Object;
use bloscpack_wire::{Checksum, FormatVersion, Header};

const HEAD_LEN: usize = 16;

pub(super) fn read(file: &dyn Object, lenient: bool) -> Result<Contents> {
    let mut head = [0; 2 * HEAD_LEN];
    let size = file.size()?;
    if size < 32 {
        let what = format!("{size} bytes, where a header and a chunk have at least 32");
        return Err(crate::error::dataset(Fault::CutShort, what));
    }
    file.read_exact_at(0, &mut head)?;
    let (head, chunk) = head.split_at(HEAD_LEN);
    if !lenient {
        check(head)?;
    }
    let chunk = chunk
        .first_chunk()
        .ok_or_else(|| damaged("no chunk".to_owned()))?;
    let room = size.saturating_sub(16);
    // Nobody reads what lies behind the chunk; bcolz does not look at it either.
    let len = ChunkHeader::parse(chunk).map_or(room, |header| header.ctbytes.into());
    let place = Place {
        at: 16,
        room: room.min(len),
    };
    let trailing = room.saturating_sub(place.room);
    Ok(Contents {
        checksum: Checksum::None,
        places: vec![place],
        spare: false,
        trailing,
        metadata: Vec::new(),
        stated: (None, None),
    })
}

/// A header that no version of these libraries wrote is damage: bcolz would not see it.
fn check(head: &[u8]) -> Result<()> {
    let header = Header::decode(head)?;
    if header.layout != FormatVersion::V1 || header.nchunks != Some(1) {
        let chunks = header
            .nchunks
            .map_or("an unknown number of".to_owned(), |count| count.to_string());
        let what = format!(
            "a header of layout {:?} with {chunks} chunks, where version 1 with one chunk should be",
            header.layout
        );
        return Err(damaged(what));
    }
    Ok(())
}

/// The 16 bytes.
pub(super) fn front() -> Result<Vec<u8>> {
    let header = Header {
        nchunks: Some(1),
        ..Header::new(FormatVersion::V1)
    };
    Ok(header.encode()?)
}

pub(super) fn write(chunks: &[impl AsRef<[u8]>]) -> Result<Vec<u8>> {
    let mut bytes = front()?;
    for chunk in chunks {
        bytes.extend_from_slice(chunk.as_ref());
    }
    Ok(bytes)
}
