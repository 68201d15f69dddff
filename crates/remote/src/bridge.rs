//! [`Bridge`]: runs asynchronous work for threads that wait for it.

use bloscpack::storage::internal::Process;
use std::future::Future;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Runs asynchronous work on one background thread, for callers that wait for it.
///
/// It can be used from any thread, including one that runs the tasks of another runtime: nothing is polled on
/// the caller's thread, which only waits on a channel. Clones share the runtime, which ends when the last one
/// is dropped.
///
/// ```
/// let bridge = bloscpack_remote::Bridge::new()?;
/// assert_eq!(bridge.wait(async { 6 * 7 })?, 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bridge {
    handle: Handle,
    /// A forked child has no background thread, and would wait forever.
    process: Process,
    _running: Option<Arc<Running>>,
}

/// Ends the background thread when it is dropped.
#[derive(Debug)]
struct Running(#[expect(dead_code, reason = "its end ends the thread")] oneshot::Sender<()>);

impl Bridge {
    /// Starts the background thread and its runtime.
    ///
    /// # Errors
    /// Returns any error of the system for a thread or a runtime.
    pub fn new() -> io::Result<Self> {
        let (started, starts) = mpsc::sync_channel(1);
        let (running, ends) = oneshot::channel();
        let thread = thread::Builder::new().name("bloscpack-remote".to_owned());
        thread.spawn(move || {
            match Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => {
                    let _ = started.send(Ok(runtime.handle().clone()));
                    // Nothing is ever sent: this returns when the other half is dropped.
                    let _ = runtime.block_on(ends);
                }
                Err(error) => drop(started.send(Err(error))),
            }
        })?;
        Ok(Self {
            handle: starts.recv().map_err(|_| ended())??,
            process: Process::current(),
            _running: Some(Arc::new(Running(running))),
        })
    }

    /// Runs the work in a runtime of the caller, which must outlive it. A thread that waits must not be the
    /// only one that runs the tasks: with a single-threaded runtime, do not call from its own tasks.
    #[must_use]
    pub fn of(handle: Handle) -> Self {
        Self {
            handle,
            process: Process::current(),
            _running: None,
        }
    }

    /// Whether this process made the bridge, rather than a process that has forked this one.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.process.is_current()
    }

    /// Refuses to wait in a process without the background thread.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.process.check()
    }

    /// Starts work without waiting for it.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn(work));
    }

    /// Runs `work` and blocks until it is done.
    ///
    /// # Errors
    /// Returns an error if the runtime ends first, if the work panics, and in a process that was forked after
    /// making the bridge.
    pub fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        self.check()?;
        let (done, result) = mpsc::sync_channel(1);
        self.spawn(async move {
            // Fails if the caller no longer waits.
            let _ = done.send(work.await);
        });
        result.recv().map_err(|_| ended())
    }
}

fn ended() -> io::Error {
    io::Error::other("the runtime of the object store has ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_from_inside_of_any_runtime() {
        let bridge = Bridge::new().unwrap();
        let runtime = Builder::new_current_thread().build().unwrap();
        let inside = bridge.clone();
        let found = runtime.block_on(async move { inside.wait(async { 1 }).unwrap() });
        assert_eq!(found, 1);
        // Also in the runtime of the other bridge, and in the destructor of a runtime.
        let other = Bridge::new().unwrap();
        assert_eq!(
            other
                .wait(async move { bridge.wait(async { 2 }) })
                .unwrap()
                .unwrap(),
            2
        );
    }

    #[test]
    fn many_threads_wait_at_once() {
        let bridge = Bridge::new().unwrap();
        thread::scope(|scope| {
            for number in 0..50 {
                let bridge = &bridge;
                scope.spawn(move || {
                    let work = async move {
                        tokio::task::yield_now().await;
                        number
                    };
                    assert_eq!(bridge.wait(work).unwrap(), number);
                });
            }
        });
    }

    #[test]
    fn work_that_panics_is_an_error() {
        let bridge = Bridge::new().unwrap();
        let error = bridge
            .wait(async { assert_eq!(1, 2, "on purpose") })
            .unwrap_err();
        assert!(error.to_string().contains("has ended"), "{error}");
        assert_eq!(bridge.wait(async { 3 }).unwrap(), 3);
    }
}
