//! The end of Arrow and Parquet files: a footer, its length in 4 bytes, and the magic number that also begins the file.

use super::chunks::Chunks;
use crate::error::{damaged, missing_part, wrong_magic};
use crate::format::Format;
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;
use bloscpack_storage::ReadAt;

/// Reads the footer. Memory is allocated only if the file has that many bytes.
///
/// # Errors
/// Returns an error for another magic number, a truncated file, a length that exceeds the file, and any error of the source.
pub(super) fn footer<S: ReadAt>(
    chunks: &Chunks<S>,
    format: Format,
    magic: &[u8],
) -> Result<Vec<u8>> {
    let size = chunks.size();
    let start = chunks.read(0, to_u64(magic.len()).min(size))?;
    if !magic.starts_with(&start) || start.is_empty() {
        return Err(wrong_magic(format));
    }
    let cut = || missing_part(format, "the footer");
    let tail_len = to_u64(size_of::<u32>() + magic.len());
    let end = size.checked_sub(tail_len).ok_or_else(cut)?;
    let tail = chunks.read(end, tail_len)?;
    let (len, found) = tail.split_first_chunk::<4>().ok_or_else(cut)?;
    if found != magic {
        return Err(cut());
    }
    let len = u64::from(u32::from_le_bytes(*len));
    let Some(start) = end.checked_sub(len) else {
        let found = format!("{len} bytes in a file of {size}");
        return Err(damaged(format, "footer", found));
    };
    Ok(chunks.read(start, len)?)
}
