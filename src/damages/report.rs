//! [`Damage`], [`Lost`] and [`Recovery`]: the reports of verification and recovery.

use bloscpack_error::Error;
use bloscpack_error::checked::len_of;
use bloscpack_wire::ParseError;
use std::ops::Range;

/// A damage of an input.
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
    /// The error, with chunk, byte and section.
    pub error: Error,
    /// The bytes of the input that are damaged, if that is known: for example those of a chunk with its digest. The range
    /// is empty if something is missing between two bytes.
    pub bytes: Option<Range<u64>>,
    /// The uncompressed bytes that are lost, counted over all members, if that is known.
    pub content: Option<Range<u64>>,
    /// The range of the lost records, or a range that contains them, if the chunks hold records and it is known; counted over
    /// all members.
    pub records: Option<Range<u64>>,
}

impl From<Error> for Damage {
    /// A damage with its error and nothing else.
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

/// A part of the content, or some records, that could not be recovered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Where it belongs in the output: before this byte, or from this byte on if it was filled. In a file of records, before
    /// the record with this number, or from it on.
    pub at: u64,
    /// Uncompressed bytes lost, if that is known or follows from the sizes of the others.
    pub len: Option<u64>,
    /// The lost bytes of the content, if nothing of unknown length is lost before them.
    pub content: Option<Range<u64>>,
    /// The numbers of the lost records, which are empty in the output. Nothing if the chunks do not hold records, or if it is
    /// not known how many are lost.
    pub records: Option<Range<u64>>,
    /// Whether zeros, or empty records, take its place.
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

/// The result of [`recover`](crate::recover::recover()).
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// Number of members found.
    pub members: u64,
    /// Number of chunks recovered.
    pub chunks: u64,
    /// Number of chunks lost, if that is known.
    pub chunks_lost: Option<u64>,
    /// Uncompressed bytes of the recovered chunks, without zeros that fill gaps.
    pub bytes: u64,
    /// Number of records recovered, without the empty ones in place of lost records; 0 if the chunks do not hold records.
    pub records: u64,
    /// Number of records lost, which are empty in the output; nothing if the number is unknown, so that later records may be
    /// renumbered.
    pub records_lost: Option<u64>,
    /// Zeros written in place of lost bytes.
    pub filled: u64,
    /// Number of lost parts of the content.
    pub lost_count: u64,
    /// Number of damages of the source.
    pub damage_count: u64,
    /// A member's header could not be read.
    pub header_lost: bool,
    /// There was metadata, or may have been, but none could be read or kept.
    pub metadata_lost: bool,
    /// The metadata was dropped because the NumPy array that it describes is not complete.
    pub array_lost: bool,
    /// A table of offsets was damaged.
    pub offsets_lost: bool,
    /// The source is marked as being changed: the recovered data may be partly old and partly new.
    pub is_changing: bool,
    /// There are more sound chunks than a member counts, or as many although one may be lost and another is there twice: it
    /// cannot be decided which belong to the content, or which numbers the records have.
    pub uncounted: bool,
    /// There is damage in a member without checksums: it cannot be decided whether the rest of the member, which was
    /// recovered, is the original data.
    pub unchecked: bool,
    /// Bytes written so far: recovered content and zeros.
    pub(crate) written: u64,
    /// The position of the next byte in the content of the source, as long as it is known.
    pub(super) content: Option<u64>,
    /// Numbers of the members without checksums, ascending.
    pub(super) bare: Vec<u64>,
    /// The first damage.
    pub(super) first: Option<Error>,
    /// Damages and losses that have not been passed on.
    pub(crate) pending: Vec<Finding>,
}

impl Recovery {
    /// Whether all content and all metadata that there can have been was recovered, and nothing suggests that it is not the
    /// original data.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_certain = !self.is_changing && !self.unchecked && !self.uncounted;
        self.lost_count == 0 && !self.metadata_lost && is_certain
    }

    /// Adds a damage, and notes whether it is in a member without checksums, which would show what else is damaged.
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

    /// Uncompressed bytes of the source before it was damaged, if that is known; never if records are lost.
    #[must_use]
    pub fn content_len(&self) -> Option<u64> {
        self.content
    }

    /// Notes lost records: these, which are empty in the output, or an unknown number.
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

    pub(super) fn lose_chunks(&mut self, chunks: Option<u64>) {
        let sum = self.chunks_lost.zip(chunks);
        // Saturates: a damaged header may count any number.
        self.chunks_lost = sum.map(|(lost, chunks)| lost.saturating_add(chunks));
    }

    /// The next bytes of the content, as many as that, if both are known.
    pub(super) fn next_content(&self, len: Option<u64>) -> Option<Range<u64>> {
        let content = self.content.zip(len);
        // Saturates: a damaged header may count any number.
        content.map(|(from, len)| from..from.saturating_add(len))
    }

    /// Notes a loss, and returns how many zeros are to be written for it.
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

    /// Notes recovered bytes.
    pub(super) fn note_recovered(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.written += bytes;
        // Saturates: nothing is known past a position that a damaged header made up.
        self.content = self.content.map(|at| at.saturating_add(bytes));
    }
}
