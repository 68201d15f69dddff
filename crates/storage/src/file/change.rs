//! [`Change`]: pieces of a file that are written atomically.
//!
//! ```text
//!  free_from: None          all bytes ──► journal ──► commit ──► file
//!  free_from: Some(end)     0 ................ end + 128 ................
//!                           ──► journal                 directly into the file, which readers ignore there
//! ```

use super::journaled::{Begun, JournaledFile};
use crate::convert::{end_of, min_len, to_u64, to_usize};
use crate::error::committed;
use crate::journal::{HEAD_LEN, Journal, Overlay, Piece, Pieces};
use crate::{Folder, ReadAt, WriteAt};
use crc32fast::Hasher;
use std::io;
use std::ops::Range;

/// Bytes at the beginning of the free part of a file that go through the journal. They stay zero until the
/// commit, so that bytes after the old end look neither like a chunk nor, after a digest, like another
/// Bloscpack file.
pub const GAP: u64 = 128;

/// A change of a [`JournaledFile`], made of pieces that [`commit`](Self::commit) writes atomically.
///
/// Without a commit it has no effect: what it has written is removed before the next change begins, or when the
/// file is dropped. Memory is taken for the list of pieces, not for their bytes, which go into the journal or
/// the free part of the file.
///
/// As a [`ReadAt`] source it is the file with the pieces put so far.
///
/// ```
/// use bloscpack_storage::{JournaledFile, LockTimeout, Memory, ReadAt};
///
/// let folder = Memory::from([("data", b"abcdef".to_vec())]);
/// let mut file = JournaledFile::open(folder.clone(), "data".as_ref(), &LockTimeout::default())?;
/// let mut change = file.change(None)?;
/// change.put(4, b"EFGH")?;
/// assert_eq!(change.read_bytes(0, 8)?, b"abcdEFGH".as_slice());
/// drop(change);
/// assert_eq!(folder.bytes("data").as_deref(), Some(&b"abcdef"[..]));
/// # Ok::<(), bloscpack_storage::Error>(())
/// ```
pub struct Change<'a, F: Folder> {
    file: &'a mut JournaledFile<F>,
    draft: Draft,
}

/// The state of a [`Change`] without its borrow of the file: see [`pause`](Change::pause) and
/// [`resume`](JournaledFile::resume).
#[derive(Debug)]
pub struct Draft {
    pieces: Pieces,
    /// Where the journal's bytes end.
    end: u64,
    /// From this position, bytes go directly into the file.
    direct_from: Option<u64>,
    /// Whether any bytes went directly into the file.
    is_direct: bool,
}

impl<F: Folder> JournaledFile<F> {
    /// Begins a change, and removes what an abandoned one has left.
    ///
    /// `free_from` is the position after which no reader looks at the file's bytes, for example the end of its
    /// last chunk. If it is given, the file is truncated there at once, and bytes that the change puts at
    /// `free_from` + 128 or later are written directly into the file. All other bytes are written twice: to the
    /// journal, then to the file.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound) if the file or its journal was moved, removed or replaced;
    /// an error if another program has changed the file, if an earlier error has left its state unknown, or in
    /// a forked child; and any error of the file and the journal.
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

    /// Truncates the file and syncs it. Bytes that came back after a crash could form a chunk together with the
    /// new bytes after them.
    fn truncate(&mut self, end: u64) -> io::Result<()> {
        if self.file.size()? > end {
            self.set_len(end)?;
            self.at_risk(|file| file.file.sync())?;
        }
        Ok(())
    }

    /// Continues a change of this file that was [paused](Change::pause). No other change may have begun in
    /// between.
    #[doc(hidden)]
    pub fn resume(&mut self, draft: Draft) -> Change<'_, F> {
        Change { file: self, draft }
    }

    /// Reads the file as it will be after the commit of this draft.
    ///
    /// # Errors
    /// Returns any error of file and journal.
    #[doc(hidden)]
    pub fn read_draft(&self, draft: &Draft, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.with(draft).read_at(at, buf)
    }

    /// The file with the pieces of a change laid over it.
    fn with<'a>(&'a self, draft: &'a Draft) -> Overlay<'a, F::File, F::File> {
        Overlay {
            file: &self.file,
            journal: &self.journal,
            pieces: &draft.pieces,
        }
    }
}

impl<'a, F: Folder> Change<'a, F> {
    /// Releases the borrow of the file. [`resume`](JournaledFile::resume) continues the change.
    #[doc(hidden)]
    #[must_use]
    pub fn pause(self) -> Draft {
        self.draft
    }

    /// Puts bytes at position `at` of the new content. Pieces must not overlap, and may be put in any order. If
    /// a call fails, its bytes were not put, and the range can be put again.
    ///
    /// Bytes before the old end overwrite; bytes after it extend the file.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if `at` plus the length exceeds 2^64-1, and any
    /// error of the file and the journal.
    pub fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        end_of(at, to_u64(bytes.len()))?;
        let journaled_len = match self.draft.direct_from {
            // All bytes are direct if they begin after that position.
            Some(from) => min_len(from.saturating_sub(at), bytes.len()),
            None => bytes.len(),
        };
        let (journaled, direct) = bytes.split_at(journaled_len);
        // A piece gets its place only after the last operation that can fail, because the next piece may get
        // the same place.
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

    /// Writes bytes into the journal whose position in the file is not known yet, and returns their range in
    /// the journal.
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

    /// Gives staged bytes their position in the file. `hasher` is the state of the crc32 after these bytes.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if `at` plus the length exceeds 2^64-1.
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

    /// Makes the change, and truncates or extends the file to `new_len` bytes, at least 1. Every byte below
    /// `new_len` must come from the old content or from a piece. Returns when the change would survive a power
    /// cut. A change without pieces and with the current length does nothing.
    ///
    /// The change is used up, also after an error: begin a new one to repeat it.
    ///
    /// # Errors
    /// The file is unchanged and can be changed again after [`InvalidInput`](io::ErrorKind::InvalidInput) for a
    /// length of 0, [`StorageFull`](io::ErrorKind::StorageFull) or a similar error of [`WriteAt::reserve`], and
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy) if readers that lock the file do not release it in time.
    /// An error that contains [`Error::Committed`](crate::Error::Committed) means that the change is committed:
    /// do not repeat it, the next writer completes it. After any other error the state of the file is unknown;
    /// all further changes are refused, and opening it again finds the old or the new content.
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
        // Detects a full disk before the commit.
        for (at, piece) in &pieces {
            file.file.reserve(*at, piece.len)?;
        }
        // After an error from here, the state of the disk is unknown.
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

    /// Refuses to change the file in a forked child.
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

/// The file as it will be after the commit.
impl<F: Folder> ReadAt for Change<'_, F> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.file.with(&self.draft).read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.with(&self.draft).size()
    }
}

/// The state of a crc32 hasher after these bytes.
fn crc_state(bytes: &[u8]) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher
}
