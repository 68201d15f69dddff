//! Keeping what commits overwrite, for the snapshots that are older.

use super::JournaledFile;
use super::history::{self, History, Kind, SETTLER, WRITER, history_name, readers, slot_of};
use crate::error::bug;
use crate::journal::Journal;
use crate::{Access, Folder, Lock, ReadAt, WriteAt};
use std::io;
use std::ops::Range;

/// A longer history is replaced by a new one as soon as all its readers have left the one before.
const LONG: u64 = 4 << 20;

/// The result of opening something, or nothing if it is not there.
fn unless_missing<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// Whether one of these files has readers, perhaps only those before some epoch.
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

impl<F: Folder> JournaledFile<F> {
    /// Announces this writer, which may have to complete the change of an earlier one.
    pub(super) fn announce(&mut self) -> io::Result<()> {
        let Some(presence) = self.file.presence() else {
            return Ok(());
        };
        self.keeper.is_announced = presence.announce(SETTLER)?;
        if !self.keeper.is_announced {
            return Ok(());
        }
        if !have_readers([&self.file], None)? {
            return self.remove_old_history();
        }
        self.keeper.history = self.old_history()?;
        self.record(Kind::Opened, &[])
    }

    /// The history of earlier writers, up to its last complete record.
    fn old_history(&self) -> io::Result<Option<History<F::File>>> {
        let opened = self.folder.open(&history_name(&self.name), Access::Write);
        let Some(opened) = unless_missing(opened)? else {
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
                    // A power cut has left it. No reader relies on it.
                    self.folder.remove(&history_name(&self.name))?;
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        history.file.set_len(history.at)?;
        Ok(Some(history))
    }

    /// Removes the history of earlier writers, unless it is a file of another program.
    fn remove_old_history(&self) -> io::Result<()> {
        let name = history_name(&self.name);
        match unless_missing(self.folder.open(&name, Access::Read))? {
            Some(file) if history::is_history(&file)? => self.folder.remove(&name),
            _ => Ok(()),
        }
    }

    /// Announces that changes of earlier writers are completed.
    pub(super) fn announce_settled(&mut self) -> io::Result<()> {
        if !self.keeper.is_announced {
            return Ok(());
        }
        if self.keeper.history.is_some() {
            self.record(Kind::Done, &[])?;
        }
        let Some(presence) = self.file.presence() else {
            return Ok(());
        };
        presence.announce(WRITER)?;
        presence.withdraw(SETTLER)
    }

    /// Whether there are snapshots for which something is to be kept. If there are not, there is no
    /// history.
    fn has_readers(&mut self) -> io::Result<bool> {
        let mut former = Vec::new();
        for file in std::mem::take(&mut self.keeper.former) {
            if have_readers([&file], None)? {
                former.push(file);
            }
        }
        self.keeper.former = former;
        let have =
            |this: &Self| have_readers([&this.file].into_iter().chain(&this.keeper.former), None);
        if have(self)? {
            return Ok(true);
        }
        if self.keeper.history.take().is_none() {
            return Ok(false);
        }
        self.folder.remove(&history_name(&self.name))?;
        // Readers that come from here on find no history; one may have come before.
        have(self)
    }

    /// Keeps what a commit will overwrite, if there are readers; the file is locked.
    pub(super) fn keep(&mut self, journal: &Journal) -> io::Result<()> {
        if !self.keeper.is_announced || !self.has_readers()? {
            return Ok(());
        }
        let ranges = overwritten(journal, self.file.size()?);
        self.record(Kind::Begun, &ranges)
    }

    /// Records that the commit is made, if anything was kept.
    pub(super) fn keep_no_more(&mut self) -> io::Result<()> {
        match self.keeper.history.is_some() {
            true => self.record(Kind::Done, &[]),
            false => Ok(()),
        }
    }

    /// Makes sure that there is a history before readers have to wait for a commit.
    pub(super) fn prepare_history(&mut self) -> io::Result<()> {
        if self.keeper.is_announced && self.has_readers()? {
            self.history()?;
        }
        Ok(())
    }

    fn record(&mut self, kind: Kind, ranges: &[Range<u64>]) -> io::Result<()> {
        self.history()?;
        let history = self.keeper.history.as_mut();
        let history = history.ok_or_else(|| bug("no history"))?;
        history.append(kind, &self.file, ranges)
    }

    /// Begins a history if there is none, or the one that there is has become long.
    fn history(&mut self) -> io::Result<()> {
        let mut after = 0;
        if let Some(history) = &self.keeper.history {
            let files = [&self.file].into_iter().chain(&self.keeper.former);
            if history.at < LONG || have_readers(files, Some(history.epoch))? {
                return Ok(());
            }
            after = history.epoch;
        }
        let name = history_name(&self.name);
        if self.keeper.history.take().is_some() {
            self.folder.remove(&name)?;
        }
        let all = [&self.file].into_iter().chain(&self.keeper.former);
        for file in all {
            let Some(presence) = file.presence() else {
                continue;
            };
            // Each epoch is new to all readers.
            while let Some(slot) = presence.announced(slot_of(after + 1)..readers(None).end)? {
                after = slot - slot_of(0);
            }
        }
        let created = match self.folder.create(&name, Some(&self.file)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // It is not that of a writer who was here before, which was opened.
                self.remove_old_history()?;
                let created = self.folder.create(&name, Some(&self.file));
                created.map_err(|error| {
                    let what = format!("{}, for readers of the file: {error}", name.display());
                    io::Error::new(error.kind(), what)
                })
            }
            created => created,
        };
        self.keeper.history = Some(History::create(created?, after + 1)?);
        Ok(())
    }

    /// Leaves the file to readers with what they need. Errors do not matter: readers notice that
    /// the writer is gone.
    pub(super) fn take_leave(&mut self) -> io::Result<()> {
        if !self.keeper.is_announced {
            return Ok(());
        }
        // Readers that come after this record wait until the writer is gone.
        let is_recorded = self.has_readers()?;
        if is_recorded {
            self.record(Kind::Closed, &[])?;
        }
        let Some(presence) = self.file.presence() else {
            return Ok(());
        };
        presence.withdraw(WRITER)?;
        presence.withdraw(SETTLER)?;
        // Others may have come in between, and rely on this writer.
        match !is_recorded && self.has_readers()? {
            true => self.record(Kind::Closed, &[]),
            false => Ok(()),
        }
    }

    /// Announces this writer to the readers of a file that is about to take the place of this one.
    pub(super) fn announce_in(&self, new: &F::File) -> io::Result<()> {
        match new.presence() {
            Some(presence) if self.keeper.is_announced => presence.announce(WRITER).map(drop),
            _ => Ok(()),
        }
    }

    /// Puts another file in the place of this one, once it has the name.
    pub(super) fn replace_file(&mut self, new: F::File) -> io::Result<()> {
        if !self.keeper.is_announced {
            self.file = new;
            return Ok(());
        }
        if let Some(presence) = self.file.presence() {
            presence.withdraw(WRITER)?;
        }
        if have_readers([&self.file], None)? {
            self.record(Kind::Closed, &[])?;
        }
        self.keeper
            .former
            .push(std::mem::replace(&mut self.file, new));
        Ok(())
    }
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
