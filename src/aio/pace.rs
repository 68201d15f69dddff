//! [`Pace`]: lets other tasks run from time to time, even if a task never has to wait.

use std::task::{Context, Poll};

/// Bytes that a task copies before it lets others run, which takes a fraction of a millisecond.
const QUOTA: usize = 1 << 20;

/// Counts the bytes that were copied since the last yield.
#[derive(Debug, Default)]
pub(crate) struct Pace(usize);

impl Pace {
    /// Counts bytes.
    pub(crate) fn count(&mut self, bytes: usize) {
        // Saturates: all numbers above the quota have the same effect.
        self.0 = self.0.saturating_add(bytes);
    }

    /// Lets other tasks run once the quota is used up. This task is then polled again.
    pub(crate) fn poll<Y: Yield>(&mut self, task: &mut Context<'_>) -> Poll<()> {
        if self.0 < QUOTA {
            return Poll::Ready(());
        }
        self.0 = 0;
        Y::yield_now(task);
        Poll::Pending
    }
}

/// How a task yields to others: a part of [`Source`](super::Source) and [`Target`](super::Target), since it depends on the
/// runtime. The default suits every runtime.
pub trait Yield {
    /// Arranges for the task to be polled again soon, after other tasks, and if the runtime supports it after timers and
    /// sockets. By default, it wakes the task at once.
    fn yield_now(task: &mut Context<'_>) {
        task.waker().wake_by_ref();
    }
}
