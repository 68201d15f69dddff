//! [`Dispatcher`]: passes chunks to the workers, and takes the results in order.

use super::buffer_pool::MIN_COUNTED;
use super::worker::{Done, Job, Outcome};
use bloscpack_error::checked::to_usize;
use bloscpack_storage::parallel::{BATCH, Panicked, Pipeline};
use std::collections::VecDeque;
#[cfg(feature = "aio")]
use std::task::{Context, Poll, ready};

/// The state of the next chunk.
#[expect(clippy::large_enum_variant, reason = "none is kept")]
pub(super) enum Next {
    Done(Outcome),
    /// A worker has it, and the caller must wait for it.
    Due,
    /// No result is ready, and the caller need not wait for one.
    Nothing,
}

/// Passes chunks to the workers, several small ones at a time, and takes the results in order.
pub(super) struct Dispatcher {
    pipeline: Pipeline<Vec<Job>, Vec<Outcome>>,
    /// Chunks for the next worker.
    batch: Vec<Job>,
    /// Bytes of these chunks.
    batched: usize,
    /// Finished chunks, which are delivered before pending ones.
    ready: VecDeque<Outcome>,
}

impl Dispatcher {
    pub(super) fn new(pipeline: Pipeline<Vec<Job>, Vec<Outcome>>) -> Self {
        Self {
            pipeline,
            batch: Vec::new(),
            batched: 0,
            ready: VecDeque::new(),
        }
    }

    /// Adds a chunk to the batch for the next worker, and sends the batch once it is large enough.
    pub(super) fn add(&mut self, job: Job) {
        let header = &job.info.header;
        let bytes = to_usize(header.nbytes.max(header.ctbytes));
        self.batched += bytes.max(MIN_COUNTED);
        self.batch.push(job);
        if self.batched >= BATCH {
            self.send();
        }
    }

    /// Takes a chunk that is done, while no others are under way.
    pub(super) fn add_done(&mut self, done: Done) {
        self.ready.push_back(Ok(done));
    }

    /// Sends the batch to a worker. Returns false if it is empty.
    pub(super) fn send(&mut self) -> bool {
        if self.batch.is_empty() {
            return false;
        }
        self.batched = 0;
        self.pipeline.submit(std::mem::take(&mut self.batch));
        true
    }

    /// Whether chunks are pending.
    pub(super) fn is_busy(&self) -> bool {
        self.pipeline.under_way() > 0 || !self.batch.is_empty()
    }

    /// The next chunk, if it is done. If `is_hurried`, or if too many are pending, the caller must wait for it.
    pub(super) fn next(&mut self, is_hurried: bool) -> Next {
        loop {
            if let Some(outcome) = self.ready.pop_front() {
                return Next::Done(outcome);
            }
            if is_hurried {
                self.send();
            }
            let is_due = is_hurried || self.pipeline.is_full();
            match self.pipeline.next_ready() {
                Some(result) => self.put(result),
                None if is_due && self.pipeline.under_way() > 0 => return Next::Due,
                None => return Next::Nothing,
            }
        }
    }

    /// Waits until the next chunk is done.
    pub(super) fn wait(&mut self) {
        if let Some(result) = self.pipeline.next() {
            self.put(result);
        }
    }

    /// Lets a task wait until the next chunk is done.
    #[cfg(feature = "aio")]
    pub(super) fn poll(&mut self, task: &Context<'_>) -> Poll<()> {
        if let Some(result) = ready!(self.pipeline.poll_next(task)) {
            self.put(result);
        }
        Poll::Ready(())
    }

    fn put(&mut self, result: Result<Vec<Outcome>, Panicked>) {
        match result {
            Ok(outcomes) => self.ready = outcomes.into(),
            Err(panicked) => self.ready.push_back(Err(panicked)),
        }
    }
}
