//! The header and index of a superchunk of the carray proposal.
//!
//! ```text
//!    offset   bytes   content
//!    0        4       "blpk"
//!    4        1       version: 4 in files that this library writes
//!    5        1       checksum of each chunk, 0 to 8
//!    6        1       1 if there is an index, otherwise 0
//!    7        1       0
//!    8        4       uncompressed bytes of every chunk
//!    12       4       0
//!    16       8       bytes of the whole file (i64)
//!    24       8       number N of chunks (i64)
//!    32       N * 8   index: the position of each chunk in the file (i64)
//!    ...              chunk | [digest] | [spare space] | chunk | ...
//! ```
//!
//! All numbers are little-endian. The proposal has no value for an unknown number.

use blosc1::{HEADER_LEN, MAX_NBYTES};
use bloscpack_array::json::wrong_value;
use bloscpack_error::{Code, Error, Result};
use bloscpack_wire::Checksum;
use bloscpack_wire::internal::{MAGIC, i64_at, put, u8_at, u32_at};

/// Bytes of the header.
pub const SUPERCHUNK_HEADER_LEN: usize = 32;

const VERSION: usize = 4;
const CHECKSUM: usize = 5;
const INDEX: usize = 6;
const RESERVED: usize = 7;
const CHUNK_SIZE: usize = 8;
const RESERVED_WORD: usize = 12;
const FILE_LEN: usize = 16;
const NCHUNKS: usize = 24;

const ENTRY_LEN: usize = 8;
/// The proposal specifies no version. 1 to 3 are versions of the Bloscpack header.
const OUR_VERSION: u8 = 4;

/// The header of a superchunk.
///
/// ```
/// use bloscpack_wire::Checksum;
/// use bloscpack_datasets::wire::proposal::SuperchunkHeader;
/// let header = SuperchunkHeader {
///     checksum: Checksum::Adler32,
///     index: true,
///     file_len: 100,
///     ..SuperchunkHeader::new(600, 2)
/// };
/// let bytes = header.encode()?;
/// assert_eq!(bytes[..8], *b"blpk\x04\x01\x01\x00");
/// assert_eq!(SuperchunkHeader::decode(&bytes, 100)?, header);
/// assert!(SuperchunkHeader::decode(&bytes, 99).is_err());
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperchunkHeader {
    /// The version byte: 4 in files that this library writes. Readers accept any value.
    pub version: u8,
    /// The checksum of each chunk.
    pub checksum: Checksum,
    /// Whether an index, the positions of the chunks, follows the header.
    pub index: bool,
    /// Uncompressed bytes of every chunk; chunks at the edges of the array are padded to it.
    pub chunk_size: u32,
    /// Bytes of the whole file, including this header.
    pub file_len: u64,
    /// The number of chunks.
    pub nchunks: u64,
}

impl SuperchunkHeader {
    /// The header of `nchunks` chunks, without checksum and index. `file_len` is the minimum; set it to the actual length.
    #[must_use]
    pub fn new(chunk_size: u32, nchunks: u64) -> Self {
        let header = Self {
            version: OUR_VERSION,
            checksum: Checksum::None,
            index: false,
            chunk_size,
            file_len: 0,
            nchunks,
        };
        let file_len = header.least_len().unwrap_or(u64::MAX);
        Self { file_len, ..header }
    }

    /// Decodes and checks the header of a file of `file_len` bytes. Bytes of `head` after the header are ignored. The number of
    /// chunks is compared with the length of the file, so that memory can be allocated for the index.
    ///
    /// # Errors
    /// Returns [`Code::CutShort`] if the file is shorter than its header states, [`Code::Trailing`] if it is longer,
    /// [`Code::UnknownFormat`] for other first bytes than `blpk`, [`Code::Unsupported`] for an unknown checksum, and
    /// [`Code::Header`] for impossible fields.
    pub fn decode(head: &[u8], file_len: u64) -> Result<Self> {
        let Some(bytes) = head.first_chunk::<SUPERCHUNK_HEADER_LEN>() else {
            let (found, expected) = (head.len() as u64, SUPERCHUNK_HEADER_LEN as u64);
            return Err(Error::cut_short("header", found, expected));
        };
        check_fixed(bytes)?;
        let id = u8_at(bytes, CHECKSUM);
        let header = Self {
            version: u8_at(bytes, VERSION),
            checksum: Checksum::from_id(id).ok_or_else(|| {
                Error::new(
                    Code::Unsupported,
                    format!("unknown checksum id {id}; known ids are 0 to 8"),
                )
            })?,
            index: u8_at(bytes, INDEX) == 1,
            chunk_size: u32_at(bytes, CHUNK_SIZE),
            file_len: count(bytes, FILE_LEN, "file size")?,
            nchunks: count(bytes, NCHUNKS, "number of chunks")?,
        };
        header.check()?;
        header.check_len(file_len)?;
        Ok(header)
    }

