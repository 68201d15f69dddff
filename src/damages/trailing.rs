//! [`holds_chunks`]: whether there are sound chunks among bytes that readers ignore.

use super::scan::scan;
use super::window::Part;
use crate::checked::to_u64;
use bloscpack_error::Result;
use bloscpack_storage::internal::GAP;
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{Hashers, Limits};
use std::io::Read;

/// Whether there is a sound chunk in the bytes from `from` on, as if the header of a member after another one is damaged.
///
/// An append by the reference implementation leaves the end of a chunk there, which does not contain one. If the bytes begin
/// with as many zeros as those of an append by this library that was not committed, they are not searched.
///
/// # Errors
/// Returns any error of the source.
pub(crate) fn holds_chunks<S: ReadAt>(
    source: &S,
    from: u64,
    limits: &Limits,
    hashers: &Hashers,
) -> Result<bool> {
    let (at, first) = (from, &[][..]);
    let trailing = Part { source, at, first };
    let mut first = Vec::new();
    Cursor::new(&trailing).take(GAP).read_to_end(&mut first)?;
    if to_u64(first.len()) == GAP && first.iter().all(|byte| *byte == 0) {
        return Ok(false);
    }
    let members = scan(&trailing, *limits, hashers.clone())?;
    Ok(members.iter().any(|member| member.sound > 0))
}
