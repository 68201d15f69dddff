//! [`Trouble`]: a failure after which no requests are made for a while.

use crate::error::Failure;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The failure of an object, or of everything that was opened at once. Until a pause is over, later requests
/// fail with the same error without being made. Otherwise code that continues after an error, or tries another
/// way to open a URL, would repeat all retries each time.
#[derive(Debug)]
pub(crate) struct Trouble {
    pause: Duration,
    last: Mutex<Option<(Instant, Failure)>>,
}

impl Trouble {
    pub fn new(pause: Duration) -> Self {
        Self {
            pause,
            last: Mutex::default(),
        }
    }

    /// Returns the failure if it is more recent than the pause.
    pub fn check(&self) -> Result<(), Failure> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((at, failure)) if at.elapsed() < self.pause => Err(failure.clone()),
            _ => Ok(()),
        }
    }

    pub fn note(&self, failure: &Failure) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((Instant::now(), failure.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_kept_for_the_pause() {
        let failure = Failure::ended();
        let trouble = Trouble::new(Duration::from_secs(600));
        assert_eq!(trouble.check(), Ok(()));
        trouble.note(&failure);
        assert_eq!(trouble.check(), Err(failure.clone()));
        let trouble = Trouble::new(Duration::ZERO);
        trouble.note(&failure);
        assert_eq!(trouble.check(), Ok(()));
    }
}
