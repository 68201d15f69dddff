//! [`Lock`]: which handles may read and write a file at the same time.

use crate::write_at::retry;
use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// How a file or a folder is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// Together with other readers.
    Shared,
    /// By one writer alone.
    Exclusive,
}

/// A file that its users can lock against one another. Locks are advisory: they bind only programs
/// that ask for them. They end when the file is closed.
pub trait Lock {
    /// Locks the file, in place of the lock that this handle may have; false if other handles have
    /// a lock that excludes this one. Where the file system has no locks, this always succeeds.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn try_lock(&self, mode: LockMode) -> io::Result<bool>;

    /// Releases the lock, if this handle has one.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn unlock(&self) -> io::Result<()>;
}

impl Lock for File {
    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        let done = match mode {
            LockMode::Shared => self.try_lock_shared(),
            LockMode::Exclusive => self.try_lock(),
        };
        match done {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            // Without a lock a file can still be used by one process at a time.
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

/// Whether this is the error of a file system without locks. Some network file systems have none:
/// NFS without its lock daemon reports `ENOLCK`.
fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::ENOLCK) {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

/// The pause between the first two attempts; each pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Locks a file. While other handles exclude that, tries again as long as `may_wait`, which gets
/// the time waited so far, returns true; false if it was given up.
pub(crate) fn wait_for<F: Lock>(
    file: &F,
    mode: LockMode,
    may_wait: impl Fn(Duration) -> bool,
) -> io::Result<bool> {
    let attempt = || Ok(file.try_lock(mode)?.then_some(()));
    Ok(wait_until(attempt, may_wait)?.is_some())
}

/// Tries until `attempt` returns something, as long as `may_wait`, which gets the time waited so
/// far, returns true.
pub(crate) fn wait_until<T>(
    mut attempt: impl FnMut() -> io::Result<Option<T>>,
    may_wait: impl Fn(Duration) -> bool,
) -> io::Result<Option<T>> {
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(None) if may_wait(begun.elapsed()) => thread::sleep(pause),
            done => return done,
        }
        // At most 20 ms before the minimum: it cannot overflow.
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
