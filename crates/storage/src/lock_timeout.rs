//! [`LockTimeout`]: how long to wait for others.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long a change waits for those who are reading, and who is asked meanwhile.
#[derive(Clone)]
pub struct LockTimeout {
    most: Duration,
    goes_on: Option<Arc<dyn Fn(Duration) -> bool + Send + Sync>>,
}

impl LockTimeout {
    /// So long, and nobody is asked.
    pub fn of(most: Duration) -> Self {
        Self {
            most,
            goes_on: None,
        }
    }

    /// Waits so long at the most.
    pub fn set(&mut self, most: Duration) {
        self.most = most;
    }

    /// Asks whether to wait on, with how long it has been.
    pub fn ask(&mut self, goes_on: impl Fn(Duration) -> bool + Send + Sync + 'static) {
        self.goes_on = Some(Arc::new(goes_on));
    }

    /// Whether to wait on.
    pub(super) fn lasts(&self, waited: Duration) -> bool {
        let goes_on = self.goes_on.as_ref();
        waited < self.most && goes_on.is_none_or(|goes_on| goes_on(waited))
    }
}

impl fmt::Debug for LockTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("LockTimeout");
        text.field("most", &self.most).finish_non_exhaustive()
    }
}
