//! [`map_in_order`]: results in the order of their jobs.

use super::Panicked;
use super::panicked::catch;
use super::sync::{Condvar, Mutex, MutexGuard, start, thread};
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// The jobs and results that workers share with the caller of [`map_in_order`].
struct Queue<I, T, E> {
    state: Mutex<State<I, T, E>>,
    /// Notified when a result is there.
    ready: Condvar,
}

struct State<I, T, E> {
    jobs: I,
    /// Jobs taken so far.
    taken: usize,
    /// Results that were not passed on yet, by the numbers of their jobs.
    done: BTreeMap<usize, Result<T, E>>,
    /// No more results are wanted.
    is_over: bool,
}

impl<J, I: Iterator<Item = J>, T, E> Queue<I, T, E> {
    fn new(jobs: I) -> Self {
        let state = State {
            jobs,
            taken: 0,
            done: BTreeMap::new(),
            is_over: false,
        };
        Self {
            state: Mutex::new(state),
            ready: Condvar::new(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, State<I, T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job and its number.
    fn next(&self) -> Option<(usize, J)> {
        let mut state = self.locked();
        let number = state.taken;
        let job = state.jobs.next().filter(|_| !state.is_over)?;
        // No iterator yields more jobs than a `usize` counts.
        state.taken = number + 1;
        Some((number, job))
    }

    fn put(&self, number: usize, result: Result<T, E>) {
        self.locked().done.insert(number, result);
        self.ready.notify_one();
    }

    /// The result of a job that some thread has taken.
    fn wait(&self, number: usize) -> Result<T, E> {
        let mut state = self.locked();
        loop {
            match state.done.remove(&number) {
                Some(result) => return result,
                None => {
                    let woken = self.ready.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// Runs all jobs on up to `threads` threads, and passes their results to `take`: on the calling
/// thread, and in the order of the jobs.
///
/// While the next result is not there yet, the calling thread runs jobs, too. Results that are
/// ahead of their turn are kept, so `take` should not be much slower than the jobs.
///
/// # Errors
/// Returns the first error in the order of the jobs: that of a job, or that of `take`. A panic of a
/// job is the error [`Panicked`].
pub fn map_in_order<J: Send, T: Send, E: From<Panicked> + Send>(
    threads: usize,
    jobs: impl ExactSizeIterator<Item = J> + Send,
    act: impl Fn(J) -> Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let count = jobs.len();
    let threads = threads.min(count);
    // The result of a job that panics must not be waited for.
    let act = |job| catch(&act, job);
    if threads < 2 {
        return jobs.into_iter().try_for_each(|job| take(act(job)?));
    }
    let queue = Queue::new(jobs);
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system starts no more threads, those that run do the work.
            start(scope, || {
                while let Some((number, job)) = queue.next() {
                    queue.put(number, act(job));
                }
            });
        }
        let mut pass_on = || -> Result<(), E> {
            for number in 0..count {
                take(next_result(&queue, number, act)?)?;
            }
            Ok(())
        };
        let result = pass_on();
        queue.locked().is_over = true;
        result
    })
}

/// The result of a job, working on others as long as it is not there.
fn next_result<J, I: Iterator<Item = J>, T, E>(
    queue: &Queue<I, T, E>,
    number: usize,
    act: impl Fn(J) -> Result<T, E>,
) -> Result<T, E> {
    loop {
        let done = queue.locked().done.remove(&number);
        if let Some(result) = done {
            return result;
        }
        match queue.next() {
            Some((other, job)) => queue.put(other, act(job)),
            None => return queue.wait(number),
        }
    }
}
