//! Files of records: ours and those of the peers.

pub mod ours;
pub mod parquet;
pub mod sqlite;
pub mod zstd_lines;

use crate::Result;

/// A file of records, open for reading.
pub trait Store {
    /// Returns all records in order; its allocations are part of the time.
    fn scan(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Returns the records with these numbers, in this order.
    fn gets(&mut self, numbers: &[usize], each: &mut dyn FnMut(&[u8])) -> Result<()>;
}
