//! [`Held`]: a file that one writer holds, and changes as a whole.

use super::journal::{HEAD_LEN, Journal, Salt};
use super::lock::wait_for;
use super::write_at::retry;
use super::{Access, Change, Folder, Lock, LockMode, LockTimeout, ReadAt, WriteAt};
use super::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::io;

/// How often an opening starts again because somebody replaced the file meanwhile.
const TRIES: u32 = 100;
/// Bytes of a file's beginning that other programs change when they append to it.
const SEEN_LEN: usize = 64;
/// The first byte of a file while a change is put into it. A format whose files are changed in place must not begin with it.
pub const MARK: u8 = b'!';
const WRITING: &str = "another process is writing to this file";
/// Why a change that was interrupted cannot be read or completed.
pub(super) const MISSING: &str = "its journal is not beside it";

/// A file that is held for writing: nobody else writes it, and each [`Change`] is made as a whole
/// or not at all, whatever happens.
///
/// ```text
///   pieces ─► journal ─► sync ─► mark the file ─► sync ─► pieces into the file ─► sync ─► unmark ─► sync
///                                └─ from here on the change is made, by the next writer if need be
/// ```
///
/// A change goes into a journal beside the file first, `NAME.blpk-journal`. When that is safe, the
/// file's first byte is replaced by a mark, and after that the pieces are put in their places; at
/// last the first byte comes back. A file without the mark is whole, and any journal beside it
/// means nothing. A file with the mark is completed from its journal when it is next held, and
/// read through it until then, by a [`Snapshot`](super::Snapshot).
///
/// The journal is locked as long as the file is held, and removed in the end.
pub struct Held<F: Folder> {
    pub(super) folder: F,
    pub(super) name: OsString,
    pub(super) file: F::File,
    pub(super) journal: F::File,
    pub(super) journal_name: OsString,
    pub(super) salt: Salt,
    pub(super) patience: LockTimeout,
    /// Something failed, so that nobody knows what has arrived on the disk.
    pub(super) poisoned: bool,
    /// A change that has begun: where the file is to be cut off if it is given up.
    pub(super) begun: Option<Option<u64>>,
    /// The file as this writer has left it, once it has been opened.
    pub(super) seen: Option<Seen>,
}

/// What shows that nobody else has written to a file: its length, and where its header lies.
#[derive(Debug)]
pub(super) struct Seen {
    size: u64,
    first: Vec<u8>,
}

impl Seen {
    fn of<S: ReadAt>(file: &S) -> io::Result<Self> {
        let size = file.size()?;
        let mut first = vec![0; usize::try_from(size).unwrap_or(SEEN_LEN).min(SEEN_LEN)];
        file.read_exact_at(0, &mut first)?;
        Ok(Self { size, first })
    }

    /// Whether a file is still so. It may have been shorter than what is compared.
    fn fits(&self, now: &Self) -> bool {
        let mut bytes = self.first.iter().zip(&now.first);
        self.size == now.size && bytes.all(|(before, now)| before == now)
    }
}

