//! [`holds_chunks`]: whether there are sound chunks among bytes that readers ignore.

use super::member::FoundMember;
use super::scan::scan;
use crate::checked::to_u64;
use bloscpack_error::Result;
use bloscpack_storage::internal::GAP;
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{Hashers, Limits};
use std::io::{self, Read};

/// Whether there is a sound chunk in the bytes from `from` on, as if the header of a member after another one is damaged.
///
/// An append by the reference implementation leaves the end of a chunk there, which does not contain one. If the bytes begin
/// with as many zeros as those of an append by this library that was not committed, they are not searched.
///
/// # Errors
/// Returns any error of the source.
pub(crate) fn holds_chunks<S: ReadAt>(source: &S, from: u64, limits: &Limits) -> Result<bool> {
    let trailing = SourceFrom { source, from };
    let mut first = Vec::new();
    Cursor::new(&trailing).take(GAP).read_to_end(&mut first)?;
    let is_gap = to_u64(first.len()) == GAP && first.iter().all(|byte| *byte == 0);
    Ok(!is_gap && has_chunks(&trailing, limits)?)
}

fn has_chunks<S: ReadAt>(source: &S, limits: &Limits) -> Result<bool> {
    let members = scan(source, *limits, Hashers::default())?;
    let has_sound = |member: &FoundMember| member.sound > 0;
    Ok(members.iter().any(has_sound))
}

/// A source from a position on.
struct SourceFrom<'a, S> {
    source: &'a S,
    from: u64,
}

impl<S: ReadAt> ReadAt for SourceFrom<'_, S> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        // Saturates: every position past the end of the source, however large, is the end.
        self.source.read_at(self.from.saturating_add(at), buf)
    }

    fn size(&self) -> io::Result<u64> {
        // Saturates: a source that has become shorter has no bytes left.
        Ok(self.source.size()?.saturating_sub(self.from))
    }
}
