//! [`Plan`]: fetches announced ranges ahead, within a window of bytes.

use crate::source::Source;
use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ranges that readers have announced. They are fetched as others are used, so that at most a window of bytes
/// is fetched and not used yet.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    window: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<(Arc<Source>, Range<u64>)>,
    /// The paths of whole objects that are in the queue, or fetched and not used yet.
    planned: HashSet<String>,
    /// Bytes that were requested and not used yet.
    open: u64,
}

/// Maximum number of waiting ranges. Further announced ranges are fetched when they are read.
const MAX_QUEUED: usize = 1 << 16;

impl Plan {
    pub fn new(window: u64) -> Self {
        Self {
            window,
            state: Mutex::default(),
        }
    }

    /// Adds ranges of an object.
    pub fn add(&self, source: &Arc<Source>, ranges: impl Iterator<Item = Range<u64>>) {
        let mut state = self.state();
        let room = MAX_QUEUED.saturating_sub(state.queue.len());
        let ranges = ranges.filter(|range| !range.is_empty()).take(room);
        state
            .queue
            .extend(ranges.map(|range| (Arc::clone(source), range)));
        drop(state);
        self.pump();
    }

    /// Adds whole objects, unless they were added before and not used since.
    pub fn add_whole(&self, sources: impl Iterator<Item = Arc<Source>>) {
        let mut state = self.state();
        for source in sources {
            let is_new = state.planned.insert(source.place().path.to_string());
            if is_new && state.queue.len() < MAX_QUEUED {
                state.queue.push_back((source, 0..u64::MAX));
            }
        }
        drop(state);
        self.pump();
    }

    /// Records that these bytes were used for the first time, and fetches as many others.
    pub fn used(&self, source: &Source, bytes: u64) {
        let mut state = self.state();
        state.open = state.open.saturating_sub(bytes);
        state.planned.remove(source.place().path.as_ref());
        drop(state);
        self.pump();
    }

    /// Begins to fetch whatever fits into the window.
    fn pump(&self) {
        while let Some((source, range)) = self.next() {
            // Does not wait for an object's first answer.
            if let Some(version) = source.known() {
                let end = range.end.min(version.size);
                let range = range.start.min(end)..end;
                if !range.is_empty() {
                    let opened = source.cover(version, range, true).1;
                    self.state().open += opened;
                }
            }
        }
    }

    /// The next part of the queue that fits into the window.
    fn next(&self) -> Option<(Arc<Source>, Range<u64>)> {
        let mut state = self.state();
        if state.open >= self.window {
            return None;
        }
        let (source, range) = state.queue.pop_front()?;
        let most = (self.window - state.open).max(1 << 20);
        let end = range.end.min(range.start.saturating_add(most));
        let has_more = source.known().is_some_and(|version| version.size > end) && end < range.end;
        if has_more {
            state
                .queue
                .push_front((Arc::clone(&source), end..range.end));
        }
        Some((source, range.start..end))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
