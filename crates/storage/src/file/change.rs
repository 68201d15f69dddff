//! [`Change`]: pieces of a file that are written atomically.

use super::journaled::{Begun, JournaledFile};
use crate::convert::{end_of, min_len, to_u64, to_usize};
use crate::error::committed;
use crate::journal::{HEAD_LEN, Journal, Overlay, Piece, Pieces};
use crate::{Folder, ReadAt, WriteAt};
use crc32fast::Hasher;
use std::io;
use std::ops::Range;

/// Bytes at the beginning of the free part of a file that go through the journal: they are zeros
/// until the change is committed, so that nothing after the old end looks like a chunk, or like a
/// member after a digest.
pub const GAP: u64 = 128;

/// A change to a [`JournaledFile`].
///
/// Without [`commit`](Self::commit) it has no effect: everything it has left is removed before the
/// next change begins, or when the file is dropped.
///
/// As a [`ReadAt`] source it is the file as it will be.
pub struct Change<'a, F: Folder> {
    file: &'a mut JournaledFile<F>,
    draft: Draft,
}

/// The part of a [`Change`] that a caller keeps beside the file between two uses: see
/// [`pause`](Change::pause) and [`resume`](JournaledFile::resume).
#[derive(Debug)]
pub struct Draft {
    pieces: Pieces,
    /// Where the journal ends.
    end: u64,
    /// From here on bytes go directly into the file.
    direct_from: Option<u64>,
    /// Whether any did.
    is_direct: bool,
}

impl<F: Folder> JournaledFile<F> {
    /// Begins a change.
    ///
    /// If `free_from` is given, bytes of the file from that position on mean nothing to any reader:
    /// the file is truncated there, and what the change puts after it goes directly into the file,
    /// except for the first 128 bytes.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound) if the file or its journal was moved or
    /// removed; an error if another program has changed the file, or an earlier error has left its
    /// state unknown; and any error of file and journal.
    pub fn change(&mut self, free_from: Option<u64>) -> io::Result<Change<'_, F>> {
        self.check()?;
        self.abandon()?;
        self.check_others()?;
        self.begun = Some(Begun {
            truncate_at: free_from,
        });
        if let Some(end) = free_from {
            self.truncate(end)?;
        }
        let draft = Draft {
            pieces: Pieces::new(),
            end: HEAD_LEN,
            direct_from: free_from.and_then(|at| at.checked_add(GAP)),
            is_direct: false,
        };
        Ok(Change { file: self, draft })
    }

    /// Truncates the file and syncs that: if the bytes came back after a crash, together with bytes
    /// of a new change after them, they might mean something.
    fn truncate(&mut self, end: u64) -> io::Result<()> {
        if self.file.size()? > end {
            self.set_len(end)?;
            self.at_risk(|file| file.file.sync())?;
        }
        Ok(())
    }

    /// Resumes a change of this file that was [paused](Change::pause), if no other was begun since.
    #[doc(hidden)]
    pub fn resume(&mut self, draft: Draft) -> Change<'_, F> {
        Change { file: self, draft }
    }

    /// Reads the file as it will be once the change of this draft is committed.
    ///
    /// # Errors
    /// Returns any error of file and journal.
    #[doc(hidden)]
    pub fn read_draft(&self, draft: &Draft, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.with(draft).read_at(at, buf)
    }

    /// The file with the pieces of a change.
    fn with<'a>(&'a self, draft: &'a Draft) -> Overlay<'a, F::File, F::File> {
        Overlay {
            file: &self.file,
            journal: &self.journal,
            pieces: &draft.pieces,
        }
    }
}

impl<'a, F: Folder> Change<'a, F> {
    /// Releases the file; [`resume`](JournaledFile::resume) continues the change.
    #[doc(hidden)]
    #[must_use]
    pub fn pause(self) -> Draft {
        self.draft
    }

