//! The entries that a recovery adds to its report while it reads a source.

use super::at;
use super::content::Gap;
use super::report::Recovery;
use crate::damage::Damage;
use crate::walk::Walk;
use bloscpack_error::{ErrorKind, Result};
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{FormatError, Limits, Section};
use std::ops::Range;

impl Recovery {
    /// Adds the error that keeps a reader from reading chunks that are all sound: that of a table or a header that contradicts
    /// them.
    pub(super) fn contradiction<S: ReadAt>(&mut self, source: &S, limits: &Limits) -> Result<()> {
        let outcome = Walk::of_file(Cursor::new(source), limits)?.run(|_, _| {});
        let error = match outcome {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.into(),
            Err(error) if error.is_format() => error,
            Err(error) => return Err(error),
        };
        let section = error.position().map(|position| position.section);
        // A wrong entry is found where its chunk begins.
        let is_entry = matches!(error.kind(), ErrorKind::Format(FormatError::Offset { .. }));
        self.offsets_lost |= is_entry || section == Some(Section::Offsets);
        self.damage(Damage::of(error));
        Ok(())
    }

    /// Adds damage to a part that no content depends on.
    pub(super) fn part_damage(
        &mut self,
        member: usize,
        bytes: Range<u64>,
        section: Section,
        error: FormatError,
    ) {
        self.offsets_lost |= section == Section::Offsets;
        let error = at(error, bytes.start, member, None, section);
        self.damage(Damage::of(error).in_bytes(bytes));
    }

    /// Adds a gap, and returns how many zeros are to be written for it: for all lost bytes, or none if those are more than may
    /// still be written.
    pub(super) fn gap(&mut self, member: usize, gap: Gap, most_zeros: &mut u64) -> u64 {
        self.lose_chunks(gap.chunks);
        let content = self.content.zip(gap.len).filter(|(_, len)| *len > 0);
        // Saturates: a damaged header may count any number.
        let content = content.map(|(from, len)| from..from.saturating_add(len));
        let error = at(gap.error, gap.bytes.start, member, gap.number, gap.section);
        self.damage(Damage {
            error,
            bytes: Some(gap.bytes),
            content,
            records: None,
        });
        let is_filled = gap.len.is_some_and(|len| len <= *most_zeros);
        let zeros = self.lose(gap.len, is_filled);
        *most_zeros -= zeros;
        zeros
    }
}
