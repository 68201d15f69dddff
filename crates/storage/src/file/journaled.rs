//! [`JournaledFile`]: a file that one writer changes atomically.

use super::site::FileSite;
use crate::convert::min_len;
use crate::error::{busy, committed, unknown};
use crate::history::{Entry, Former, Keeper, status_of};
use crate::journal::{Journal, Salt};
use crate::process::Process;
use crate::write_at::retry;
use crate::{Folder, Key, Lock, LockMode, LockTimeout, ReadAt, WriteAt};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;

/// Bytes at a file's beginning that other programs change when they append to it.
const PREFIX_LEN: usize = 64;
/// The first byte of a file while a change is put into it. No format whose files are changed in
/// place may begin with it.
pub const MARK: u8 = b'!';
const STILL_READ: &str = "other processes are still reading this file";

/// A file that is open for writing: no other writer opens it, and each [`Change`](crate::Change) is
/// made atomically, whatever interrupts it.
///
/// ```text
///   pieces ─► journal ─► sync ─► mark the file ─► sync ─► pieces into the file ─► sync ─► unmark ─► sync
///                                └─ from here on the change is committed; if needed, the next writer completes it
/// ```
///
/// A change first goes into a journal beside the file, `NAME.blpk-journal`. Once the journal is
/// safe on the disk, a mark, `!`, replaces the file's first byte; then the pieces are put in their
/// places, and finally the first byte comes back. Therefore a format whose files are changed in
/// this way must not begin with `!`. A file without the mark is complete, and a journal beside it
/// has no effect. A file with the mark is completed from its journal when it is next opened for
/// writing; until then, a [`Snapshot`](crate::Snapshot) reads it through the journal.
///
/// The journal is locked as long as this exists, and removed when it is dropped.
///
/// ```
/// use bloscpack_storage::{JournaledFile, LockTimeout, Memory};
/// use std::time::Duration;
///
/// let folder = Memory::from([("log", b"one two".to_vec())]);
/// let timeout = LockTimeout::new(Duration::from_secs(1));
/// let mut file = JournaledFile::open(folder.clone(), "log".as_ref(), &timeout)?;
/// let mut change = file.change(None)?;
/// change.put(0, b"ONE")?;
/// change.put(7, b" three")?;
/// assert_eq!(folder.bytes("log").as_deref(), Some(&b"one two"[..]));
/// change.commit(13)?;
/// assert_eq!(folder.bytes("log").as_deref(), Some(&b"ONE two three"[..]));
/// # Ok::<(), bloscpack_storage::Error>(())
/// ```
pub struct JournaledFile<F: Folder> {
    pub(super) folder: F,
    pub(super) name: OsString,
    pub(super) file: F::File,
    pub(super) journal: F::File,
    pub(super) journal_name: OsString,
    pub(super) salt: Salt,
    pub(super) timeout: LockTimeout,
    /// The process that has the journal locked.
    pub(super) process: Process,
    /// An error has left the state of the disk unknown.
    pub(super) is_poisoned: bool,
    pub(super) begun: Option<Begun>,
    /// The state in which this writer has left the file, once it has been opened.
    pub(super) last_state: Option<FileState>,
    pub(super) keeper: Keeper<F::File>,
}

/// A change that has begun and is not committed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    /// The position at which the file is truncated if the change is abandoned.
    pub truncate_at: Option<u64>,
}

/// The length and the first bytes of a file, which show whether another program has written to it.
#[derive(Debug)]
pub(super) struct FileState {
    size: u64,
    prefix: Vec<u8>,
}

impl FileState {
    pub(super) fn of<S: ReadAt>(file: &S) -> io::Result<Self> {
        let size = file.size()?;
        let mut prefix = vec![0; min_len(size, PREFIX_LEN)];
        file.read_exact_at(0, &mut prefix)?;
        Ok(Self { size, prefix })
    }

    /// Whether a later state is this one. The file may have been shorter than the prefix when this
    /// state was taken, and have been extended by this writer since.
    fn matches(&self, now: &Self) -> bool {
        let mut bytes = self.prefix.iter().zip(&now.prefix);
        self.size == now.size && bytes.all(|(before, now)| before == now)
    }
}

impl<F: Folder> JournaledFile<F> {
    /// Announces this writer to readers.
    pub(super) fn announce(&mut self) -> io::Result<()> {
        self.for_readers(|keeper, site| {
            keeper.announce(site)?;
            let stamp = match site.file.presence() {
                Some(_) => status_of(site.file)?.stamp,
                None => 0,
            };
            keeper.begin(site, stamp)
        })
    }

