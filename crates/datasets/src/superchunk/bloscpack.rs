//! Several chunks after a Bloscpack header: the superchunk of the BLZ document.
//!
//! ```text
//!    header (32, version 2) | [metadata] | [offset table] | (chunk | [digest] | [spare]) ...
//! ```
//!
//! `docs/format.md` describes the header under "V2". New superchunks are sealed: a checksum covers header, metadata and offset
//! table.

use super::offsets::{slots_of, walk};
use super::{Framing, LEAST_CHUNK, Slot, SuperchunkIndex, cut_short, read_up_to, with_digest};
use crate::error::wrong_superchunk_header;
use blosc1::{ChunkHeader, HEADER_LEN};
use bloscpack_error::checked::{in_memory, to_u64, to_usize};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::internal::{ENTRY_LEN, Seal};
use bloscpack_wire::{FormatVersion, Geometry, Header, MetadataPlace, Offsets};

const HEAD_LEN: u64 = 32;

pub(super) fn read(file: &dyn ReadAt) -> Result<SuperchunkIndex> {
    let size = file.size()?;
    let head = read_up_to(file, 0, HEAD_LEN)?;
    let header = Header::decode(&head)?;
    let Some(count) = header
        .nchunks
        .filter(|_| header.version == FormatVersion::V2 && !header.varlen)
    else {
        let expected = "format version 2 with a number of chunks";
        return Err(wrong_superchunk_header(header.version, expected));
    };
    let metadata_len = match header.metadata {
        MetadataPlace::Raw { len, .. } => u64::from(len),
        MetadataPlace::Absent | MetadataPlace::Section => 0,
    };
    // Compare the header with the file's length before anything is read or allocated.
    let expected = least_len(metadata_len, count, header.offsets).unwrap_or(u64::MAX);
    if expected > size {
        return Err(cut_short(size, expected));
    }
    let geometry = Geometry::of(&header, metadata_len)?;
    let first = geometry.chunks_at;
    let rest = read_up_to(file, HEAD_LEN, first - HEAD_LEN)?;
    if let Some(found) = header.seal {
        // The seal is the only digest of header, metadata and offset table.
        seal(&head, &rest).check(found)?;
    }
    let (metadata, table) = rest
        .split_at_checked(in_memory(metadata_len)?)
        .filter(|(_, table)| to_u64(table.len()) == first - geometry.table_at)
        .ok_or_else(|| cut_short(HEAD_LEN + to_u64(rest.len()), first))?;
    let slots = if header.offsets {
        from_table(table, first, size, header.seal.is_some())?
    } else {
        walk(file, first, count, header.checksum)?
    };
    Ok(SuperchunkIndex {
        checksum: header.checksum,
        slots,
        spare: header.offsets,
        trailing: 0,
        metadata: metadata.to_vec(),
        chunk_size: header.chunk_size,
        last_chunk: header.last_chunk,
    })
}

/// The minimum length of a file with these parts; `None` if it overflows.
fn least_len(metadata_len: u64, count: u64, has_table: bool) -> Option<u64> {
    let each = LEAST_CHUNK + if has_table { ENTRY_LEN } else { 0 };
    count
        .checked_mul(each)?
        .checked_add(HEAD_LEN + metadata_len)
}

fn seal(head: &[u8], rest: &[u8]) -> Seal {
    let mut seal = Seal::of_header(head);
    seal.update(rest);
    seal
}

fn from_table(table: &[u8], first: u64, end: u64, sealed: bool) -> Result<Vec<Slot>> {
    let (entries, _) = table.as_chunks();
    let entries: Vec<u64> = entries.iter().copied().map(u64::from_le_bytes).collect();
    if entries.contains(&u64::MAX) {
        let message = "unfinished superchunk: its offsets are -1";
        return Err(Error::new(Code::Unfinished, message));
    }
    // A sealed table is undamaged. If it points after the end of the file, the file was cut off.
    let last = entries.last().copied().unwrap_or(0);
    // Saturates: any position after the end is refused.
    let expected = last.saturating_add(LEAST_CHUNK);
    if sealed && entries.is_sorted() && expected > end {
        return Err(cut_short(end, expected));
    }
    slots_of(&entries, first, end)
}

/// The uncompressed length of a chunk that this library compressed.
fn nbytes(chunk: &[u8]) -> Result<u32> {
    let head = chunk.first_chunk::<HEADER_LEN>();
    let header = head.map(ChunkHeader::parse).transpose()?;
    match header {
        Some(header) => Ok(header.nbytes),
        None => Err(Error::bug(format!("a chunk of {} bytes", chunk.len()))),
    }
}

pub(super) fn write(
    framing: &Framing,
    metadata: &[u8],
    chunks: &[impl AsRef<[u8]>],
) -> Result<Vec<u8>> {
    let options = &framing.options;
    let count = to_u64(chunks.len());
    let last = chunks.last().map(|chunk| nbytes(chunk.as_ref()));
    let metadata_len = u32::try_from(metadata.len())
        .map_err(|_| Error::bug(format!("metadata of {} bytes", metadata.len())))?;
    let mut header = Header {
        offsets: options.offsets,
        checksum: options.checksum,
        typesize: Some(framing.typesize),
        chunk_size: Some(framing.chunk_bytes),
        last_chunk: last.transpose()?,
        nchunks: Some(count),
        seal: Some(0),
        metadata: match metadata_len {
            0 => MetadataPlace::Absent,
            len => MetadataPlace::Raw { len, zlib: false },
        },
        ..Header::new(FormatVersion::V2)
    };
    let front = Geometry::of(&header, metadata_len.into())?.chunks_at;
    let (mut body, mut offsets) = (Vec::new(), Vec::new());
    for chunk in chunks {
        offsets.push(front + to_u64(body.len()));
        body.extend(with_digest(chunk.as_ref(), options.checksum));
        if options.offsets {
            body.resize(body.len() + to_usize(options.spare), 0);
        }
    }
    let table = if options.offsets {
        Offsets::encode(&offsets)?
    } else {
        Vec::new()
    };
    let rest = [metadata, &table].concat();
    header.seal = Some(seal(&header.encode()?, &rest).value());
    let mut bytes = header.encode()?;
    bytes.extend(rest);
    bytes.extend(body);
    Ok(bytes)
}
