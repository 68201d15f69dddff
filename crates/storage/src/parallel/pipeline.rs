//! [`Pipeline`]: work on several threads, with results in the order of the jobs.
//!
//! The caller submits jobs and takes results. At most [`capacity`](Pipeline::capacity) jobs are under way,
//! which bounds the memory. With one thread, the jobs run on the caller's thread and no other is started. With
//! more, threads start when there is work for them. A pipeline [on a crew](Pipeline::on) has no threads of its
//! own, and no job runs on the caller's.

use super::crew::{Crew, Task};
use super::panicked::catch;
use super::queue::{Queue, Wait};
use super::sync::thread::{self, JoinHandle};
use super::{Panicked, Pool};
use crate::process::Process;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Work on fewer bytes is combined into one job, because handing a job over would take as long as the work.
pub const BATCH: usize = 128 << 10;

/// Jobs that wait while every thread is busy, so that no thread waits for the caller or for a task to be woken.
const SLACK: usize = 2;

/// Does one job after another, and keeps its buffers and contexts.
type Worker<J, R> = Box<dyn FnMut(J) -> R + Send>;

/// Jobs that have not begun, with their numbers.
struct Submitted<J>(VecDeque<(u64, J)>);

impl<J> Iterator for Submitted<J> {
    type Item = (u64, J);

    fn next(&mut self) -> Option<(u64, J)> {
        self.0.pop_front()
    }
}

/// Does jobs on several threads and returns their results in order.
///
/// ```
/// use bloscpack_storage::parallel::Pipeline;
///
/// let mut squares = Pipeline::new(4, || |number: u32| number * number);
/// let mut found = Vec::new();
/// for number in 0..100 {
///     if squares.is_full() {
///         found.extend(squares.next().transpose()?);
///     }
///     squares.submit(number);
/// }
/// while let Some(square) = squares.next() {
///     found.push(square?);
/// }
/// assert!(found.iter().copied().eq((0..100).map(|number| number * number)));
/// # Ok::<(), bloscpack_storage::parallel::Panicked>(())
/// ```
pub struct Pipeline<J, R> {
    threads: usize,
    make_worker: Arc<dyn Fn() -> Worker<J, R> + Send + Sync>,
    /// The worker of the caller's thread, if that works.
    own: Option<Worker<J, R>>,
    /// Whether the caller is one of the threads.
    helps: bool,
    queue: Arc<Queue<Submitted<J>, Result<R, Panicked>>>,
    crew: Vec<JoinHandle<()>>,
    /// The crew that does the jobs instead of own threads, and the task that does the next one.
    shared: Option<(Arc<Crew>, Task)>,
    /// The number of the oldest job whose result was not taken.
    oldest: u64,
    /// Jobs whose results were not taken.
    under_way: usize,
    /// The process that owns the threads.
    process: Process,
}