impl<F: Folder> Held<F> {
    /// Holds a file for writing, and completes or forgets what an earlier writer has left.
    ///
    /// `patience` is how long its changes wait for those who are reading it.
    ///
    /// # Errors
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy) if another writer holds it; [`Interrupted`](Error::Interrupted) if a
    /// change was interrupted and its journal is missing or belongs to another file; those of the folder.
    pub fn open(folder: F, name: &OsStr, patience: &LockTimeout) -> Result<Self> {
        for _ in 0..TRIES {
            let file = folder.open(name, Access::Write)?;
            let journal_name = journal_name(name);
            let (journal, is_new) = open_journal(&folder, &journal_name, &file)?;
            if !wait_for(&journal, LockMode::Exclusive, |_| false)? {
                return Err(busy(WRITING).into());
            }
            // Who held them may have removed the one and replaced the other just now.
            if !folder.leads_to(&journal_name, &journal)? || !folder.leads_to(name, &file)? {
                continue;
            }
            let mut held = Self {
                folder,
                name: name.to_owned(),
                file,
                journal,
                journal_name,
                salt: Salt::random(),
                patience: patience.clone(),
                // Until it is known that the journal is one.
                poisoned: true,
                begun: None,
                seen: None,
            };
            if !is_new {
                held.settle()?;
                held.renew_journal()?;
            }
            // From here on the journal is ours, and goes if this fails.
            held.poisoned = false;
            held.begin_journal()?;
            held.seen = Some(Seen::of(&held.file)?);
            return Ok(held);
        }
        Err(busy("others replace this file all the time").into())
    }

    /// The file as it is.
    pub fn file(&self) -> &F::File {
        &self.file
    }

    /// Completes an interrupted change, or forgets one that was never begun.
    fn settle(&mut self) -> Result<()> {
        if is_marked(&self.file)? {
            let found = Journal::read(&self.file, &self.journal)?;
            let journal = found.map_err(interrupted)?;
            self.finish(&journal)?;
        }
        self.poisoned = true;
        // What fails here leaves the journal where it is: it may be somebody else's file, or tell
        // the name of litter.
        if let Some(old) = Salt::of(&self.journal)? {
            self.remove_replacement(old)?;
        } else if !Salt::is_torn(&self.journal)? {
            let what = "something that is no journal lies in the journal's place: move it away";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what).into());
        }
        Ok(())
    }

    /// Puts a journal of our own in the place of the one that was there: whoever has made that
    /// could read what is written to it, and change it before it is applied.
    fn renew_journal(&mut self) -> Result<()> {
        let removed = self.folder.remove(&self.journal_name);
        removed.map_err(in_the_way)?;
        let journal = self.folder.create(&self.journal_name, Some(&self.file));
        self.journal = journal.map_err(in_the_way)?;
        // Somebody else may have found it already.
        let is_ours = wait_for(&self.journal, LockMode::Exclusive, |_| false)?;
        if !is_ours || !self.folder.leads_to(&self.journal_name, &self.journal)? {
            return Err(busy(WRITING).into());
        }
        Ok(())
    }

    /// Removes what was to replace the file, for good: only a journal with this salt tells its name,
    /// and must not be gone before it.
    fn remove_replacement(&self, salt: Salt) -> io::Result<()> {
        match self.folder.remove(&replacement_name(salt)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => self.folder.sync(),
        }
    }

    /// An empty journal, which nobody has to obey.
    pub(super) fn begin_journal(&self) -> io::Result<()> {
        self.journal.set_len(0)?;
        self.journal.write_all_at(0, &self.salt.head())
    }

    /// Refuses to go on after an error that leaves the file's state unknown.
    pub fn check(&self) -> io::Result<()> {
        if self.poisoned {
            let what = "an earlier error left the state of this file unknown: open it again";
            return Err(io::Error::other(what));
        }
        Ok(())
    }

    /// Does something after whose failure nobody knows what is on the disk.
    pub fn at_risk<T, E>(
        &mut self,
        act: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.poisoned = true;
        let done = act(self)?;
        self.poisoned = false;
        Ok(done)
    }

    /// Begins a change. Bytes of the file from `free_from` on mean nothing to any reader: the file
    /// is cut off there, and what the change puts behind goes directly into the file.
    ///
    /// # Errors
    /// Those of the file, and an earlier error that leaves its state unknown.
    pub fn change(&mut self, free_from: Option<u64>) -> io::Result<Change<'_, F>> {
        self.check()?;
        self.give_up()?;
        self.check_others()?;
        self.begun = Some(free_from);
        if let Some(end) = free_from {
            self.cut_off(end)?;
        }
        Ok(Change::new(self, free_from, HEAD_LEN))
    }

    /// Cuts off what means nothing, for good: if it came back after a crash, with bytes of a new
    /// change behind it, the two together might mean something.
    fn cut_off(&mut self, end: u64) -> io::Result<()> {
        if self.file.size()? > end {
            self.set_len(end)?;
            self.at_risk(|held| held.file.sync())?;
        }
        Ok(())
    }

    /// Takes away what a change has left that was never made.
    fn give_up(&mut self) -> io::Result<()> {
        let Some(free_from) = self.begun else {
            return Ok(());
        };
        self.at_risk(|held| held.remove_replacement(held.salt))?;
        // Under another name, somebody else may have appended to it.
        if let Some(end) = free_from
            && self.check_others().is_ok()
        {
            self.set_len(end)?;
        }
        self.begin_journal()?;
        self.begun = None;
        Ok(())
    }

    /// Whether the journal is still where everybody looks for it.
    fn has_journal(&self) -> bool {
        let there = self.folder.leads_to(&self.journal_name, &self.journal);
        there.unwrap_or(false)
    }

    /// Refuses to change a file that is not under its name any more, since nobody would see it, and
    /// under its new name it has another journal and perhaps another writer; and one that a program
    /// has written to that does not know of locks.
    pub(super) fn check_others(&self) -> io::Result<()> {
        if !self.folder.leads_to(&self.name, &self.file)? || !self.has_journal() {
            let what = "the file or its journal was moved, removed or replaced meanwhile";
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        match &self.seen {
            Some(seen) if !seen.fits(&Seen::of(&self.file)?) => Err(io::Error::other(
                "another program has changed this file meanwhile: open it again",
            )),
            _ => Ok(()),
        }
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let done = self.file.set_len(len);
        self.see_size()?;
        done
    }

    /// Writes behind the end of what means anything.
    pub(super) fn write_behind(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // What is there may be somebody else's by now.
        self.check_others()?;
        let done = self.file.write_all_at(at, bytes);
        self.see_size()?;
        done
    }

    /// The file is as this writer has left it.
    pub(super) fn see(&mut self) -> io::Result<()> {
        if self.seen.is_some() {
            self.seen = Some(Seen::of(&self.file)?);
        }
        Ok(())
    }

    /// The file has the length that this writer gave it.
    fn see_size(&mut self) -> io::Result<()> {
        if let Some(seen) = &mut self.seen {
            seen.size = self.file.size()?;
        }
        Ok(())
    }

    /// Makes a change that its journal tells, from the mark on. Nobody reads the file meanwhile.
    pub(super) fn finish(&mut self, journal: &Journal) -> io::Result<()> {
        self.poisoned = true;
        if !wait_for(&self.file, LockMode::Exclusive, |waited| {
            self.patience.lasts(waited)
        })? {
            self.poisoned = false;
            return Err(busy("others are reading this file all the time"));
        }
        if let Err(error) = self.check_others() {
            self.file.unlock()?;
            self.poisoned = false;
            return Err(error);
        }
        self.file.write_all_at(0, &[MARK])?;
        self.file.sync()?;
        journal.apply(&self.file, &self.journal)?;
        self.file.sync()?;
        self.file.write_all_at(0, &[journal.first])?;
        self.file.sync()?;
        self.see()?;
        self.file.unlock()?;
        self.poisoned = false;
        Ok(())
    }
}

