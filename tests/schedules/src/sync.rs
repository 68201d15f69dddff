//! The items of the module of the same name in `parallel`, taken from the tool.

#[cfg(feature = "shuttle")]
pub use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, mpsc},
    thread::{self, Scope, ScopedJoinHandle},
};

#[cfg(feature = "shuttle")]
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Some(scope.spawn(work))
}

#[cfg(feature = "loom")]
#[path = "loom_channel.rs"]
pub mod mpsc;

/// Loom has no threads that borrow, and therefore cannot run the rest of `parallel`.
#[cfg(feature = "loom")]
pub use loom::{sync::Mutex, thread};
