//! [`Pace`]: a task that always finds something to do, and still lets others run.

use std::task::{Context, Poll};

/// Bytes that a task copies before it lets others run: a fraction of a millisecond.
const QUOTA: usize = 1 << 20;

/// Counts the bytes that were copied since others could run.
#[derive(Debug, Default)]
pub(crate) struct Pace(usize);

impl Pace {
    /// Counts bytes.
    pub(crate) fn count(&mut self, bytes: usize) {
        // Saturates: more than the quota is as good as the quota.
        self.0 = self.0.saturating_add(bytes);
    }

    /// Lets other tasks run if it is time: this one continues at once when they have.
    pub(crate) fn poll<Y: Yield>(&mut self, task: &mut Context<'_>) -> Poll<()> {
        if self.0 < QUOTA {
            return Poll::Ready(());
        }
        self.0 = 0;
        Y::yield_now(task);
        Poll::Pending
    }
}

/// How a task lets others run.
pub trait Yield {
    /// Arranges for the task to be polled again, after other tasks, timers and sockets had their turn.
    fn yield_now(task: &mut Context<'_>) {
        task.waker().wake_by_ref();
    }
}
