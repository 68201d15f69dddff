//! [`Crew`]: threads shared by several pipelines.

use super::sync::thread::{self, JoinHandle};
use super::sync::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, PoisonError};

/// Does one job of a pipeline.
pub(super) type Task = Arc<dyn Fn() + Send + Sync>;

/// A bounded number of threads that do the jobs of any number of [pipelines](super::Pipeline), in the order of
/// submission.
///
/// Threads start when there is work for them and then wait for more. Dropping the crew joins them; tasks that
/// have not begun are discarded.
pub struct Crew {
    shared: Arc<Shared>,
    most: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified when a waiting thread may find a task, or must end.
    more: Condvar,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    /// Threads that wait for a task.
    idle: usize,
    is_over: bool,
}

impl Crew {
    /// A crew of up to `threads` threads, at least one. None is started yet.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(State::default()),
                more: Condvar::new(),
            }),
            most: threads.max(1),
            threads: Mutex::new(Vec::new()),
        }
    }

    /// Gives a task to the next free thread. If the system cannot start any thread, the caller does it.
    pub(super) fn give(&self, task: Task) {
        let mut state = self.shared.locked();
        let is_short = state.idle <= state.tasks.len();
        let is_waited_for = state.idle > 0;
        state.tasks.push_back(task);
        drop(state);
        if is_waited_for {
            self.shared.more.notify_one();
        }
        if is_short && !self.hire() {
            while let Some(task) = self.shared.next(false) {
                task();
            }
        }
    }

    /// Starts one more thread, unless there are enough. Returns false if there is no thread at all.
    fn hire(&self) -> bool {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() < self.most {
            let shared = Arc::clone(&self.shared);
            let work = move || {
                while let Some(task) = shared.next(true) {
                    task();
                }
            };
            let builder = thread::Builder::new().name("bloscpack-crew".to_owned());
            threads.extend(builder.spawn(work).ok());
        }
        !threads.is_empty()
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        // Tasks run outside of this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task. With `wait`, `None` only when the crew ends.
    fn next(&self, wait: bool) -> Option<Task> {
        let mut state = self.locked();
        while !state.is_over {
            let task = state.tasks.pop_front();
            if task.is_some() || !wait {
                return task;
            }
            state.idle += 1;
            let woken = self.more.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
        None
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.locked().is_over = true;
        self.shared.more.notify_all();
        let threads = self.threads.get_mut();
        for thread in threads.unwrap_or_else(PoisonError::into_inner).drain(..) {
            // Tasks catch the panics of their jobs.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew")
            .field("threads", &self.most)
            .finish_non_exhaustive()
    }
}
