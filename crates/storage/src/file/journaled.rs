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

/// Bytes at the file's beginning that show whether another program has appended to it.
const PREFIX_LEN: usize = 64;
/// The first byte of a file while a change is applied. A format whose files are changed in place must not begin
/// with it.
pub const MARK: u8 = b'!';
const STILL_READ: &str = "other processes are still reading this file";

/// A file that is open for writing. It excludes other writers, and each [`Change`](crate::Change) is atomic,
/// whatever interrupts it.
///
/// ```text
///   pieces ─► journal ─► sync ─► mark the file ─► sync ─► pieces into the file ─► sync ─► unmark ─► sync
///                                └─ from here on the change is committed; if needed, the next writer completes it
/// ```
///
/// The new bytes go into a journal beside the file, `NAME.blpk-journal`. When the journal is synced, the mark
/// `!` replaces the file's first byte; this commits the change. Then the pieces are written to their places,
/// and the first byte is restored. A file without the mark is complete, and a journal beside it has no effect.
/// A file with the mark is completed from its journal when it is next opened for writing; until then, a
/// [`Snapshot`](crate::Snapshot) reads it through the journal. A format whose files are changed in this way
/// must not begin with `!`, and a file cannot become empty.
///
/// The journal stays locked while this exists and is removed when it is dropped. Dropping discards an
/// uncommitted change.
///
/// A forked child cannot change the file through its copy.
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
    /// The process that has locked the journal.
    pub(super) process: Process,
    /// An error has left the state of the disk unknown.
    pub(super) is_poisoned: bool,
    pub(super) begun: Option<Begun>,
    /// The state in which this writer left the file; `None` until it is opened completely.
    pub(super) last_state: Option<FileState>,
    pub(super) keeper: Keeper<F::File>,
}

/// A change that has begun and is not committed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    /// Where to truncate the file if the change is abandoned.
    pub truncate_at: Option<u64>,
}

/// The length and the first bytes of a file, to detect writes of other programs.
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

    /// Whether the file is still in this state. The file may have been shorter than the prefix when this was
    /// taken, and extended by this writer afterwards.
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

    /// Saves what a commit will overwrite, if there are readers. The file is locked.
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

    /// Runs `act` with the keeper and the site of this file.
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

    /// Switches to another file that already has the name.
    pub(super) fn replace_file(&mut self, new: F::File) -> io::Result<()> {
        self.for_readers(|keeper, site| keeper.leave(site))?;
        let old = std::mem::replace(&mut self.file, new);
        self.keeper.remember(old);
        Ok(())
    }

    /// The name of the file in its folder.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// The file with its committed content. Bytes after the end may belong to a change that has begun.
    pub fn file(&self) -> &F::File {
        &self.file
    }

    /// Removes the temporary file of an uncommitted replacement, and syncs the folder. Only a journal with this
    /// salt names the file, so the journal must not disappear first.
    pub(super) fn remove_replacement(&self, salt: Salt) -> io::Result<()> {
        match self.folder.remove(&replacement_name(salt)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => self.folder.sync(),
        }
    }

    /// Resets the journal to an empty one, which has no effect.
    pub(super) fn begin_journal(&self) -> io::Result<()> {
        self.journal.set_len(0)?;
        self.journal.write_all_at(0, &self.salt.head())
    }

    /// Checks that the file can be changed.
    ///
    /// # Errors
    /// Returns an error after an error that has left the state of the file unknown, and in a process that was
    /// forked after opening.
    pub fn check(&self) -> io::Result<()> {
        self.process.check()?;
        if self.is_poisoned {
            let what = "an earlier error has left this file in an unknown state; open it again";
            return Err(io::Error::other(what));
        }
        Ok(())
    }

    /// Runs an operation whose failure leaves the state of the file unknown. After an error of `act`, all
    /// further changes are refused.
    #[doc(hidden)]
    pub fn at_risk<T, E>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.is_poisoned = true;
        let done = act(self)?;
        self.is_poisoned = false;
        Ok(done)
    }

    /// Removes everything that an uncommitted change has left.
    pub(super) fn abandon(&mut self) -> io::Result<()> {
        let Some(Begun { truncate_at }) = self.begun else {
            return Ok(());
        };
        self.at_risk(|file| file.remove_replacement(file.salt))?;
        // If the file was moved, another program may have appended to it.
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

    /// Refuses to change a file that was moved or removed, because the change would be lost and the file may
    /// have another journal and another writer under its new name. Also refuses a file that a program without
    /// locks has changed.
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
        // Another program may have written there.
        self.check_others()?;
        // On Windows, readers lock those bytes as well.
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

    /// Applies a complete journal, beginning with the mark. `is_earlier` says that it is the change of an
    /// earlier writer, which has already saved what readers need.
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
        // The caller did not ask for an earlier writer's change, so its failure is not `Committed`.
        done.map_err(|error| if is_earlier { error } else { committed(error) })
    }

    /// Applies the change to a marked file, and removes the mark.
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
        // A journal that may be needed stays for the next writer. One that cannot be removed has no effect on
        // readers.
        if !self.is_poisoned && is_complete && self.abandon().is_ok() {
            let _ = self.for_readers(|keeper, site| keeper.take_leave(site));
            if self.has_journal() {
                let _ = self.folder.remove(&self.journal_name);
            }
        }
        // A forked child has the journal open, too, so closing it here would not unlock it.
        let _ = self.journal.unlock();
    }
}

/// Whether the file has the mark: a change of it is being applied, or was interrupted.
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

/// The temporary name of a file's replacement. It does not contain the file's name, because both together could
/// exceed the maximum length of a name.
pub(super) fn replacement_name(salt: Salt) -> OsString {
    format!(".blpk-{}.tmp", salt.text()).into()
}

/// The ranges of a file of length `len` that a change overwrites or truncates.
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
