//! The time that work takes.

use std::time::{Duration, Instant};

/// Time that this thread has worked, whatever else the machine does.
pub struct Stopwatch(Instant, Option<u64>);

impl Stopwatch {
    pub fn start() -> Self {
        Self(Instant::now(), Self::worked())
    }

    /// CPU time in nanoseconds, if the system reports it.
    fn worked() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok()
    }

    /// The estimated time without a sanitizer or coverage counters: `BLOSCPACK_SLOWDOWN=4` means that these make
    /// everything four times slower.
    pub fn elapsed(&self) -> Duration {
        let elapsed = match (self.1, Self::worked()) {
            (Some(from), Some(to)) => Duration::from_nanos(to.saturating_sub(from)),
            _ => self.0.elapsed(),
        };
        let slowdown = std::env::var("BLOSCPACK_SLOWDOWN").ok();
        elapsed / slowdown.and_then(|text| text.parse().ok()).unwrap_or(1)
    }
}
