//! `meta/index`: statistics of each superchunk of an array. Only this library writes the file; bcolz and BLZ ignore it.
//!
//! ```text
//!    position   bytes   content, numbers little-endian
//!    0          8       "blpkindx"
//!    8          4       version of the format: 1
//!    12         4       length D of the dtype
//!    16         8       rows of a full superchunk
//!    24         8       number N of entries, for superchunks 0 to N - 1
//!    32         D       the dtype as `dtype.str` of NumPy, such as `<f8`
//!    32 + D     N * E   entries, each of E = 41 + 2 * itemsize bytes
//!    ...        16      XXH3-128 of all bytes before it
//!
//!    in an entry
//!    0          8       rows
//!    8          8       bytes of the file of the superchunk
//!    16         16      XXH3-128 of these bytes
//!    32         8       nulls: NaN or NaT
//!    40         1       flags: 1 known, 2 has a minimum and a maximum, 4 ascending, 8 descending
//!    41         itemsize each   minimum and maximum, in the byte order of the dtype; zeros if there are none
//! ```
//!
//! An entry of zeros means that nothing is known about its superchunk.

mod elements;
mod entry;

use bloscpack_array::json::{shown, wrong_value};
use bloscpack_dtype::DType;
use bloscpack_error::{Code, Error, Result};
use bloscpack_wire::internal::to_u64;
pub(crate) use elements::Elements;
pub use entry::IndexEntry;
use entry::entry_len;
use twox_hash::XxHash3_128;

const MAGIC: &[u8; 8] = b"blpkindx";
const VERSION: u32 = 1;
/// Bytes before the dtype.
const HEAD_LEN: usize = 32;
/// Bytes of a digest.
const DIGEST_LEN: usize = 16;
/// The name of the dtype in messages.
const DTYPE: &str = "byte 32, the dtype,";

/// Statistics of the superchunks of an array: the file `meta/index`, which [`CArray::index`](crate::CArray::index) reads.
/// `docs/datasets.md` describes the file under "Index".
///
/// Rely on the statistics of a superchunk only if [`CArray::index_holds`](crate::CArray::index_holds) is true for it: other
/// programs change superchunks without updating the index.
///
/// ```
/// use bloscpack_datasets::{CArray, Index};
/// use bloscpack_storage::Memory;
/// let mut array = CArray::of::<i32>().chunk_rows(3).index(true).create_in(Memory::new())?;
/// array.append_values(&[5, 7, 9, 8, -1])?;
/// array.flush()?;
///
/// let index: Index = array.index()?.ok_or("no index")?;
/// assert_eq!((index.len(), index.superchunk_rows()), (2, 3));
/// let first = index.entry(0).ok_or("not known")?;
/// assert_eq!(first.min, Some(5i32.to_le_bytes().to_vec()));
/// assert!(first.ascending && array.index_holds(&index, 0)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    dtype: DType,
    elements: Elements,
    superchunk_rows: u64,
    entries: Vec<Option<IndexEntry>>,
}

/// The digest of a superchunk's file, and of the index itself: XXH3-128. It is not cryptographic.
#[must_use]
pub fn index_digest(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

impl Index {
    /// An index without entries.
    ///
    /// # Errors
    /// Returns the reason why a dtype has none.
    pub(crate) fn new(
        dtype: &DType,
        superchunk_rows: u64,
    ) -> std::result::Result<Self, &'static str> {
        Ok(Self {
            elements: Elements::of(dtype)?,
            dtype: dtype.clone(),
            superchunk_rows,
            entries: Vec::new(),
        })
    }

    /// The dtype of the array. Minimums and maximums are in its byte order.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// The number of rows of a full superchunk; at least 1. The last one may have fewer.
    #[must_use]
    pub fn superchunk_rows(&self) -> u64 {
        self.superchunk_rows
    }

    /// The number of entries, one for each superchunk from the first. The array may have more or fewer superchunks.
    #[must_use]
    pub fn len(&self) -> u64 {
        to_u64(self.entries.len())
    }

    /// Whether it describes no superchunk.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The statistics of a superchunk, counted from 0; `None` past the last entry, and for an entry that is not known.
    #[must_use]
    pub fn entry(&self, superchunk: u64) -> Option<&IndexEntry> {
        let number = usize::try_from(superchunk).ok()?;
        self.entries.get(number)?.as_ref()
    }

    /// The maximum number of entries in a file of `bytes` bytes.
    pub(crate) fn most_superchunks(&self, bytes: u64) -> u64 {
        let around = to_u64(HEAD_LEN + self.dtype.code().len() + DIGEST_LEN);
        bytes.saturating_sub(around) / to_u64(entry_len(&self.elements))
    }

    /// Keeps the first `superchunks` entries and removes the others.
    pub(crate) fn truncate(&mut self, superchunks: usize) {
        self.entries.truncate(superchunks);
    }

    /// Sets the statistics of a superchunk. New entries before it are not known.
    pub(crate) fn set(&mut self, superchunk: usize, entry: Option<IndexEntry>) {
        match self.entries.get_mut(superchunk) {
            Some(place) => *place = entry,
            None => {
                self.entries.resize(superchunk, None);
                self.entries.push(entry);
            }
        }
    }

    /// Parses the file. Its digest covers every bit, and impossible entries are refused.
    ///
    /// # Errors
    /// Returns [`Code::CutShort`] for a file shorter than its fixed parts, [`Code::Digest`] and [`Code::Metadata`] for a
    /// damaged one, and [`Code::Unsupported`] for another version. Messages name the byte.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let is_short = || cut_short(file.len(), HEAD_LEN + DIGEST_LEN);
        let (content, found) = file.split_last_chunk().ok_or_else(is_short)?;
        let head: &[u8; HEAD_LEN] = content.first_chunk().ok_or_else(is_short)?;
        let [dtype_len, superchunk_rows, count] = parse_head(head)?;
        check_digest(content, u128::from_le_bytes(*found))?;
        let rest = content.split_at(HEAD_LEN).1;
        let split = usize::try_from(dtype_len).ok();
        let split = split.and_then(|len| rest.split_at_checked(len));
        let (text, entries) = split.ok_or_else(|| {
            let expected = format!("at most {}", rest.len());
            wrong_value(
                Code::Metadata,
                "byte 12, the length of the dtype,",
                dtype_len,
                expected,
            )
        })?;
        let (dtype, elements) = parse_dtype(text)?;
        let len = entry_len(&elements);
        check_count(count, entries, len)?;
        let first = content.len() - entries.len();
        let entries = entries.chunks_exact(len).enumerate().map(|(index, bytes)| {
            // Cannot overflow: the entry is inside the file.
            IndexEntry::parse(bytes, &elements, superchunk_rows, first + index * len)
        });
        Ok(Self {
            superchunk_rows,
            entries: entries.collect::<Result<_>>()?,
            elements,
            dtype,
        })
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// Returns an error for a dtype whose name is 4 GiB long, which does not exist.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let elements = &self.elements;
        let dtype = self.dtype.code();
        let dtype_len = u32::try_from(dtype.len());
        let dtype_len = dtype_len.map_err(|_| Error::new(Code::CannotStore, "a dtype of 4 GiB"))?;
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&VERSION.to_le_bytes());
        file.extend_from_slice(&dtype_len.to_le_bytes());
        file.extend_from_slice(&self.superchunk_rows.to_le_bytes());
        file.extend_from_slice(&self.len().to_le_bytes());
        file.extend_from_slice(dtype.as_bytes());
        for entry in &self.entries {
            match entry {
                Some(entry) => entry.encode(elements, &mut file),
                None => file.resize(file.len() + entry_len(elements), 0),
            }
        }
        let digest = index_digest(&file);
        file.extend_from_slice(&digest.to_le_bytes());
        Ok(file)
    }
}

