//! [`Change`]: pieces of a file, written as a whole or not at all.

use super::held::replacement_name;
use super::journal::{Journal, Piece, Pieces};
use super::{Folder, Held, ReadAt, Replacement, WriteAt};
use crc32fast::Hasher;
use std::io;
use std::ops::Range;

/// Bytes at the beginning of the free part that go through the journal: until the change is made
/// they are zeros, so that nothing behind the old end looks like a chunk, or like a member behind
/// a digest.
pub const GAP: u64 = 128;

/// A change to a [`Held`] file. Without [`commit`](Self::commit) it was never there: what it has
/// left is taken away before the next one, or when the file is let go.
///
/// What is put can be read back through it, as the file will be.
pub struct Change<'a, F: Folder> {
    held: &'a mut Held<F>,
    draft: Draft,
}

/// What a [`Change`] has put so far. Whoever changes a file over a longer time keeps this beside the [`Held`] file, and
/// [goes on](Held::go_on) with it.
#[derive(Debug)]
pub struct Draft {
    pieces: Pieces,
    /// Where the journal ends.
    end: u64,
    /// Where bytes go directly into the file from.
    direct_from: u64,
    /// Whether any went there.
    direct: bool,
}

impl<F: Folder> Held<F> {
    /// Goes on with a change of this file that was [paused](Change::pause); no other was begun meanwhile.
    pub fn go_on(&mut self, draft: Draft) -> Change<'_, F> {
        Change { held: self, draft }
    }

    /// Reads the file as it will be once the change of this draft is made.
    pub fn read_draft(&self, draft: &Draft, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        super::overlay::read(&self.file, &self.journal, &draft.pieces, at, buf)
    }
}

impl<'a, F: Folder> Change<'a, F> {
    pub(super) fn new(held: &'a mut Held<F>, free_from: Option<u64>, end: u64) -> Self {
        let draft = Draft {
            pieces: Pieces::new(),
            end,
            direct_from: free_from.map_or(u64::MAX, |at| at.saturating_add(GAP)),
            direct: false,
        };
        Self { held, draft }
    }

    /// Lets go of the file, to [go on](Held::go_on) later.
    pub fn pause(self) -> Draft {
        self.draft
    }

    /// Puts bytes into the file to be; no two may overlap. What has failed was not put, and others may take its place.
    ///
    /// # Errors
    /// Those of file and journal.
    pub fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let room = self.draft.direct_from.saturating_sub(at);
        let split = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let (journaled, direct) = bytes.split_at_checked(split).unwrap_or((bytes, &[]));
        // A piece gets its place when nothing can fail any more: the next one may get the same.
        if !direct.is_empty() {
            let at = at.max(self.draft.direct_from);
            self.draft.direct = true;
            self.held.write_behind(at, direct)?;
        }
        if !journaled.is_empty() {
            let staged = self.stage(journaled)?;
            self.place(at, &staged, crc_state(journaled));
        }
        Ok(())
    }

    /// Writes bytes into the journal that have no place yet, and tells where.
    ///
    /// # Errors
    /// Those of the journal.
    pub fn stage(&mut self, bytes: &[u8]) -> io::Result<Range<u64>> {
        self.held.journal.write_all_at(self.draft.end, bytes)?;
        let from = self.draft.end;
        self.draft.end = self.draft.end.saturating_add(len_of(bytes));
        Ok(from..self.draft.end)
    }

    /// Reads staged bytes back.
    ///
    /// # Errors
    /// Those of the journal.
    pub fn read_staged(&self, staged: &Range<u64>, bytes: &mut Vec<u8>) -> io::Result<()> {
        let len = staged.end.saturating_sub(staged.start);
        bytes.resize(usize::try_from(len).unwrap_or(0), 0);
        self.held.journal.read_exact_at(staged.start, bytes)
    }

    /// Gives staged bytes, of which this is the hash, their place.
    pub fn place(&mut self, at: u64, staged: &Range<u64>, hasher: Hasher) {
        let len = staged.end.saturating_sub(staged.start);
        let last = self.draft.pieces.last_entry();
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
        self.draft.pieces.insert(at, Piece { len, from, hasher });
    }

    /// Makes the change; the file then has this length.
    ///
    /// # Errors
    /// Those of file and journal, after which nothing more can be written here; and
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy) if readers do not let go of the file. The
    /// file is then as it was, or the change is completed when it is next held.
    pub fn commit(self, new_len: u64) -> io::Result<&'a mut Held<F>> {
        let Self { held, draft } = self;
        let Draft {
            pieces,
            end,
            direct,
            ..
        } = draft;
        if pieces.is_empty() && held.file.size()? == new_len {
            return Ok(held);
        }
        // Whatever fails from here on, nobody knows what has arrived.
        held.poisoned = true;
        if direct {
            held.file.sync()?;
        }
        let file = (&held.file, new_len);
        let journal = Journal::complete(held.salt, pieces, file, (&held.journal, end))?;
        held.journal.sync()?;
        held.folder.sync()?;
        held.finish(&journal)?;
        held.begun = None;
        held.at_risk(|held| held.begin_journal())?;
        Ok(held)
    }

    /// Begins a new file that is to take the place of the old one.
    ///
    /// # Errors
    /// Those of the folder.
    pub fn into_replacement(self) -> io::Result<Replacement<'a, F>> {
        // If the new file outlives a crash, its name has to.
        self.held.at_risk(|held| {
            held.journal.sync()?;
            held.folder.sync()
        })?;
        let name = replacement_name(self.held.salt);
        let file = self.held.folder.create(&name, Some(&self.held.file))?;
        Ok(Replacement::new(self, file, name))
    }

    /// The file that is changed.
    pub(super) fn into_held(self) -> &'a mut Held<F> {
        self.held
    }
}

/// The file as it will be.
impl<F: Folder> ReadAt for Change<'_, F> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.held.read_draft(&self.draft, at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        let pieces_end = self.draft.pieces.last_key_value();
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
