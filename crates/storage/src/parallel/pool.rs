//! [`Pool`]: objects that threads borrow one at a time.

use super::sync::Mutex;
use std::fmt;
use std::sync::PoisonError;

/// Idle objects kept at most; no caller has more threads than that.
const MAX_IDLE: usize = 64;

/// Decoders, encoders and buffers that are expensive to make, each lent to one thread at a time.
///
/// As many are made as are in use at once; a buffer keeps its memory and a decoder its contexts
/// from one use to the next.
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// Runs `act` with an object of the pool, or with a new one from `make` if all are in use.
    ///
    /// The object returns to the pool even if `act` fails; if `act` panics, it is dropped.
    ///
    /// # Errors
    /// Returns the error of `make`, or that of `act`.
    pub fn lend<R, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
        act: impl FnOnce(&mut T) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut object = match self.take() {
            Some(idle) => idle,
            None => make()?,
        };
        let done = act(&mut object);
        self.give_back(object);
        done
    }

    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, object: T) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(object);
        }
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
