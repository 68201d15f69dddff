//! [`LockTimeout`]: how long to wait for a lock.

use crate::{Lock, LockMode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

/// The pause after the first attempt. Each pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// How long a writer waits for a file or a store that others have locked: 10 seconds by default.
///
/// Attempts follow at intervals of 0.2 to 10 ms on the calling thread.
///
/// ```
/// use bloscpack_storage::LockTimeout;
/// use std::time::Duration;
/// let mut timeout = LockTimeout::new(Duration::from_secs(10));
/// // Called while waiting, for example to show it to the user or to give up early.
/// timeout.keep_waiting_while(|waited| waited < Duration::from_secs(5));
/// ```
#[derive(Clone)]
pub struct LockTimeout {
    limit: Duration,
    keep_waiting: Option<Arc<dyn Fn(Duration) -> bool + Send + Sync>>,
}

impl LockTimeout {
    /// How long a reader waits for a commit, which normally takes moments.
    pub(crate) const OF_READERS: Self = Self::new(Duration::from_secs(60));

    /// Waits up to `limit`. With zero there is one attempt:
    ///
    /// ```
    /// use bloscpack_storage::{Error, JournaledFile, LockTimeout, Memory};
    /// use std::io::ErrorKind;
    /// use std::time::Duration;
    ///
    /// let folder = Memory::from([("log", b"one".to_vec())]);
    /// let once = LockTimeout::new(Duration::ZERO);
    /// let first = JournaledFile::open(folder.clone(), "log".as_ref(), &once)?;
    /// let second = JournaledFile::open(folder, "log".as_ref(), &once);
    /// assert!(matches!(second, Err(Error::Io(error)) if error.kind() == ErrorKind::ResourceBusy));
    /// # drop(first);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub const fn new(limit: Duration) -> Self {
        Self {
            limit,
            keep_waiting: None,
        }
    }

    /// Changes the limit and keeps the function of [`keep_waiting_while`](Self::keep_waiting_while).
    pub fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Calls `keep_waiting` between attempts, with the time waited so far, and stops waiting when it returns
    /// false. The limit still applies. Clones share the function.
    pub fn keep_waiting_while(
        &mut self,
        keep_waiting: impl Fn(Duration) -> bool + Send + Sync + 'static,
    ) {
        self.keep_waiting = Some(Arc::new(keep_waiting));
    }

    /// Whether to wait longer.
    fn allows(&self, waited: Duration) -> bool {
        let keep_waiting = self.keep_waiting.as_ref();
        waited < self.limit && keep_waiting.is_none_or(|keep_waiting| keep_waiting(waited))
    }

    /// Locks a file; false after the timeout.
    pub(crate) fn lock<F: Lock>(&self, file: &F, mode: LockMode) -> io::Result<bool> {
        let locked = self.wait(|| Ok(file.try_lock(mode)?.then_some(())))?;
        Ok(locked.is_some())
    }

    /// Repeats `attempt` until it returns something; `None` after the timeout.
    pub(crate) fn wait<T>(
        &self,
        mut attempt: impl FnMut() -> io::Result<Option<T>>,
    ) -> io::Result<Option<T>> {
        // Read only when it has to wait: not every platform has a clock.
        let mut begun = None;
        let mut waited = || begun.get_or_insert_with(Instant::now).elapsed();
        let mut pause = FIRST_PAUSE;
        loop {
            match attempt() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(None) if self.allows(waited()) => thread::sleep(pause),
                done => return done,
            }
            // At most 20 ms before `min`, so it cannot overflow.
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl Default for LockTimeout {
    fn default() -> Self {
        Self::new(Duration::from_secs(10))
    }
}

impl fmt::Debug for LockTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("LockTimeout");
        text.field("limit", &self.limit).finish_non_exhaustive()
    }
}