    /// The bytes of the header.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`] for fields that [`decode`](Self::decode) would refuse.
    pub fn encode(&self) -> Result<[u8; SUPERCHUNK_HEADER_LEN]> {
        self.check()
            .map_err(|error| Error::new(Code::CannotStore, error.to_string()))?;
        let mut bytes = [0; SUPERCHUNK_HEADER_LEN];
        put(&mut bytes, 0, &MAGIC);
        let marks = [self.version, self.checksum.id(), u8::from(self.index)];
        put(&mut bytes, VERSION, &marks);
        put(&mut bytes, CHUNK_SIZE, &self.chunk_size.to_le_bytes());
        put(&mut bytes, FILE_LEN, &self.file_len.to_le_bytes());
        put(&mut bytes, NCHUNKS, &self.nchunks.to_le_bytes());
        Ok(bytes)
    }

    /// Bytes of the index; 0 if there is none. The index of a decoded header is shorter than the file.
    #[must_use]
    pub fn index_len(&self) -> u64 {
        if self.index {
            // Saturates only for impossible headers, which `check` refuses.
            self.nchunks.saturating_mul(ENTRY_LEN as u64)
        } else {
            0
        }
    }

    /// The position of the first chunk in the file.
    #[must_use]
    pub fn chunks_begin(&self) -> u64 {
        self.index_len()
            .saturating_add(SUPERCHUNK_HEADER_LEN as u64)
    }

    /// Parses the index, exactly [`index_len`](Self::index_len) bytes, and returns the position of each chunk in the file.
    ///
    /// # Errors
    /// Returns [`Code::CutShort`] for another number of bytes, and [`Code::Offsets`] if the first chunk does not follow the
    /// index directly, or if a chunk overlaps the one before it or the end of the file.
    pub fn parse_index(&self, bytes: &[u8]) -> Result<Vec<u64>> {
        let (found, expected) = (bytes.len() as u64, self.index_len());
        if found != expected {
            return Err(Error::cut_short("index", found, expected));
        }
        let (entries, _) = bytes.as_chunks::<ENTRY_LEN>();
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| i64::from_le_bytes(*entry))
            .collect();
        self.check_index(&entries)
    }

    /// The bytes of an index with these positions.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`] for an index that [`parse_index`](Self::parse_index) would refuse.
    pub fn encode_index(&self, index: &[u64]) -> Result<Vec<u8>> {
        // A position of 2^63 or more becomes negative, which `parse_index` refuses.
        let bytes: Vec<u8> = index
            .iter()
            .flat_map(|position| position.to_le_bytes())
            .collect();
        match self.parse_index(&bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(Error::new(Code::CannotStore, error.to_string())),
        }
    }

    fn check_index(&self, entries: &[i64]) -> Result<Vec<u64>> {
        let mut index: Vec<u64> = Vec::with_capacity(entries.len());
        // Saturates to 0 for a file too short for a chunk, which refuses every position.
        let last = self.file_len.saturating_sub(self.least_chunk());
        for (number, entry) in entries.iter().enumerate() {
            let bad = |expected: String| {
                let name = format!("entry {number} of the index");
                wrong_value(Code::Offsets, name, entry, expected)
            };
            let position = u64::try_from(*entry).ok();
            let good = match index.last() {
                None => {
                    let begin = self.chunks_begin();
                    let at = position.filter(|at| *at == begin);
                    at.ok_or_else(|| bad(format!("{begin}, the end of the index")))?
                }
                Some(before) => {
                    let least = before + self.least_chunk();
                    let at = position.filter(|at| *at >= least && *at <= last);
                    at.ok_or_else(|| bad(format!("{least} to {last}")))?
                }
            };
            index.push(good);
        }
        Ok(index)
    }

    /// The minimum number of bytes of a chunk: its header and its digest.
    fn least_chunk(&self) -> u64 {
        (HEADER_LEN + self.checksum.digest_len()) as u64
    }

    /// The minimum number of bytes of a file with this header; `None` if it overflows.
    fn least_len(&self) -> Option<u64> {
        let chunks = self.nchunks.checked_mul(self.least_chunk())?;
        let index = if self.index {
            self.nchunks.checked_mul(ENTRY_LEN as u64)?
        } else {
            0
        };
        chunks
            .checked_add(index)?
            .checked_add(SUPERCHUNK_HEADER_LEN as u64)
    }

    /// Checks the fields against each other. This limits the index to the length of the file before memory is allocated for it.
    fn check(&self) -> Result<()> {
        let Self {
            chunk_size,
            nchunks,
            file_len,
            ..
        } = *self;
        if chunk_size > MAX_NBYTES || (chunk_size == 0 && nchunks > 0) {
            let expected = format!("1 to {MAX_NBYTES}");
            return Err(wrong_value(
                Code::Header,
                "chunk size",
                chunk_size,
                expected,
            ));
        }
        let most = i64::MAX.unsigned_abs();
        match self.least_len() {
            Some(least) if (least..=most).contains(&file_len) => Ok(()),
            Some(least) => {
                let expected = format!("{least} or more for {nchunks} chunks");
                Err(wrong_value(Code::Header, "file size", file_len, expected))
            }
            None => {
                let expected = "small enough for a file to contain them";
                Err(wrong_value(
                    Code::Header,
                    "number of chunks",
                    nchunks,
                    expected,
                ))
            }
        }
    }

    fn check_len(&self, found: u64) -> Result<()> {
        let expected = self.file_len;
        match found.cmp(&expected) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => Err(Error::cut_short("superchunk", found, expected)),
            std::cmp::Ordering::Greater => {
                let expected = format!("{expected}, as its header says");
                Err(wrong_value(
                    Code::Trailing,
                    "the length of the file",
                    found,
                    expected,
                ))
            }
        }
    }
}

