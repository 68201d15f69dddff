//! The locks and threads of everything that runs on several threads, in one place: the
//! models in `tests/schedules` replace this module by one that tries out the orders in which
//! threads may meet.

pub use std::sync::{Condvar, Mutex, MutexGuard};
pub use std::thread::{self, Scope, ScopedJoinHandle};

/// Starts a thread that may borrow what outlives the scope; `None` if the system starts no more.
pub(super) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    thread::Builder::new().spawn_scoped(scope, work).ok()
}
