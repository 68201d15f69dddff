//! [`Follower`]: keeps a reader's content while a writer changes the file or store.
//!
//! The reader announces itself, so that every later commit saves what it overwrites in the history. The reader
//! reads first and looks at the history afterwards. If no commit has begun, the bytes belong to its view. If
//! one has, the overwritten ranges are pinned to the history, and the read is repeated.
//!
//! A writer of an earlier version keeps no history. It is detected by the file's stamp, which only an announced
//! writer may change.

use super::record::{History, Kind, Record};
use super::view::View;
use super::{SETTLER, WRITER, WRITERS, presence_of, slot_of, status_of};
use crate::process::Process;
use crate::{FileStatus, Lock, LockMode, ReadAt};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// How often a reader looks again for a writer that is opening or closing the file, and the pause in between.
const MAX_LOOKS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(1);

/// Returns the status with the stamp that writers without a history change.
type StatusOf<F> = Box<dyn Fn(&F) -> io::Result<FileStatus> + Send + Sync>;

/// The file or store being followed, and how to find its history.
pub(crate) struct Follower<F> {
    status: StatusOf<F>,
    /// Opens the file that currently has the history's name.
    look: Box<dyn Fn() -> io::Result<F> + Send + Sync>,
    identity: u128,
    owner: u32,
    /// The slot in which the reader is announced, kept across attempts to begin.
    slot: AtomicU64,
    /// The process whose reads the announcement protects.
    process: Process,
}

/// The result of a successful attempt to begin.
pub(crate) enum Start<F> {
    /// The content is known without a lock.
    Following(View<F>),
    /// The content is known while the file is locked, and it is locked.
    Locked(View<F>),
    /// As `Locked`, but writers cannot be followed.
    Alone(View<F>),
}

/// The state of the file according to the records before a view.
#[derive(Default)]
struct Skipped {
    /// A commit that has begun and is not done.
    begun: Option<Record>,
    /// The stamp when a writer last opened or closed the file.
    stamp: Option<u128>,
    /// Whether it was closed after it was last opened.
    is_closed: bool,
}

impl<F: ReadAt + Lock> Follower<F> {
    /// Announces a reader of a file, or of the store with this root; `None` if writers would not see it.
    /// `status` returns the stamp that writers without a history change, and `look` opens the history.
    pub(crate) fn new(
        file: &F,
        status: impl Fn(&F) -> io::Result<FileStatus> + Send + Sync + 'static,
        look: impl Fn() -> io::Result<F> + Send + Sync + 'static,
    ) -> io::Result<Option<Self>> {
        let Some(presence) = file.presence() else {
            return Ok(None);
        };
        if !presence.announce(slot_of(0))? {
            return Ok(None);
        }
        let found = presence.status()?;
        Ok(Some(Self {
            status: Box::new(status),
            look: Box::new(look),
            identity: found.identity,
            owner: found.owner,
            slot: AtomicU64::new(slot_of(0)),
            process: Process::current(),
        }))
    }

