//! [`Zones`]: what is known of runs of rows without reading them.

use bloscpack_error::Result;

/// The least and the greatest element of runs of adjacent rows: what an index keeps, from which readers see which rows they need.
///
/// Every zone but the last has the same number of rows. The facts may be older than the data: [`holds`](Self::holds) compares
/// them, without decompressing anything.
pub trait Zones: Send + Sync {
    /// Rows of a zone; at least 1.
    fn rows(&self) -> u64;

    /// How many zones are described.
    fn len(&self) -> u64;

    /// Whether none is described.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The facts of a zone, counted from 0; `None` where nothing is known of it.
    fn zone(&self, number: u64) -> Option<Zone<'_>>;

    /// Whether the facts of a zone are true of the data as it is now.
    ///
    /// # Errors
    /// Returns any I/O error.
    fn holds(&self, number: u64) -> Result<bool>;
}

/// The facts of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone<'a> {
    /// Elements that are NaN or "not a time".
    pub nulls: u64,
    /// The bytes of the least and the greatest element, in the byte order of the dtype, which are missing if all are "not a time".
    /// Floats are in the total order of IEEE 754: NaN is one of them.
    pub bounds: Option<(&'a [u8], &'a [u8])>,
}
