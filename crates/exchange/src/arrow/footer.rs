//! The end of Arrow and Parquet files: a footer, its length in 4 bytes, and the magic, which is at the beginning, too.

use super::chunks::Chunks;
use crate::error::ExchangeError;
use crate::format::Format;
use crate::int::to_u64;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;

/// Reads the footer. Memory is taken only if the file has as many bytes.
///
/// # Errors
/// Returns [`ExchangeError::WrongMagic`], [`ExchangeError::CutShort`], [`ExchangeError::Damaged`] for a length that the file
/// does not have, and any error of the source.
pub(super) fn footer<S: ReadAt>(
    chunks: &Chunks<S>,
    format: Format,
    magic: &[u8],
) -> Result<Vec<u8>> {
    let size = chunks.size();
    let start = chunks.read(0, to_u64(magic.len()).min(size))?;
    if !magic.starts_with(&start) || start.is_empty() {
        return Err(ExchangeError::WrongMagic { format }.into());
    }
    let cut = || ExchangeError::CutShort {
        format,
        part: "the footer",
    };
    let tail_len = to_u64(size_of::<u32>() + magic.len());
    let end = size.checked_sub(tail_len).ok_or_else(cut)?;
    let tail = chunks.read(end, tail_len)?;
    let (len, found) = tail.split_first_chunk::<4>().ok_or_else(cut)?;
    if found != magic {
        return Err(cut().into());
    }
    let len = u64::from(u32::from_le_bytes(*len));
    let Some(start) = end.checked_sub(len) else {
        let found = format!("{len} bytes in a file of {size}");
        return Err(ExchangeError::damaged(format, "footer", found).into());
    };
    Ok(chunks.read(start, len)?)
}
