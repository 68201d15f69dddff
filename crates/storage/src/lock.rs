//! [`Lock`]: which handles may read and write a file at the same time.

use crate::Presence;
use crate::error::has_no_locks;
use crate::write_at::retry;
use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;

/// How a file or a folder is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// Together with other readers.
    Shared,
    /// By one writer alone.
    Exclusive,
}

/// A file that its users can lock against one another. Locks are advisory: they bind only programs
/// that ask for them. On Windows they bind everyone: no other handle reads what is locked by one that writes, or writes what
/// is locked for reading. They end when the file is closed.
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

    /// The means by which handles of this file see one another, if there are any. Without them,
    /// readers and writers wait for one another.
    fn presence(&self) -> Option<&dyn Presence> {
        None
    }
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
            Err(error) if has_no_locks(&error) || is_unlocked(&error) => Ok(()),
            done => done,
        }
    }

    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    fn presence(&self) -> Option<&dyn Presence> {
        Some(self)
    }
}

impl<T: Lock + ?Sized> Lock for Arc<T> {
    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        (**self).try_lock(mode)
    }

    fn unlock(&self) -> io::Result<()> {
        (**self).unlock()
    }

    fn presence(&self) -> Option<&dyn Presence> {
        (**self).presence()
    }
}

/// Whether nothing was left to unlock. On Windows, the standard library unlocks twice, since a handle may have a lock of each
/// kind; wine has another error for the second time.
fn is_unlocked(error: &io::Error) -> bool {
    const LOCK_VIOLATION: i32 = 33;
    cfg!(windows) && error.raw_os_error() == Some(LOCK_VIOLATION)
}
