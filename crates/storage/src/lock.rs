//! [`Lock`]: readers and writers exclude each other.

use crate::Presence;
use crate::error::has_no_locks;
use crate::write_at::retry;
use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;

/// Whether a lock admits others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// Several handles can hold it, for reading.
    Shared,
    /// One handle holds it, for writing.
    Exclusive,
}

/// A file that its users can lock against one another.
///
/// On Unix, locks are advisory: they bind only programs that ask for them. On Windows they bind every program:
/// another handle can neither read bytes locked exclusively nor write bytes locked for reading. A lock belongs
/// to the handle and ends when the file is closed.
///
/// ```
/// use bloscpack_storage::{Access, Folder, Lock, LockMode, Memory};
///
/// let folder = Memory::from([("a", Vec::new())]);
/// let one = folder.open("a".as_ref(), Access::Read)?;
/// let two = folder.open("a".as_ref(), Access::Read)?;
/// assert!(one.try_lock(LockMode::Shared)? && two.try_lock(LockMode::Shared)?);
/// assert!(!one.try_lock(LockMode::Exclusive)?);
/// drop(two);
/// assert!(one.try_lock(LockMode::Exclusive)?);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Lock {
    /// Tries to lock the file without waiting. Replaces the lock that this handle already holds, which may be
    /// lost if this returns false. Returns false if another handle's lock excludes this one, and true on a file
    /// system without locks.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn try_lock(&self, mode: LockMode) -> io::Result<bool>;

    /// Releases this handle's lock, if it holds one.
    ///
    /// # Errors
    /// Returns any error of the file.
    fn unlock(&self) -> io::Result<()>;

    /// How handles of this file see one another; `None` if they cannot, and readers and writers wait for one
    /// another. A [`File`] on 64-bit Linux has one, which works on local file systems only (see
    /// [`Presence::announce`]).
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
            // A file without locks can still be used, by one process at a time.
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

/// Whether there was nothing to unlock. On Windows, the standard library unlocks twice, because a handle may
/// hold a lock of each mode; Wine returns another error for the second call.
fn is_unlocked(error: &io::Error) -> bool {
    const LOCK_VIOLATION: i32 = 33;
    cfg!(windows) && error.raw_os_error() == Some(LOCK_VIOLATION)
}