impl<J: Send + 'static, R: Send + 'static> Pipeline<J, R> {
    /// A pipeline of up to `threads` threads, each with its own worker from `make_worker`. Zero counts as one.
    pub fn new<W>(threads: usize, make_worker: impl Fn() -> W + Send + Sync + 'static) -> Self
    where
        W: FnMut(J) -> R + Send + 'static,
    {
        Self {
            threads: threads.max(1),
            make_worker: Arc::new(move || Box::new(make_worker())),
            own: None,
            helps: false,
            // The caller bounds the jobs under way.
            queue: Arc::new(Queue::new(Submitted(VecDeque::new()), u64::MAX)),
            crew: Vec::new(),
            shared: None,
            oldest: 0,
            under_way: 0,
            process: Process::current(),
        }
    }

    /// Lets this crew do the jobs, each on whichever thread is free. Dropping such a pipeline does not wait: a
    /// job that has begun finishes on its own.
    #[must_use]
    pub fn on(mut self, crew: Arc<Crew>) -> Self {
        let (queue, make) = (Arc::clone(&self.queue), Arc::clone(&self.make_worker));
        let workers = Pool::default();
        let do_next = move || {
            let act = |worker: &mut Worker<J, R>| {
                Ok(queue.run_next(Wait::Never, |job| catch(|| Ok(worker(job)))))
            };
            // There is no job if the pipeline was dropped.
            let _: Result<bool, Infallible> = workers.lend(|| Ok(make()), act);
        };
        self.shared = Some((crew, Arc::new(do_next)));
        self
    }

    /// Makes the caller one of the threads: it does jobs while it waits in [`next`](Self::next). For callers that have little
    /// else to do, so that no more threads work than there are processors.
    #[must_use]
    pub fn with_caller(mut self) -> Self {
        self.helps = true;
        self
    }

    /// How many jobs may be under way before a result must be taken: 1 with a single own thread, otherwise
    /// `threads` + 2.
    pub fn capacity(&self) -> usize {
        if self.threads == 1 && self.shared.is_none() {
            1
        } else {
            // Saturates, because the caller may ask for any number of threads.
            self.threads.saturating_add(SLACK)
        }
    }

    /// Jobs whose results were not taken.
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    /// Whether a result must be taken before the next job. [`submit`](Self::submit) does not check this.
    pub fn is_full(&self) -> bool {
        self.under_way >= self.capacity()
    }

    /// Gives a job to the next free thread, or does it on the caller's thread if no other works.
    pub fn submit(&mut self, job: J) {
        if let Some((crew, do_next)) = self.shared.clone() {
            let number = self.count();
            self.queue.add(|jobs| jobs.0.push_back((number, job)));
            crew.give(do_next);
            return;
        }
        let hired = self.threads - usize::from(self.helps && self.threads > 1);
        if self.crew.len() < hired && self.crew.len() <= self.under_way {
            self.hire();
        }
        if self.crew.is_empty() {
            self.submit_here(job);
            return;
        }
        let number = self.count();
        self.queue.add(|jobs| jobs.0.push_back((number, job)));
    }

    /// Does a job on the caller's thread. Its result still comes in order.
    pub fn submit_here(&mut self, job: J) {
        let worker = self.own.get_or_insert_with(|| (self.make_worker)());
        // A panic becomes the error of its job here, too: a caller that caught it and continued would leave a
        // gap.
        let result = catch(|| Ok(worker(job)));
        let number = self.count();
        self.queue.put(number, result);
    }

    /// A number for a new job.
    fn count(&mut self) -> u64 {
        let number = self.oldest + self.under_way as u64;
        self.under_way += 1;
        number
    }

    /// Starts one more thread, if more than one is allowed. If the system refuses, the existing ones do the
    /// work.
    fn hire(&mut self) {
        if self.threads == 1 {
            return;
        }
        let queue = Arc::clone(&self.queue);
        let mut worker = (self.make_worker)();
        // After a panic the thread continues with the other jobs.
        let mut act = move |job| catch(|| Ok(worker(job)));
        let work = move || while queue.run_next(Wait::ForJobs, &mut act) {};
        if let Ok(thread) = thread::Builder::new()
            .name("bloscpack".to_owned())
            .spawn(work)
        {
            self.crew.push(thread);
        }
    }

    /// Blocks until the oldest job under way is done and returns its result; `None` if no job is under way.
    ///
    /// # Errors
    /// Returns [`Panicked`] if the job panicked.
    #[expect(
        clippy::should_implement_trait,
        reason = "after the last result there may be more"
    )]
    pub fn next(&mut self) -> Option<Result<R, Panicked>> {
        while self.helps {
            let ready = self.take(false);
            if ready.is_some() {
                return ready;
            }
            let worker = self.own.get_or_insert_with(|| (self.make_worker)());
            let act = |job| catch(|| Ok(worker(job)));
            if !self.queue.run_next(Wait::Never, act) {
                break;
            }
        }
        self.take(true)
    }

    /// The result of the oldest job, if it is done.
    ///
    /// # Errors
    /// Returns [`Panicked`] if the job panicked.
    pub fn next_ready(&mut self) -> Option<Result<R, Panicked>> {
        self.take(false)
    }

    fn take(&mut self, wait: bool) -> Option<Result<R, Panicked>> {
        let rest = self.under_way.checked_sub(1)?;
        let result = self.queue.take(self.oldest, wait)?;
        self.taken(rest);
        Some(result)
    }

    /// Polls for the result of the oldest job; `Ready(None)` if no job is under way. The task is woken when the
    /// job is done.
    ///
    /// # Errors
    /// Returns [`Panicked`] if the job panicked.
    pub fn poll_next(&mut self, task: &Context<'_>) -> Poll<Option<Result<R, Panicked>>> {
        let Some(rest) = self.under_way.checked_sub(1) else {
            return Poll::Ready(None);
        };
        let result = ready!(self.queue.poll(self.oldest, task));
        self.taken(rest);
        Poll::Ready(result)
    }

    /// Records that the oldest result was taken.
    fn taken(&mut self, rest: usize) {
        self.under_way = rest;
        self.oldest += 1;
    }
}

impl<J, R> Drop for Pipeline<J, R> {
    fn drop(&mut self) {
        if !self.process.is_current() {
            // A forked child has none of the threads, and would wait forever for them or for a lock that one of
            // them held.
            std::mem::forget(std::mem::take(&mut self.crew));
            return;
        }
        self.queue.stop();
        for thread in self.crew.drain(..) {
            // A panic was already reported as the error of its job.
            let _ = thread.join();
        }
    }
}

impl<J, R> fmt::Debug for Pipeline<J, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").finish_non_exhaustive()
    }
}
