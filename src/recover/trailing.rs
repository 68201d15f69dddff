//! Whether sound chunks lie where a reader passes over bytes that should mean nothing.

use super::member::Member;
use super::scan::scan;
use bloscpack_error::Result;
use bloscpack_storage::internal::GAP;
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{Hashers, Limits};
use std::io::{self, Read};

/// Whether there is a sound chunk in the bytes from `from` on, as where the header of a member that
/// was put behind another one is damaged.
///
/// What the reference's append leaves there is the end of a chunk, and holds none. Where `from`
/// begins with as many zeros as an append of ours that was not committed, nothing is looked into.
///
/// # Errors
/// Those of the source.
pub(crate) fn holds_chunks<S: ReadAt>(source: &S, from: u64, limits: &Limits) -> Result<bool> {
    let behind = Behind { source, from };
    let gap = usize::try_from(GAP).unwrap_or(0);
    let mut first = Vec::new();
    Cursor::new(&behind).take(GAP).read_to_end(&mut first)?;
    let is_gap = first.len() == gap && first.iter().all(|byte| *byte == 0);
    Ok(!is_gap && has_chunks(&behind, limits)?)
}

fn has_chunks<S: ReadAt>(source: &S, limits: &Limits) -> Result<bool> {
    let members = scan(source, *limits, Hashers::default())?;
    let has_sound = |member: &Member| member.sound > 0;
    Ok(members.iter().any(has_sound))
}

/// A source from a position on.
struct Behind<'a, S> {
    source: &'a S,
    from: u64,
}

impl<S: ReadAt> ReadAt for Behind<'_, S> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.source.read_at(self.from.saturating_add(at), buf)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.source.size()?.saturating_sub(self.from))
    }
}
