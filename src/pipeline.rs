//! [`Pipeline`]: work on several threads that returns results in the order of the jobs.
//!
//! The caller submits jobs and takes results; at most [`capacity`](Pipeline::capacity) are under way, which bounds memory and
//! creates back-pressure. With one thread the jobs run on the caller's thread and no other is ever started; with more, threads
//! start when there is work for them.

use bloscpack_storage::parallel::sync::{
    Mutex,
    mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel},
    thread::{self, JoinHandle},
};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

/// Chunks of fewer bytes than this are put together into one job: handing one over takes as long as the work on it.
pub(crate) const BATCH: usize = 128 << 10;

/// Jobs that wait while every thread works on one, so that no thread has to wait for the caller.
const SLACK: usize = 2;

/// A worker died before it gave its result.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Does one job after another, keeping its buffers and contexts.
type Worker<J, R> = Box<dyn FnMut(J) -> R + Send>;

type Job<J, R> = (J, SyncSender<R>);

/// Does jobs on several threads.
pub(crate) struct Pipeline<J, R> {
    threads: usize,
    make_worker: Box<dyn Fn() -> Worker<J, R> + Send>,
    /// The worker of the caller's thread, if no other thread works.
    own: Option<Worker<J, R>>,
    jobs: Sender<Job<J, R>>,
    queue: Arc<Mutex<Receiver<Job<J, R>>>>,
    crew: Vec<JoinHandle<()>>,
    under_way: VecDeque<Slot<R>>,
}

enum Slot<R> {
    Done(Result<R, Panicked>),
    Pending(Receiver<R>),
}

