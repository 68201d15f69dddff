//! [`LockTimeout`]: how long to wait for a lock.

use crate::{Lock, LockMode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

/// The pause between the first two attempts; each pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// How long a writer waits for readers to release a file or a store: by default 10 seconds.
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
    /// How long a reader waits for a change that is being made, which takes moments.
    pub(crate) const OF_READERS: Self = Self::new(Duration::from_secs(60));

    /// Waits up to this long. With a limit of zero there is one attempt and no wait.
    #[must_use]
    pub const fn new(limit: Duration) -> Self {
        Self {
            limit,
            keep_waiting: None,
        }
    }

    /// Changes the limit.
    pub fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Waits only as long as this function, called between attempts with the time waited so far,
    /// returns true; and no longer than the limit.
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

    /// Locks a file; false if other handles excluded that for too long.
    pub(crate) fn lock<F: Lock>(&self, file: &F, mode: LockMode) -> io::Result<bool> {
        let locked = self.wait(|| Ok(file.try_lock(mode)?.then_some(())))?;
        Ok(locked.is_some())
    }

    /// Tries until `attempt` returns something; `None` if that took too long.
    pub(crate) fn wait<T>(
        &self,
        mut attempt: impl FnMut() -> io::Result<Option<T>>,
    ) -> io::Result<Option<T>> {
        // Looked at only once there is something to wait for: not every platform has a clock.
        let mut begun = None;
        let mut waited = || begun.get_or_insert_with(Instant::now).elapsed();
        let mut pause = FIRST_PAUSE;
        loop {
            match attempt() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(None) if self.allows(waited()) => thread::sleep(pause),
                done => return done,
            }
            // At most 20 ms before the minimum: it cannot overflow.
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
