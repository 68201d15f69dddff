//! [`ReadAhead`]: a source that is asked for much at once, by readers that go through it in small steps.

use crate::ReadAt;
use crate::convert::{min_len, to_u64, to_usize};
use crate::error::bug;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The most bytes that are read at once, unless more are asked for.
const MOST: usize = 1 << 20;
/// The least bytes that a reader gets that goes forward.
const LEAST: usize = 4 << 10;
/// Bytes that may be read in vain, besides a sixteenth of those that were asked for.
const SPARE: u64 = 1 << 20;

/// Reads ahead of a reader that goes forward through a source, so that few and large reads are made of many small ones.
///
/// A read anywhere else is passed on as it is. From the second read on that begins at the end of the last one, or soon after
/// it, twice as much is read each time, up to 1 MiB, and kept for the next ones. However the reader jumps, no more is read in
/// vain than 1 MiB and a sixteenth of what it asked for: from then on, nothing is read ahead.
///
/// It takes up to 1 MiB of memory, and is meant for one reader: several threads need one each.
///
/// ```
/// use bloscpack_storage::{ReadAhead, ReadAt};
/// let file = vec![7; 100_000];
/// let ahead = ReadAhead::new(&file, 0);
/// let mut step = [0; 100];
/// for at in (0..100_000).step_by(100) {
///     ahead.read_exact_at(at, &mut step)?; // 1,000 calls, of which `file` sees seven
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ReadAhead<S> {
    source: S,
    /// The least that is read after a jump.
    least: usize,
    window: Mutex<Window>,
}

#[derive(Debug, Default)]
struct Window {
    /// Where the kept bytes begin.
    at: u64,
    bytes: Vec<u8>,
    /// Where the last read ended.
    next: u64,
    /// How much the source was asked for last.
    step: usize,
    /// Bytes that the reader has asked for, and those that were read for it.
    asked: u64,
    read: u64,
}

impl<S> ReadAhead<S> {
    /// Reads at least `least` bytes at once, also after a jump, for a reader that needs that much wherever it begins: 0 for
    /// one that may only look at a few bytes.
    pub fn new(source: S, least: usize) -> Self {
        Self {
            source,
            least: least.min(MOST),
            window: Mutex::default(),
        }
    }
}

impl Window {
    /// The kept bytes from this position on.
    fn kept(&self, at: u64) -> &[u8] {
        let skip = at.checked_sub(self.at).and_then(|skip| to_usize(skip).ok());
        skip.and_then(|skip| self.bytes.get(skip..))
            .unwrap_or_default()
    }

    /// How much to read for a reader that wants `len` bytes at this position.
    fn plan(&self, at: u64, len: usize, least: usize) -> usize {
        let is_near = |end: u64, step| at.checked_sub(end).is_some_and(|gap| gap <= to_u64(step));
        let kept = self.bytes.len();
        let wanted = if is_near(self.next, self.step) && self.step > 0 {
            (2 * self.step).clamp(LEAST, MOST)
        } else if kept > 0 && is_near(self.at + to_u64(kept), kept) {
            (2 * kept).clamp(LEAST, MOST)
        } else {
            least
        };
        // What was read and not asked for. It saturates: what is read twice from here may be more than was read.
        let vain = self.read.saturating_sub(self.asked);
        let allowed = (SPARE + self.asked / 16).saturating_sub(vain);
        let extra = wanted.saturating_sub(len);
        len + min_len(allowed, extra)
    }

    /// Notes what the reader got.
    fn passed(&mut self, at: u64, len: usize) {
        // Saturating: a source may claim to have read any number of bytes.
        self.next = at.saturating_add(to_u64(len));
        self.asked = self.asked.saturating_add(to_u64(len));
    }

    /// Reads more than is wanted, to keep it.
    fn fill(&mut self, source: &impl ReadAt, at: u64, wanted: usize) -> io::Result<()> {
        self.bytes.resize(wanted, 0);
        self.at = at;
        let read = source.read_at(at, &mut self.bytes);
        let len = *read.as_ref().unwrap_or(&0);
        self.bytes.truncate(len);
        match read? > wanted {
            true => Err(bug(format!("{len} bytes read, of {wanted}"))),
            false => Ok(()),
        }
    }
}

