//! [`Damage`], [`Lost`] and [`Recovery`]: the reports of verification and recovery.

use bloscpack_error::Error;
use bloscpack_error::checked::len_of;
use bloscpack_wire::ParseError;
use std::ops::Range;

/// A damage of an input: what is wrong, where, and which content or records are lost with it.
///
/// ```
/// use bloscpack::{Encoder, Options, verify::verify};
/// use std::io::Write;
/// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
/// encoder.write_all(&[7; 3000])?;
/// let mut file = encoder.finish()?;
/// file[50] ^= 1; // in the first chunk
/// let report = verify(file.as_slice(), &Options::new(), |damage| {
///     assert_eq!(damage.content, Some(0..1000));
///     Ok(())
/// })?;
/// assert_eq!(report.bytes, 2000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The error, with its [position](Error::position): member, chunk, byte and section.
    pub error: Error,
    /// The range of damaged bytes in the input, for example a chunk and its digest; `None` if unknown. The range is empty if
    /// something is missing between two bytes.
    pub bytes: Option<Range<u64>>,
    /// The range of lost uncompressed bytes in the content, counted over all members; `None` if it is unknown or nothing is
    /// lost.
    pub content: Option<Range<u64>>,
    /// The numbers of the lost records, or a range that includes them, counted over all members; `None` if the chunks contain
    /// no records, or if the numbers are unknown.
    pub records: Option<Range<u64>>,
}

impl From<Error> for Damage {
    /// A damage of which only the error is known.
    fn from(error: Error) -> Self {
        Self {
            error,
            bytes: None,
            content: None,
            records: None,
        }
    }
}

impl Damage {
    /// The same damage, in these bytes of the input.
    pub(crate) fn in_bytes(mut self, bytes: Range<u64>) -> Self {
        self.bytes = Some(bytes);
        self
    }
}

/// A part of the content, or a run of records, that could not be recovered.
///
/// ```
/// use bloscpack::{Options, records::{IndexedRecordReader, RecordWriter}, recover::{Finding, recover}};
/// use std::io::Cursor;
/// let mut writer = RecordWriter::builder().write_to_file(Cursor::new(Vec::new()))?;
/// for record in ["one", "two", "three"] {
///     writer.push(record)?;
/// }
/// let mut file = writer.finish()?.into_inner();
/// let at = file.windows(3).position(|bytes| bytes == b"two").ok_or("it was compressed")?;
/// file[at] ^= 1;
///
/// let (mut saved, mut lost) = (Cursor::new(Vec::new()), Vec::new());
/// let recovery = recover(&file, &mut saved, &Options::new(), |found| {
///     if let Finding::Lost(part) = found {
///         lost.extend(part.records);
///     }
///     Ok(())
/// })?;
/// assert_eq!((recovery.records, recovery.records_lost), (2, Some(1)));
/// assert_eq!(lost, [1..2]);
/// let records = IndexedRecordReader::open(saved.into_inner())?;
/// assert!(records.get(1)?.is_empty());
/// assert_eq!(records.get(2)?, "three");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Its position in the output, as a byte or as the number of a record: the first filled byte or record, or otherwise the
    /// one before which the lost part belongs.
    pub at: u64,
    /// Number of lost uncompressed bytes, if it is known or follows from the sizes of other chunks; `None` for records.
    pub len: Option<u64>,
    /// The range of lost bytes in the content of the source; `None` if it is unknown, as after an earlier loss of unknown
    /// length, and for records.
    pub content: Option<Range<u64>>,
    /// The numbers of the lost records, which are empty in the output; `None` if their number is unknown, and for content.
    pub records: Option<Range<u64>>,
    /// Whether zeros or empty records replace it in the output.
    pub filled: bool,
}

/// An entry in the report of a recovery.
#[derive(Debug)]
#[non_exhaustive]
pub enum Finding {
    /// A damage of the source.
    Damage(Damage),
    /// A lost part of the content, or lost records.
    Lost(Lost),
}

