//! Several chunks behind a Bloscpack header: the superchunk of the BLZ document.
//!
//! ```text
//!    header (32, version 2) | [metadata] | [offsets] | (chunk | [digest] | [spare]) ...
//! ```

use super::{Contents, Framing, Place, damaged, places, read_all, walk, with_digest};
use blosc1::{ChunkHeader, Fault, HEADER_LEN};
use bloscpack_dtype::boxes::to_usize;
use bloscpack_error::Result;
use bloscpack_storage::Object;
use bloscpack_wire::{FormatError, FormatVersion, Header, MetadataPlace, Offsets};

const HEAD_LEN: u64 = 32;
const ENTRY: u64 = 8;

pub(super) fn read(file: &dyn Object) -> Result<Contents> {
    let size = file.size()?;
    let head = read_all(file, 0, HEAD_LEN)?;
    let header = Header::decode(&head)?;
    let Some(count) = header
        .nchunks
        .filter(|_| header.layout == FormatVersion::V2 && !header.varlen)
    else {
        let what = format!(
            "a header of layout {:?}, where version 2 with a number of chunks should be",
            header.layout
        );
        return Err(damaged(what));
    };
    let meta_len = match header.metadata {
        MetadataPlace::Raw { len, .. } => u64::from(len),
        MetadataPlace::Absent | MetadataPlace::Section => 0,
    };
    let table_at = HEAD_LEN.saturating_add(meta_len);
    let table_len = if header.offsets {
        count.saturating_mul(ENTRY)
    } else {
        0
    };
    let first = table_at.saturating_add(table_len);
    // No more is read than the file has, whatever the header counts.
    if first.saturating_add(count.saturating_mul(16)) > size {
        let what = format!("{count} chunks cannot be in {size} bytes");
        return Err(crate::error::dataset(Fault::CutShort, what));
    }
    let behind = read_all(file, HEAD_LEN, first.saturating_sub(HEAD_LEN))?;
    check_seal(&header, &head, &behind)?;
    let places = match header.offsets {
        true => table(
            behind.get(to_usize(meta_len)..).unwrap_or_default(),
            first,
            size,
            header.seal.is_some(),
        )?,
        false => walk(file, first, count, header.checksum)?,
    };
    let metadata = behind
        .get(..to_usize(meta_len))
        .unwrap_or_default()
        .to_vec();
    Ok(Contents {
        checksum: header.checksum,
        places,
        spare: header.offsets,
        trailing: 0,
        metadata,
        stated: (header.chunk_size, header.last_chunk),
    })
}

/// The header, its metadata and the table have no digest but this.
fn check_seal(header: &Header, head: &[u8], behind: &[u8]) -> Result<()> {
    let Some(found) = header.seal else {
        return Ok(());
    };
    let expected = seal(head, behind);
    if found != expected {
        return Err(FormatError::Seal { found, expected }.into());
    }
    Ok(())
}

fn seal(head: &[u8], behind: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&Header::sealed_bytes(head));
    hasher.update(behind);
    hasher.finalize()
}

fn table(bytes: &[u8], first: u64, end: u64, sealed: bool) -> Result<Vec<Place>> {
    let entries: Vec<u64> = bytes
        .as_chunks()
        .0
        .iter()
        .map(|entry| u64::from_le_bytes(*entry))
        .collect();
    if entries.contains(&u64::MAX) {
        let what =
            "the table of offsets has entries of -1: its writer did not finish this superchunk";
        return Err(crate::error::dataset(Fault::CutShort, what));
    }
    // A sealed table is as it was written: a chunk that it tells of and that is not there was cut off.
    let last = entries.last().copied().unwrap_or(0);
    if sealed && entries.is_sorted() && last.saturating_add(16) > end {
        let what = format!("the file ends at byte {end}, before the chunk at byte {last}");
        return Err(crate::error::dataset(Fault::CutShort, what));
    }
    places(&entries, first, end)
}

pub(super) fn write(
    framing: &Framing,
    metadata: &[u8],
    chunks: &[impl AsRef<[u8]>],
) -> Result<Vec<u8>> {
    let nbytes = |chunk: &[u8]| {
        let head = chunk.first_chunk::<HEADER_LEN>();
        head.and_then(|head| ChunkHeader::parse(head).ok())
            .map_or(0, |header| header.nbytes)
    };
    let count = u64::try_from(chunks.len()).unwrap_or(u64::MAX);
    let mut header = Header {
        offsets: framing.offsets,
        checksum: framing.checksum,
        typesize: Some(framing.typesize),
        chunk_size: Some(framing.chunk_bytes),
        last_chunk: chunks.last().map(|chunk| nbytes(chunk.as_ref())),
        nchunks: Some(count),
        seal: Some(0),
        metadata: match u32::try_from(metadata.len()) {
            Ok(len) if len > 0 => MetadataPlace::Raw { len, zlib: false },
            _ => MetadataPlace::Absent,
        },
        ..Header::new(FormatVersion::V2)
    };
    let table_len = if framing.offsets {
        count.saturating_mul(ENTRY)
    } else {
        0
    };
    let front = HEAD_LEN
        .saturating_add(u64::try_from(metadata.len()).unwrap_or(0))
        .saturating_add(table_len);
    let (mut body, mut offsets) = (Vec::new(), Vec::new());
    for chunk in chunks {
        let here = u64::try_from(body.len()).unwrap_or(u64::MAX);
        offsets.push(front.saturating_add(here));
        body.extend(with_digest(chunk.as_ref(), framing.checksum));
        if framing.offsets {
            let end = body.len().saturating_add(to_usize(framing.spare.into()));
            body.resize(end, 0);
        }
    }
    let table = if framing.offsets {
        Offsets::encode(&offsets, 0)
    } else {
        Vec::new()
    };
    let behind = [metadata, &table].concat();
    header.seal = Some(seal(&header.encode()?, &behind));
    let mut bytes = header.encode()?;
    bytes.extend(behind);
    bytes.extend(body);
    Ok(bytes)
}