impl<J: Send + 'static, R: Send + 'static> Pipeline<J, R> {
    /// A pipeline of up to `threads` threads, each with a worker of its own.
    pub(crate) fn new<W>(threads: usize, make_worker: impl Fn() -> W + Send + 'static) -> Self
    where
        W: FnMut(J) -> R + Send + 'static,
    {
        let (jobs, queue) = channel();
        Self {
            threads: threads.max(1),
            make_worker: Box::new(move || Box::new(make_worker())),
            own: None,
            jobs,
            queue: Arc::new(Mutex::new(queue)),
            crew: Vec::new(),
            under_way: VecDeque::new(),
        }
    }

    /// How many jobs may be under way before a result must be taken.
    pub(crate) fn capacity(&self) -> usize {
        if self.threads == 1 {
            1
        } else {
            // Saturates, since the caller may ask for any number of threads.
            self.threads.saturating_add(SLACK)
        }
    }

    /// Jobs whose results have not been taken.
    pub(crate) fn under_way(&self) -> usize {
        self.under_way.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.under_way.len() >= self.capacity()
    }

    /// Gives a job to the next free thread, or does it here.
    pub(crate) fn submit(&mut self, job: J) {
        if self.crew.len() < self.threads && self.crew.len() <= self.under_way.len() {
            self.hire();
        }
        if self.crew.is_empty() {
            self.submit_here(job);
            return;
        }
        let (done, result) = sync_channel(1);
        // The other end of the queue is in `self`, so it cannot be closed.
        let _ = self.jobs.send((job, done));
        self.under_way.push_back(Slot::Pending(result));
    }

    /// Does a job on the caller's thread. Its result waits for those before it.
    pub(crate) fn submit_here(&mut self, job: J) {
        let worker = self.own.get_or_insert_with(|| (self.make_worker)());
        // Here, too, a panic is an error of its job: a caller that caught it and continued would leave a gap.
        let result = catch_unwind(AssertUnwindSafe(|| worker(job)));
        self.under_way
            .push_back(Slot::Done(result.map_err(|_| Panicked)));
    }

    /// Starts one more thread, unless one is enough. If the system refuses, the existing ones do the work.
    fn hire(&mut self) {
        if self.threads == 1 {
            return;
        }
        let queue = Arc::clone(&self.queue);
        let mut worker = (self.make_worker)();
        let work = move || {
            while let Some((job, done)) = next_job(&queue) {
                // After a panic there is no result, and the thread continues with the other jobs.
                if let Ok(result) = catch_unwind(AssertUnwindSafe(|| worker(job))) {
                    // No caller waits for the result of a pipeline that was dropped.
                    let _ = done.send(result);
                }
            }
        };
        if let Ok(thread) = thread::Builder::new()
            .name("bloscpack".to_owned())
            .spawn(work)
        {
            self.crew.push(thread);
        }
    }

    /// Waits for the result of the oldest job under way; nothing if there is none.
    pub(crate) fn next(&mut self) -> Option<Result<R, Panicked>> {
        Some(match self.under_way.pop_front()? {
            Slot::Done(result) => result,
            Slot::Pending(result) => result.recv().map_err(|_| Panicked),
        })
    }

    /// The result of the oldest job, if the job is done.
    pub(crate) fn next_ready(&mut self) -> Option<Result<R, Panicked>> {
        match self.under_way.front()? {
            Slot::Done(_) => self.next(),
            Slot::Pending(result) => {
                let result = match result.try_recv() {
                    Ok(result) => Ok(result),
                    Err(TryRecvError::Disconnected) => Err(Panicked),
                    Err(TryRecvError::Empty) => return None,
                };
                self.under_way.pop_front();
                Some(result)
            }
        }
    }
}

/// Waits for a job; nothing once the pipeline was dropped.
fn next_job<J, R>(queue: &Mutex<Receiver<Job<J, R>>>) -> Option<Job<J, R>> {
    // Workers only panic outside of this lock.
    queue
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recv()
        .ok()
}

impl<J, R> Drop for Pipeline<J, R> {
    fn drop(&mut self) {
        // Closing the queue ends the threads, each after its current job.
        let (closed, _) = channel();
        self.jobs = closed;
        self.under_way.clear();
        if let Ok(queue) = self.queue.lock() {
            while queue.try_recv().is_ok() {}
        }
        for thread in self.crew.drain(..) {
            // A panic was already reported as the missing result of its job.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    /// Takes longer for even numbers, so that results are ready out of order.
    fn square(n: u64) -> u64 {
        thread::sleep(Duration::from_micros(if n.is_multiple_of(2) {
            300
        } else {
            10
        }));
        n * n
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in [1, 2, 8] {
            let mut pipeline = Pipeline::new(threads, || square);
            let mut results = Vec::new();
            for n in 0..200 {
                while pipeline.is_full() {
                    results.push(pipeline.next().unwrap().unwrap());
                }
                pipeline.submit(n);
                assert!(pipeline.under_way() <= pipeline.capacity());
            }
            results.extend(std::iter::from_fn(|| pipeline.next()).map(Result::unwrap));
            let expected: Vec<_> = (0..200).map(|n| n * n).collect();
            assert_eq!(results, expected, "{threads} threads");
        }
    }

    #[test]
    fn one_thread_works_without_starting_any() {
        let here = thread::current().id();
        let mut pipeline = Pipeline::new(1, || |()| thread::current().id());
        pipeline.submit(());
        assert_eq!(pipeline.next().unwrap().unwrap(), here);
        assert!(pipeline.crew.is_empty());
    }

    #[test]
    fn a_panic_is_an_error_of_its_job_and_hangs_nothing() {
        for threads in [1, 2] {
            let work = || |n: u32| if n == 1 { panic!("planted") } else { n };
            let mut pipeline = Pipeline::new(threads, work);
            (0..4).for_each(|n| pipeline.submit(n));
            let results: Vec<_> = std::iter::from_fn(|| pipeline.next())
                .map(|r| r.ok())
                .collect();
            assert_eq!(
                results,
                [Some(0), None, Some(2), Some(3)],
                "{threads} threads"
            );
        }
    }

    #[test]
    fn dropping_with_jobs_under_way_joins_the_threads() {
        let mut pipeline = Pipeline::new(4, || square);
        (0..6).for_each(|n| pipeline.submit(n));
        drop(pipeline);
    }
}
