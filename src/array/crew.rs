//! Work that is shared by several threads.

use crate::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Condvar, Mutex, PoisonError};
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

/// What workers and the caller of [`in_order`] share.
struct Line<I, T> {
    jobs: I,
    /// How many jobs were taken so far.
    taken: usize,
    /// What came of jobs whose turn has not come.
    done: BTreeMap<usize, Result<T>>,
    /// Nobody wants any more.
    over: bool,
}

/// Does all jobs, on up to so many threads, and gives what comes of them to `take`, on the caller's thread and in the order of
/// the jobs. While it is not the turn of what is done, the caller works, too. Returns the first error in that order.
pub(crate) fn in_order<J: Send, T: Send>(
    threads: usize,
    jobs: impl ExactSizeIterator<Item = J> + Send,
    act: impl Fn(J) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let count = jobs.len();
    let threads = threads.min(count);
    if threads < 2 {
        return jobs.into_iter().try_for_each(|job| take(act(job)?));
    }
    let line = Mutex::new(Line {
        jobs,
        taken: 0,
        done: BTreeMap::new(),
        over: false,
    });
    let ready = Condvar::new();
    let locked = || line.lock().unwrap_or_else(PoisonError::into_inner);
    let next = || {
        let mut line = locked();
        let number = line.taken;
        let job = line.jobs.next().filter(|_| !line.over)?;
        line.taken = number.saturating_add(1);
        Some((number, job))
    };
    let work = |(number, job): (usize, J)| {
        // A job that panics must not be waited for.
        let made = panic::catch_unwind(AssertUnwindSafe(|| act(job)));
        let made = made.unwrap_or_else(|_| Err(Error::new(ErrorKind::Panicked, None)));
        locked().done.insert(number, made);
        ready.notify_one();
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| {
                while let Some(job) = next() {
                    work(job);
                }
            });
        }
        let mut turn = || -> Result<()> {
            for number in 0..count {
                loop {
                    let made = locked().done.remove(&number);
                    if let Some(made) = made {
                        take(made?)?;
                        break;
                    }
                    if let Some(job) = next() {
                        work(job);
                        continue;
                    }
                    let mut waiting = locked();
                    while !waiting.done.contains_key(&number) {
                        waiting = ready.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                    }
                }
            }
            Ok(())
        };
        let result = turn();
        locked().over = true;
        result
    })
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use crate::error::Error;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in 1..5 {
            let mut seen = Vec::new();
            let act = |job: usize| {
                std::thread::sleep(std::time::Duration::from_micros((job as u64 * 7919) % 300));
                Ok(job * 2)
            };
            in_order(threads, 0..100, act, |made| {
                seen.push(made);
                Ok(())
            })
            .unwrap();
            assert!(seen.into_iter().eq((0..100).map(|job| job * 2)));
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        for threads in 1..5 {
            let mut seen = 0;
            let act = |job: usize| match job {
                17 => Err(Error::usage("seventeen")),
                _ => Ok(job),
            };
            let take = |_| {
                seen += 1;
                Ok(())
            };
            let error = in_order(threads, 0..100, act, take).unwrap_err();
            assert_eq!((error.to_string().as_str(), seen), ("seventeen", 17));
            let refused = in_order(threads, 0..100, Ok, |_| Err(Error::usage("no")));
            assert_eq!(refused.unwrap_err().to_string(), "no");
        }
    }

    #[test]
    fn a_panic_is_an_error() {
        let act = |job: usize| match job {
            3 => panic!("on purpose"),
            _ => Ok(job),
        };
        assert!(in_order(2, 0..9, act, |_| Ok(())).is_err());
    }
}
