//! [`LockTimeout`]: how long to wait for a lock.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long a writer waits for readers to release a file or a store.
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
    /// Waits up to this long. With a limit of zero there is one attempt and no wait.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
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
    pub(crate) fn allows(&self, waited: Duration) -> bool {
        let keep_waiting = self.keep_waiting.as_ref();
        waited < self.limit && keep_waiting.is_none_or(|keep_waiting| keep_waiting(waited))
    }
}

impl fmt::Debug for LockTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("LockTimeout");
        text.field("limit", &self.limit).finish_non_exhaustive()
    }
}
