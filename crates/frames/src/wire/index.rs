//! The index of a frame: the place of each chunk.
//!
//! ```text
//! i64 | i64 | ...       one for each chunk, little-endian
//! 0 or more:               offset from the end of the header, or the number of a chunk's file
//! 81 00 00 00 00 00 00 00  (highest byte first) not stored: zeros;  82 NaN;  84 uninitialized
//! ```
//!
//! The entries are the data of the index chunk. Chunks may be in any order, with dead bytes in between.

use crate::part::FramePart;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};

const ENTRY: usize = 8;
/// Valid entries, for error messages.
const EXPECTED: &str = "an offset, or 81, 82 or 84 followed by zeros";

/// The place of a chunk: an index entry.
///
/// ```
/// use bloscpack_frames::wire::ChunkPlace;
/// assert_eq!(ChunkPlace::decode(4096)?, ChunkPlace::At(4096));
/// assert_eq!(ChunkPlace::Zeros.encode()?.to_be_bytes(), [0x81, 0, 0, 0, 0, 0, 0, 0]);
/// assert!(ChunkPlace::decode(-1).is_err());
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkPlace {
    /// Stored. In a contiguous frame: the offset in bytes from the end of the header. In a sparse frame: the number of its
    /// file.
    At(u64),
    /// Not stored: all bytes are zero.
    Zeros,
    /// Not stored: all elements are NaN. Only elements of 4 or 8 bytes can be read.
    Nan,
    /// Not stored: never written. This crate reads zeros.
    Uninit,
}

/// The highest bytes of the entries for chunks that are not stored.
const ZEROS: u8 = 0x81;
const NAN: u8 = 0x82;
const UNINIT: u8 = 0x84;

impl ChunkPlace {
    /// The place for an entry. Offsets are not checked against the frame.
    ///
    /// # Errors
    /// Returns [`Code::Offsets`](bloscpack_error::Code::Offsets) for a negative number other than the three special ones.
    pub fn decode(entry: i64) -> Result<Self> {
        Self::of(entry).ok_or_else(|| damaged(entry, None))
    }

    /// The place for an entry; `None` for a negative number other than the special ones.
    fn of(entry: i64) -> Option<Self> {
        if let Ok(at) = u64::try_from(entry) {
            return Some(Self::At(at));
        }
        match entry.to_be_bytes() {
            [ZEROS, 0, 0, 0, 0, 0, 0, 0] => Some(Self::Zeros),
            [NAN, 0, 0, 0, 0, 0, 0, 0] => Some(Self::Nan),
            [UNINIT, 0, 0, 0, 0, 0, 0, 0] => Some(Self::Uninit),
            _ => None,
        }
    }

    /// The entry for a place.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for an offset of 2^63 or more.
    pub fn encode(self) -> Result<i64> {
        let special = |kind| Ok(i64::from_be_bytes([kind, 0, 0, 0, 0, 0, 0, 0]));
        match self {
            Self::At(at) => i64::try_from(at)
                .map_err(|_| FramePart::Index.cannot_store("offset", at, "at most 2^63-1")),
            Self::Zeros => special(ZEROS),
            Self::Nan => special(NAN),
            Self::Uninit => special(UNINIT),
        }
    }
}

/// The error for an invalid entry, which begins at byte `at` of the index.
fn damaged(entry: i64, at: Option<u64>) -> Error {
    let found = format!("{entry:016x}");
    FramePart::Index.damaged(at, "entry", found, EXPECTED)
}

/// Reads the decompressed data of an index chunk: 8 bytes for each of `nchunks` chunks.
///
/// ```
/// use bloscpack_frames::{wire::ChunkPlace, wire::decode_index, wire::encode_index};
/// let raw = *b"\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x82";
/// let places = decode_index(&raw, 2)?;
/// assert_eq!(places, [ChunkPlace::At(32), ChunkPlace::Nan]);
/// assert_eq!(encode_index(&places)?, raw);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns [`Code::Offsets`](bloscpack_error::Code::Offsets) if `raw` is not exactly `8 * nchunks` bytes long, or for an
/// invalid entry.
pub fn decode_index(raw: &[u8], nchunks: u64) -> Result<Vec<ChunkPlace>> {
    let (entries, rest) = raw.as_chunks::<ENTRY>();
    if !rest.is_empty() || to_u64(entries.len()) != nchunks {
        let (part, found) = (FramePart::Index, raw.len());
        let expected = format!("{ENTRY} bytes for each of {nchunks} chunks");
        return Err(part.damaged(None, "length", found, expected));
    }
    // Allocated once: a growing vector would need twice the memory.
    let mut places = Vec::with_capacity(entries.len());
    for (number, entry) in entries.iter().enumerate() {
        let entry = i64::from_le_bytes(*entry);
        let place = ChunkPlace::of(entry);
        places.push(place.ok_or_else(|| damaged(entry, Some(to_u64(number * ENTRY))))?);
    }
    Ok(places)
}

