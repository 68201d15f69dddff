//! [`Keeper`]: saves what commits overwrite, for readers of older content.

use super::queue::own_slot;
use super::record::{Entry, History, Kind, is_history};
use super::{SETTLER, WRITER, presence_of, readers, slot_of};
use crate::error::bug;
use crate::{Access, FileStatus, Lock, WriteAt};
use std::io;

/// A longer history is replaced by a new one as soon as all readers of the previous epochs are gone.
const LONG: u64 = 1 << 20;

/// A file or a store as its writer sees it.
pub(crate) trait Site {
    type File: WriteAt + Lock;

    /// The handle in whose slots readers and writers are announced.
    fn handle(&self) -> &Self::File;

    /// The identity, and the stamp that every writer without a history changes.
    fn status(&self) -> io::Result<FileStatus>;

    fn open_history(&self, access: Access) -> io::Result<Self::File>;

    fn create_history(&self) -> io::Result<Self::File>;

    fn remove_history(&self) -> io::Result<()>;
}

/// Saves old content for readers.
#[derive(Debug)]
pub(crate) struct Keeper<F> {
    /// Whether readers see this writer.
    is_announced: bool,
    history: Option<History<F>>,
    /// Replaced files that may have readers.
    former: Vec<F>,
}

impl<F> Default for Keeper<F> {
    fn default() -> Self {
        Self {
            is_announced: false,
            history: None,
            former: Vec::new(),
        }
    }
}

