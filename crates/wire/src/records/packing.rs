//! Many records in one chunk.
//!
//! ```text
//!  0 .. 8        8 .. 12   12      13 .. 16   16
//! | first (u64) | count   | width | 0  0  0  | count lengths of `width` bytes | record | record ...
//! ```
//!
//! `first` is the number of the chunk's first record within the member. With it, a record is found
//! by its number without another table, a misplaced chunk is detected, and the records after a lost
//! chunk keep their numbers. The running sums of the lengths are the offsets of an Arrow `Binary`
//! array, and the bytes after the lengths are its values.

use crate::error::FormatError;
use crate::fields::{put, u8_at, u32_at, u64_at};
use crate::int::{to_u64, to_usize};
use blosc1::MAX_NBYTES;

/// Bytes of the head of a packed chunk's content.
pub const PACK_HEAD_LEN: usize = to_usize(HEAD_LEN);

const HEAD_LEN: u32 = 16;

const COUNT: usize = 8;
const WIDTH: usize = 12;
/// For more records than this, the lengths are checked before memory for their bounds is allocated.
const MANY: u32 = 1 << 20;
/// Bytes of the head and the length of a record that is alone in its chunk.
const ALONE_LEN: u32 = 20;

/// How small records are packed: as many per chunk as fit the chunk size.
///
/// ```
/// use bloscpack_wire::Packing;
///
/// assert_eq!(Packing::new(65_536).unwrap().chunk_size(), 65_536);
/// assert_eq!(Packing::new(63), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Packing {
    chunk_size: u32,
}

impl Packing {
    /// The name by which metadata declares this packing.
    pub const NAME: &str = "lengths";
    /// The version of the chunk layout.
    pub const VERSION: u32 = 1;
    /// The largest chunk size in bytes, 16 MiB: a reader may need about five times as much memory.
    pub const MAX_CHUNK_SIZE: u32 = 16 << 20;

    /// Packing into chunks of at most `chunk_size` uncompressed bytes, 64 to
    /// [`MAX_CHUNK_SIZE`](Self::MAX_CHUNK_SIZE); `None` for other values.
    ///
    /// A record that is too large for this gets a larger chunk of its own.
    #[must_use]
    pub fn new(chunk_size: u32) -> Option<Self> {
        (64..=Self::MAX_CHUNK_SIZE)
            .contains(&chunk_size)
            .then_some(Self { chunk_size })
    }

    /// The most uncompressed bytes of a chunk with more than one record.
    #[must_use]
    pub fn chunk_size(&self) -> u32 {
        self.chunk_size
    }

    /// The most records of a chunk: empty ones, each with a length of one byte.
    pub fn most_records(&self) -> u32 {
        self.chunk_size - HEAD_LEN
    }
}

/// The bytes before the records of a packed chunk (`docs/format.md`, "Packed records").
///
/// The methods take the uncompressed content of the chunk, whose head this is.
///
/// ```
/// use bloscpack_wire::{PackHead, Packing};
///
/// // The number of the first record, 0; then count, width, reserved bytes, the lengths 2, 0 and 1.
/// let mut content = vec![0_u8; 8];
/// content.extend([3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1]);
/// content.extend(b"abc");
///
/// let head = PackHead::decode(&content, 22, Packing::new(65_536).unwrap())?;
/// assert_eq!((head.first, head.count, head.end()), (0, 3, 3));
/// let bounds = head.bounds(&content)?;
/// assert_eq!(bounds, [19, 21, 21, 22]);
/// assert_eq!(content[19..21], *b"ab");
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackHead {
    /// The number of its first record within the member.
    pub first: u64,
    /// Number of records in the chunk, at least one.
    pub count: u32,
    /// Bytes of each length: 1, 2 or 4.
    width: u8,
}

