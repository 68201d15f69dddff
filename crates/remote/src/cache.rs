//! [`Cache`]: bytes of objects that were fetched, or are being fetched.
//!
//! ```text
//!  cover(range)   existing runs  ─► shared by all readers, also while they are being fetched
//!                 gaps           ─► new runs, at least 64 KiB, at most 2 MiB (8 MiB for a file of a store)
//!  finish         the run's bytes count; the least recently used runs go until the capacity holds
//! ```

use crate::error::Failure;
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The bytes of one request.
#[derive(Debug)]
pub(crate) struct Run {
    pub range: Range<u64>,
    /// Whether it was announced, rather than asked for, when it began.
    pub is_planned: bool,
    result: Mutex<Option<Result<Bytes, Failure>>>,
    done: Condvar,
    /// Whether a reader has asked for any of its bytes.
    used: AtomicBool,
}

impl Run {
    fn new(range: Range<u64>, is_planned: bool) -> Arc<Self> {
        Arc::new(Self {
            range,
            is_planned,
            result: Mutex::default(),
            done: Condvar::new(),
            used: AtomicBool::new(false),
        })
    }

    pub fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Waits until the bytes have arrived.
    pub fn wait(&self) -> Result<Bytes, Failure> {
        let mut result = lock(&self.result);
        loop {
            if let Some(result) = &*result {
                return result.clone();
            }
            result = self
                .done
                .wait(result)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Records that a reader asks for it. True for the first one.
    pub fn is_first_use(&self) -> bool {
        !self.used.swap(true, Ordering::Relaxed)
    }

    pub fn is_finished(&self) -> bool {
        lock(&self.result).is_some()
    }

    fn finish(&self, result: Result<Bytes, Failure>) {
        lock(&self.result).get_or_insert(result);
        self.done.notify_all();
    }
}

/// Bytes of objects, by URL and version. Runs of one object do not overlap.
///
/// The least recently used run is dropped first, and runs that were fetched ahead and not used yet are dropped
/// last. There is at most a window of these, which is less than the capacity.
#[derive(Debug)]
pub(crate) struct Cache {
    capacity: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    objects: HashMap<Arc<str>, BTreeMap<u64, Kept>>,
    /// The complete runs, in the order in which they are dropped.
    order: BTreeMap<Rank, (Arc<str>, u64)>,
    /// Bytes of all complete runs.
    bytes: u64,
    clock: u64,
}

/// Whether a run is still unused, and when it was last used.
type Rank = (bool, u64);

#[derive(Debug)]
struct Kept {
    run: Arc<Run>,
    /// `None` while it is being fetched.
    rank: Option<Rank>,
}

/// The range that a reader asks for, and how much around it may be fetched.
pub(crate) struct Wanted {
    /// The first byte that the reader gets.
    pub at: u64,
    pub range: Range<u64>,
    /// Whether nobody waits for it yet.
    pub is_planned: bool,
    /// Minimum length of a request, if there is room.
    pub least: u64,
    /// Maximum length of a request.
    pub most: u64,
    /// The length of the object.
    pub size: u64,
}

impl Cache {
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            state: Mutex::default(),
        }
    }

    /// The run with the byte `at`, and the new runs, which the caller must fetch.
    pub fn cover(&self, object: &Arc<str>, wanted: &Wanted) -> (Option<Arc<Run>>, Vec<Arc<Run>>) {
        let state = &mut *lock(&self.state);
        let runs = state.objects.entry(Arc::clone(object)).or_default();
        let mut new = Vec::new();
        let mut at = wanted.range.start;
        while at < wanted.range.end {
            let before = runs.range(..=at).next_back();
            let before = before.map_or(0, |(_, kept)| kept.run.range.end);
            if before > at {
                at = before;
                continue;
            }
            let next = runs
                .range(at..)
                .next()
                .map_or(wanted.size, |(start, _)| *start);
            let gap = grown(at..wanted.range.end.min(next), wanted, before..next);
            at = gap.end;
            for piece in pieces(gap, wanted.most) {
                let run = Run::new(piece, wanted.is_planned);
                let kept = Kept {
                    run: Arc::clone(&run),
                    rank: None,
                };
                runs.insert(run.range.start, kept);
                new.push(run);
            }
        }
        let first = runs.range(..=wanted.at).next_back();
        let first = first.map(|(_, kept)| Arc::clone(&kept.run));
        if runs.is_empty() {
            state.objects.remove(object);
        }
        (first.filter(|run| run.range.contains(&wanted.at)), new)
    }

    /// Stores the bytes of a run, or removes the run if fetching failed.
    pub fn finish(&self, object: &Arc<str>, run: &Arc<Run>, result: Result<Bytes, Failure>) {
        {
            let state = &mut *lock(&self.state);
            match &result {
                Ok(_) => {
                    let rank = (!run.used.load(Ordering::Relaxed), state.tick());
                    let kept = state.kept(object, run);
                    if let Some(kept) = kept {
                        kept.rank = Some(rank);
                        state
                            .order
                            .insert(rank, (Arc::clone(object), run.range.start));
                        state.bytes += run.len();
                        state.shrink_to(self.capacity);
                    }
                }
                Err(_) => state.forget(object, run.range.start),
            }
        }
        run.finish(result);
    }

    /// Stores bytes that arrived without being asked for.
    pub fn put(&self, object: &Arc<str>, range: Range<u64>, bytes: Bytes) {
        let (most, size) = (u64::MAX, range.end);
        let wanted = Wanted {
            at: range.start,
            range: range.clone(),
            is_planned: false,
            least: 0,
            most,
            size,
        };
        let (_, new) = self.cover(object, &wanted);
        for run in new {
            let place = |at: u64| usize::try_from(at.checked_sub(range.start)?).ok();
            let part = place(run.range.start).zip(place(run.range.end));
            let part = part.filter(|(from, to)| from <= to && *to <= bytes.len());
            let part = part.map(|(from, to)| bytes.slice(from..to));
            self.finish(object, &run, part.ok_or_else(Failure::ended));
        }
    }

