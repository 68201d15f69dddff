//! Encoders, decoders and buffers that are kept, so that each thread finds one with its memory and contexts ready.

use super::threads::Mutex;
use std::fmt;
use std::sync::PoisonError;

/// No more are kept than threads that anybody has.
const MOST: usize = 64;

/// Things that are lent one at a time, and made when there are too few.
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// Does something with one of them.
    pub fn lend<R, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
        act: impl FnOnce(&mut T) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut one = match self.take() {
            Some(kept) => kept,
            None => make()?,
        };
        let done = act(&mut one);
        self.give_back(one);
        done
    }

    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, one: T) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST {
            idle.push(one);
        }
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