/// Checks the magic, the reserved bytes, and the byte that tells whether there is an index.
fn check_fixed(bytes: &[u8; SUPERCHUNK_HEADER_LEN]) -> Result<()> {
    if !bytes.starts_with(&MAGIC) {
        let (magic, _) = bytes.split_at(MAGIC.len());
        let found = magic.escape_ascii();
        return Err(Error::new(
            Code::UnknownFormat,
            format!("not a superchunk: begins with \"{found}\" instead of \"blpk\""),
        ));
    }
    let index = u8_at(bytes, INDEX);
    if index > 1 {
        return Err(wrong_value(Code::Header, "index", index, "0 or 1"));
    }
    let (byte, word) = (u8_at(bytes, RESERVED), u32_at(bytes, RESERVED_WORD));
    if byte != 0 || word != 0 {
        let found = format!("{byte:#04x} and {word:#010x}");
        return Err(wrong_value(
            Code::Header,
            "reserved bytes (7 and 12 to 15)",
            found,
            "zero",
        ));
    }
    Ok(())
}

fn count(bytes: &[u8], at: usize, name: &str) -> Result<u64> {
    let found = i64_at(bytes, at);
    u64::try_from(found).map_err(|_| wrong_value(Code::Header, name, found, "0 or more"))
}

#[cfg(test)]
mod tests {
    use super::{SUPERCHUNK_HEADER_LEN, SuperchunkHeader};
    use bloscpack_error::Category;
    use bloscpack_wire::Checksum;

    /// 3 chunks of up to 600 bytes, adler32, with an index, 250 bytes in all; by hand.
    const EXAMPLE: [u8; SUPERCHUNK_HEADER_LEN] = [
        0x62, 0x6c, 0x70, 0x6b, 4, 1, 1, 0, 0x58, 0x02, 0, 0, 0, 0, 0, 0, //
        250, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
    ];

    fn example() -> SuperchunkHeader {
        SuperchunkHeader {
            version: 4,
            checksum: Checksum::Adler32,
            index: true,
            chunk_size: 600,
            file_len: 250,
            nchunks: 3,
        }
    }

    fn changed(changes: &[(usize, u8)]) -> Result<SuperchunkHeader, Category> {
        let mut bytes = EXAMPLE;
        for (at, byte) in changes {
            bytes[*at] = *byte;
        }
        SuperchunkHeader::decode(&bytes, 250).map_err(|error| error.category())
    }