    /// Whether both follow the same file.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    /// Tries to determine the file's current content; `None` if a commit is in progress.
    pub(crate) fn start(&self, file: &F) -> io::Result<Option<Start<F>>> {
        if let Some(known) = self.start_by_history(file)? {
            return Ok(known.map(Start::Following));
        }
        if !file.try_lock(LockMode::Shared)? {
            return Ok(None);
        }
        let before = (self.status)(file)?;
        let had_writer = self.has_writer(file)?;
        let mut view = View::default();
        self.follow(file, &mut view)?;
        if view.is_foreign {
            return Ok(Some(Start::Alone(view)));
        }
        let skipped = match self.skip(&mut view) {
            // A history damaged by a power cut; the next writer removes it.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                if let Some(history) = &mut view.history {
                    history.at = view.seen;
                }
                Skipped::default()
            }
            skipped => skipped?,
        };
        let after = (self.status)(file)?;
        view.is_trusted = presence_of(file)?.announced(WRITERS)?.is_some();
        view.stamp = if view.is_trusted {
            skipped.stamp.unwrap_or(before.stamp)
        } else {
            before.stamp
        };
        // A writer that is not announced is of an earlier version and may leave a recent stamp unchanged.
        let is_known = after.stamp == before.stamp && !after.is_recent;
        // A writer that is just opening will record it in the history, with the stamp from before it opened.
        let is_opening = view.is_trusted && (!had_writer || skipped.is_closed);
        if is_opening || (!view.is_trusted && !is_known) {
            file.unlock()?;
            return Ok(None);
        }
        view.len = Some(after.len);
        Ok(Some(Start::Locked(view)))
    }

    /// Whether there is a writer that has completed the changes of earlier ones.
    fn has_writer(&self, file: &F) -> io::Result<bool> {
        Ok(presence_of(file)?.announced(WRITER..SETTLER)?.is_some())
    }

    /// The content of a file whose writer keeps a history, even during a commit; `None` if there is no such
    /// writer. The inner value is `None` if a commit began in the meantime.
    fn start_by_history(&self, file: &F) -> io::Result<Option<Option<View<F>>>> {
        let before = (self.status)(file)?;
        let mut view = View::default();
        if !self.has_writer(file)? || !self.follow(file, &mut view)? {
            return Ok(None);
        }
        let skipped = self.skip(&mut view)?;
        (view.is_trusted, view.stamp) = (true, skipped.stamp.unwrap_or(before.stamp));
        let is_known = match skipped.begun {
            Some(begun) => {
                view.pin_record(&begun);
                true
            }
            None => {
                view.len = Some(status_of(file)?.len);
                // The length is valid if no commit has begun.
                view.is_at_end()?
            }
        };
        // If the writer was killed in a commit, the new content is in its journal.
        let is_there = self.has_writer(file)? && !skipped.is_closed;
        Ok(is_there.then(|| is_known.then_some(view)))
    }

    /// Whether everything read before this call belongs to the view.
    pub(crate) fn is_current(&self, file: &F, view: &View<F>) -> io::Result<bool> {
        let is_read = match view.history {
            Some(_) => view.is_at_end()?,
            // The stamp was not recent, so it detects every write.
            None if !view.is_trusted && self.slot.load(Ordering::SeqCst) == slot_of(0) => true,
            None => self.find()?.is_none(),
        };
        if !is_read {
            return Ok(false);
        }
        if view.is_trusted {
            Ok(presence_of(file)?.announced(WRITERS)?.is_some())
        } else {
            Ok((self.status)(file)?.stamp == view.stamp)
        }
    }

    /// Pins what commits have overwritten.
    ///
    /// # Errors
    /// Returns an error if the view's content is lost, and any error of the file and the history.
    pub(crate) fn catch_up(&self, file: &F, view: &mut View<F>) -> io::Result<()> {
        for _ in 0..MAX_LOOKS {
            // These checks come before reading the records, so everything they find is recorded.
            let has_writer = presence_of(file)?.announced(WRITERS)?.is_some();
            let status = (self.status)(file)?;
            self.read_history(file, view)?;
            let is_known = if view.is_trusted {
                has_writer
            } else {
                status.stamp == view.stamp
            };
            if is_known {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(stale())
    }

    /// Reads all records, including those of later histories.
    fn read_history(&self, file: &F, view: &mut View<F>) -> io::Result<()> {
        loop {
            if let Some(history) = &mut view.history {
                let status = status_of(&*history.file)?;
                let mut records = Vec::new();
                while let Some(record) = history.next_record()? {
                    records.push(record);
                }
                view.seen = status.len;
                for record in records {
                    self.take(view, &record)?;
                }
                if status.has_name {
                    return Ok(());
                }
            }
            if !self.follow(file, view)? {
                return if view.is_foreign {
                    Err(stale())
                } else {
                    Ok(())
                };
            }
        }
    }

    /// The file that currently has the history's name; `None` if there is no history.
    fn find(&self) -> io::Result<Option<History<Arc<F>>>> {
        match (self.look)() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => History::open(Arc::new(found?)),
        }
    }

    /// Moves on to the current history; false if there is none.
    fn follow(&self, file: &F, view: &mut View<F>) -> io::Result<bool> {
        view.history = None;
        let Some(history) = self.find()? else {
            return Ok(false);
        };
        let owner = status_of(&*history.file)?.owner;
        view.is_foreign = owner != self.owner && owner != 0;
        if view.is_foreign {
            return Ok(false);
        }
        let presence = presence_of(file)?;
        let slot = slot_of(history.epoch);
        presence.announce(slot)?;
        // From here the writer sees this reader, unless it has just removed the history.
        let is_there = status_of(&*history.file)?.has_name;
        let before = self.slot.load(Ordering::SeqCst);
        let old = if is_there { before } else { slot };
        // A forked child shares its parent's announcements, and the parent may still read the previous history.
        if before != slot && self.process.is_current() {
            presence.withdraw(old)?;
        }
        if is_there {
            self.slot.store(slot, Ordering::SeqCst);
            (view.seen, view.history) = (0, Some(history));
        }
        Ok(is_there)
    }

    /// Skips all records, which are older than the view.
    fn skip(&self, view: &mut View<F>) -> io::Result<Skipped> {
        let mut skipped = Skipped::default();
        let Some(history) = &mut view.history else {
            return Ok(skipped);
        };
        view.seen = history.file.size()?;
        while let Some(record) = history.next_record()? {
            if record.identity != self.identity {
                continue;
            }
            skipped.begun = None;
            match record.kind {
                Kind::Begun => skipped.begun = Some(record),
                Kind::Opened | Kind::Closed => {
                    skipped.is_closed = record.kind == Kind::Closed;
                    skipped.stamp = Some(record.stamp);
                }
                Kind::Done => {}
            }
        }
        Ok(skipped)
    }

    fn take(&self, view: &mut View<F>, record: &Record) -> io::Result<()> {
        if record.identity != self.identity {
            return Ok(());
        }
        match record.kind {
            Kind::Opened if record.stamp == view.stamp => view.is_trusted = true,
            Kind::Opened => return Err(stale()),
            Kind::Begun => {
                view.is_old = true;
                view.pin_record(record);
            }
            Kind::Done => {}
            Kind::Closed => (view.stamp, view.is_trusted) = (record.stamp, false),
        }
        Ok(())
    }
}

