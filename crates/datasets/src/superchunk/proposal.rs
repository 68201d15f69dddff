//! Several chunks after the header of the carray proposal.
//!
//! ```text
//!    header (32) | [index] | (chunk | [digest] | [spare]) ...
//! ```
//!
//! [`SuperchunkHeader`] describes the header and the index.

use super::offsets::{slots_of, walk};
use super::{Framing, SuperchunkIndex, read_up_to, with_digest};
use crate::wire::proposal::{SUPERCHUNK_HEADER_LEN, SuperchunkHeader};
use bloscpack_error::Result;
use bloscpack_error::checked::{to_u64, to_usize};
use bloscpack_storage::ReadAt;

const HEAD_LEN: u64 = SUPERCHUNK_HEADER_LEN as u64;

pub(super) fn read(file: &dyn ReadAt) -> Result<SuperchunkIndex> {
    let size = file.size()?;
    let header = SuperchunkHeader::decode(&read_up_to(file, 0, HEAD_LEN)?, size)?;
    let first = header.chunks_begin();
    let slots = if header.index {
        let index = header.parse_index(&read_up_to(file, HEAD_LEN, header.index_len())?)?;
        slots_of(&index, first, size)?
    } else {
        walk(file, first, header.nchunks, header.checksum)?
    };
    Ok(SuperchunkIndex {
        checksum: header.checksum,
        slots,
        spare: header.index,
        trailing: 0,
        metadata: Vec::new(),
        chunk_size: Some(header.chunk_size),
        last_chunk: Some(header.chunk_size),
    })
}

pub(super) fn write(framing: &Framing, chunks: &[impl AsRef<[u8]>]) -> Result<Vec<u8>> {
    let options = &framing.options;
    let mut header = SuperchunkHeader {
        checksum: options.checksum,
        index: options.offsets,
        ..SuperchunkHeader::new(framing.chunk_bytes, to_u64(chunks.len()))
    };
    let (mut body, mut index) = (Vec::new(), Vec::new());
    for chunk in chunks {
        index.push(header.chunks_begin() + to_u64(body.len()));
        body.extend(with_digest(chunk.as_ref(), options.checksum));
        if options.offsets {
            body.resize(body.len() + to_usize(options.spare), 0);
        }
    }
    header.file_len = header.chunks_begin() + to_u64(body.len());
    let mut bytes = header.encode()?.to_vec();
    if options.offsets {
        bytes.extend(header.encode_index(&index)?);
    }
    bytes.extend(body);
    Ok(bytes)
}