    #[test]
    fn fields_lie_where_the_proposal_has_them() {
        assert_eq!(SuperchunkHeader::decode(&EXAMPLE, 250).unwrap(), example());
        assert_eq!(example().encode().unwrap(), EXAMPLE);
        assert_eq!((example().index_len(), example().chunks_begin()), (24, 56));
    }

    #[test]
    fn any_version_is_read() {
        for version in [0, 1, 2, 3, 255] {
            assert_eq!(changed(&[(4, version)]).unwrap().version, version);
        }
    }

    #[test]
    fn headers_that_cannot_be_are_refused() {
        let wrong: [(&[(usize, u8)], Category); 14] = [
            (&[(0, b'x')], Category::Unsupported),
            (&[(5, 9)], Category::Unsupported),
            (&[(6, 2)], Category::Damaged),
            (&[(7, 1)], Category::Damaged),
            (&[(12, 1)], Category::Damaged),
            (&[(15, 0x80)], Category::Damaged),
            (&[(8, 0), (9, 0)], Category::Damaged),
            (&[(11, 0x80)], Category::Damaged),
            // Another length than the file's.
            (&[(16, 249)], Category::Damaged),
            (&[(16, 251)], Category::CutShort),
            (&[(23, 0x80)], Category::Damaged),
            // More chunks than have room.
            (&[(24, 8)], Category::Damaged),
            (&[(30, 0x40)], Category::Damaged),
            (&[(31, 0x80)], Category::Damaged),
        ];
        for (changes, category) in wrong {
            assert_eq!(changed(changes), Err(category), "{changes:?}");
        }
        let torn = SuperchunkHeader::decode(&EXAMPLE[..31], 31).unwrap_err();
        assert_eq!(torn.category(), Category::CutShort);
    }

    #[test]
    fn any_single_flipped_bit_but_of_version_and_chunk_size_shows() {
        for bit in 0..8 * SUPERCHUNK_HEADER_LEN {
            let mut bytes = EXAMPLE;
            bytes[bit / 8] ^= 1 << (bit % 8);
            let (byte, found) = (bit / 8, SuperchunkHeader::decode(&bytes, 250));
            // The checksum, the index and the number of chunks show when chunks and digests are read.
            if !matches!(byte, 4 | 5 | 6 | 8..=11 | 24) {
                assert!(found.is_err(), "bit {bit}");
            }
        }
    }

    fn index(entries: &[i64]) -> Result<Vec<u64>, Category> {
        let bytes: Vec<u8> = entries
            .iter()
            .flat_map(|entry| entry.to_le_bytes())
            .collect();
        example()
            .parse_index(&bytes)
            .map_err(|error| error.category())
    }

    #[test]
    fn indexes_ascend_inside_of_the_file() {
        assert_eq!(index(&[56, 100, 230]), Ok(vec![56, 100, 230]));
        assert_eq!(index(&[56, 76, 96]), Ok(vec![56, 76, 96]));
        let wrong = [
            [-1, -1, -1],
            [32, 100, 200],
            [57, 100, 200],
            [56, 75, 200],
            [56, 100, 100],
            [56, 200, 100],
            [56, 100, 231],
            [56, 100, i64::MAX],
            [56, 100, i64::MIN],
            [0, 0, 0],
        ];
        for entries in wrong {
            assert_eq!(index(&entries), Err(Category::Damaged), "{entries:?}");
        }
        assert_eq!(index(&[56, 100]), Err(Category::CutShort));
    }

    #[test]
    fn indexes_are_written_as_they_are_read() {
        let bytes = example().encode_index(&[56, 100, 230]).unwrap();
        assert_eq!(
            bytes[..16],
            [56, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(example().parse_index(&bytes).unwrap(), [56, 100, 230]);
        for wrong in [&[56, 100][..], &[56, 100, 240], &[56, 100, u64::MAX]] {
            assert_eq!(
                example().encode_index(wrong).unwrap_err().category(),
                Category::Usage
            );
        }
        let without = SuperchunkHeader {
            index: false,
            ..example()
        };
        assert!(without.parse_index(&[]).unwrap().is_empty());
    }

    #[test]
    fn a_superchunk_may_be_empty() {
        let header = SuperchunkHeader::new(0, 0);
        assert_eq!(header.file_len, 32);
        let bytes = header.encode().unwrap();
        assert_eq!(SuperchunkHeader::decode(&bytes, 32).unwrap(), header);
        assert!(SuperchunkHeader::new(8, u64::MAX).encode().is_err());
    }
}