    /// Records the use of a run.
    pub fn touch(&self, object: &Arc<str>, run: &Arc<Run>) {
        let state = &mut *lock(&self.state);
        let rank = (false, state.tick());
        // A run that is being fetched has no rank yet.
        let kept = state.kept(object, run).and_then(|kept| kept.rank.as_mut());
        let before = kept.map(|place| std::mem::replace(place, rank));
        if let Some(place) = before.and_then(|before| state.order.remove(&before)) {
            state.order.insert(rank, place);
        }
    }
}

impl State {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn kept(&mut self, object: &str, run: &Arc<Run>) -> Option<&mut Kept> {
        let kept = self.objects.get_mut(object)?.get_mut(&run.range.start);
        kept.filter(|kept| Arc::ptr_eq(&kept.run, run))
    }

    fn forget(&mut self, object: &str, start: u64) {
        if let Some(runs) = self.objects.get_mut(object) {
            runs.remove(&start);
            if runs.is_empty() {
                self.objects.remove(object);
            }
        }
    }

    fn shrink_to(&mut self, capacity: u64) {
        while self.bytes > capacity
            && let Some((_, (object, start))) = self.order.pop_first()
        {
            let runs = self.objects.get(&object);
            let len = runs
                .and_then(|runs| runs.get(&start))
                .map_or(0, |kept| kept.run.len());
            self.bytes -= len;
            self.forget(&object, start);
        }
    }
}

/// A gap extended to the minimum length of a request, forwards first.
fn grown(gap: Range<u64>, wanted: &Wanted, room: Range<u64>) -> Range<u64> {
    let end = gap
        .start
        .saturating_add(wanted.least)
        .clamp(gap.end, room.end.max(gap.end));
    let start = if end - gap.start < wanted.least && end == wanted.size {
        end.saturating_sub(wanted.least)
            .clamp(room.start.min(gap.start), gap.start)
    } else {
        gap.start
    };
    start..end
}

/// Splits a range into pieces of up to `most` bytes.
fn pieces(range: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let start = at;
        at = start.saturating_add(most.max(1)).min(range.end);
        (start < at).then_some(start..at)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(range: Range<u64>) -> Wanted {
        Wanted {
            at: range.start,
            range,
            is_planned: false,
            least: 10,
            most: 20,
            size: 100,
        }
    }

    /// Where they begin and end.
    fn ranges(runs: &[Arc<Run>]) -> Vec<(u64, u64)> {
        let ends = |run: &Arc<Run>| (run.range.start, run.range.end);
        runs.iter().map(ends).collect()
    }

    fn fill(cache: &Cache, object: &Arc<str>, runs: &[Arc<Run>]) {
        for run in runs {
            let bytes = vec![7; usize::try_from(run.len()).unwrap()];
            cache.finish(object, run, Ok(bytes.into()));
        }
    }

    #[test]
    fn runs_fill_gaps_and_never_overlap() {
        let (cache, object) = (Cache::new(1000), Arc::from("a"));
        let (first, new) = cache.cover(&object, &wanted(30..32));
        assert_eq!(ranges(&new), [(30, 40)]);
        assert!(Arc::ptr_eq(&first.unwrap(), &new[0]));
        // In pieces around it, also while it is fetched.
        assert_eq!(
            ranges(&cache.cover(&object, &wanted(5..70)).1),
            [(5, 25), (25, 30), (40, 60), (60, 70)]
        );
        // Backwards at the end, and no further than the cached range.
        assert_eq!(
            ranges(&cache.cover(&object, &wanted(98..100)).1),
            [(90, 100)]
        );
        assert_eq!(ranges(&cache.cover(&object, &wanted(80..81)).1), [(80, 90)]);
        let (first, new) = cache.cover(&object, &wanted(35..36));
        assert_eq!((first.unwrap().range.clone(), new.len()), (30..40, 0));
        // Another object has other bytes.
        assert_eq!(
            ranges(&cache.cover(&Arc::from("b"), &wanted(0..5)).1),
            [(0, 10)]
        );
    }

    #[test]
    fn what_was_not_used_longest_goes_first_and_what_was_never_used_last() {
        let (cache, object) = (Cache::new(30), Arc::from("a"));
        let mut all = Vec::new();
        for start in [0, 20, 40] {
            let (_, new) = cache.cover(&object, &wanted(start..start + 10));
            fill(&cache, &object, &new);
            all.extend(new);
        }
        assert!(all[1].is_first_use() && !all[1].is_first_use());
        cache.touch(&object, &all[1]);
        let (_, new) = cache.cover(&object, &wanted(60..70));
        fill(&cache, &object, &new);
        let is_there = |start: u64| cache.cover(&object, &wanted(start..start + 1)).1.is_empty();
        assert_eq!([0, 40, 60].map(is_there), [true; 3]);
        assert!(!is_there(20));
    }

    #[test]
    fn what_failed_is_fetched_again() {
        let (cache, object) = (Cache::new(30), Arc::from("a"));
        let (run, new) = cache.cover(&object, &wanted(0..10));
        cache.finish(&object, &new[0], Err(Failure::ended()));
        assert!(run.unwrap().wait().is_err());
        let (run, new) = cache.cover(&object, &wanted(0..10));
        fill(&cache, &object, &new);
        assert_eq!(run.unwrap().wait().unwrap().len(), 10);
    }
}
