//! Work that is shared by several threads.

use crate::error::{Error, ErrorKind, Result};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does all jobs, on up to so many threads, and returns the first error.
pub(crate) fn each<J: Send>(
    threads: usize,
    jobs: impl ExactSizeIterator<Item = J> + Send,
    act: impl Fn(J) -> Result<()> + Sync,
) -> Result<()> {
    let threads = threads.min(jobs.len());
    if threads < 2 {
        return jobs.into_iter().try_for_each(act);
    }
    let (jobs, failed) = (Mutex::new(jobs), Mutex::new(None));
    let work = || {
        loop {
            // The lock ends before the work begins.
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(job) = job else { return };
            if let Err(error) = act(job) {
                failed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(error);
            }
            if failed
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_some()
            {
                return;
            }
        }
    };
    let whole = thread::scope(|scope| {
        let crew: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        work();
        // All are waited for, whatever came of the first.
        let ends: Vec<_> = crew
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        ends.iter().all(std::result::Result::is_ok)
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None if whole => Ok(()),
        None => Err(Error::new(ErrorKind::Panicked, None)),
    }
}
