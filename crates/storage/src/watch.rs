//! [`FileWatch`]: waits until a file may have changed.

use crate::Disk;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// The pause between two looks at the file.
const PAUSE: Duration = Duration::from_millis(200);
/// Two writes that are closer together may have the same time.
const STEP: Duration = Duration::from_millis(50);
/// The same on file systems whose times have no fractions of a second.
const LONG_STEP: Duration = Duration::from_secs(2);

/// Waits until the file at a path may have changed, or another file has taken its place.
///
/// On Linux the system reports changes at once (inotify). Elsewhere, and on file systems that report
/// nothing, such as those of a network, the file is looked at five times a second.
///
/// Create it before the file is read: changes from then on are reported. A report may be wrong, and
/// several changes may be reported as one.
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

/// Ends waiting, from another thread: all clones are one.
#[derive(Debug, Clone, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Ends the wait of everyone that has this, in a fifth of a second at most, and all later ones.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was called.
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
    /// Another change may leave all of this as it is.
    is_recent: bool,
    taken: Instant,
}

impl Look {
    /// Nothing if there is no file.
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
            // A time in the future is recent as well.
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

/// The time of the last change has to be enough.
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

    /// Waits until the file may have changed since this was last said, and says so. Returns false
    /// after the time is over, or if it was stopped; without a time it waits for ever.
    ///
    /// # Errors
    /// Returns any error of the file system. A file that has no name any more is waited for.
    pub fn wait(&mut self, time: Option<Duration>) -> io::Result<bool> {
        // No deadline that far away is ever reached.
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

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Whether the file is another one than at the last look, as far as that can be seen.
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

    /// Bytes of events that are read at once; a name has up to 255.
    const ROOM: usize = 4096;
    /// Reports that are taken at once. In a busy folder there may be others all the time.
    const MAX_REPORTS: u32 = 1000;

    /// The reports of the system on a file, and on other files that get its name in its folder.
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

        /// Adds the file at this path, unless it is there already. If it has gone, the name will be reported when it
        /// comes back; any other file is looked at.
        pub(super) fn watch(&self, path: &Path) {
            let _ = inotify::add_watch(&self.queue, path, WatchFlags::MODIFY);
        }

        /// Takes all reports, and returns whether one of them is on the file.
        pub(super) fn drain(&self) -> bool {
            let mut room = [MaybeUninit::uninit(); ROOM];
            let mut reader = Reader::new(&self.queue, &mut room);
            let mut is_reported = false;
            for _ in 0..MAX_REPORTS {
                let Ok(event) = reader.next() else { break };
                let name = event.file_name();
                // Reports on the file itself have no name, nor has the one that some were lost.
                is_reported |= name.is_none_or(|name| name.to_bytes() == self.name.as_bytes());
            }
            is_reported
        }

        /// Waits for a report, for some time.
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
