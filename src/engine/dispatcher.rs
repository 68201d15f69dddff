//! [`Dispatcher`]: chunks on their way to the workers and back.

use super::buffer_pool::MIN_COUNTED;
use super::worker::{Job, Outcome};
use bloscpack_error::checked::to_usize;
use bloscpack_storage::parallel::{BATCH, Panicked, Pipeline};
use std::collections::VecDeque;
#[cfg(feature = "aio")]
use std::task::{Context, Poll, ready};

/// The state of the next chunk.
#[expect(clippy::large_enum_variant, reason = "none is kept")]
pub(super) enum Next {
    Done(Outcome),
    /// A worker has it, and it has to be waited for.
    Due,
    /// None has to be waited for.
    Nothing,
}

/// Hands chunks to the workers, several small ones at a time, and takes them back in order.
pub(super) struct Dispatcher {
    pipeline: Pipeline<Vec<Job>, Vec<Outcome>>,
    /// Chunks for the next worker.
    batch: Vec<Job>,
    /// Their size in bytes.
    batched: usize,
    /// Finished chunks, which are delivered before those under way.
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

    /// Puts a chunk among those for the next worker, and sends them once there are enough of them.
    pub(super) fn add(&mut self, job: Job) {
        let header = &job.info.header;
        let bytes = to_usize(header.nbytes.max(header.ctbytes));
        self.batched += bytes.max(MIN_COUNTED);
        self.batch.push(job);
        if self.batched >= BATCH {
            self.send();
        }
    }

    /// Sends the gathered chunks to a worker. Returns false if there are none.
    pub(super) fn send(&mut self) -> bool {
        if self.batch.is_empty() {
            return false;
        }
        self.batched = 0;
        self.pipeline.submit(std::mem::take(&mut self.batch));
        true
    }

    /// Whether there are chunks whose results have not been taken.
    pub(super) fn is_busy(&self) -> bool {
        self.pipeline.under_way() > 0 || !self.batch.is_empty()
    }

    /// The next chunk, if it is done. If `is_hurried`, or if too many are under way, it has to be waited for.
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