    /// Keeps what a commit will overwrite, if there are readers; the file is locked.
    fn keep(&mut self, journal: &Journal) -> io::Result<()> {
        self.for_readers(|keeper, site| {
            if !keeper.has_readers(site)? {
                return Ok(());
            }
            let len = site.file.size()?;
            let entry = Entry {
                key: Key::root(),
                was: Former::File(len),
                ranges: overwritten(journal, len),
                file: site.file,
            };
            keeper.keep(site, &[entry])
        })
    }

    /// Does what the readers of the file need.
    pub(super) fn for_readers(
        &mut self,
        act: impl FnOnce(&mut Keeper<F::File>, &FileSite<'_, F>) -> io::Result<()>,
    ) -> io::Result<()> {
        let site = FileSite {
            folder: &self.folder,
            name: &self.name,
            file: &self.file,
        };
        act(&mut self.keeper, &site)
    }

    /// Puts another file in the place of this one, once it has the name.
    pub(super) fn replace_file(&mut self, new: F::File) -> io::Result<()> {
        self.for_readers(|keeper, site| keeper.leave(site))?;
        let old = std::mem::replace(&mut self.file, new);
        self.keeper.remember(old);
        Ok(())
    }

    /// The file with its current content, without a change that has begun.
    pub fn file(&self) -> &F::File {
        &self.file
    }

    /// Removes the temporary file of a replacement that was not committed, and syncs that: only a
    /// journal with this salt names the file, and must not disappear before it.
    pub(super) fn remove_replacement(&self, salt: Salt) -> io::Result<()> {
        match self.folder.remove(&replacement_name(salt)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => self.folder.sync(),
        }
    }

    /// Writes an empty journal, which has no effect.
    pub(super) fn begin_journal(&self) -> io::Result<()> {
        self.journal.set_len(0)?;
        self.journal.write_all_at(0, &self.salt.head())
    }

    /// Refuses to continue after an error that has left the state of the file unknown.
    ///
    /// # Errors
    /// Returns an error if there was such an error, and in a process that was forked since the file was opened.
    pub fn check(&self) -> io::Result<()> {
        self.process.check()?;
        if self.is_poisoned {
            let what = "an earlier error has left this file in an unknown state; open it again";
            return Err(io::Error::other(what));
        }
        Ok(())
    }

    /// Does something whose failure leaves the state of the file unknown: after an error of `act`,
    /// everything else is refused.
    #[doc(hidden)]
    pub fn at_risk<T, E>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.is_poisoned = true;
        let done = act(self)?;
        self.is_poisoned = false;
        Ok(done)
    }

    /// Removes everything that a change has left that was begun and not committed.
    pub(super) fn abandon(&mut self) -> io::Result<()> {
        let Some(Begun { truncate_at }) = self.begun else {
            return Ok(());
        };
        self.at_risk(|file| file.remove_replacement(file.salt))?;
        // Under another name, another program may have appended to the file.
        if let Some(end) = truncate_at
            && self.check_others().is_ok()
        {
            self.set_len(end)?;
        }
        self.begin_journal()?;
        self.begun = None;
        Ok(())
    }

    /// Whether the journal still has its name.
    fn has_journal(&self) -> bool {
        let there = self.folder.leads_to(&self.journal_name, &self.journal);
        there.unwrap_or(false)
    }

