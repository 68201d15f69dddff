//! [`RemoteObject`]: an object that is read at any position.

use crate::plan::Plan;
use crate::source::Source;
use bloscpack::storage::ReadAt;
use bytes::Bytes;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// An object that can be read at any position, by several threads at once. Clones share it.
///
/// The first answer brings the length, the version and the first bytes. All later answers must be of the same
/// version: a change in between is an error. A request fetches 64 KiB to 2 MiB. When a reader moves forward, as
/// many bytes are fetched ahead as it has read, up to a quarter of the cache; ranges
/// [announced](ReadAt::will_read) by a reader are fetched at once.
///
/// Bytes stay in the cache of the [`Remote`](crate::Remote).
///
/// ```
/// use bloscpack::storage::ReadAt;
/// use bloscpack_remote::{Remote, RemoteOptions};
/// let remote = Remote::new(RemoteOptions::new())?;
/// # let url = format!("file://{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
/// // let url = "s3://bucket/key";
/// let object = remote.object(&url)?;
/// let mut first = [0; 4];
/// object.read_exact_at(0, &mut first)?;
/// assert!(object.size()? > 4);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RemoteObject {
    source: Arc<Source>,
    plan: Arc<Plan>,
    places: Arc<Mutex<Places>>,
}

/// How far apart readers may be that move through an object together.
const APART: u64 = 4 << 20;

/// Gaps up to this length are fetched together with the ranges around them.
const GAP: u64 = 128 << 10;

/// The positions at which readers move forward, the last used first.
#[derive(Debug, Default)]
struct Places([Progress; 4]);

#[derive(Debug, Default, Clone)]
struct Progress {
    /// Where the reader began, and how far it has come.
    read: Range<u64>,
}

impl Places {
    /// How many bytes to fetch ahead of a reader of this range: as many as it has read so far.
    fn ahead(&mut self, wanted: &Range<u64>, most: u64) -> u64 {
        let Self(places) = self;
        let goes_on = |place: &Progress| {
            let read = &place.read;
            !read.is_empty()
                && wanted.start >= read.start
                && wanted.start <= read.end.saturating_add(APART)
        };
        let found = places.iter().position(goes_on);
        let index = found.unwrap_or(places.len() - 1);
        if let Some(to_front) = places.get_mut(..=index) {
            to_front.rotate_right(1);
        }
        let [place, ..] = places;
        match found {
            // Reading bytes again is not progress.
            Some(_) if wanted.end <= place.read.end => 0,
            Some(_) => {
                place.read.end = place.read.end.max(wanted.end);
                (place.read.end - place.read.start).min(most)
            }
            None => {
                place.read = wanted.clone();
                0
            }
        }
    }
}

impl RemoteObject {
    pub(crate) fn new(source: Arc<Source>, plan: Arc<Plan>) -> Self {
        Self {
            source,
            plan,
            places: Arc::default(),
        }
    }

    /// The URL, without secrets.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.source.place().name
    }

    /// A text that differs for every version of the object: its length, and its tag or else the time of its
    /// last change. All bytes that are read are of this version.
    ///
    /// # Errors
    /// Returns any error of the store, if the version is not known yet.
    pub fn version(&self) -> io::Result<String> {
        Ok(self.source.version()?.to_string())
    }

    /// Begins to fetch what follows this range, as far as the reader's progress justifies it.
    fn go_ahead(&self, wanted: &Range<u64>, size: u64) {
        let window = self.source.place().shared.options.window;
        let ahead = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.ahead(wanted, window / 2)
        };
        let range = wanted.end..wanted.end.saturating_add(ahead).min(size);
        if let (false, Some(version)) = (range.is_empty(), self.source.known()) {
            self.source.cover(version, range, false);
        }
    }
}