/// The result of opening something; `None` if it does not exist.
fn unless_missing<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// Whether one of these files has readers, or with `before`, readers of an earlier epoch.
fn have_readers<'a, F: Lock + 'a>(
    files: impl IntoIterator<Item = &'a F>,
    before: Option<u64>,
) -> io::Result<bool> {
    for file in files {
        if let Some(presence) = file.presence()
            && presence.announced(readers(before))?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

impl<F: WriteAt + Lock> Keeper<F> {
    /// Announces a writer that may have to complete the change of an earlier one.
    pub(crate) fn announce<S: Site<File = F>>(&mut self, site: &S) -> io::Result<()> {
        if let Some(presence) = site.handle().presence() {
            self.is_announced = presence.announce(SETTLER)?;
            if self.is_announced {
                presence.announce(own_slot())?;
            }
        }
        Ok(())
    }

    /// Begins to keep a history if there are readers. `stamp` is from before any other writer could have opened
    /// the file.
    pub(crate) fn begin<S: Site<File = F>>(&mut self, site: &S, stamp: u128) -> io::Result<()> {
        if !self.is_announced {
            return Ok(());
        }
        if !have_readers([site.handle()], None)? {
            return remove_old_history(site);
        }
        self.history = old_history(site)?;
        self.append(site, Kind::Opened, (Some(stamp), &[]))
    }

    /// Announces that the changes of earlier writers are completed.
    pub(crate) fn announce_settled<S: Site<File = F>>(&mut self, site: &S) -> io::Result<()> {
        if !self.is_announced {
            return Ok(());
        }
        self.keep_no_more(site)?;
        let presence = presence_of(site.handle())?;
        presence.announce(WRITER)?;
        presence.withdraw(SETTLER)
    }

    /// The file, and those that it has replaced.
    fn files<'a, S: Site<File = F>>(&'a self, site: &'a S) -> impl Iterator<Item = &'a F> {
        [site.handle()].into_iter().chain(&self.former)
    }

    /// Whether there are readers to save old content for. If not, removes the history.
    pub(crate) fn has_readers<S: Site<File = F>>(&mut self, site: &S) -> io::Result<bool> {
        if !self.is_announced {
            return Ok(false);
        }
        let mut former = Vec::new();
        for file in std::mem::take(&mut self.former) {
            if have_readers([&file], None)? {
                former.push(file);
            }
        }
        self.former = former;
        if have_readers(self.files(site), None)? {
            return Ok(true);
        }
        if self.history.take().is_none() {
            return Ok(false);
        }
        site.remove_history()?;
        // Readers that open from here find no history; one may have opened before.
        have_readers(self.files(site), None)
    }

    /// Creates the history before readers have to wait for a commit.
    pub(crate) fn prepare<S: Site<File = F>>(&mut self, site: &S) -> io::Result<()> {
        if self.has_readers(site)? {
            self.history(site).map(drop)
        } else {
            Ok(())
        }
    }

    /// Records the start of a commit and saves what it overwrites.
    pub(crate) fn keep<S: Site<File = F>>(
        &mut self,
        site: &S,
        entries: &[Entry<'_>],
    ) -> io::Result<()> {
        self.append(site, Kind::Begun, (None, entries))
    }

    /// Records the end of a commit, if there is a history.
    pub(crate) fn keep_no_more<S: Site<File = F>>(&mut self, site: &S) -> io::Result<()> {
        if self.history.is_some() {
            self.append(site, Kind::Done, (None, &[]))
        } else {
            Ok(())
        }
    }

    fn append<S: Site<File = F>>(
        &mut self,
        site: &S,
        kind: Kind,
        (stamp, entries): (Option<u128>, &[Entry<'_>]),
    ) -> io::Result<()> {
        let history = self.history(site)?;
        let status = site.status()?;
        let stamp = stamp.unwrap_or(status.stamp);
        history.append(kind, (status.identity, stamp), entries)
    }

    /// The history. Begins a new one if there is none or it is too long.
    fn history<S: Site<File = F>>(&mut self, site: &S) -> io::Result<&mut History<F>> {
        let mut after = 0;
        let is_usable = match &self.history {
            Some(history) => {
                after = history.epoch;
                history.at < LONG || have_readers(self.files(site), Some(after))?
            }
            None => false,
        };
        if !is_usable {
            if self.history.take().is_some() {
                site.remove_history()?;
            }
            for file in self.files(site) {
                let presence = presence_of(file)?;
                // The next epoch must be higher than that of any reader.
                while let Some(slot) = presence.announced(slot_of(after + 1)..readers(None).end)? {
                    after = slot - slot_of(0);
                }
            }
            self.history = Some(History::create(new_file(site)?, after + 1)?);
        }
        let history = self.history.as_mut();
        history.ok_or_else(|| bug("no history"))
    }

    /// Records that the writer closes, for the remaining readers. The caller may ignore errors: readers notice
    /// that the writer is gone.
    pub(crate) fn take_leave<S: Site<File = F>>(&mut self, site: &S) -> io::Result<()> {
        if !self.is_announced {
            return Ok(());
        }
        // Readers that open after this record wait until the writer is gone.
        let is_recorded = self.has_readers(site)?;
        if is_recorded {
            self.append(site, Kind::Closed, (None, &[]))?;
        }
        let presence = presence_of(site.handle())?;
        presence.withdraw(WRITER)?;
        presence.withdraw(SETTLER)?;
        // Others may have opened in between, and rely on this writer.
        if !is_recorded && self.has_readers(site)? {
            self.append(site, Kind::Closed, (None, &[]))
        } else {
            Ok(())
        }
    }

    /// Announces this writer to the readers of a file that will replace the current one.
    pub(crate) fn announce_in(&self, new: &F) -> io::Result<()> {
        match new.presence() {
            Some(presence) if self.is_announced => {
                presence.announce(own_slot())?;
                presence.announce(WRITER).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Records that the writer leaves this file, which has been replaced.
    pub(crate) fn leave<S: Site<File = F>>(&mut self, site: &S) -> io::Result<()> {
        if !self.is_announced {
            return Ok(());
        }
        presence_of(site.handle())?.withdraw(WRITER)?;
        if have_readers([site.handle()], None)? {
            self.append(site, Kind::Closed, (None, &[]))
        } else {
            Ok(())
        }
    }

    /// Remembers a replaced file, for its readers.
    pub(crate) fn remember(&mut self, old: F) {
        if self.is_announced {
            self.former.push(old);
        }
    }
}

/// The history of earlier writers, up to its last complete record.
fn old_history<S: Site>(site: &S) -> io::Result<Option<History<S::File>>> {
    let Some(opened) = unless_missing(site.open_history(Access::Write))? else {
        return Ok(None);
    };
    let Some(mut history) = History::open(opened)? else {
        return Ok(None);
    };
    loop {
        match history.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                // Damaged by a power cut, so no reader relies on it.
                site.remove_history()?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
    }
    history.file.set_len(history.at)?;
    Ok(Some(history))
}

/// Removes the history of earlier writers, but no file of another program.
fn remove_old_history<S: Site>(site: &S) -> io::Result<()> {
    match unless_missing(site.open_history(Access::Read))? {
        Some(file) if is_history(&file)? => site.remove_history(),
        _ => Ok(()),
    }
}

/// A new file for the history.
fn new_file<S: Site>(site: &S) -> io::Result<S::File> {
    match site.create_history() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // An old history of this crate would have been opened before; another file stays.
            remove_old_history(site)?;
            site.create_history()
        }
        created => created,
    }
}
