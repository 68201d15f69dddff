//! [`ReadAhead`]: turns many small reads into few large ones.

use crate::ReadAt;
use crate::convert::{min_len, to_u64, to_usize};
use bytes::{Bytes, BytesMut};
use std::io;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Maximum length of a read, unless the caller asks for more.
const MOST: usize = 1 << 20;
/// Minimum length of a read that continues an earlier one.
const LEAST: usize = 4 << 10;
/// Maximum gap after which a read still continues the one before.
const GAP: usize = 64 << 10;
/// Bytes that may be read in vain by default, in addition to a sixteenth of the bytes that were asked for.
const SPARE: u64 = 1 << 20;

/// Reads ahead for a reader that moves forward through a source, so that many small reads become few large
/// ones.
///
/// When a read begins at the end of the last one, or at most 64 KiB after it, each read fetches twice as much
/// as the one before, up to 1 MiB, and keeps it for the next reads. The reader can move forward at two
/// positions in turn, as in an index and the data it refers to. Any other read is passed on unchanged.
///
/// However the reader jumps, at most 1 MiB plus a sixteenth of what it asked for is read in vain; then nothing
/// more is read ahead. An error of reading ahead is not reported: the read is repeated for the bytes that were
/// asked for.
///
/// Takes up to 2 MiB of memory. Threads can share it, but each should have its own, because their positions
/// would displace one another. The length of the source is asked for once, so it must not change.
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
    /// Minimum length of a read after a jump.
    least: usize,
    spare: u64,
    /// The length of the source, after the first request.
    size: OnceLock<u64>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The two positions at which the reader moves forward, the last used first.
    places: [Place; 2],
    /// Bytes that the reader has asked for, and bytes that were read from the source.
    asked: u64,
    read: u64,
}

/// A position at which the reader moves forward.
#[derive(Debug, Default)]
struct Place {
    /// The last read, and how much the source was asked for.
    last: Range<u64>,
    step: usize,
    /// The position of the kept bytes.
    at: u64,
    kept: Bytes,
}