impl PackHead {
    /// Decodes the head of a chunk of `nbytes` uncompressed bytes. `content` has at least the first
    /// 16 of them.
    ///
    /// The lengths are not examined, but the head must leave room for them.
    ///
    /// # Errors
    /// Returns [`FormatError::Packing`] for fewer than 16 bytes, an unknown width, no records, a
    /// number of records that does not fit `nbytes`, or more than one record in a chunk larger than
    /// the chunk size.
    pub fn decode(content: &[u8], nbytes: u32, packing: Packing) -> Result<Self, FormatError> {
        let Some(bytes) = content.first_chunk::<PACK_HEAD_LEN>() else {
            return Err(bad(format!("{nbytes} bytes are too few for its head")));
        };
        let head = Self {
            first: u64_at(bytes, 0),
            count: u32_at(bytes, COUNT),
            width: u8_at(bytes, WIDTH),
        };
        let [.., width, a, b, c] = *bytes;
        if !matches!(width, 1 | 2 | 4) || [a, b, c] != [0; 3] {
            let found = [width, a, b, c];
            return Err(bad(format!("lengths of unknown width ({found:02x?})")));
        }
        if head.count == 0 {
            return Err(bad("it holds no records".to_owned()));
        }
        if head.first.checked_add(head.count.into()).is_none() {
            return Err(bad(format!(
                "its first record has the number {}",
                head.first
            )));
        }
        if head.count > 1 && nbytes > packing.chunk_size {
            let (count, most) = (head.count, packing.chunk_size);
            return Err(bad(format!(
                "{count} records in {nbytes} bytes: more than one may have up to {most}"
            )));
        }
        if head.values_at() > u64::from(nbytes) {
            return Err(bad(format!(
                "{} records do not fit {nbytes} bytes",
                head.count
            )));
        }
        Ok(head)
    }

    /// Where the records begin in the content: after the lengths.
    pub fn values_at(&self) -> u64 {
        u64::from(self.count) * u64::from(self.width) + to_u64(PACK_HEAD_LEN)
    }

    /// The number of the record after the chunk's last one, within the member.
    #[must_use]
    pub fn end(&self) -> u64 {
        // Decoding has checked the sum.
        self.first + u64::from(self.count)
    }

    /// The lengths of the records in bytes, in order. Ends early if `content` does not contain all
    /// of them.
    pub fn lengths<'a>(&self, content: &'a [u8]) -> impl Iterator<Item = u32> + use<'a> {
        let (width, count) = (self.width, self.count);
        (0..count).map_while(move |number| length_at(content, number, width))
    }

    /// The length in bytes of a record, by its number in the chunk; `None` after the last one, or
    /// if `content` ends before it.
    #[inline]
    pub fn length(&self, content: &[u8], number: u32) -> Option<u32> {
        let is_there = number < self.count;
        length_at(content, number, self.width).filter(|_| is_there)
    }

    /// Checks the number of the first record, and that the lengths add up to the rest of the
    /// content.
    ///
    /// # Errors
    /// Returns [`FormatError::Packing`] if either is wrong.
    pub fn check(&self, content: &[u8], first: u64) -> Result<(), FormatError> {
        self.check_first(first)?;
        check_end(self.lengths_end(content), to_u64(content.len()))
    }

    /// Checks the number of the first record.
    ///
    /// # Errors
    /// Returns [`FormatError::Packing`] if it is not `first`.
    pub fn check_first(&self, first: u64) -> Result<(), FormatError> {
        let found = self.first;
        if found == first {
            return Ok(());
        }
        Err(bad(format!(
            "its first record has the number {found}, should be {first}"
        )))
    }

    /// Checks that the lengths add up to the rest of the chunk's `nbytes`. `content` need only
    /// contain the head and the lengths.
    ///
    /// # Errors
    /// Returns [`FormatError::Packing`] if they do not.
    pub fn check_lengths(&self, content: &[u8], nbytes: u32) -> Result<(), FormatError> {
        check_end(self.lengths_end(content), nbytes.into())
    }

    /// Where the last record ends. 2^32 lengths of 2^32 bytes do not overflow.
    fn lengths_end(&self, content: &[u8]) -> u64 {
        self.values_at() + self.lengths(content).map(u64::from).sum::<u64>()
    }

    /// The bounds of the records in the content: record `i` is `bounds[i]..bounds[i + 1]`. The
    /// first bound is where the lengths end.
    ///
    /// The vector takes 4 bytes per record. For more than 2^20 records, the lengths are checked
    /// before it is allocated.
    ///
    /// # Errors
    /// Returns [`FormatError::Packing`] if the lengths do not add up to the rest of the content.
    pub fn bounds(&self, content: &[u8]) -> Result<Vec<u32>, FormatError> {
        if self.count > MANY {
            self.check(content, self.first)?;
        }
        let len = to_u64(content.len());
        let too_long = || {
            let end = self.lengths_end(content);
            ends_at(end, len)
        };
        let mut end = u32::try_from(self.values_at()).map_err(|_| too_long())?;
        let mut bounds = Vec::with_capacity(to_usize(self.count) + 1);
        bounds.push(end);
        for length in self.lengths(content) {
            let Some(next) = end.checked_add(length) else {
                return Err(too_long());
            };
            end = next;
            bounds.push(end);
        }
        check_end(end.into(), len)?;
        Ok(bounds)
    }
}

