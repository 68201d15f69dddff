//! [`Dispatcher`]: chunks on their way to the workers and back.

use super::buffer_pool::MIN_COUNTED;
use super::worker::{Job, Outcome};
use crate::checked::to_usize;
use bloscpack_storage::parallel::{BATCH, Pipeline};
use std::collections::VecDeque;

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

    /// The next chunk, if it is done; with `wait`, or if too many are under way, once it is done.
    pub(super) fn next(&mut self, wait: bool) -> Option<Outcome> {
        loop {
            if let Some(outcome) = self.ready.pop_front() {
                return Some(outcome);
            }
            if wait {
                self.send();
            }
            let done = if wait || self.pipeline.is_full() {
                self.pipeline.next()
            } else {
                self.pipeline.next_ready()
            };
            match done? {
                Ok(outcomes) => self.ready = outcomes.into(),
                Err(panicked) => return Some(Err(panicked)),
            }
        }
    }
}
