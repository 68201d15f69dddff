//! Where the chunks of a frame are: what its index chunk holds.
//!
//! ```text
//! i64 | i64 | ...       one for each chunk, little-endian
//! 0 or more:               bytes from the end of the header, or the number of a chunk's file
//! 81 00 00 00 00 00 00 00  (big end first) a chunk of zeros that is stored nowhere;  82 of NaN;  84 of anything
//! ```
//!
//! Chunks lie in any order, and there may be bytes between them that no entry leads to.

use super::error::FrameError;
use blosc1::Fault;

const SECTION: &str = "index of the frame";
const ENTRY: usize = 8;

/// Where a chunk is.
///
/// ```
/// use bloscpack_frames::wire::ChunkPlace;
/// assert_eq!(ChunkPlace::decode(4096)?, ChunkPlace::At(4096));
/// assert_eq!(ChunkPlace::Zeros.encode()?.to_be_bytes(), [0x81, 0, 0, 0, 0, 0, 0, 0]);
/// assert!(ChunkPlace::decode(-1).is_err());
/// # Ok::<(), bloscpack_frames::wire::FrameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkPlace {
    /// In a contiguous frame: this many bytes behind the end of the header. In a sparse frame: in the
    /// file of this number.
    At(u64),
    /// Nowhere: all of it is zeros.
    Zeros,
    /// Nowhere: every item is NaN.
    Nan,
    /// Nowhere: nobody has said what it holds.
    Uninit,
}

/// The highest bytes of the entries for chunks that are stored nowhere.
const ZEROS: u8 = 0x81;
const NAN: u8 = 0x82;
const UNINIT: u8 = 0x84;

impl ChunkPlace {
    /// Reads an entry.
    ///
    /// # Errors
    /// [`Fault::Damaged`] for a negative one that is none of the three.
    pub fn decode(entry: i64) -> Result<Self, FrameError> {
        if let Ok(at) = u64::try_from(entry) {
            return Ok(Self::At(at));
        }
        match entry.to_be_bytes() {
            [ZEROS, 0, 0, 0, 0, 0, 0, 0] => Ok(Self::Zeros),
            [NAN, 0, 0, 0, 0, 0, 0, 0] => Ok(Self::Nan),
            [UNINIT, 0, 0, 0, 0, 0, 0, 0] => Ok(Self::Uninit),
            _ => {
                let what = format!(
                    "entry {entry:016x}, should be an offset, or 81, 82 or 84 and zeros behind it"
                );
                Err(FrameError::damaged(SECTION, what))
            }
        }
    }

    /// The entry.
    ///
    /// # Errors
    /// [`Fault::Usage`] for an offset of 2^63 or more.
    pub fn encode(self) -> Result<i64, FrameError> {
        let special = |kind| Ok(i64::from_be_bytes([kind, 0, 0, 0, 0, 0, 0, 0]));
        match self {
            Self::At(at) => i64::try_from(at)
                .map_err(|_| FrameError::usage(SECTION, format!("an offset of {at}"))),
            Self::Zeros => special(ZEROS),
            Self::Nan => special(NAN),
            Self::Uninit => special(UNINIT),
        }
    }
}

/// Reads what an index chunk decoded to.
///
/// ```
/// use bloscpack_frames::{wire::ChunkPlace, wire::decode_index, wire::encode_index};
/// let raw = *b"\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x82";
/// let places = decode_index(&raw, 2)?;
/// assert_eq!(places, [ChunkPlace::At(32), ChunkPlace::Nan]);
/// assert_eq!(encode_index(&places)?, raw);
/// # Ok::<(), bloscpack_frames::wire::FrameError>(())
/// ```
///
/// # Errors
/// [`Fault::Damaged`] if it is not one entry for each of `nchunks` chunks, or has one that cannot be.
pub fn decode_index(raw: &[u8], nchunks: u64) -> Result<Vec<ChunkPlace>, FrameError> {
    let (entries, rest) = raw.as_chunks::<ENTRY>();
    if !rest.is_empty() || u64::try_from(entries.len()) != Ok(nchunks) {
        let found = raw.len();
        let what = format!("{found} bytes, should be {ENTRY} for each of {nchunks} chunks");
        return Err(FrameError::damaged(SECTION, what));
    }
    let place = |(chunk, entry): (usize, &[u8; ENTRY])| {
        ChunkPlace::decode(i64::from_le_bytes(*entry)).map_err(|_| {
            let found = u64::from_le_bytes(*entry);
            let what = format!(
                "chunk {chunk}: {found:016x}, should be an offset, or 81, 82 or 84 and zeros"
            );
            FrameError::new(Fault::Damaged, SECTION, chunk.checked_mul(ENTRY), what)
        })
    };
    // As many as are there, at once: to grow towards it would take twice as much.
    let mut places = Vec::with_capacity(entries.len());
    for entry in entries.iter().enumerate() {
        places.push(place(entry)?);
    }
    Ok(places)
}

/// What an index chunk has to hold.
///
/// # Errors
/// As [`ChunkPlace::encode`].
pub fn encode_index(places: &[ChunkPlace]) -> Result<Vec<u8>, FrameError> {
    let mut raw = Vec::with_capacity(places.len().saturating_mul(ENTRY));
    for place in places {
        raw.extend_from_slice(&place.encode()?.to_le_bytes());
    }
    Ok(raw)
}

const SUFFIX: &str = ".chunk";

/// The name of a chunk's file in a sparse frame.
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

/// The number of the chunk that a file of this name holds, if it is named as [`chunk_file_name`] does.
#[must_use]
pub fn chunk_number(name: &str) -> Option<u64> {
    let number = u64::from_str_radix(name.strip_suffix(SUFFIX)?, 16).ok()?;
    (chunk_file_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_itself_again() {
        let largest = u64::try_from(i64::MAX).unwrap();
        for place in [
            ChunkPlace::At(0),
            ChunkPlace::At(largest),
            ChunkPlace::Zeros,
            ChunkPlace::Nan,
            ChunkPlace::Uninit,
        ] {
            assert_eq!(ChunkPlace::decode(place.encode().unwrap()), Ok(place));
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
        assert_eq!(decode_index(&[], 0), Ok(Vec::new()));
        for (len, nchunks) in [(0, 1), (8, 0), (8, 2), (9, 1), (15, 2), (8, u64::MAX)] {
            assert!(decode_index(&vec![0; len], nchunks).is_err());
        }
        let raw = [[0; 8], [0xff; 8]].concat();
        assert_eq!(decode_index(&raw, 2).unwrap_err().at(), Some(8));
    }

    #[test]
    fn only_names_that_a_writer_gives_are_those_of_chunks() {
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
