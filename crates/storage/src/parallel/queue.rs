//! [`Queue`]: jobs and results shared by threads.

use super::sync::{Condvar, Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

/// Numbered jobs for several threads. One thread takes their results by number.
pub(super) struct Queue<I, R> {
    state: Mutex<State<I, R>>,
    /// Notified when a thread that waits for a job may find one, or must end.
    more: Condvar,
    /// Notified when the awaited result exists.
    ready: Condvar,
}

struct State<I, R> {
    /// How many jobs may begin before the next result is taken.
    limit: u64,
    /// The jobs that have not begun, in order.
    jobs: I,
    /// The number of the last job that has begun, plus one.
    begun: u64,
    /// The number of the next result.
    next: u64,
    results: BTreeMap<u64, R>,
    /// Threads that wait for a job. A notification costs the same if nobody waits.
    idle: usize,
    /// The number of the awaited result.
    awaited: Option<u64>,
    /// The task that waits for it, unless a thread does.
    waker: Option<Waker>,
    /// No more results are needed.
    is_over: bool,
}

impl<I, R> State<I, R> {
    fn has_room(&self) -> bool {
        // Saturates: `u64::MAX` means no limit.
        self.begun < self.next.saturating_add(self.limit)
    }
}

impl<I, R> Queue<I, R> {
    pub(super) fn new(jobs: I, limit: u64) -> Self {
        Self {
            state: Mutex::new(State {
                limit,
                jobs,
                begun: 0,
                next: 0,
                results: BTreeMap::new(),
                idle: 0,
                awaited: None,
                waker: None,
                is_over: false,
            }),
            more: Condvar::new(),
            ready: Condvar::new(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, State<I, R>> {
        // Jobs run outside of this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to the jobs.
    pub(super) fn add(&self, add: impl FnOnce(&mut I)) {
        let mut state = self.locked();
        add(&mut state.jobs);
        let is_waited_for = state.idle > 0;
        drop(state);
        if is_waited_for {
            self.more.notify_one();
        }
    }

    pub(super) fn put(&self, number: u64, result: R) {
        let mut state = self.locked();
        state.results.insert(number, result);
        let is_awaited = state.awaited == Some(number);
        let task = state.waker.take_if(|_| is_awaited);
        drop(state);
        if is_awaited {
            self.ready.notify_one();
        }
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Whether a job has begun, so that its result will arrive.
    pub(super) fn has_begun(&self, number: u64) -> bool {
        number < self.locked().begun
    }

    /// The result of this job, which must be the next one. Without `wait`, `None` if it does not exist yet.
    pub(super) fn take(&self, number: u64, wait: bool) -> Option<R> {
        let mut state = self.locked();
        loop {
            if let Some(result) = state.results.remove(&number) {
                let was_full = !state.has_room() && state.idle > 0;
                // No caller has 2^64 jobs.
                state.next = number + 1;
                drop(state);
                if was_full {
                    self.more.notify_one();
                }
                return Some(result);
            }
            if !wait {
                return None;
            }
            state.awaited = Some(number);
            let woken = self.ready.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            state.awaited = None;
        }
    }

    /// As `take`, for a task, which is woken when the result exists.
    pub(super) fn poll(&self, number: u64, task: &Context<'_>) -> Poll<Option<R>> {
        let mut state = self.locked();
        if !state.results.contains_key(&number) {
            state.awaited = Some(number);
            state.waker = Some(task.waker().clone());
            return Poll::Pending;
        }
        state.awaited = None;
        drop(state);
        // Nobody else takes it.
        Poll::Ready(self.take(number, false))
    }

    /// Ends the threads, each after its current job.
    pub(super) fn stop(&self) {
        self.locked().is_over = true;
        self.more.notify_all();
    }
}

/// How a thread gets its jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Waits for jobs that are added, until it is stopped.
    ForJobs,
    /// Waits if too many jobs are under way, and ends after the last job.
    ForRoom,
    /// Never waits.
    Never,
}

impl<J, I: Iterator<Item = (u64, J)>, R> Queue<I, R> {
    /// Runs the next job. Returns false if there is none.
    pub(super) fn run_next(&self, wait: Wait, act: impl FnOnce(J) -> R) -> bool {
        let Some((number, job)) = self.next(wait) else {
            return false;
        };
        self.put(number, act(job));
        true
    }

    fn next(&self, wait: Wait) -> Option<(u64, J)> {
        let mut state = self.locked();
        while !state.is_over {
            let has_room = state.has_room();
            match has_room.then(|| state.jobs.next()).flatten() {
                Some((number, job)) => {
                    state.begun = number + 1;
                    return Some((number, job));
                }
                None if wait == Wait::Never || has_room && wait == Wait::ForRoom => return None,
                None => {
                    state.idle += 1;
                    let woken = self.more.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                    state.idle -= 1;
                }
            }
        }
        None
    }
}
