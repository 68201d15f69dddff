//! [`for_each`]: jobs in no particular order.

use super::Panicked;
use super::panicked::catch;
use super::sync::{Mutex, ScopedJoinHandle, start, thread};
use std::sync::PoisonError;

/// Runs all jobs on up to `threads` threads, the calling one among them.
///
/// Jobs begin in their order. After one has failed no new job begins; those under way end first.
///
/// # Errors
/// Returns the error of the first job, in the order of the jobs, that failed, whichever failed
/// first in time. A panic of a job is the error [`Panicked`].
pub fn for_each<J: Send, E: From<Panicked> + Send>(
    threads: usize,
    jobs: impl ExactSizeIterator<Item = J> + Send,
    act: impl Fn(J) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = threads.min(jobs.len());
    let act = |job| catch(&act, job);
    if threads < 2 {
        return jobs.into_iter().try_for_each(act);
    }
    let (jobs, failed) = (Mutex::new(jobs.enumerate()), Mutex::new(None));
    let work = || {
        loop {
            // The lock ends before the work begins.
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, job)) = job else { return };
            let done = act(job);
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = done
                && failed.as_ref().is_none_or(|(first, _)| number < *first)
            {
                *failed = Some((number, error));
            }
            // Jobs before the first that failed began before it; their threads complete them.
            if failed.is_some() {
                return;
            }
        }
    };
    let all_ended = thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map_while(|_| start(scope, work)).collect();
        work();
        // Every worker is joined, even if another one has panicked.
        let ends: Vec<_> = workers.into_iter().map(ScopedJoinHandle::join).collect();
        ends.iter().all(Result::is_ok)
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None if all_ended => Ok(()),
        None => Err(Panicked.into()),
    }
}
