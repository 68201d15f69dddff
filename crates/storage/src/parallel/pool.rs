//! [`Pool`]: objects that threads borrow one at a time.

use super::sync::Mutex;
use std::fmt;
use std::sync::PoisonError;

/// Maximum number of idle objects. No caller has more threads.
const MAX_IDLE: usize = 64;

/// Expensive objects, such as decoders, encoders and buffers, each lent to one thread at a time.
///
/// It makes as many objects as are in use at once. A buffer keeps its memory, and a decoder its contexts, from
/// one use to the next.
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// Runs `act` with an object of the pool, or with a new one from `make` if all are in use.
    ///
    /// The object returns to the pool even if `act` fails. It is dropped if `act` panics, and if 64 are idle.
    ///
    /// # Errors
    /// Returns the error of `make` or of `act`.
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
