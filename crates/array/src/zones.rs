//! [`Zones`]: statistics of runs of rows, from an index.

use bloscpack_error::Result;

/// The minimum, the maximum and the number of missing values of each zone, a run of adjacent rows: what an index stores.
/// Readers skip zones that cannot contain what they look for.
///
/// All zones but the last have the same number of rows. The statistics may be older than the data: [`holds`](Self::holds)
/// compares digests, without decompressing anything.
pub trait Zones: Send + Sync {
    /// The number of rows in a zone, at least 1. The last zone may have fewer.
    fn rows(&self) -> u64;

    /// The number of zones with statistics. Rows after them are not described.
    fn len(&self) -> u64;

    /// Whether no zone has statistics.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The statistics of a zone, counted from 0; `None` if there are none.
    fn zone(&self, number: u64) -> Option<Zone<'_>>;

    /// Whether the statistics of a zone match the current data.
    ///
    /// # Errors
    /// Returns any I/O error.
    fn holds(&self, number: u64) -> Result<bool>;
}

/// The statistics of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone<'a> {
    /// The number of elements that are NaN or NaT ("not a time").
    pub nulls: u64,
    /// The bytes of the least and the greatest element, in the byte order of the dtype; `None` if all elements are NaT. Floats
    /// are in the total order of IEEE 754, in which NaN is a value.
    pub bounds: Option<(&'a [u8], &'a [u8])>,
}
