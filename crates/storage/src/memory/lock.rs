//! [`MemoryLock`]: locks of files and folders in memory.

use crate::LockMode;
use crate::mutex::locked;
use std::sync::{Arc, Mutex};

/// The holders of a lock on a file or a folder in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryLock(Mutex<Holders>);

#[derive(Debug, Default)]
struct Holders {
    shared: usize,
    exclusive: bool,
}

/// The lock of a file or a folder in memory. Dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct MemoryGuard {
    lock: Arc<MemoryLock>,
    mode: LockMode,
}

impl MemoryLock {
    /// Locks the file or folder; `None` if another lock excludes this one.
    pub(crate) fn try_lock(self: &Arc<Self>, mode: LockMode) -> Option<MemoryGuard> {
        let mut holders = locked(&self.0);
        match mode {
            _ if holders.exclusive => return None,
            LockMode::Exclusive if holders.shared > 0 => return None,
            LockMode::Exclusive => holders.exclusive = true,
            LockMode::Shared => holders.shared += 1,
        }
        let lock = Arc::clone(self);
        Some(MemoryGuard { lock, mode })
    }
}

impl Drop for MemoryGuard {
    fn drop(&mut self) {
        let mut holders = locked(&self.lock.0);
        match self.mode {
            LockMode::Exclusive => holders.exclusive = false,
            LockMode::Shared => holders.shared -= 1,
        }
    }
}