fn cut_short(found: usize, expected: usize) -> Error {
    Error::cut_short("index", to_u64(found), to_u64(expected))
}

/// Parses the length of the dtype, the rows of a superchunk, and the number of entries.
fn parse_head(head: &[u8; HEAD_LEN]) -> Result<[u64; 3]> {
    let (magic, rest) = split::<8, _>(head)?;
    if magic != *MAGIC {
        let found = format!("\"{}\"", magic.escape_ascii());
        let expected = format!("\"{}\"", MAGIC.escape_ascii());
        return Err(wrong_value(
            Code::Metadata,
            "the beginning",
            found,
            expected,
        ));
    }
    let (version, rest) = split(rest)?;
    let version = u32::from_le_bytes(version);
    if version != VERSION {
        let message = format!("byte 8: version {version} of the index, known is {VERSION}");
        return Err(Error::new(Code::Unsupported, message));
    }
    let (dtype_len, rest) = split(rest)?;
    let (superchunk_rows, rest) = split(rest)?;
    let (count, _) = split(rest)?;
    let superchunk_rows = u64::from_le_bytes(superchunk_rows);
    if superchunk_rows == 0 {
        let name = "byte 16, the rows of a superchunk,";
        return Err(wrong_value(Code::Metadata, name, 0, "at least 1"));
    }
    let dtype_len = u32::from_le_bytes(dtype_len);
    Ok([dtype_len.into(), superchunk_rows, u64::from_le_bytes(count)])
}

/// Splits the next `N` bytes from a part of the file.
fn split<const N: usize, T: AsRef<[u8]> + ?Sized>(part: &T) -> Result<([u8; N], &[u8])> {
    let part = part.as_ref();
    let (first, rest) = part
        .split_first_chunk()
        .ok_or_else(|| cut_short(part.len(), N))?;
    Ok((*first, rest))
}

fn check_digest(content: &[u8], found: u128) -> Result<()> {
    let computed = index_digest(content);
    if found == computed {
        return Ok(());
    }
    let name = format!("byte {}, the digest,", content.len());
    let (found, expected) = (format!("{found:032x}"), format!("{computed:032x}"));
    Err(wrong_value(Code::Digest, name, found, expected))
}

/// Refuses a number of entries of `len` bytes each that does not match the bytes of all entries.
fn check_count(count: u64, entries: &[u8], len: usize) -> Result<()> {
    let needed = usize::try_from(count).ok();
    let needed = needed.and_then(|count| count.checked_mul(len));
    if needed == Some(entries.len()) {
        return Ok(());
    }
    let expected = format!("{} bytes of {len} each", entries.len());
    let name = "byte 24, the number of entries,";
    Err(wrong_value(Code::Metadata, name, count, expected))
}

/// Parses the dtype, which must be in NumPy's exact spelling and have elements with an order.
fn parse_dtype(text: &[u8]) -> Result<(DType, Elements)> {
    let code = std::str::from_utf8(text).ok();
    let dtype = code.and_then(|code| DType::parse(code).ok().filter(|dtype| dtype.code() == code));
    let dtype = dtype.ok_or_else(|| {
        let found = format!("\"{}\"", shown(&text.escape_ascii().to_string()));
        wrong_value(Code::Metadata, DTYPE, found, "dtype.str of NumPy")
    })?;
    match Elements::of(&dtype) {
        Ok(elements) => Ok((dtype, elements)),
        Err(reason) => {
            let expected = format!("one with an index ({reason})");
            Err(wrong_value(Code::Metadata, DTYPE, dtype, expected))
        }
    }
}
