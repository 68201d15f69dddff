//! The locks and threads of all parallel code. The models in `tests/schedules` replace this module by one that
//! tries out different orders of the threads' operations.

pub use std::sync::{Condvar, Mutex, MutexGuard};
pub use std::thread::{self, Scope, ScopedJoinHandle};

/// Starts a thread that may borrow from outside the scope; `None` if the system cannot start one.
pub(super) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    thread::Builder::new().spawn_scoped(scope, work).ok()
}
