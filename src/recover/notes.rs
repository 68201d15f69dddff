//! What a recovery notes while it goes through a source.

use super::at;
use super::content::Gap;
use super::report::Recovery;
use crate::verify::Damage;
use crate::walk::Walk;
use bloscpack_error::{ErrorKind, Result};
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{FormatError, Limits, Section};
use std::ops::Range;

impl Recovery {
    /// Notes what keeps a reader from reading chunks that are all sound: a table or a header that says
    /// other things of them.
    pub(super) fn contradiction<S: ReadAt>(&mut self, source: &S, limits: &Limits) -> Result<()> {
        let outcome = Walk::of_file(Cursor::new(source), limits)?.run(|_, _| {});
        let error = match outcome {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.into(),
            Err(error) if error.is_format() => error,
            Err(error) => return Err(error),
        };
        let section = error.position().map(|position| position.section);
        // It is where a chunk begins that an entry is found to be wrong.
        let is_entry = matches!(error.kind(), ErrorKind::Format(FormatError::Offset { .. }));
        self.offsets_lost |= is_entry || section == Some(Section::Offsets);
        self.damage(Damage {
            error,
            bytes: None,
            content: None,
            records: None,
        });
        Ok(())
    }

    /// Notes something wrong that no content depends on.
    pub(super) fn flaw(
        &mut self,
        member: usize,
        bytes: Range<u64>,
        section: Section,
        error: FormatError,
    ) {
        self.offsets_lost |= section == Section::Offsets;
        self.damage(Damage {
            error: at(error, bytes.start, member, None, section),
            bytes: Some(bytes),
            content: None,
            records: None,
        });
    }

    /// Notes a gap, and gives how many zeros are to be written for it: all that it lacks, or none if
    /// those are more than may still be written.
    pub(super) fn gap(&mut self, member: usize, gap: Gap, most_zeros: &mut u64) -> u64 {
        self.lose_chunks(gap.chunks);
        let content = self.content.zip(gap.len).filter(|(_, len)| *len > 0);
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
        *most_zeros = most_zeros.saturating_sub(zeros);
        zeros
    }
}
