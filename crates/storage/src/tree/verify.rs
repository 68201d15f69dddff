//! Checks whether a journal belongs to the store that contains it.

use super::apply::Sources;
use super::journal::Journal;
use super::step::{Action, Fingerprint, Step};
use super::{EntryKind, Key};
use crate::journal::crc_of;
use crate::{JournalFault, ReadAt, Result};

/// How thoroughly staged files are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Lengths and fingerprints, for readers.
    Fingerprints,
    /// Every byte, for a writer.
    All,
}

/// Checks that each step finds its initial or its final state, at any stage of the change.
///
/// # Errors
/// Returns [`Interrupted`](crate::Error::Interrupted) if the journal belongs to another store, or staged files
/// are missing or damaged; and any error of the store.
pub(super) fn verify(sources: &Sources<'_>, journal: &Journal, depth: Depth) -> Result<()> {
    if let Some(spilled) = journal.spilled {
        let fits = sources.bytes.size()? == spilled.len;
        require(fits, JournalFault::MissingFiles)?;
        if depth == Depth::All {
            let crc = crc_of(&sources.bytes, 0, spilled.len)?;
            require(crc == spilled.crc, JournalFault::MissingFiles)?;
        }
    }
    // The slow check comes last.
    for depth in [Depth::Fingerprints, depth] {
        for step in &journal.steps {
            verify_step(sources, step, depth)?;
        }
    }
    Ok(())
}

fn require(holds: bool, fault: JournalFault) -> Result<()> {
    if holds { Ok(()) } else { Err(fault.of_store()) }
}

fn verify_step(sources: &Sources<'_>, step: &Step, depth: Depth) -> Result<()> {
    let kind = sources.store.kind(&step.key)?;
    match &step.action {
        Action::Put {
            number,
            crc,
            new,
            old,
        } => {
            let found = match kind {
                Some(EntryKind::File) => Some(fingerprint(sources, &step.key)?),
                Some(_) => return Err(JournalFault::Foreign.of_store()),
                None => None,
            };
            let staged = sources.staged.as_ref();
            let is_staged = staged.is_none_or(|staged| staged.contains(number));
            let (place, fault) = if is_staged {
                (sources.staging.key(*number)?, JournalFault::Foreign)
            } else {
                (step.key.clone(), JournalFault::MissingFiles)
            };
            require(found == Some(*new) || is_staged && found == *old, fault)?;
            verify_new(sources, &place, (*new, *crc), depth)
        }
        Action::Patch {
            old_len,
            new_len,
            binding,
            pieces,
        } => {
            require(kind == Some(EntryKind::File), JournalFault::Foreign)?;
            let file = sources.store.open(&step.key)?;
            let fits = (*old_len..=*new_len).contains(&file.size()?)
                && binding.fits(&file, pieces, &sources.bytes)?;
            require(fits, JournalFault::Foreign)
        }
        Action::Remove { old } => {
            let fits = match kind {
                None => true,
                Some(EntryKind::File) => fingerprint(sources, &step.key)? == *old,
                Some(_) => false,
            };
            require(fits, JournalFault::Foreign)
        }
        Action::MakeFolder | Action::RemoveFolder => {
            let fits = matches!(kind, None | Some(EntryKind::Folder));
            require(fits, JournalFault::Foreign)
        }
    }
}

fn fingerprint(sources: &Sources<'_>, key: &Key) -> Result<Fingerprint> {
    Ok(Fingerprint::of(&sources.store.open(key)?)?)
}

/// Checks that a file that was put is complete, at its staged or its final place.
fn verify_new(
    sources: &Sources<'_>,
    place: &Key,
    (new, crc): (Fingerprint, u32),
    depth: Depth,
) -> Result<()> {
    let is_file = sources.store.kind(place)? == Some(EntryKind::File);
    require(is_file, JournalFault::MissingFiles)?;
    let file = sources.store.open(place)?;
    let fits = Fingerprint::of(&file)? == new
        && (depth == Depth::Fingerprints || crc_of(&file, 0, new.len)? == crc);
    require(fits, JournalFault::MissingFiles)
}
