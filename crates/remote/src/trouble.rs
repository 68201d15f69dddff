//! [`Trouble`]: a failure after which nothing more is asked for a while.

use crate::error::Failure;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The failure for which something was given up: an object, or all that was opened at once. Whoever asks for more has the same
/// failure, without a request, until a pause is over. Code that goes on after an error, or tries another way to open a URL, would
/// otherwise repeat all tries each time.
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

    /// Returns the failure, if there was one within the pause.
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
