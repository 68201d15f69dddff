//! Releases the interpreter during work, handles signals meanwhile, and refuses objects of a parent process.

use bloscpack::Error;
use bloscpack::storage::internal::Process;
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two checks for signals.
const TICK: Duration = Duration::from_millis(50);

/// An encoder or a decoder until it is closed. A forked child cannot use it: the child lacks the threads, and shares the
/// position in the file with its parent.
pub struct Own<T> {
    value: Mutex<Option<T>>,
    process: Process,
}

impl<T> Own<T> {
    pub fn new(value: T) -> Self {
        Self {
            value: Mutex::new(Some(value)),
            process: Process::current(),
        }
    }

    /// Runs `work` with the object.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> Result<R, Error>) -> Result<R, Error> {
        // Check first: in a forked child, another thread of the parent may hold the lock.
        self.process.check()?;
        let mut value = self.value.lock().map_err(|_| panicked())?;
        work(value.as_mut().ok_or_else(closed)?)
    }

    /// Takes the object out, which closes it.
    pub fn take(&self) -> Result<T, Error> {
        self.process.check()?;
        let mut value = self.value.lock().map_err(|_| panicked())?;
        value.take().ok_or_else(closed)
    }
}

fn panicked() -> Error {
    Error::bug("a reader or a writer that panicked")
}

fn closed() -> Error {
    Error::usage("the reader or writer is closed")
}

/// Checks for signals at times, while the interpreter is released.
pub struct Signals(Mutex<Instant>);

impl Signals {
    pub fn new() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    /// Runs the handlers of signals if the last check was a while ago.
    ///
    /// # Errors
    /// Returns the exception of a handler, such as `KeyboardInterrupt`.
    pub fn check(&self) -> std::io::Result<()> {
        let Ok(mut last) = self.0.try_lock() else {
            return Ok(());
        };
        if last.elapsed() < TICK {
            return Ok(());
        }
        let checked = Python::attach(|py| py.check_signals());
        *last = Instant::now();
        checked.map_err(std::io::Error::other)
    }
}

/// Runs work on a thread of its own, while this thread handles signals. If a handler raises an exception, sets `stop`, waits
/// until the work ends, and returns the exception.
pub fn watched<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (done, ended) = channel::<()>();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _done = done;
            work()
        });
        let mut raised = None;
        let ended = Mutex::new(ended);
        while py.detach(|| is_running(&ended)) {
            if raised.is_none()
                && let Err(error) = py.check_signals()
            {
                stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let result = worker.join();
        match (raised, result) {
            (Some(error), _) => Err(error),
            (None, Ok(value)) => Ok(value),
            (None, Err(panic)) => std::panic::resume_unwind(panic),
        }
    })
}

fn is_running(ended: &Mutex<std::sync::mpsc::Receiver<()>>) -> bool {
    let Ok(ended) = ended.lock() else {
        return false;
    };
    ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout)
}