    /// Puts bytes into the new file, from position `at` on. No two calls may overlap. Bytes of a
    /// call that has failed were not put, and others may take their place.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) for bytes past the last position, and
    /// any error of file and journal.
    pub fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        end_of(at, to_u64(bytes.len()))?;
        let journaled_len = match self.draft.direct_from {
            // All of them, if they begin after that position.
            Some(from) => min_len(from.saturating_sub(at), bytes.len()),
            None => bytes.len(),
        };
        let (journaled, direct) = bytes.split_at(journaled_len);
        // A piece gets its place when nothing can fail any more: the next one may get the same.
        if !direct.is_empty() {
            self.draft.is_direct = true;
            let at = at + to_u64(journaled_len);
            self.file.write_after_end(at, direct)?;
        }
        if !journaled.is_empty() {
            let staged = self.stage(journaled)?;
            self.place(at, &staged, crc_state(journaled))?;
        }
        Ok(())
    }

    /// Writes bytes into the journal that have no place in the file yet, and returns where they are
    /// in the journal.
    ///
    /// # Errors
    /// Returns any error of the journal.
    #[doc(hidden)]
    pub fn stage(&mut self, bytes: &[u8]) -> io::Result<Range<u64>> {
        self.check_process()?;
        let from = self.draft.end;
        let end = end_of(from, to_u64(bytes.len()))?;
        self.file.journal.write_all_at(from, bytes)?;
        self.draft.end = end;
        Ok(from..end)
    }

    /// Reads staged bytes back.
    ///
    /// # Errors
    /// Returns any error of the journal.
    #[doc(hidden)]
    pub fn read_staged(&self, staged: &Range<u64>, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.resize(to_usize(staged.end - staged.start)?, 0);
        self.file.journal.read_exact_at(staged.start, bytes)
    }

    /// Gives staged bytes their place in the file; `hasher` has the state after these bytes.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) for bytes past the last position.
    #[doc(hidden)]
    pub fn place(&mut self, at: u64, staged: &Range<u64>, hasher: Hasher) -> io::Result<()> {
        let len = staged.end - staged.start;
        end_of(at, len)?;
        if let Some(mut last) = self.draft.pieces.last_entry()
            && last.get().end(*last.key()) == at
            && last.get().from + last.get().len == staged.start
        {
            let piece = last.get_mut();
            piece.hasher.combine(&hasher);
            piece.len += len;
            return Ok(());
        }
        let from = staged.start;
        self.draft.pieces.insert(at, Piece { len, from, hasher });
        Ok(())
    }

    /// Makes the change. The file then has the length `new_len`, at least 1.
    ///
    /// # Errors
    /// Returns [`ResourceBusy`](io::ErrorKind::ResourceBusy) if readers do not release the file in
    /// time, [`InvalidInput`](io::ErrorKind::InvalidInput) for a length of 0, and any error of file
    /// and journal. After an error of file or journal everything else is refused: the file has its
    /// old content, or the next writer completes the change. An error that contains
    /// [`Error::Committed`](crate::Error::Committed) says that it is the latter.
    pub fn commit(self, new_len: u64) -> io::Result<&'a mut JournaledFile<F>> {
        let Self { file, draft } = self;
        file.process.check()?;
        if new_len == 0 {
            let what = "a change cannot leave a file empty, which has no byte for the mark";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let Draft {
            pieces,
            end,
            is_direct,
            ..
        } = draft;
        if pieces.is_empty() && file.file.size()? == new_len {
            return Ok(file);
        }
        // A full disk shows now, and not once the change is committed.
        for (at, piece) in &pieces {
            file.file.reserve(*at, piece.len)?;
        }
        // If anything fails from here on, the state on the disk is unknown.
        file.is_poisoned = true;
        if is_direct {
            file.file.sync()?;
        }
        let target = (&file.file, new_len);
        let journal = Journal::complete(file.salt, pieces, target, (&file.journal, end))?;
        file.journal.sync()?;
        file.folder.sync()?;
        file.finish(&journal, false)?;
        file.begun = None;
        file.at_risk(|file| file.begin_journal())
            .map_err(committed)?;
        Ok(file)
    }

    /// Refuses to change the file in a process that was forked since it was opened.
    pub(super) fn check_process(&self) -> io::Result<()> {
        self.file.process.check()
    }

    /// The changed file.
    pub(super) fn into_file(self) -> &'a mut JournaledFile<F> {
        self.file
    }

    pub(super) fn file_mut(&mut self) -> &mut JournaledFile<F> {
        self.file
    }
}

/// The file as it will be.
impl<F: Folder> ReadAt for Change<'_, F> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.file.with(&self.draft).read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.with(&self.draft).size()
    }
}

/// The state of a hasher after these bytes.
fn crc_state(bytes: &[u8]) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher
}