/// The result of [`recover`](crate::recover::recover()): totals, and what could not be kept.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// Number of members that were found.
    pub members: u64,
    /// Number of recovered chunks.
    pub chunks: u64,
    /// Number of lost chunks; `None` if it is unknown.
    pub chunks_lost: Option<u64>,
    /// Uncompressed bytes of the recovered chunks, without zeros that fill gaps.
    pub bytes: u64,
    /// Number of recovered records, without the empty ones that replace lost records; 0 for content.
    pub records: u64,
    /// Number of lost records, which are empty in the output; `None` if it is unknown: later records may then be renumbered.
    pub records_lost: Option<u64>,
    /// Number of zero bytes written in place of lost content.
    pub filled: u64,
    /// Number of losses that were passed on ([`Finding::Lost`]).
    pub lost_count: u64,
    /// Number of damages that were passed on ([`Finding::Damage`]).
    pub damage_count: u64,
    /// The header of a member could not be read.
    pub header_lost: bool,
    /// The source had metadata, or may have had some, that could not be read or kept.
    pub metadata_lost: bool,
    /// The metadata was dropped because the NumPy array that it describes is not complete.
    pub array_lost: bool,
    /// An offset table was damaged. No content depends on it.
    pub offsets_lost: bool,
    /// The source is marked as being changed (its first byte is `!`): the recovered data may be partly old and partly new.
    pub is_changing: bool,
    /// A member has more sound chunks than it counts, or the right number although one may be lost and another occurs twice. It
    /// cannot be decided which chunks belong to the content, or which numbers the records have.
    pub uncounted: bool,
    /// A member without checksums is damaged: the rest of it, which was recovered, may not be the original data.
    pub unchecked: bool,
    /// Bytes written so far: recovered content and zeros.
    pub(crate) written: u64,
    /// The position of the next byte in the content of the source, unless it is unknown.
    pub(super) content: Option<u64>,
    /// Numbers of the members without checksums, ascending.
    pub(super) bare: Vec<u64>,
    /// The first damage.
    pub(super) first: Option<Error>,
    /// Damages and losses that have not been passed on.
    pub(crate) pending: Vec<Finding>,
}

impl Recovery {
    /// Whether all content and all metadata was recovered, and nothing suggests that it differs from the original. Damage from
    /// which everything was recovered, such as a damaged offset table, does not count.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_certain = !self.is_changing && !self.unchecked && !self.uncounted;
        self.lost_count == 0 && !self.metadata_lost && is_certain
    }

    /// Adds a damage. In a member without checksums, further damage may be undetected, which it records.
    pub(crate) fn damage(&mut self, damage: Damage) {
        let place = damage.error.position();
        let member = place.map_or(0, |place| place.member);
        self.unchecked |= self.bare.binary_search(&member).is_ok();
        if let (0, Some(error)) = (self.damage_count, damage.error.format_error()) {
            let error = error.clone();
            self.first = Some(match place.copied() {
                Some(position) => ParseError { error, position }.into(),
                None => error.into(),
            });
        }
        self.damage_count += 1;
        self.pending.push(Finding::Damage(damage));
    }

    /// The error of the first damage.
    pub(crate) fn first_error(self) -> Option<Error> {
        self.first
    }

    fn lost(&mut self, lost: Lost) {
        self.lost_count += 1;
        self.pending.push(Finding::Lost(lost));
    }

    /// Uncompressed bytes of the source before it was damaged; `None` if that is unknown, and if records are lost.
    #[must_use]
    pub fn content_len(&self) -> Option<u64> {
        self.content
    }

    /// Counts lost records: the given ones, which are empty in the output, or an unknown number.
    pub(super) fn lose_records(&mut self, at: u64, records: Option<Range<u64>>) {
        let sum = self.records_lost.zip(records.as_ref().map(len_of));
        self.records_lost = sum.map(|(lost, count)| lost + count);
        self.content = None;
        self.lost(Lost {
            at,
            len: None,
            content: None,
            filled: records.is_some(),
            records,
        });
    }

    /// Counts lost chunks. After an unknown number, the total stays unknown.
    pub(super) fn lose_chunks(&mut self, chunks: Option<u64>) {
        let sum = self.chunks_lost.zip(chunks);
        // Saturates: a damaged header may count any number.
        self.chunks_lost = sum.map(|(lost, chunks)| lost.saturating_add(chunks));
    }

    /// The range of the next `len` bytes of the content, if position and length are known.
    pub(super) fn next_content(&self, len: Option<u64>) -> Option<Range<u64>> {
        let content = self.content.zip(len);
        // Saturates: a damaged header may count any number.
        content.map(|(from, len)| from..from.saturating_add(len))
    }

    /// Counts a loss, and returns the number of zeros that the caller must write for it.
    pub(super) fn lose(&mut self, len: Option<u64>, fill: bool) -> u64 {
        if len == Some(0) {
            return 0;
        }
        let content = self.next_content(len);
        self.content = content.as_ref().map(|content| content.end);
        let zeros = len.filter(|_| fill).unwrap_or(0);
        self.lost(Lost {
            at: self.written,
            len,
            content,
            records: None,
            filled: zeros > 0,
        });
        self.filled += zeros;
        self.written += zeros;
        zeros
    }

    /// Counts recovered bytes.
    pub(super) fn note_recovered(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.written += bytes;
        // Saturates: a damaged header may have led to any position.
        self.content = self.content.map(|at| at.saturating_add(bytes));
    }
}
