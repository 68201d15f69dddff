//! Several chunks behind the header of the carray proposal.
//!
//! ```text
//!    header (32) | [index] | (chunk | [digest] | [spare]) ...
//! ```

use super::{Contents, Framing, places, read_all, walk, with_digest};
use crate::wire::proposal::{SUPERCHUNK_HEADER_LEN, SuperchunkHeader};
use bloscpack_dtype::boxes::to_usize;
use bloscpack_error::Result;
use bloscpack_storage::Object;

const HEAD_LEN: u64 = SUPERCHUNK_HEADER_LEN as u64;

pub(super) fn read(file: &dyn Object) -> Result<Contents> {
    let size = file.size()?;
    let header = SuperchunkHeader::decode(&read_all(file, 0, HEAD_LEN)?, size)?;
    let first = header.chunks_begin();
    let places = match header.index {
        true => {
            let index = header.parse_index(&read_all(file, HEAD_LEN, header.index_len())?)?;
            places(&index, first, size)?
        }
        false => walk(file, first, header.nchunks, header.checksum)?,
    };
    Ok(Contents {
        checksum: header.checksum,
        places,
        spare: header.index,
        trailing: 0,
        metadata: Vec::new(),
        stated: (Some(header.chunk_size), Some(header.chunk_size)),
    })
}

pub(super) fn write(framing: &Framing, chunks: &[impl AsRef<[u8]>]) -> Result<Vec<u8>> {
    let count = u64::try_from(chunks.len()).unwrap_or(u64::MAX);
    let mut header = SuperchunkHeader {
        checksum: framing.checksum,
        index: framing.offsets,
        ..SuperchunkHeader::new(framing.chunk_bytes, count)
    };
    let (mut body, mut index) = (Vec::new(), Vec::new());
    for chunk in chunks {
        let here = u64::try_from(body.len()).unwrap_or(u64::MAX);
        index.push(header.chunks_begin().saturating_add(here));
        body.extend(with_digest(chunk.as_ref(), framing.checksum));
        if framing.offsets {
            let end = body.len().saturating_add(to_usize(framing.spare.into()));
            body.resize(end, 0);
        }
    }
    let len = u64::try_from(body.len()).unwrap_or(u64::MAX);
    header.file_len = header.chunks_begin().saturating_add(len);
    let mut bytes = header.encode()?.to_vec();
    if framing.offsets {
        bytes.extend(header.encode_index(&index)?);
    }
    bytes.extend(body);
    Ok(bytes)
}