impl<S: ReadAt> ReadAt for ReadAhead<S> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let window = &mut *self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if window.kept(at).is_empty() {
            let wanted = window.plan(at, buf.len(), self.least);
            window.step = wanted.min(MOST);
            // The error of bytes that nobody has asked for is not reported: then those alone are read that are wanted.
            if wanted > buf.len() && window.fill(&self.source, at, wanted).is_ok() {
                window.read = window.read.saturating_add(to_u64(window.bytes.len()));
            } else {
                // A look elsewhere leaves the kept bytes as they are, and large reads are not copied.
                let len = self.source.read_at(at, buf)?;
                window.read = window.read.saturating_add(to_u64(len));
                window.passed(at, len);
                return Ok(len);
            }
        }
        let mut kept = window.kept(at);
        let len = io::Read::read(&mut kept, buf)?;
        window.passed(at, len);
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        self.source.size()
    }

    /// Passes several on as they are: they are all that is wanted.
    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        match ranges {
            [(at, buf)] => self.read_exact_at(*at, buf),
            several => self.source.read_ranges(several),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A MiB of which one byte cannot be read; the calls and the bytes of the reads are counted.
    struct Torn(AtomicU64, AtomicU64, u64);

    const LEN: u64 = 16 << 20;

    impl ReadAt for Torn {
        fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let len = min_len(LEN.saturating_sub(at), buf.len());
            if (at..at + to_u64(len)).contains(&self.2) {
                return Err(io::Error::other("torn"));
            }
            for (byte, at) in buf[..len].iter_mut().zip(at..) {
                *byte = at.to_le_bytes()[0] ^ at.to_le_bytes()[1];
            }
            self.1.fetch_add(to_u64(len), Ordering::Relaxed);
            Ok(len)
        }

        fn size(&self) -> io::Result<u64> {
            Ok(LEN)
        }
    }

    /// Reads steps of this length, one at each of these positions, and returns the calls and the bytes that it took.
    fn cost(len: usize, at: impl Iterator<Item = u64>, least: usize) -> (u64, u64) {
        let source = Torn(AtomicU64::new(0), AtomicU64::new(0), u64::MAX);
        let ahead = ReadAhead::new(&source, least);
        let (mut step, mut expected) = (vec![0; len], vec![0; len]);
        for at in at {
            ahead.read_exact_at(at, &mut step).unwrap();
            let plain = Torn(AtomicU64::new(0), AtomicU64::new(0), u64::MAX);
            plain.read_exact_at(at, &mut expected).unwrap();
            assert!(step == expected, "at {at}");
        }
        (source.0.into_inner(), source.1.into_inner())
    }

    #[test]
    fn steps_forward_become_few_large_reads() {
        for len in [100, 4096, 300_000] {
            let steps = 0..(8 << 20) / to_u64(len);
            let (calls, bytes) = cost(len, steps.map(|step| step * to_u64(len)), 0);
            assert!(calls <= 8 + 10, "{calls} calls for steps of {len}");
            assert!(bytes <= 9 << 20, "{bytes} bytes for steps of {len}");
        }
    }

    #[test]
    fn small_gaps_are_read_and_large_ones_are_not() {
        let (calls, _) = cost(1000, (0..4000).map(|step| step * 1040), 0);
        assert!(calls <= 16, "{calls} calls");
        let (_, bytes) = cost(1000, (0..4000).map(|step| step * 4096), 0);
        assert!(bytes <= 4_000_000 + 4_000_000 / 16 + (2 << 20), "{bytes}");
    }

    #[test]
    fn a_jump_costs_no_more_than_it_needs() {
        let far = |step: u64| step * 7_340_033 % (LEN - 5000);
        assert_eq!(cost(16, (0..50).map(far), 0), (50, 800));
        let (calls, bytes) = cost(16, (0..1000).map(far), 4096);
        assert!(
            calls <= 1000 && bytes <= (1 << 20) + 4096 + 17_000,
            "{bytes}"
        );
    }

    #[test]
    fn what_was_not_asked_for_may_be_unreadable() {
        let source = Torn(AtomicU64::new(0), AtomicU64::new(0), 5000);
        let ahead = ReadAhead::new(&source, 0);
        let mut step = [0; 1000];
        for at in 0..5 {
            ahead.read_exact_at(at * 1000, &mut step).unwrap();
        }
        let error = ahead.read_exact_at(5000, &mut step).unwrap_err();
        assert_eq!(error.to_string(), "torn");
        ahead.read_exact_at(6000, &mut step).unwrap();
    }

    #[test]
    fn the_end_of_a_source_is_its_end() {
        let ahead = ReadAhead::new(b"0123456789".as_slice(), 4);
        let mut buf = [0; 4];
        assert_eq!(ahead.read_at(8, &mut buf).unwrap(), 2);
        assert_eq!(ahead.read_at(10, &mut buf).unwrap(), 0);
        assert_eq!(ahead.read_at(u64::MAX, &mut buf).unwrap(), 0);
        assert_eq!(ahead.size().unwrap(), 10);
    }
}
