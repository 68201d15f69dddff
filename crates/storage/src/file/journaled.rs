//! [`JournaledFile`]: a file that one writer changes atomically.

use super::site::FileSite;
use crate::convert::min_len;
use crate::error::busy;
use crate::history::{Entry, Former, Keeper, as_only_writer, status_of};
use crate::journal::{Journal, Salt};
use crate::write_at::retry;
use crate::{
    Access, Folder, JournalFault, Key, Lock, LockMode, LockTimeout, ReadAt, Result, WriteAt,
};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;

/// How often locking starts again because another program has replaced the file.
const MAX_ATTEMPTS: u32 = 100;
/// Bytes at a file's beginning that other programs change when they append to it.
const PREFIX_LEN: usize = 64;
/// The first byte of a file while a change is put into it. No format whose files are changed in
/// place may begin with it.
pub const MARK: u8 = b'!';
const WRITING: &str = "another process is writing to this file";

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
    journal_name: OsString,
    pub(super) salt: Salt,
    timeout: LockTimeout,
    /// An error has left the state of the disk unknown.
    pub(super) is_poisoned: bool,
    pub(super) begun: Option<Begun>,
    /// The state in which this writer has left the file, once it has been opened.
    last_state: Option<FileState>,
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
struct FileState {
    size: u64,
    prefix: Vec<u8>,
}

