//! Files of records, ours and those they are measured beside.

pub mod ours;
pub mod parquet;
pub mod sqlite;
pub mod zstd_lines;

use crate::Result;

/// A file of records that is open for reading.
pub trait Store {
    /// Gives all records in order, and whatever it allots for that is part of the time.
    fn scan(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Gives the records of these numbers, in this order.
    fn gets(&mut self, numbers: &[usize], each: &mut dyn FnMut(&[u8])) -> Result<()>;
}