impl RemoteObject {
    /// The bytes of the request that contains position `at`, for a reader of `len` bytes, and the number of
    /// bytes before `at`. No bytes at the end, or if `len` is 0.
    fn fetched(&self, at: u64, len: usize) -> io::Result<(Bytes, usize)> {
        let version = self.source.version()?;
        let end = at.saturating_add(len as u64).min(version.size);
        if at >= end {
            return Ok((Bytes::new(), 0));
        }
        let window = self.source.place().shared.options.window;
        let wanted = at..end.min(at.saturating_add(window));
        let (run, _) = self.source.cover(version, wanted.clone(), false);
        let run = run.ok_or_else(|| io::Error::other("no request for a range of an object"))?;
        // A reader that announces its ranges needs no others.
        if !run.is_planned {
            self.go_ahead(&wanted, version.size);
        }
        if run.is_first_use() {
            self.plan
                .used(&self.source, if run.is_planned { run.len() } else { 0 });
        }
        let bytes = self.source.wait(version, &run)?;
        let skip = usize::try_from(at - run.range.start).ok();
        let skip = skip.filter(|skip| *skip <= bytes.len());
        let skip = skip.ok_or_else(|| io::Error::other("a range without its position"))?;
        Ok((bytes, skip))
    }
}

impl ReadAt for RemoteObject {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let (bytes, skip) = self.fetched(at, buf.len())?;
        let (_, mut rest) = bytes.split_at(skip);
        io::Read::read(&mut rest, buf)
    }

    /// Copies nothing if most of a request is asked for. Otherwise few bytes could hold on to much memory.
    fn read_bytes(&self, at: u64, len: usize) -> io::Result<Bytes> {
        let (bytes, skip) = self.fetched(at, len)?;
        let end = skip.saturating_add(len);
        if len >= bytes.len() / 2 && end <= bytes.len() {
            return Ok(bytes.slice(skip..end));
        }
        let mut bytes = vec![0; len];
        self.read_exact_at(at, &mut bytes)?;
        Ok(bytes.into())
    }

    fn size(&self) -> io::Result<u64> {
        self.source.version().map(|version| version.size)
    }

    /// Requests all ranges at once.
    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        let all = ranges
            .iter()
            .map(|(at, buf)| *at..at.saturating_add(buf.len() as u64));
        self.will_read(&all.collect::<Vec<_>>());
        let mut ranges = ranges.iter_mut();
        ranges.try_for_each(|(at, buf)| self.read_exact_at(*at, buf))
    }

    fn will_read(&self, ranges: &[Range<u64>]) {
        let mut ranges: Vec<Range<u64>> = ranges
            .iter()
            .filter(|range| !range.is_empty())
            .cloned()
            .collect();
        if ranges.is_empty() || self.source.version().is_err() {
            return;
        }
        ranges.sort_by_key(|range| range.start);
        ranges.dedup_by(|next, last| {
            let is_near = next.start <= last.end.saturating_add(GAP);
            if is_near {
                last.end = last.end.max(next.end);
            }
            is_near
        });
        self.plan.add(&self.source, ranges.into_iter());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_is_fetched_ahead_as_was_read_in_order() {
        let mut places = Places::default();
        assert_eq!(places.ahead(&(0..100), 1000), 0);
        assert_eq!(places.ahead(&(100..200), 1000), 200);
        // Another reader far away, and the first one goes on.
        assert_eq!(places.ahead(&((1 << 30)..(1 << 30) + 10), 1000), 0);
        assert_eq!(places.ahead(&(200..900), 1000), 900);
        assert_eq!(places.ahead(&((1 << 30) + 10..(1 << 30) + 20), 1000), 20);
        assert_eq!(places.ahead(&(900..9000), 1000), 1000);
        // Bytes that were read before are not progress, and going backwards is a new beginning.
        assert_eq!(places.ahead(&(300..400), 1000), 0);
        assert_eq!(places.ahead(&((1 << 29)..(1 << 29) + 10), 1000), 0);
    }
}
