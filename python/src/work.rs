//! Work that releases the interpreter and hears signals, and objects that work in one process.

use bloscpack::Error;
use bloscpack::storage::internal::Process;
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two looks at signals.
const TICK: Duration = Duration::from_millis(50);

/// An encoder or a decoder, until it is closed. A forked child has neither its threads nor a position of its own in its
/// file, and is refused.
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

    /// Does something with it.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> Result<R, Error>) -> Result<R, Error> {
        // First: in a forked child, the lock may be one of another thread of the parent.
        self.process.check()?;
        let mut value = self.value.lock().map_err(|_| panicked())?;
        work(value.as_mut().ok_or_else(closed)?)
    }

    /// Takes it out, which closes it.
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

/// Looks at signals now and then, while the interpreter is released.
pub struct Signals(Mutex<Instant>);

impl Signals {
    pub fn new() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    /// Runs the handlers of signals if the last look was a while ago.
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

/// Runs work on a thread of its own, while this one handles signals. If a handler raises an exception, `stop` is set, and the
/// exception is returned when the work has ended.
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
