//! [`Pipeline`]: work on several threads that returns results in the order of the jobs.
//!
//! The caller submits jobs and takes results; at most [`capacity`](Pipeline::capacity) are under way, which bounds memory and
//! creates back-pressure. With one thread the jobs run on the caller's thread and no other is ever started; with more, threads
//! start when there is work for them. A pipeline [on a crew](Pipeline::on) has no threads of its own, and no job runs on the
//! caller's.

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

/// Work on fewer bytes than this is put together into one job: handing one over takes as long as the work on it.
pub const BATCH: usize = 128 << 10;

/// Jobs that wait while every thread works on one, so that no thread has to wait for the caller, or for a task to be woken.
const SLACK: usize = 2;

/// Does one job after another, keeping its buffers and contexts.
type Worker<J, R> = Box<dyn FnMut(J) -> R + Send>;

/// Jobs that no thread has begun, with their numbers.
struct Submitted<J>(VecDeque<(u64, J)>);

impl<J> Iterator for Submitted<J> {
    type Item = (u64, J);

    fn next(&mut self) -> Option<(u64, J)> {
        self.0.pop_front()
    }
}

/// Does jobs on several threads.
pub struct Pipeline<J, R> {
    threads: usize,
    make_worker: Arc<dyn Fn() -> Worker<J, R> + Send + Sync>,
    /// The worker of the caller's thread, if no other thread works.
    own: Option<Worker<J, R>>,
    queue: Arc<Queue<Submitted<J>, Result<R, Panicked>>>,
    crew: Vec<JoinHandle<()>>,
    /// The crew that does the jobs instead of all these, and how it does the next one.
    shared: Option<(Arc<Crew>, Task)>,
    /// The number of the oldest job whose result has not been taken.
    oldest: u64,
    /// Jobs whose results have not been taken.
    under_way: usize,
    /// The process that has the threads.
    process: Process,
}

impl<J: Send + 'static, R: Send + 'static> Pipeline<J, R> {
    /// A pipeline of up to `threads` threads, each with a worker of its own.
    pub fn new<W>(threads: usize, make_worker: impl Fn() -> W + Send + Sync + 'static) -> Self
    where
        W: FnMut(J) -> R + Send + 'static,
    {
        Self {
            threads: threads.max(1),
            make_worker: Arc::new(move || Box::new(make_worker())),
            own: None,
            // The caller bounds the jobs under way.
            queue: Arc::new(Queue::new(Submitted(VecDeque::new()), u64::MAX)),
            crew: Vec::new(),
            shared: None,
            oldest: 0,
            under_way: 0,
            process: Process::current(),
        }
    }

    /// The same pipeline, whose jobs are done by this crew, each by whichever thread is free. Dropping it waits for nothing:
    /// a job that has begun ends by itself.
    #[must_use]
    pub fn on(mut self, crew: Arc<Crew>) -> Self {
        let (queue, make) = (Arc::clone(&self.queue), Arc::clone(&self.make_worker));
        let workers = Pool::default();
        let do_next = move || {
            let act = |worker: &mut Worker<J, R>| {
                Ok(queue.run_next(Wait::Never, |job| catch(|| Ok(worker(job)))))
            };
            // There is none if the pipeline was dropped.
            let _: Result<bool, Infallible> = workers.lend(|| Ok(make()), act);
        };
        self.shared = Some((crew, Arc::new(do_next)));
        self
    }

    /// How many jobs may be under way before a result must be taken.
    pub fn capacity(&self) -> usize {
        if self.threads == 1 && self.shared.is_none() {
            1
        } else {
            // Saturates, since the caller may ask for any number of threads.
            self.threads.saturating_add(SLACK)
        }
    }

    /// Jobs whose results have not been taken.
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    /// Whether a result must be taken before the next job.
    pub fn is_full(&self) -> bool {
        self.under_way >= self.capacity()
    }

    /// Gives a job to the next free thread, or does it here.
    pub fn submit(&mut self, job: J) {
        if let Some((crew, do_next)) = self.shared.clone() {
            let number = self.count();
            self.queue.add(|jobs| jobs.0.push_back((number, job)));
            crew.give(do_next);
            return;
        }
        if self.crew.len() < self.threads && self.crew.len() <= self.under_way {
            self.hire();
        }
        if self.crew.is_empty() {
            self.submit_here(job);
            return;
        }
        let number = self.count();
        self.queue.add(|jobs| jobs.0.push_back((number, job)));
    }

    /// Does a job on the caller's thread. Its result waits for those before it.
    pub fn submit_here(&mut self, job: J) {
        let worker = self.own.get_or_insert_with(|| (self.make_worker)());
        // Here, too, a panic is an error of its job: a caller that caught it and continued would leave a gap.
        let result = catch(|| Ok(worker(job)));
        let number = self.count();
        self.queue.put(number, result);
    }

    /// The number of a new job.
    fn count(&mut self) -> u64 {
        let number = self.oldest + self.under_way as u64;
        self.under_way += 1;
        number
    }

    /// Starts one more thread, unless one is enough. If the system refuses, the existing ones do the work.
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

    /// Waits for the result of the oldest job under way; nothing if there is none.
    ///
    /// # Errors
    /// Returns [`Panicked`] if the job panicked.
    #[expect(
        clippy::should_implement_trait,
        reason = "after the last result there may be more"
    )]
    pub fn next(&mut self) -> Option<Result<R, Panicked>> {
        self.take(true)
    }

    /// The result of the oldest job, if the job is done.
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

    /// The result of the oldest job under way, or nothing if there is none; the task is woken once the job is done.
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

    /// Notes that the oldest result was taken.
    fn taken(&mut self, rest: usize) {
        self.under_way = rest;
        self.oldest += 1;
    }
}

impl<J, R> Drop for Pipeline<J, R> {
    fn drop(&mut self) {
        if !self.process.is_current() {
            // A forked child has none of the threads, and would wait for them, or for a lock that one of them had, forever.
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
