//! [`Checked`]: passes on batches after checking the version of their input.

use crate::error::{external, portable};
use crate::open::OpenedBy;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use std::collections::VecDeque;
use std::sync::Arc;

/// The maximum number of batches for one check, which may take longer than reading a batch.
const WAITING: usize = 8;

/// Passes on only batches of the data version that was planned.
pub(crate) struct Checked<I> {
    batches: I,
    opened_by: Arc<OpenedBy>,
    ready: VecDeque<RecordBatch>,
    /// The number of batches for the next check: one at first, so that a query with a limit does not wait.
    at_once: usize,
    is_done: bool,
}

impl<I> Checked<I> {
    pub(crate) fn new(batches: I, opened_by: &Arc<OpenedBy>) -> Self {
        Self {
            batches,
            opened_by: Arc::clone(opened_by),
            ready: VecDeque::new(),
            at_once: 1,
            is_done: false,
        }
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Checked<I> {
    /// Reads the next batches and checks them. The end is checked as well, because it is part of the answer.
    fn fill(&mut self) -> Result<()> {
        while self.ready.len() < self.at_once && !self.is_done {
            match self.batches.next() {
                Some(batch) => self.ready.push_back(batch?),
                None => self.is_done = true,
            }
        }
        self.at_once = WAITING.min(self.at_once * 2);
        let checked = self.opened_by.check().map_err(external);
        checked.map_err(|error| error.context(self.opened_by.to_string()))
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for Checked<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty()
            && !self.is_done
            && let Err(error) = self.fill()
        {
            self.ready.clear();
            self.is_done = true;
            return Some(Err(portable(error)));
        }
        self.ready.pop_front().map(Ok)
    }
}