impl FileState {
    fn of<S: ReadAt>(file: &S) -> io::Result<Self> {
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
    /// Opens a file for writing. A change that an earlier writer has committed and not completed is
    /// completed now; one that was never committed is discarded.
    ///
    /// Writers have the file in the order in which they have come. Waiting for them, and in a commit
    /// for readers of earlier versions, takes up to `timeout`.
    ///
    /// # Errors
    /// Returns [`ResourceBusy`](io::ErrorKind::ResourceBusy), with the number of the process, if
    /// another writer has the file open for longer;
    /// [`Interrupted`](crate::Error::Interrupted) if an interrupted change cannot be completed
    /// because its journal is missing, damaged or belongs to another file;
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if something that is not a journal has its
    /// name; and any error of the folder.
    pub fn open(folder: F, name: &OsStr, timeout: &LockTimeout) -> Result<Self> {
        let handle = folder.open(name, Access::Write)?;
        let mut folder = Some(folder);
        as_only_writer((Some(&handle), "file"), timeout, || {
            let locked = match &folder {
                Some(folder) => lock_journal(folder, name)?,
                None => None,
            };
            match (locked, folder.take()) {
                (Some(locked), Some(folder)) => {
                    Self::begin(folder, name, locked, timeout).map(Some)
                }
                (_, kept) => {
                    folder = kept;
                    Ok(None)
                }
            }
        })
    }

    /// Begins to write to a file whose journal is locked.
    fn begin(
        folder: F,
        name: &OsStr,
        locked: Locked<F::File>,
        timeout: &LockTimeout,
    ) -> Result<Self> {
        let mut opened = Self {
            folder,
            name: name.to_owned(),
            file: locked.file,
            journal: locked.journal,
            journal_name: journal_name(name),
            salt: Salt::random(),
            timeout: timeout.clone(),
            // Until it is known that the journal is a journal.
            is_poisoned: true,
            begun: None,
            last_state: None,
            keeper: Keeper::default(),
        };
        opened.announce()?;
        if !locked.is_new {
            opened.settle()?;
            opened.renew_journal()?;
        }
        let site = site(&opened.folder, &opened.name, &opened.file);
        opened.keeper.announce_settled(&site)?;
        // From here on the journal is our own, and is removed if this fails.
        opened.is_poisoned = false;
        opened.begin_journal()?;
        opened.last_state = Some(FileState::of(&opened.file)?);
        Ok(opened)
    }

    /// Announces this writer to readers.
    fn announce(&mut self) -> io::Result<()> {
        let site = site(&self.folder, &self.name, &self.file);
        self.keeper.announce(&site)?;
        let stamp = match self.file.presence() {
            Some(_) => status_of(&self.file)?.stamp,
            None => 0,
        };
        self.keeper.begin(&site, stamp)
    }

    /// Keeps what a commit will overwrite, if there are readers; the file is locked.
    fn keep(&mut self, journal: &Journal) -> io::Result<()> {
        let site = site(&self.folder, &self.name, &self.file);
        if !self.keeper.has_readers(&site)? {
            return Ok(());
        }
        let len = self.file.size()?;
        let entry = Entry {
            key: Key::root(),
            was: Former::File(len),
            ranges: overwritten(journal, len),
            file: &self.file,
        };
        self.keeper.keep(&site, &[entry])
    }

    /// Puts another file in the place of this one, once it has the name.
    pub(super) fn replace_file(&mut self, new: F::File) -> io::Result<()> {
        let site = site(&self.folder, &self.name, &self.file);
        self.keeper.leave(&site)?;
        let old = std::mem::replace(&mut self.file, new);
        self.keeper.remember(old);
        Ok(())
    }

    /// The file with its current content, without a change that has begun.
    pub fn file(&self) -> &F::File {
        &self.file
    }

    /// Completes an interrupted change, or discards one that was not committed.
    fn settle(&mut self) -> Result<()> {
        if is_marked(&self.file)? {
            let journal = Journal::read(&self.file, &self.journal)?;
            self.finish(&journal, true)?;
        }
        self.is_poisoned = true;
        // If anything fails here, the journal stays: it may be a file of another program, or be
        // needed to find the temporary file that it names.
        if let Some(old) = Salt::of(&self.journal)? {
            self.remove_replacement(old)?;
        } else if !Salt::is_torn(&self.journal)? {
            let what = format!(
                "{} is not a journal but has the name of one; move it away",
                self.journal_name.display()
            );
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what).into());
        }
        Ok(())
    }

    /// Creates a new journal in place of an existing one, whose owner could read its content, and change it before it
    /// is applied.
    fn renew_journal(&mut self) -> Result<()> {
        let removed = self.folder.remove(&self.journal_name);
        removed.map_err(of_journal)?;
        let journal = self.folder.create(&self.journal_name, Some(&self.file));
        self.journal = journal.map_err(of_journal)?;
        // Another writer may have found it before it was locked.
        let is_locked = self.journal.try_lock(LockMode::Exclusive)?;
        if !is_locked || !self.folder.leads_to(&self.journal_name, &self.journal)? {
            return Err(busy(WRITING).into());
        }
        Ok(())
    }

    /// Removes the temporary file of a replacement that was not committed, and syncs that: only a
    /// journal with this salt names the file, and must not disappear before it.
    fn remove_replacement(&self, salt: Salt) -> io::Result<()> {
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
    /// Returns an error if there was such an error.
    pub fn check(&self) -> io::Result<()> {
        if self.is_poisoned {
            let what = "an earlier error has left this file in an unknown state; open it again";
            return Err(io::Error::other(what));
        }
        Ok(())
    }

    /// Does something whose failure leaves the state of the file unknown: after an error of `act`,
    /// everything else is refused.
    #[doc(hidden)]
    pub fn at_risk<T, E>(
        &mut self,
        act: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
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
        let done = self.file.write_all_at(at, bytes);
        self.remember_size()?;
        done
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
            let site = site(&self.folder, &self.name, &self.file);
            self.keeper.prepare(&site)?;
        }
        if !self.timeout.lock(&self.file, LockMode::Exclusive)? {
            self.is_poisoned = false;
            return Err(busy("other processes are still reading this file"));
        }
        let kept = self.check_others().and_then(|()| match is_earlier {
            true => Ok(()),
            false => self.keep(journal),
        });
        if let Err(error) = kept {
            self.file.unlock()?;
            self.is_poisoned = false;
            return Err(error);
        }
        self.file.write_all_at(0, &[MARK])?;
        self.file.sync()?;
        journal.apply(&self.file, &self.journal)?;
        self.file.sync()?;
        self.file.write_all_at(0, &[journal.first])?;
        self.file.sync()?;
        if !is_earlier {
            let site = site(&self.folder, &self.name, &self.file);
            self.keeper.keep_no_more(&site)?;
        }
        self.remember_state()?;
        self.file.unlock()?;
        self.is_poisoned = false;
        Ok(())
    }
}

