//! The items of the module of the same name in `parallel`, taken from the tool.

#[cfg(feature = "shuttle")]
pub use shuttle::{
    sync::{Condvar, Mutex, MutexGuard},
    thread::{self, Scope, ScopedJoinHandle},
};

#[cfg(feature = "shuttle")]
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Some(scope.spawn(work))
}

/// Loom has no threads that borrow, and therefore cannot run the rest of `parallel`.
#[cfg(feature = "loom")]
pub use loom::{
    sync::{Condvar, Mutex, MutexGuard},
    thread,
};
