//! Conversions between integers, none of which loses anything.

use super::error::ExchangeError;
use std::result::Result;

pub(crate) use bloscpack_wire::internal::to_u64;

/// The largest size of anything in memory.
const MAX_IN_MEMORY: u64 = isize::MAX as u64;

/// A length or position of data as one in memory.
///
/// # Errors
/// Returns [`ExchangeError::NoMemory`] for one that no memory has room for. That includes the largest `u64`, at which the sizes of
/// rows saturate.
pub(crate) fn in_memory(bytes: u64) -> Result<usize, ExchangeError> {
    match usize::try_from(bytes) {
        Ok(len) if bytes <= MAX_IN_MEMORY => Ok(len),
        _ => Err(ExchangeError::NoMemory),
    }
}