/// The length at this position; `None` if it is not within the content.
#[inline]
fn length_at(content: &[u8], number: u32, width: u8) -> Option<u32> {
    let (lengths, number) = (content.get(PACK_HEAD_LEN..)?, to_usize(number));
    match width {
        1 => lengths.get(number).copied().map(u32::from),
        2 => at(lengths, number).map(|bytes| u16::from_le_bytes(*bytes).into()),
        _ => at(lengths, number).map(|bytes| u32::from_le_bytes(*bytes)),
    }
}

/// The element of `N` bytes with this number.
#[inline]
fn at<const N: usize>(bytes: &[u8], number: usize) -> Option<&[u8; N]> {
    bytes.as_chunks().0.get(number)
}

/// Compares the end of the records with the length of the content.
fn check_end(end: u64, len: u64) -> Result<(), FormatError> {
    if end == len {
        return Ok(());
    }
    Err(ends_at(end, len))
}

fn ends_at(end: u64, len: u64) -> FormatError {
    bad(format!("its records end at {end} of {len} bytes"))
}

fn bad(why: String) -> FormatError {
    FormatError::Packing { why }
}

/// Bytes of the largest record that a packed chunk can contain, alone.
pub fn most_packed() -> u32 {
    MAX_NBYTES - ALONE_LEN
}

/// Records that a writer collects for one chunk.
#[derive(Default)]
pub struct Pack {
    lengths: Vec<u32>,
    count: u32,
    longest: u32,
    values: Vec<u8>,
}

impl Pack {
    /// Whether it contains no record.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The number of records in it.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Bytes of the chunk's content: head, lengths and records.
    pub fn len(&self) -> usize {
        self.len_with(0, self.longest)
    }

    /// Whether another record of this length fits the chunk size. A longer record may widen all
    /// lengths.
    pub fn has_room(&self, length: u32, packing: Packing) -> bool {
        let len = to_u64(self.len_with(1, self.longest.max(length)));
        len + u64::from(length) <= packing.chunk_size.into()
    }

    /// Bytes of the content with `more` empty records, if the longest record has this length.
    fn len_with(&self, more: usize, longest: u32) -> usize {
        let count = self.lengths.len() + more;
        count * usize::from(width(longest)) + PACK_HEAD_LEN + self.values.len()
    }

    /// Adds a record, and the length to store for it.
    pub fn push(&mut self, record: &[u8], length: u32) {
        self.lengths.push(length);
        self.count += 1;
        self.longest = self.longest.max(length);
        self.values.extend_from_slice(record);
    }

    /// Removes all records, and keeps the memory.
    pub fn clear(&mut self) {
        self.lengths.clear();
        self.count = 0;
        self.longest = 0;
        self.values.clear();
    }

    /// Appends the content of a chunk with these records to `content`.
    pub fn encode(&self, first: u64, content: &mut Vec<u8>) {
        let width = width(self.longest);
        let mut head = [0; PACK_HEAD_LEN];
        put(&mut head, 0, &first.to_le_bytes());
        put(&mut head, COUNT, &self.count.to_le_bytes());
        put(&mut head, WIDTH, &[width]);
        content.extend_from_slice(&head);
        let lengths = self.lengths.iter().map(|length| length.to_le_bytes());
        match width {
            1 => content.extend(lengths.map(|[a, ..]| a)),
            2 => lengths.for_each(|[a, b, ..]| content.extend_from_slice(&[a, b])),
            _ => lengths.for_each(|bytes| content.extend_from_slice(&bytes)),
        }
        content.extend_from_slice(&self.values);
    }
}

/// Bytes of each length, if the longest record has this length.
fn width(longest: u32) -> u8 {
    match longest {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    }
}
