//! The time that work takes, and bounds on it that a busy machine does not reach.

use std::time::{Duration, Instant};

/// Longer than any machine delays a test: what takes longer hangs.
pub const HANG: Duration = Duration::from_secs(300);

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

/// Whether work grows with its size, and not with the square of it: eight times as much takes far less than 64 times as long.
///
/// `work` is given the factor, 1 or 8. The shortest of several times counts, since other programs only make them longer.
pub fn grows_evenly(mut work: impl FnMut(usize)) -> bool {
    let (mut small, mut large) = (Duration::MAX, Duration::MAX);
    let mut time = |factor, shortest: &mut Duration| {
        let begun = Stopwatch::start();
        work(factor);
        *shortest = begun.elapsed().min(*shortest);
    };
    time(1, &mut small);
    (0..5).any(|_| {
        time(1, &mut small);
        time(8, &mut large);
        large < small * 24
    })
}
