//! [`Change`]: pieces of a file, written as a whole or not at all.

use super::journal::{Journal, Piece, Pieces};
use super::{Folder, Held, ReadAt, Replacement, WriteAt};
use crc32fast::Hasher;
use std::io;
use std::ops::Range;

/// Bytes at the beginning of the free part that go through the journal: until the change is made
/// they are zeros, so that nothing behind the old end looks like a chunk or a member.
pub(crate) const GAP: u64 = 16;

/// A change to a [`Held`] file. Dropped without [`commit`](Self::commit), it was never there.
///
/// What is put can be read back through it, as the file will be.
pub(crate) struct Change<'a, F: Folder> {
    held: &'a mut Held<F>,
    pieces: Pieces,
    /// Where the journal ends.
    end: u64,
    /// Where bytes go directly into the file from.
    direct_from: u64,
    /// Where what went directly into the file ends.
    direct_end: u64,
    committed: bool,
}

impl<'a, F: Folder> Change<'a, F> {
    pub(super) fn new(held: &'a mut Held<F>, free_from: Option<u64>, end: u64) -> io::Result<Self> {
        if let Some(free_from) = free_from {
            held.file.set_len(free_from)?;
        }
        let direct_from = free_from.map_or(u64::MAX, |at| at.saturating_add(GAP));
        Ok(Self {
            held,
            pieces: Pieces::new(),
            end,
            direct_from,
            direct_end: 0,
            committed: false,
        })
    }

    /// Puts bytes into the file to be; no two may overlap.
    ///
    /// # Errors
    /// Those of file and journal.
    pub(crate) fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let room = self.direct_from.saturating_sub(at);
        let split = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let (journaled, direct) = bytes.split_at_checked(split).unwrap_or((bytes, &[]));
        if !journaled.is_empty() {
            let staged = self.stage(journaled)?;
            self.place(at, &staged, crc_state(journaled));
        }
        if !direct.is_empty() {
            let at = at.max(self.direct_from);
            self.held.file.write_all_at(at, direct)?;
            let end = at.saturating_add(len_of(direct));
            self.direct_end = self.direct_end.max(end);
        }
        Ok(())
    }

    /// Writes bytes into the journal that have no place yet, and tells where.
    ///
    /// # Errors
    /// Those of the journal.
    pub(crate) fn stage(&mut self, bytes: &[u8]) -> io::Result<Range<u64>> {
        self.held.journal.write_all_at(self.end, bytes)?;
        let from = self.end;
        self.end = self.end.saturating_add(len_of(bytes));
        Ok(from..self.end)
    }

    /// Reads staged bytes back.
    ///
    /// # Errors
    /// Those of the journal.
    pub(crate) fn read_staged(&self, staged: &Range<u64>, bytes: &mut Vec<u8>) -> io::Result<()> {
        let len = staged.end.saturating_sub(staged.start);
        bytes.resize(usize::try_from(len).unwrap_or(0), 0);
        self.held.journal.read_exact_at(staged.start, bytes)
    }

    /// Gives staged bytes, of which this is the hash, their place.
    pub(crate) fn place(&mut self, at: u64, staged: &Range<u64>, hasher: Hasher) {
        let len = staged.end.saturating_sub(staged.start);
        let last = self.pieces.last_entry();
        if let Some(mut last) = last
            && last.key().saturating_add(last.get().len) == at
            && last.get().from.saturating_add(last.get().len) == staged.start
        {
            let piece = last.get_mut();
            piece.hasher.combine(&hasher);
            piece.len = piece.len.saturating_add(len);
            return;
        }
        let from = staged.start;
        self.pieces.insert(at, Piece { len, from, hasher });
    }

    /// Makes the change; the file then has this length.
    ///
    /// # Errors
    /// Those of file and journal, after which nothing more can be written here; and
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy) if readers do not let go of the file. The
    /// file is then as it was, or the change is completed when it is next held.
    pub(crate) fn commit(mut self, new_len: u64) -> io::Result<()> {
        if self.pieces.is_empty() && self.held.file.size()? == new_len {
            self.committed = true;
            return Ok(());
        }
        // Whatever fails from here on, nobody knows what has arrived.
        self.held.poisoned = true;
        if self.direct_end > 0 {
            self.held.file.sync()?;
        }
        let pieces = std::mem::take(&mut self.pieces);
        let held = &mut *self.held;
        let file = (&held.file, new_len);
        let journal = Journal::complete(held.salt, pieces, file, (&held.journal, self.end))?;
        held.journal.sync()?;
        held.folder.sync()?;
        held.finish(&journal)?;
        self.committed = true;
        self.held.begin_journal()
    }

    /// Begins a new file that is to take the place of the old one.
    ///
    /// # Errors
    /// Those of the folder.
    pub(crate) fn into_replacement(self) -> io::Result<Replacement<'a, F>> {
        Replacement::new(self)
    }

    pub(super) fn held(&self) -> &Held<F> {
        self.held
    }

    /// Ends the change, since this file has taken the place of the old one.
    pub(super) fn replaced_by(&mut self, file: F::File) -> io::Result<()> {
        self.committed = true;
        self.held.file = file;
        self.held.poisoned = true;
        self.held.folder.sync()?;
        self.held.poisoned = false;
        self.held.begin_journal()
    }

    fn undo(&mut self) -> io::Result<()> {
        self.held.begin_journal()?;
        match self.direct_from.checked_sub(GAP) {
            Some(old_end) if self.direct_end > 0 => self.held.file.set_len(old_end),
            _ => Ok(()),
        }
    }
}

impl<F: Folder> Drop for Change<'_, F> {
    fn drop(&mut self) {
        // Best effort: what stays behind means nothing to readers, and the next writer removes it.
        if !self.committed && !self.held.poisoned {
            let _ = self.undo();
        }
    }
}

/// The file as it will be.
impl<F: Folder> ReadAt for Change<'_, F> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        super::overlay::read(&self.held.file, &self.held.journal, &self.pieces, at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        let pieces_end = self.pieces.last_key_value();
        let pieces_end = pieces_end.map_or(0, |(at, piece)| at.saturating_add(piece.len));
        Ok(self.held.file.size()?.max(pieces_end))
    }
}

/// The state of a hash after these bytes.
pub(crate) fn crc_state(bytes: &[u8]) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher
}

fn len_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
