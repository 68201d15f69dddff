//! [`Reading`]: reads that belong together, whatever a writer does meanwhile.

use super::{Follower, View};
use crate::{Lock, ReadAt};
use std::io;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The content that a reader keeps.
pub(crate) struct Reading<F> {
    /// `None` if writers are excluded by a lock.
    pub follower: Option<Follower<F>>,
    pub view: RwLock<View<F>>,
}

impl<F: ReadAt + Lock> Reading<F> {
    /// Looks something up until no commit has come in between. `file` is the handle that is
    /// announced.
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
            // Locked, it can only have been replaced.
            _ => false,
        }
    }

    pub(crate) fn view(&self) -> RwLockReadGuard<'_, View<F>> {
        self.view.read().unwrap_or_else(PoisonError::into_inner)
    }
}
