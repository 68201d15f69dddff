//! [`Bridge`]: asynchronous work, from threads that wait for it.

use bloscpack::storage::internal::Process;
use std::future::Future;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Runs asynchronous work for callers that wait for it, on one thread in the background.
///
/// It may be used from any thread, also from one that runs the tasks of another runtime: nothing is polled on the caller's
/// thread, which only waits for a channel. The runtime is made on the thread in the background, and ends there when the last
/// clone of its bridge is dropped.
///
/// ```
/// let bridge = bloscpack_remote::Bridge::new()?;
/// assert_eq!(bridge.wait(async { 6 * 7 })?, 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bridge {
    handle: Handle,
    /// A forked child has no thread in the background, and would wait for ever.
    process: Process,
    _running: Option<Arc<Running>>,
}

/// Ends the thread in the background when it is dropped.
#[derive(Debug)]
struct Running(#[expect(dead_code, reason = "its end ends the thread")] oneshot::Sender<()>);

impl Bridge {
    /// Starts the thread in the background.
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
                    // Nobody sends anything: this is the error that the other half was dropped.
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

    /// Runs the work in a runtime of the caller. No thread that waits for it may be the only one that runs its tasks: a
    /// runtime of one thread is not for calls from its own tasks.
    #[must_use]
    pub fn of(handle: Handle) -> Self {
        Self {
            handle,
            process: Process::current(),
            _running: None,
        }
    }

    /// Whether it was made by this process, rather than by one that has forked this one.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.process.is_current()
    }

    /// Refuses to wait in a process in which nothing runs.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.process.check()
    }

    /// Starts work that nobody waits for.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn(work));
    }

    /// Waits for the result of some work.
    ///
    /// # Errors
    /// Returns an error if the runtime has ended before the work, the work has panicked, or this process was forked from the
    /// one that made the bridge.
    pub fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        self.check()?;
        let (done, result) = mpsc::sync_channel(1);
        self.spawn(async move {
            // Nobody is left who waits for it.
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