/// The data of an index chunk: 8 bytes for each place.
///
/// # Errors
/// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for an offset of 2^63 or more.
pub fn encode_index(places: &[ChunkPlace]) -> Result<Vec<u8>> {
    let mut raw = Vec::with_capacity(places.len() * ENTRY);
    for place in places {
        raw.extend_from_slice(&place.encode()?.to_le_bytes());
    }
    Ok(raw)
}

const SUFFIX: &str = ".chunk";

/// The name of a chunk's file in a sparse frame: at least eight upper-case hexadecimal digits and `.chunk`.
///
/// ```
/// use bloscpack_frames::{wire::chunk_file_name, wire::chunk_number};
/// assert_eq!(chunk_file_name(0x2a), "0000002A.chunk");
/// assert_eq!(chunk_number("0000002A.chunk"), Some(0x2a));
/// assert_eq!(chunk_number("2A.chunk"), None);
/// ```
#[must_use]
pub fn chunk_file_name(number: u64) -> String {
    format!("{number:08X}{SUFFIX}")
}

/// The number in the name of a chunk file; `None` for a name that [`chunk_file_name`] never returns.
#[must_use]
pub fn chunk_number(name: &str) -> Option<u64> {
    let number = u64::from_str_radix(name.strip_suffix(SUFFIX)?, 16).ok()?;
    (chunk_file_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive_encoding_and_decoding() {
        let largest = u64::try_from(i64::MAX).unwrap();
        for place in [
            ChunkPlace::At(0),
            ChunkPlace::At(largest),
            ChunkPlace::Zeros,
            ChunkPlace::Nan,
            ChunkPlace::Uninit,
        ] {
            assert_eq!(ChunkPlace::decode(place.encode().unwrap()).unwrap(), place);
        }
        assert!(ChunkPlace::At(largest + 1).encode().is_err());
    }

    #[test]
    fn other_negative_entries_are_damage() {
        for kind in 0x80..=0xff {
            let entry = i64::from_be_bytes([kind, 0, 0, 0, 0, 0, 0, 0]);
            let known = [ZEROS, NAN, UNINIT].contains(&kind);
            assert_eq!(ChunkPlace::decode(entry).is_ok(), known, "{kind:02x}");
            assert!(ChunkPlace::decode(entry + 1).is_err());
        }
    }

    #[test]
    fn an_index_has_an_entry_for_every_chunk() {
        assert_eq!(decode_index(&[], 0).unwrap(), Vec::new());
        for (len, nchunks) in [(0, 1), (8, 0), (8, 2), (9, 1), (15, 2), (8, u64::MAX)] {
            assert!(decode_index(&vec![0; len], nchunks).is_err());
        }
        let raw = [[0; 8], [0xff; 8]].concat();
        assert_eq!(
            decode_index(&raw, 2).unwrap_err().part(),
            Some("frame index (byte 8)")
        );
    }

    #[test]
    fn only_names_that_a_writer_gives_are_names_of_chunks() {
        for number in [0, 0xabcdef, u32::MAX.into(), 0x1_0000_0000, u64::MAX] {
            assert_eq!(chunk_number(&chunk_file_name(number)), Some(number));
        }
        for name in [
            "0000000a.chunk",
            "000000001.chunk",
            "+0000001.chunk",
            "0000001.chunk",
            "00000001",
            ".chunk",
            "chunks.b2frame",
            "1FFFFFFFFFFFFFFFF.chunk",
        ] {
            assert_eq!(chunk_number(name), None, "{name}");
        }
    }
}
