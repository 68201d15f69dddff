//! [`Lock`]: who may read and who may write a file at the same time.

use super::write_at::retry;
use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// How a file is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// Together with others who only read.
    Shared,
    /// Alone.
    Exclusive,
}

/// A file that its users can lock against one another. Locks are advice: they bind only those who
/// ask for them. They end when the file is closed.
pub trait Lock {
    /// Takes a hold of the file, in place of the one that this handle may have; false if others
    /// hold it in a way that excludes that. Where there are no locks at all it is granted.
    ///
    /// # Errors
    /// Those of the file.
    fn try_lock(&self, hold: LockMode) -> io::Result<bool>;

    /// Gives up the hold.
    ///
    /// # Errors
    /// Those of the file.
    fn unlock(&self) -> io::Result<()>;
}

impl Lock for File {
    fn try_lock(&self, hold: LockMode) -> io::Result<bool> {
        let done = match hold {
            LockMode::Shared => self.try_lock_shared(),
            LockMode::Exclusive => self.try_lock(),
        };
        match done {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            // Better unlocked than not at all.
            Err(TryLockError::Error(error)) if has_no_locks(&error) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        match retry(|| Self::unlock(self)) {
            Err(error) if has_no_locks(&error) => Ok(()),
            done => done,
        }
    }
}

/// Whether this is a file system without locks, as some network ones are: NFS without its lock
/// daemon says `ENOLCK`.
fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::ENOLCK) {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

/// How long to wait between two tries, at first and at the most.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Takes a hold of a file, waiting for others to let go of it as long as `goes_on` says so of the
/// time that it has been; false if they do not.
pub(super) fn wait_for<F: Lock>(
    file: &F,
    hold: LockMode,
    goes_on: impl Fn(Duration) -> bool,
) -> io::Result<bool> {
    let attempt = || Ok(file.try_lock(hold)?.then_some(()));
    Ok(wait_until(attempt, goes_on)?.is_some())
}

/// Tries until there is something, as long as `goes_on` says so of the time that it has been.
pub(super) fn wait_until<T>(
    mut attempt: impl FnMut() -> io::Result<Option<T>>,
    goes_on: impl Fn(Duration) -> bool,
) -> io::Result<Option<T>> {
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(None) if goes_on(begun.elapsed()) => thread::sleep(pause),
            done => return done,
        }
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
    }
}
