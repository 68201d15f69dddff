//! [`FileWatch`]: waits until a file may have changed.

use crate::Disk;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// The pause between two checks of the file.
const PAUSE: Duration = Duration::from_millis(200);
/// Two writes within this time may leave the same modification time.
const STEP: Duration = Duration::from_millis(50);
/// As `STEP`, on file systems whose times are whole seconds.
const LONG_STEP: Duration = Duration::from_secs(2);

/// Waits until the file at a path may have changed, or another file has its name.
///
/// On Linux the system reports changes at once (inotify). Elsewhere, and on file systems without reports, such
/// as network ones, the file is checked five times a second.
///
/// Create the watch before reading the file: it reports changes from its creation. A report can be false, and
/// several changes can be one report.
///
/// ```
/// use bloscpack_storage::{FileWatch, StopSignal};
/// use std::time::Duration;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("log");
/// std::fs::write(&path, "one")?;
/// let mut watch = FileWatch::new(&path, StopSignal::default())?;
/// std::fs::write(&path, "one two")?;
/// assert!(watch.wait(Some(Duration::from_secs(10)))?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct FileWatch {
    path: PathBuf,
    stop: StopSignal,
    seen: Option<Look>,
    #[cfg(target_os = "linux")]
    events: Option<linux::Events>,
}

/// Stops a [`FileWatch`] from another thread. Clones share one signal, which cannot be reset.
///
/// ```
/// use bloscpack_storage::{FileWatch, StopSignal};
/// # let file = tempfile::NamedTempFile::new()?;
/// # let path = file.path();
/// let stop = StopSignal::default();
/// let mut watch = FileWatch::new(path, stop.clone())?;
/// stop.stop();
/// // Without a limit, only a change or the signal ends the wait.
/// assert!(!watch.wait(None)?);
/// assert!(watch.is_stopped());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Ends the waits of all watches with this signal, within a fifth of a second, and all later ones at once.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether [`stop`](Self::stop) was called.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A file as it was at one moment.
#[derive(Debug, Clone)]
struct Look {
    modified: SystemTime,
    len: u64,
    identity: (u64, u64),
    /// Another change may leave all these fields unchanged.
    is_recent: bool,
    taken: Instant,
}

impl Look {
    /// `None` if there is no file.
    fn at(path: &Path) -> io::Result<Option<Self>> {
        let found = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        let modified = found.modified()?;
        let age = SystemTime::now().duration_since(modified);
        let time = modified.duration_since(SystemTime::UNIX_EPOCH);
        let step = if time.is_ok_and(|time| time.subsec_nanos() > 0) {
            STEP
        } else {
            LONG_STEP
        };
        Ok(Some(Self {
            modified,
            len: found.len(),
            identity: identity(&found),
            // A time in the future counts as recent.
            is_recent: !age.is_ok_and(|age| age >= step),
            taken: Instant::now(),
        }))
    }

    fn is_same(&self, other: &Self) -> bool {
        let state = |look: &Self| (look.modified, look.len, look.identity);
        state(self) == state(other)
    }
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// This system has no identities of files; the modification time has to do.
#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}

impl FileWatch {
    /// Watches the file at this path, which must exist. Links are followed.
    ///
    /// # Errors
    /// Returns any error of the file system.
    pub fn new(path: impl Into<PathBuf>, stop: StopSignal) -> io::Result<Self> {
        let path = path.into();
        #[cfg(target_os = "linux")]
        let (folder, name) = Disk::of(&path)?;
        #[cfg(not(target_os = "linux"))]
        Disk::of(&path)?;
        let watch = Self {
            #[cfg(target_os = "linux")]
            events: linux::Events::of(&folder, name).ok(),
            seen: Look::at(&path)?,
            path,
            stop,
        };
        watch.renew();
        Ok(watch)
    }

