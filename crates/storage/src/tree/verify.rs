//! Whether a journal is that of the store it lies in.

use super::apply::Parts;
use super::journal::Journal;
use super::op::{Act, Op, Print};
use super::{EntryKind, Key};
use crate::ReadAt;
use crate::journal::crc_of;
use std::io;

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Lengths, ends and what binds the journal, for those who only read.
    Ends,
    /// Every byte that is staged.
    All,
}

const FOREIGN: &str = "the journal in it belongs to another one";
const MISSING: &str = "what its journal tells is not there, or damaged";

/// Whether each step finds what it was made for, or what it leaves, wherever the change has got to; in words why not.
pub(super) fn verify(
    parts: &Parts<'_>,
    journal: &Journal,
    depth: Depth,
) -> io::Result<Result<(), &'static str>> {
    if let Some(spilled) = journal.spilled {
        let there = parts.bytes.size()? == spilled.len;
        if !there || depth == Depth::All && crc_of(&parts.bytes, 0, spilled.len)? != spilled.crc {
            return Ok(Err(MISSING));
        }
    }
    // What takes long comes last.
    for depth in [Depth::Ends, depth] {
        for op in &journal.ops {
            if let Err(why) = check(parts, op, depth)? {
                return Ok(Err(why));
            }
        }
    }
    Ok(Ok(()))
}

fn check(parts: &Parts<'_>, op: &Op, depth: Depth) -> io::Result<Result<(), &'static str>> {
    let kind = kind(parts, &op.key)?;
    match &op.act {
        Act::Put {
            number,
            crc,
            new,
            old,
        } => {
            let print = match kind {
                Some(EntryKind::File) => Some(Print::of(&parts.store.open(&op.key)?)?),
                Some(_) => return Ok(Err(FOREIGN)),
                None => None,
            };
            let is_there = parts.there.as_ref().is_none_or(|all| all.contains(number));
            let fits = print == Some(*new) || is_there && print == *old;
            let place = if is_there {
                parts.own.staged(*number)?
            } else {
                op.key.clone()
            };
            Ok(match fits {
                true => holds(parts, &place, (*new, *crc), depth)?,
                false => Err(if is_there { FOREIGN } else { MISSING }),
            })
        }
        Act::Patch { .. } if kind != Some(EntryKind::File) => Ok(Err(FOREIGN)),
        Act::Patch {
            old_len,
            new_len,
            binding,
            pieces,
        } => {
            let file = parts.store.open(&op.key)?;
            let size = file.size()?;
            let fits = (*old_len..=*new_len).contains(&size)
                && binding.fits(&file, pieces, &parts.bytes)?;
            Ok(fits.then_some(()).ok_or(FOREIGN))
        }
        Act::Remove { old } => Ok(match kind {
            None => Ok(()),
            Some(EntryKind::File) if Print::of(&parts.store.open(&op.key)?)? == *old => Ok(()),
            Some(_) => Err(FOREIGN),
        }),
        Act::MakeFolder | Act::RemoveFolder => Ok(match kind {
            None | Some(EntryKind::Folder) => Ok(()),
            Some(_) => Err(FOREIGN),
        }),
    }
}

/// Whether the file that was put is whole.
fn holds(
    parts: &Parts<'_>,
    place: &Key,
    (new, crc): (Print, u32),
    depth: Depth,
) -> io::Result<Result<(), &'static str>> {
    if kind(parts, place)? != Some(EntryKind::File) {
        return Ok(Err(MISSING));
    }
    let file = parts.store.open(place)?;
    let whole =
        Print::of(&file)? == new && (depth == Depth::Ends || crc_of(&file, 0, new.len)? == crc);
    Ok(whole.then_some(()).ok_or(MISSING))
}

/// What lies there; nothing if the way there is not one of folders, which a journal cannot have been made for.
fn kind(parts: &Parts<'_>, key: &Key) -> io::Result<Option<EntryKind>> {
    parts.store.kind(key)
}