impl<S> ReadAhead<S> {
    /// Wraps a source. After a jump, reads at least `least` bytes, up to 1 MiB, for a reader that needs that
    /// many wherever it begins; 0 for a reader that may need only a few.
    pub fn new(source: S, least: usize) -> Self {
        Self {
            source,
            least: least.min(MOST),
            spare: SPARE,
            size: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// Sets how many bytes may be read in vain, in addition to a sixteenth of those that were asked for: 1 MiB
    /// by default.
    #[must_use]
    pub fn spare(mut self, bytes: u64) -> Self {
        self.spare = bytes;
        self
    }
}

impl Place {
    /// The kept bytes from this position.
    fn kept(&self, at: u64) -> &[u8] {
        let skip = at.checked_sub(self.at).and_then(|skip| to_usize(skip).ok());
        skip.and_then(|skip| self.kept.get(skip..))
            .unwrap_or_default()
    }

    /// How much the read before fetched, if a read at `at` continues it.
    fn step_to(&self, at: u64) -> Option<usize> {
        let goes_on = |last: Range<u64>, step: usize| {
            let gap = at.saturating_sub(last.end);
            step > 0 && at >= last.start && gap <= to_u64(step.min(GAP))
        };
        let kept = self.kept.len();
        // Saturates; no source has bytes after the last position.
        let all = self.at..self.at.saturating_add(to_u64(kept));
        if goes_on(self.last.clone(), self.step) {
            Some(self.step)
        } else {
            goes_on(all, kept).then_some(kept)
        }
    }

    /// Reads `planned` bytes and keeps them. Returns `None` if that failed: the bytes that nobody asked for may
    /// be the unreadable ones.
    fn fill(&mut self, source: &impl ReadAt, at: u64, planned: usize) -> Option<u64> {
        // Reuses the memory unless a caller holds a part of it.
        let mut kept = match std::mem::take(&mut self.kept).try_into_mut() {
            Ok(mut kept) if kept.capacity() >= planned => {
                kept.resize(planned, 0);
                kept
            }
            // Fresh zeroed memory costs nothing until it is written to.
            _ => BytesMut::zeroed(planned),
        };
        let read = source.read_at(at, &mut kept).ok();
        // A source that claims to have read more than fits is asked again, for the wanted bytes alone.
        let read = read.filter(|len| *len <= planned);
        kept.truncate(read.unwrap_or(0));
        (self.at, self.kept) = (at, kept.freeze());
        read.map(to_u64)
    }

    /// The bytes of this range without a copy, if all are kept and they are at least half of the kept bytes.
    /// Otherwise few bytes could hold on to much memory.
    fn share(&self, at: u64, len: usize) -> Option<Bytes> {
        let part = self.kept(at).get(..len)?;
        (len >= self.kept.len() / 2).then(|| self.kept.slice_ref(part))
    }
}

impl State {
    /// Moves the position to the front that a read at `at` continues, or else the less recently used one.
    fn turn_to(&mut self, at: u64) {
        let [first, second] = &self.places;
        let stays = if first.kept(at).is_empty() && second.kept(at).is_empty() {
            first.step_to(at).is_some()
        } else {
            !first.kept(at).is_empty()
        };
        if !stays {
            self.places.reverse();
        }
    }

    /// Counts a read of the reader. Saturates, because a source may claim any length.
    fn asked_for(&mut self, at: u64, len: u64) {
        let [place, _] = &mut self.places;
        place.last = at..at.saturating_add(len);
        self.asked = self.asked.saturating_add(len);
    }

    /// How much to read for a reader that wants `len` bytes at this position.
    fn plan(&self, at: u64, len: usize, (least, spare): (usize, u64)) -> usize {
        let [place, _] = &self.places;
        let step = place.step_to(at);
        let wanted = step.map_or(least, |step| (2 * step).clamp(LEAST, MOST));
        // Bytes that were read and not asked for. Saturates: bytes that were read once may be asked for twice.
        let vain = self.read.saturating_sub(self.asked);
        let allowed = spare.saturating_add(self.asked / 16).saturating_sub(vain);
        len + min_len(allowed, wanted.saturating_sub(len))
    }
}

impl<S: ReadAt> ReadAhead<S> {
    /// The state before a read of `len` bytes at `at`, with bytes read ahead for it.
    fn prepare(&self, at: u64, len: usize) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.turn_to(at);
        let planned = state.plan(at, len, (self.least, self.spare));
        let [place, _] = &mut state.places;
        if place.kept(at).is_empty() {
            place.step = planned.min(MOST);
            if planned > len {
                let read = place.fill(&self.source, at, planned).unwrap_or(0);
                state.read = state.read.saturating_add(read);
            }
        }
        state
    }
}

impl<S: ReadAt> ReadAt for ReadAhead<S> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut state = self.prepare(at, buf.len());
        let [place, _] = &state.places;
        let mut kept = place.kept(at);
        let len = match kept.is_empty() {
            false => io::Read::read(&mut kept, buf)?,
            // A read elsewhere keeps the kept bytes, and large reads are not copied.
            true => {
                let len = self.source.read_at(at, buf)?;
                state.read = state.read.saturating_add(to_u64(len));
                len
            }
        };
        state.asked_for(at, to_u64(len));
        Ok(len)
    }

    /// Copies nothing if most of the bytes that were read ahead are asked for.
    fn read_bytes(&self, at: u64, len: usize) -> io::Result<Bytes> {
        let mut state = self.prepare(at, len);
        let [place, _] = &state.places;
        if let Some(bytes) = place.share(at, len) {
            state.asked_for(at, to_u64(len));
            return Ok(bytes);
        }
        drop(state);
        let mut bytes = vec![0; len];
        self.read_exact_at(at, &mut bytes)?;
        Ok(bytes.into())
    }

    fn size(&self) -> io::Result<u64> {
        match self.size.get() {
            Some(size) => Ok(*size),
            None => {
                let size = self.source.size()?;
                Ok(*self.size.get_or_init(|| size))
            }
        }
    }

    /// Passes several ranges on unchanged: the reader has announced everything it wants.
    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        match ranges {
            [(at, buf)] => self.read_exact_at(*at, buf),
            several => self.source.read_ranges(several),
        }
    }

    fn will_read(&self, ranges: &[Range<u64>]) {
        self.source.will_read(ranges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// 16 MiB of which one byte cannot be read; the calls and the bytes of the reads are counted.
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
    fn most_of_what_was_read_is_handed_out_without_a_copy() {
        let file: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
        let ahead = ReadAhead::new(&file, file.len());
        let head = ahead.read_bytes(0, 16).unwrap();
        let rest = ahead.read_bytes(16, file.len() - 16).unwrap();
        let again = ahead.read_bytes(1000, 60_000).unwrap();
        assert_eq!([&head, &rest].map(|part| part.len()), [16, 99_984]);
        assert_eq!(again, file[1000..61_000]);
        assert_eq!(again.as_ptr(), rest[984..].as_ptr(), "the same memory");
        // Bytes that were handed out do not change when the source goes on.
        let longer = [file.as_slice(), &[7; 200_000]].concat();
        let ahead = ReadAhead::new(&longer, 100_000);
        let first = ahead.read_bytes(0, 100_000).unwrap();
        let next = ahead.read_bytes(100_000, 150_000).unwrap();
        assert!(next.iter().all(|byte| *byte == 7) && next.len() == 150_000);
        assert_eq!(first, file);
        let error = ahead.read_bytes(longer.len() as u64 - 1, 2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn small_gaps_are_read_and_large_ones_are_not() {
        let (calls, _) = cost(1000, (0..4000).map(|step| step * 1040), 0);
        assert!(calls <= 16, "{calls} calls");
        let (_, bytes) = cost(1000, (0..4000).map(|step| step * 4096), 0);
        assert!(bytes <= 4_000_000 + 4_000_000 / 16 + (2 << 20), "{bytes}");
    }

    #[test]
    fn a_reader_may_go_forward_in_two_places_and_look_elsewhere() {
        let both = |step: u64| [step * 8, LEN / 2 + step * 30].into_iter();
        let look = |step: u64| (step % 100 == 7).then_some(LEN - 5000);
        let (calls, _) = cost(
            24,
            (0..4000).flat_map(|step| both(step).chain(look(step))),
            0,
        );
        assert!(
            calls <= 40 + 40,
            "{calls} calls, of which 40 look elsewhere"
        );
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