    /// Refuses to change a file that was moved or removed, because the change would not be seen, and because the file
    /// has another journal and perhaps another writer under its new name; and a file to which a program has written
    /// that does not respect locks.
    pub(super) fn check_others(&self) -> io::Result<()> {
        self.process.check()?;
        if !self.folder.leads_to(&self.name, &self.file)? || !self.has_journal() {
            let what = "the file or its journal was moved, removed or replaced while it was open";
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        match &self.last_state {
            Some(state) if !state.matches(&FileState::of(&self.file)?) => Err(io::Error::other(
                "another program has changed this file while it was open; open it again",
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn set_len(&mut self, len: u64) -> io::Result<()> {
        let done = self.file.set_len(len);
        self.remember_size()?;
        done
    }

    /// Writes after the end of the file's content.
    pub(super) fn write_after_end(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // The bytes there may be those of another program by now.
        self.check_others()?;
        // On Windows, readers lock those bytes, too.
        let written = self
            .timeout
            .wait(|| match self.file.write_all_at(at, bytes) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Ok(None),
                done => done.map(Some),
            });
        self.remember_size()?;
        written?.ok_or_else(|| busy(STILL_READ))
    }

    /// Remembers the state in which this writer has left the file.
    pub(super) fn remember_state(&mut self) -> io::Result<()> {
        if self.last_state.is_some() {
            self.last_state = Some(FileState::of(&self.file)?);
        }
        Ok(())
    }

    fn remember_size(&mut self) -> io::Result<()> {
        if let Some(state) = &mut self.last_state {
            state.size = self.file.size()?;
        }
        Ok(())
    }

    /// Makes the change of a complete journal, from the mark on. If it is the change of an earlier writer, that has
    /// kept what readers need.
    pub(super) fn finish(&mut self, journal: &Journal, is_earlier: bool) -> io::Result<()> {
        self.is_poisoned = true;
        if !is_earlier {
            self.for_readers(|keeper, site| keeper.prepare(site))?;
        }
        if !self.timeout.lock(&self.file, LockMode::Exclusive)? {
            self.is_poisoned = false;
            return Err(busy(STILL_READ));
        }
        let kept = self.check_others().and_then(|()| {
            if is_earlier {
                Ok(())
            } else {
                self.keep(journal)
            }
        });
        if let Err(error) = kept {
            self.file.unlock()?;
            self.is_poisoned = false;
            return Err(error);
        }
        self.file.write_all_at(0, &[MARK]).map_err(unknown)?;
        self.file.sync().map_err(unknown)?;
        let done = self.complete(journal, is_earlier);
        // The change of an earlier writer is not the one that its caller asks for.
        done.map_err(|error| if is_earlier { error } else { committed(error) })
    }

    /// Makes the change of a marked file, and removes the mark.
    fn complete(&mut self, journal: &Journal, is_earlier: bool) -> io::Result<()> {
        journal.apply(&self.file, &self.journal)?;
        self.file.sync()?;
        self.file.write_all_at(0, &[journal.first])?;
        self.file.sync()?;
        if !is_earlier {
            self.for_readers(|keeper, site| keeper.keep_no_more(site))?;
        }
        self.remember_state()?;
        self.file.unlock()?;
        self.is_poisoned = false;
        Ok(())
    }
}

impl<F: Folder> Drop for JournaledFile<F> {
    fn drop(&mut self) {
        if !self.process.is_current() {
            return;
        }
        let is_complete = is_marked(&self.file).is_ok_and(|marked| !marked);
        // A journal that may still be needed stays for the next writer. If it cannot be removed, it
        // has no effect on readers.
        if !self.is_poisoned && is_complete && self.abandon().is_ok() {
            let _ = self.for_readers(|keeper, site| keeper.take_leave(site));
            if self.has_journal() {
                let _ = self.folder.remove(&self.journal_name);
            }
        }
        // A child that was forked meanwhile has the journal open, too, so that to close it here would not unlock it.
        let _ = self.journal.unlock();
    }
}

/// Whether a change of this file was interrupted, or is being made.
pub(super) fn is_marked<S: ReadAt>(file: &S) -> io::Result<bool> {
    let mut first = [0];
    Ok(retry(|| file.read_at(0, &mut first))? == 1 && first == [MARK])
}

/// The name of the journal of a file.
pub(super) fn journal_name(name: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(".blpk-journal");
    name
}

/// The name of a temporary file that is to replace a file. It does not contain the file's name:
/// together they could be longer than a name can be.
pub(super) fn replacement_name(salt: Salt) -> OsString {
    format!(".blpk-{}.tmp", salt.text()).into()
}

/// The bytes of a file of this length that a change overwrites or truncates.
fn overwritten(journal: &Journal, len: u64) -> Vec<Range<u64>> {
    // The first byte becomes the mark.
    let mark = 0..1.min(len);
    let mut ranges = Vec::from([mark]);
    let pieces = journal.pieces.iter();
    let pieces = pieces.map(|(at, piece)| (*at, piece.end(*at).min(len)));
    for (at, end) in pieces.chain([(journal.new_len, len)]) {
        match ranges.last_mut() {
            Some(last) if at <= last.end => last.end = last.end.max(end),
            _ if at < end => ranges.push(at..end),
            _ => {}
        }
    }
    ranges
}
