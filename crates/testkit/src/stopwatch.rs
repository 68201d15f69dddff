//! The time that work takes.

use std::time::{Duration, Instant};

/// Time that this thread has worked, whatever else the machine does.
pub struct Stopwatch(Instant, Option<u64>);

impl Stopwatch {
    pub fn start() -> Self {
        Self(Instant::now(), Self::worked())
    }

    /// Nanoseconds, where the system tells.
    fn worked() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok()
    }

    /// What it would have been without a sanitizer or the counters of coverage, which `BLOSCPACK_SLOWDOWN=4` says to make all four times slower.
    pub fn elapsed(&self) -> Duration {
        let elapsed = match (self.1, Self::worked()) {
            (Some(from), Some(to)) => Duration::from_nanos(to.saturating_sub(from)),
            _ => self.0.elapsed(),
        };
        let slowdown = std::env::var("BLOSCPACK_SLOWDOWN").ok();
        elapsed / slowdown.and_then(|text| text.parse().ok()).unwrap_or(1)
    }
}