impl<F: Folder> Drop for JournaledFile<F> {
    fn drop(&mut self) {
        let is_complete = is_marked(&self.file).is_ok_and(|marked| !marked);
        // A journal that may still be needed stays for the next writer. If it cannot be removed, it
        // has no effect on readers.
        if !self.is_poisoned && is_complete && self.abandon().is_ok() {
            let site = site(&self.folder, &self.name, &self.file);
            let _ = self.keeper.take_leave(&site);
            if self.has_journal() {
                let _ = self.folder.remove(&self.journal_name);
            }
        }
    }
}

fn site<'a, F: Folder>(folder: &'a F, name: &'a OsStr, file: &'a F::File) -> FileSite<'a, F> {
    FileSite { folder, name, file }
}

/// Whether a change of this file was interrupted, or is being made.
pub(super) fn is_marked<S: ReadAt>(file: &S) -> io::Result<bool> {
    let mut first = [0];
    Ok(retry(|| file.read_at(0, &mut first))? == 1 && first == [MARK])
}

/// A file whose journal is locked.
struct Locked<F> {
    file: F,
    journal: F,
    /// Whether the journal is new.
    is_new: bool,
}

/// Opens a file, and opens or creates and locks its journal; `None` if there is another writer.
fn lock_journal<F: Folder>(folder: &F, name: &OsStr) -> Result<Option<Locked<F::File>>> {
    let journal_name = journal_name(name);
    for _ in 0..MAX_ATTEMPTS {
        let file = folder.open(name, Access::Write)?;
        let (journal, is_new) = open_journal(folder, &journal_name, &file)?;
        if !journal.try_lock(LockMode::Exclusive)? {
            return Ok(None);
        }
        // Another writer may have removed the journal or replaced the file just now.
        if folder.leads_to(&journal_name, &journal)? && folder.leads_to(name, &file)? {
            return Ok(Some(Locked {
                file,
                journal,
                is_new,
            }));
        }
    }
    Err(busy("other programs keep replacing this file").into())
}

/// Opens or creates the journal of a file, and returns whether it is new.
fn open_journal<F: Folder>(folder: &F, name: &OsStr, file: &F::File) -> Result<(F::File, bool)> {
    loop {
        match folder.open(name, Access::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A new journal would hide that the right one is missing.
                if is_missing(folder, name, file)? {
                    return Err(JournalFault::Missing.of_file());
                }
            }
            opened => return Ok((opened.map_err(of_journal)?, false)),
        }
        match folder.create(name, Some(file)) {
            // Either another writer was faster, or there is a link that leads nowhere, which is the
            // error of opening it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder.open(name, Access::Write).map_err(of_journal)?;
            }
            created => return Ok((created.map_err(of_journal)?, true)),
        }
    }
}

/// Whether a change was interrupted and its journal is gone. That is not so if another writer has
/// begun just now, whose journal is there by then, or has completed its change meanwhile.
fn is_missing<F: Folder>(folder: &F, name: &OsStr, file: &F::File) -> io::Result<bool> {
    let is_gone = || match folder.open(name, Access::Read) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(_) => false,
    };
    Ok(is_marked(file)? && is_gone() && is_marked(file)?)
}

/// An error of opening the journal, which says that it is not about the file itself.
fn of_journal(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("journal of the file: {error}"))
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
