//! [`Reading`]: reads that all see the same content, whatever a writer does.

use super::{Follower, View};
use crate::{Lock, ReadAt};
use std::io;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The content that a reader keeps.
pub(crate) struct Reading<F> {
    /// `None` if a lock excludes writers.
    pub follower: Option<Follower<F>>,
    pub view: RwLock<View<F>>,
}

impl<F: ReadAt + Lock> Reading<F> {
    /// Repeats `look` until no commit has begun in between. `file` is the announced handle.
    ///
    /// # Errors
    /// Returns an error if the content is lost, and the errors of `look`.
    pub(crate) fn look<T>(
        &self,
        file: &F,
        mut look: impl FnMut(&View<F>) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            let view = self.view();
            let found = look(&view);
            match &self.follower {
                Some(follower) if !follower.is_current(file, &view)? => {
                    drop(view);
                    let view = self.view.write();
                    let mut view = view.unwrap_or_else(PoisonError::into_inner);
                    follower.catch_up(file, &mut view)?;
                }
                _ => return found,
            }
        }
    }

    /// Whether nothing was changed between the beginnings of this reading and of a later one.
    pub(crate) fn is_same(&self, new: &Self) -> bool {
        match (&self.follower, &new.follower) {
            (Some(old), Some(follower)) if old.is_of(follower) => self.view().is_same(&new.view()),
            // A locked file can only have been replaced.
            _ => false,
        }
    }

    pub(crate) fn view(&self) -> RwLockReadGuard<'_, View<F>> {
        self.view.read().unwrap_or_else(PoisonError::into_inner)
    }
}