/// The view's content is lost.
fn stale() -> io::Error {
    let what = "the file was changed without a record of its old content, by a program that keeps \
                none or was killed; open it again";
    io::Error::new(io::ErrorKind::StaleNetworkFileHandle, what)
}

#[cfg(test)]
mod tests {
    use super::{Follower, Start};
    use crate::history::record::{History, Kind};
    use crate::history::{WRITER, readers, status_of};
    use crate::{Access, Folder, Memory, Presence};
    use std::ffi::OsStr;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The reader finds a history whose writer is leaving, and finds it again just before another writer replaces it. The first
    /// time it moves from slot 0 to that of the history; the second time it must not leave that slot.
    #[test]
    fn a_reader_is_announced_whatever_it_finds_while_it_opens() {
        let name = OsStr::new("history");
        let folder = Memory::from([("file", b"content".to_vec())]);
        let open = |access| Folder::open(&folder, OsStr::new("file"), access).unwrap();
        let (reader, writer) = (open(Access::Read), open(Access::Write));
        assert!(writer.announce(WRITER).unwrap());
        let file = folder.create(name, None).unwrap();
        let mut history = History::create(file, 1).unwrap();
        let status = status_of(&writer).unwrap();
        for kind in [Kind::Opened, Kind::Closed] {
            let of = (status.identity, status.stamp);
            history.append(kind, of, &[]).unwrap();
        }

        let (home, looks) = (folder.clone(), AtomicU64::new(0));
        let look = move || {
            let found = Folder::open(&home, name, Access::Read)?;
            if looks.fetch_add(1, Ordering::SeqCst) == 1 {
                home.remove(name)?;
            }
            Ok(found)
        };
        let follower = Follower::new(&reader, status_of, look).unwrap().unwrap();
        let start = follower.start(&reader).unwrap();
        assert!(matches!(start, Some(Start::Locked(_))));
        assert_eq!(folder.list().unwrap(), ["file"]);
        assert!(writer.announced(readers(None)).unwrap().is_some());
    }
}