impl<F: Folder> Drop for Held<F> {
    fn drop(&mut self) {
        let whole = is_marked(&self.file).is_ok_and(|marked| !marked);
        // A journal that may still be needed stays, and the next writer deals with it. Whatever
        // cannot be taken away means nothing to readers.
        if !self.poisoned && whole && self.give_up().is_ok() && self.has_journal() {
            let _ = self.folder.remove(&self.journal_name);
        }
    }
}

/// Whether a change of this file was interrupted, or is being made.
pub(super) fn is_marked<S: ReadAt>(file: &S) -> io::Result<bool> {
    let mut first = [0];
    Ok(retry(|| file.read_at(0, &mut first))? == 1 && first == [MARK])
}

/// Opens the journal of a file, or creates it, and tells whether it is new.
fn open_journal<F: Folder>(folder: &F, name: &OsStr, file: &F::File) -> Result<(F::File, bool)> {
    loop {
        match folder.open(name, Access::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A new one would hide that the right one is missing.
                if is_missing(folder, name, file)? {
                    return Err(interrupted(MISSING));
                }
            }
            opened => return Ok((opened.map_err(in_the_way)?, false)),
        }
        match folder.create(name, Some(file)) {
            // Somebody was faster, or a link leads nowhere; then opening tells.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder.open(name, Access::Write).map_err(in_the_way)?;
            }
            created => return Ok((created.map_err(in_the_way)?, true)),
        }
    }
}

/// Whether a change was interrupted whose journal is gone: not if another writer has begun just now,
/// whose journal is there by then, or has ended meanwhile.
fn is_missing<F: Folder>(folder: &F, name: &OsStr, file: &F::File) -> io::Result<bool> {
    let is_gone = || match folder.open(name, Access::Read) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(_) => false,
    };
    Ok(is_marked(file)? && is_gone() && is_marked(file)?)
}

/// What opening the journal's name failed with, told as what it is about.
fn in_the_way(error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("the journal beside the file: {error}"),
    )
}

/// The name of the journal of a file.
pub(super) fn journal_name(name: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(".blpk-journal");
    name
}

/// The name of what is to replace a file. That of the file is no part of it: together they could be
/// longer than names can be.
pub(super) fn replacement_name(salt: Salt) -> OsString {
    format!(".blpk-{}.tmp", salt.text()).into()
}

pub(super) fn busy(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, what)
}

/// The error for a file whose change cannot be completed.
pub(super) fn interrupted(why: &'static str) -> Error {
    Error::Interrupted { why }
}
