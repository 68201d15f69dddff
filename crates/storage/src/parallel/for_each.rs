//! Work that is shared by several threads.

use super::threads::{Condvar, Mutex, ScopedJoinHandle, start, thread};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::PoisonError;

/// A job panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a worker panicked")
    }
}

impl std::error::Error for Panicked {}

/// Does all jobs, on up to so many threads. Returns the first error in the order of the jobs, whoever met one first; a panic
/// is an error of its job.
pub fn each<J: Send, E: From<Panicked> + Send>(
    threads: usize,
    jobs: impl ExactSizeIterator<Item = J> + Send,
    act: impl Fn(J) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = threads.min(jobs.len());
    let act = |job| guarded(&act, job);
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
            // Jobs before the first that failed were all begun before it, and end in their own time.
            if failed.is_some() {
                return;
            }
        }
    };
    let whole = thread::scope(|scope| {
        let crew: Vec<_> = (1..threads).map_while(|_| start(scope, work)).collect();
        work();
        // All are waited for, whatever came of the first.
        let ends: Vec<_> = crew.into_iter().map(ScopedJoinHandle::join).collect();
        ends.iter().all(Result::is_ok)
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None if whole => Ok(()),
        None => Err(Panicked.into()),
    }
}

/// Does a job, of which a panic is an error, too.
fn guarded<J, T, E: From<Panicked>>(act: impl Fn(J) -> Result<T, E>, job: J) -> Result<T, E> {
    panic::catch_unwind(AssertUnwindSafe(|| act(job))).unwrap_or_else(|_| Err(Panicked.into()))
}

/// What workers and the caller of [`in_order`] share.
struct Line<I, T, E> {
    jobs: I,
    /// How many jobs were taken so far.
    taken: usize,
    /// What came of jobs whose turn has not come.
    done: BTreeMap<usize, Result<T, E>>,
    /// Nobody wants any more.
    over: bool,
}

/// Does all jobs, on up to so many threads, and gives what comes of them to `take`, on the caller's thread and in the order of
/// the jobs. While it is not the turn of what is done, the caller works, too. Returns the first error in that order.
pub fn in_order<J: Send, T: Send, E: From<Panicked> + Send>(
    threads: usize,
    jobs: impl ExactSizeIterator<Item = J> + Send,
    act: impl Fn(J) -> Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let count = jobs.len();
    let threads = threads.min(count);
    // A job that panics must not be waited for.
    let act = |job| guarded(&act, job);
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
        let made = act(job);
        locked().done.insert(number, made);
        ready.notify_one();
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system gives no more, those that are there do the work.
            start(scope, || {
                while let Some(job) = next() {
                    work(job);
                }
            });
        }
        let mut turn = || -> Result<(), E> {
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
    use super::{Panicked, each, in_order};

    #[derive(Debug, PartialEq)]
    enum Failure {
        Job(usize),
        Refused,
        Panicked,
    }

    impl From<Panicked> for Failure {
        fn from(_: Panicked) -> Self {
            Self::Panicked
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in 1..5 {
            let mut seen = Vec::new();
            let act = |job: usize| {
                std::thread::sleep(std::time::Duration::from_micros((job as u64 * 7919) % 300));
                Ok::<_, Failure>(job * 2)
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
                17 => Err(Failure::Job(job)),
                _ => Ok(job),
            };
            let take = |_| {
                seen += 1;
                Ok(())
            };
            let error = in_order(threads, 0..100, act, take).unwrap_err();
            assert_eq!((error, seen), (Failure::Job(17), 17));
            let refused = in_order(threads, 0..100, Ok, |_| Err(Failure::Refused));
            assert_eq!(refused, Err(Failure::Refused));
        }
    }

    #[test]
    fn a_panic_is_an_error_whoever_does_the_job() {
        let act = |job: usize| match job {
            3 => panic!("on purpose"),
            _ => Ok(()),
        };
        for threads in 1..5 {
            assert_eq!(
                in_order(threads, 0..9, act, Ok),
                Err(Failure::Panicked),
                "{threads}"
            );
            assert_eq!(
                each(threads, 0..9, act),
                Err(Failure::Panicked),
                "{threads}"
            );
        }
    }

    #[test]
    fn of_several_errors_the_first_job_s_is_told() {
        let act = |job: usize| {
            // The first takes longest.
            std::thread::sleep(std::time::Duration::from_millis(
                30 - 10 * job.min(3) as u64,
            ));
            Err(Failure::Job(job))
        };
        for threads in 1..5 {
            assert_eq!(
                each(threads, 0..4, act),
                Err(Failure::Job(0)),
                "{threads} threads"
            );
        }
    }
}
