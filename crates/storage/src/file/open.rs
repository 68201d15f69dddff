//! Opening a [`JournaledFile`], and completing the change of an earlier writer.

use super::journaled::{FileState, JournaledFile, is_marked, journal_name};
use crate::error::busy;
use crate::history::{Keeper, as_only_writer};
use crate::journal::{Journal, Salt};
use crate::process::Process;
use crate::write_at::retry;
use crate::{Access, Folder, JournalFault, Lock, LockMode, LockTimeout, Result};
use std::ffi::OsStr;
use std::io;

/// How often locking starts again after another program has replaced the file.
const MAX_ATTEMPTS: u32 = 100;
const WRITING: &str = "another process is writing to this file";

impl<F: Folder> JournaledFile<F> {
    /// Opens a file for writing. It completes a change that an earlier writer committed and did not finish, and
    /// discards one that was not committed.
    ///
    /// Creates the journal `NAME.blpk-journal` beside the file and locks it. Waiting writers get the file in
    /// the order in which they arrived. `timeout` bounds this wait and, in commits, the wait for readers that
    /// lock the file: readers of earlier versions, and all readers where handles cannot see each other
    /// ([`Lock::presence`]).
    ///
    /// # Errors
    /// Returns [`ResourceBusy`](io::ErrorKind::ResourceBusy), with the process id, if another writer still has
    /// the file after `timeout`; [`Interrupted`](crate::Error::Interrupted) if the journal of an interrupted
    /// change is missing, damaged or belongs to another file; [`AlreadyExists`](io::ErrorKind::AlreadyExists)
    /// if a file that is not a journal has the journal's name; [`InvalidInput`](io::ErrorKind::InvalidInput)
    /// for anything other than a regular file and, on a [`Disk`](crate::Disk), for a file with several names
    /// (hard links); and any error of the folder.
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

    /// Opens a file whose journal is locked.
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
            process: Process::current(),
            // Until the file is known to be a journal, it must not be removed.
            is_poisoned: true,
            begun: None,
            last_state: None,
            keeper: Keeper::default(),
        };
        opened.announce()?;
        if !locked.is_new {
            opened.settle()?;
            // Windows keeps the name until the old journal is closed, and its lock excludes everyone else
            // there.
            if cfg!(not(windows)) {
                opened.renew_journal()?;
            }
        }
        opened.for_readers(|keeper, site| keeper.announce_settled(site))?;
        // From here the journal is this writer's own: it is removed if a later step fails.
        opened.is_poisoned = false;
        opened.begin_journal()?;
        opened.last_state = Some(FileState::of(&opened.file)?);
        Ok(opened)
    }

    /// Completes a committed change, or discards one that was not committed.
    fn settle(&mut self) -> Result<()> {
        if is_marked(&self.file)? {
            let journal = Journal::read(&self.file, &self.journal)?;
            self.finish(&journal, true)?;
        }
        self.is_poisoned = true;
        // If anything fails here, the journal stays: it may belong to another program, or be needed to find the
        // temporary file it names.
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

    /// Replaces the existing journal by a new file. The owner of the old one could read its content, and change
    /// it before it is applied.
    fn renew_journal(&mut self) -> Result<()> {
        let removed = self.folder.remove(&self.journal_name);
        removed.map_err(of_journal)?;
        let journal = self.folder.create(&self.journal_name, Some(&self.file));
        self.journal = journal.map_err(of_journal)?;
        // Another writer may have opened the new journal before it was locked.
        let is_locked = retry(|| self.journal.try_lock(LockMode::Exclusive))?;
        if !is_locked || !self.folder.leads_to(&self.journal_name, &self.journal)? {
            return Err(busy(WRITING).into());
        }
        Ok(())
    }
}

/// A file whose journal is locked.
struct Locked<F> {
    file: F,
    journal: F,
    /// Whether the journal is new.
    is_new: bool,
}

/// Opens a file, and opens or creates its journal and locks it; `None` if another writer has locked it.
fn lock_journal<F: Folder>(folder: &F, name: &OsStr) -> Result<Option<Locked<F::File>>> {
    let journal_name = journal_name(name);
    for _ in 0..MAX_ATTEMPTS {
        let file = folder.open(name, Access::Write)?;
        let (journal, is_new) = open_journal(folder, &journal_name, &file)?;
        if !retry(|| journal.try_lock(LockMode::Exclusive))? {
            return Ok(None);
        }
        // Another writer may have removed the journal or replaced the file before the lock.
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
                // A new journal would hide that the file's own journal is missing.
                if is_missing(folder, name, file)? {
                    return Err(JournalFault::Missing.of_file());
                }
            }
            opened => return Ok((opened.map_err(of_journal)?, false)),
        }
        match folder.create(name, Some(file)) {
            // Either another writer was faster, or the name is a dangling link, which opening reports.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder.open(name, Access::Write).map_err(of_journal)?;
            }
            created => return Ok((created.map_err(of_journal)?, true)),
        }
    }
}

/// Whether the file has the mark and its journal is gone. The second look at the mark excludes a writer that
/// has just created its journal or completed its change.
fn is_missing<F: Folder>(folder: &F, name: &OsStr, file: &F::File) -> io::Result<bool> {
    let is_gone = || match folder.open(name, Access::Read) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(_) => false,
    };
    Ok(is_marked(file)? && is_gone() && is_marked(file)?)
}

/// Adds to an error that it concerns the journal, not the file.
fn of_journal(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("journal of the file: {error}"))
}
