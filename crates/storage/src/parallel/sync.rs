//! What work for several threads is made of, in one place: `tests/schedules` puts locks, channels and threads of its own here,
//! which try out the orders in which threads may meet.

pub use std::sync::{Condvar, Mutex, MutexGuard, mpsc};
pub use std::thread::{self, Scope, ScopedJoinHandle};

/// Starts a thread that may borrow what outlives the scope; nothing where the system gives none.
pub(crate) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    thread::Builder::new().spawn_scoped(scope, work).ok()
}