    /// Blocks until the file may have changed since the last report, and returns true. Returns false after
    /// `time`, or if the signal was stopped. `None` waits without a limit.
    ///
    /// # Errors
    /// Returns any error of the file system. A removed file is not an error: the removal is a report, and the
    /// next call waits until the name exists again.
    pub fn wait(&mut self, time: Option<Duration>) -> io::Result<bool> {
        // A deadline beyond the clock's range is never reached.
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        while !self.stop.is_stopped() {
            let is_reported = self.is_reported();
            if self.has_changed()? || is_reported {
                self.renew();
                return Ok(true);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            self.pause(left.unwrap_or(PAUSE).min(PAUSE))?;
        }
        Ok(false)
    }

    /// Whether its [`StopSignal`] was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Whether the file differs from the last check, as far as that can be seen.
    fn has_changed(&mut self) -> io::Result<bool> {
        let now = Look::at(&self.path)?;
        let is_certain = |seen: &Look| !seen.is_recent || seen.taken.elapsed() < PAUSE;
        let is_same = match (&self.seen, &now) {
            (Some(seen), Some(now)) => seen.is_same(now) && is_certain(seen),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            self.seen = now;
        }
        Ok(!is_same)
    }

    #[cfg(target_os = "linux")]
    fn is_reported(&self) -> bool {
        self.events.as_ref().is_some_and(linux::Events::drain)
    }

    #[cfg(not(target_os = "linux"))]
    fn is_reported(&self) -> bool {
        false
    }

    /// Watches the file that has the path now.
    #[cfg(target_os = "linux")]
    fn renew(&self) {
        if let Some(events) = &self.events {
            events.watch(&self.path);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn renew(&self) {}

    #[cfg(target_os = "linux")]
    fn pause(&self, time: Duration) -> io::Result<()> {
        match &self.events {
            Some(events) => events.pause(time),
            None => {
                std::thread::sleep(time);
                Ok(())
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn pause(&self, time: Duration) -> io::Result<()> {
        std::thread::sleep(time);
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use crate::Disk;
    use crate::error::bug;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fd::OwnedFd;
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    use rustix::io::Errno;
    use std::ffi::{OsStr, OsString};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::time::Duration;

    /// Bytes of events read at once. A name has up to 255 bytes.
    const ROOM: usize = 4096;
    /// Reports taken at once. A busy folder may produce them without pause.
    const MAX_REPORTS: u32 = 1000;

    /// Reports of the system about a file, and about other files that get its name in its folder.
    #[derive(Debug)]
    pub(super) struct Events {
        queue: OwnedFd,
        name: OsString,
    }

    impl Events {
        pub(super) fn of(folder: &Disk, name: OsString) -> io::Result<Self> {
            let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            let names = WatchFlags::CREATE | WatchFlags::MOVED_TO;
            inotify::add_watch(&queue, folder.path_of(OsStr::new(".")), names)?;
            Ok(Self { queue, name })
        }

        /// Adds the file at this path, unless it is watched already. A missing file is reported when its name
        /// returns; every other case is covered by checking the file.
        pub(super) fn watch(&self, path: &Path) {
            let _ = inotify::add_watch(&self.queue, path, WatchFlags::MODIFY);
        }

        /// Takes all reports, and returns whether one of them is about the file.
        pub(super) fn drain(&self) -> bool {
            let mut room = [MaybeUninit::uninit(); ROOM];
            let mut reader = Reader::new(&self.queue, &mut room);
            let mut is_reported = false;
            for _ in 0..MAX_REPORTS {
                let Ok(event) = reader.next() else { break };
                let name = event.file_name();
                // Reports about the file itself have no name; neither does the report that others were lost.
                is_reported |= name.is_none_or(|name| name.to_bytes() == self.name.as_bytes());
            }
            is_reported
        }

        /// Waits up to `time` for a report.
        pub(super) fn pause(&self, time: Duration) -> io::Result<()> {
            let time = Timespec::try_from(time).map_err(|_| bug(format!("{time:?}")))?;
            let mut queues = [PollFd::new(&self.queue, PollFlags::IN)];
            match poll(&mut queues, Some(&time)) {
                Ok(_) | Err(Errno::INTR) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
    }
}
