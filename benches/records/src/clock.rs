//! How time is taken.

use std::time::Instant;

use cpu_time::ThreadTime;

/// What the clock that runs shows: all that is measured is done by one thread, and what others do on
/// the machine meanwhile is nobody's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The time that this thread was given, in the kernel or not.
    Thread,
    /// The time of the day.
    Wall,
}

impl Clock {
    /// Seconds that some work takes, and what comes of it.
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
