//! Measuring time.

use std::time::Instant;

use cpu_time::ThreadTime;

/// The clock in use. All measured work is done by one thread, so the CPU time of that thread leaves out
/// other work on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// CPU time of this thread, in user and kernel mode.
    Thread,
    /// Wall time.
    Wall,
}

impl Clock {
    /// The seconds that some work takes, and its result.
    pub fn time<T>(self, work: impl FnOnce() -> T) -> (f64, T) {
        let (wall, thread) = (Instant::now(), ThreadTime::now());
        let done = work();
        let spent = match self {
            Self::Thread => thread.elapsed(),
            Self::Wall => wall.elapsed(),
        };
        (spent.as_secs_f64(), done)
    }
}
