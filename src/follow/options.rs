//! [`FollowOptions`]: where a follower begins, how long it waits, and what it accepts.

use super::content::ContentFollower;
use super::core::Follower;
use super::records::RecordFollower;
use super::source::FollowedFile;
use crate::Options;
use crate::indexed::IndexedReader;
use crate::records::IndexedRecordReader;
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::{FileWatch, StopSignal};
use std::path::Path;
use std::time::Duration;

/// Options of a follower: where it begins, how long it waits, and how it is stopped.
///
/// ```no_run
/// use bloscpack::follow::FollowOptions;
/// use bloscpack::storage::StopSignal;
/// use std::thread;
/// let stop = StopSignal::default();
/// let mut follower = FollowOptions::new().from(1000).stop(&stop).records("log.blp".as_ref())?;
/// let printing = thread::spawn(move || {
///     for record in follower.by_ref() {
///         println!("{:?}", record?);
///     }
///     Ok::<u64, bloscpack::Error>(follower.number())
/// });
/// stop.stop(); // for example after Ctrl-C
/// let next = printing.join();
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FollowOptions {
    from: u64,
    timeout: Option<Duration>,
    stop: StopSignal,
    options: Options,
}

impl FollowOptions {
    /// All defaults: a follower that begins at 0, and waits without limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of the first record, or the position of the first byte in the content; 0 by default. A follower continues an
    /// earlier one from its [`number`](RecordFollower::number) or [`position`](ContentFollower::position).
    #[must_use]
    pub fn from(mut self, first: u64) -> Self {
        self.from = first;
        self
    }

    /// How long the iterator or [`Read`](std::io::Read) waits for something new: without limit by default, not at all with
    /// zero. The time begins again with each item.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Ends a wait in progress, and each later one, when [`StopSignal::stop`] is called, from any thread.
    #[must_use]
    pub fn stop(mut self, stop: &StopSignal) -> Self {
        self.stop = stop.clone();
        self
    }

    /// How the file is read: limits, hashers, cache. Chunks are decoded on the caller's thread.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Follows the records of the file at this path.
    ///
    /// # Errors
    /// Returns any error of the file system, also for a missing file; the errors of [`IndexedRecordReader::with_options`]; and
    /// [`Usage`](bloscpack_error::Category::Usage) if [`from`](Self::from) is past the last record.
    pub fn records(&self, path: &Path) -> Result<RecordFollower> {
        let (watch, file) = self.open(path)?;
        let reader = IndexedRecordReader::with_options(file, self.options.clone())?;
        let follower = Follower::new(reader, watch, self.from)?;
        Ok(RecordFollower::new(follower, self.timeout))
    }

    /// Follows the content of the file at this path.
    ///
    /// # Errors
    /// Returns any error of the file system, also for a missing file; the errors of [`IndexedReader::with_options`]; and
    /// [`Usage`](bloscpack_error::Category::Usage) if [`from`](Self::from) is past the end of the content.
    pub fn content(&self, path: &Path) -> Result<ContentFollower> {
        let (watch, file) = self.open(path)?;
        let reader = IndexedReader::with_options(file, self.options.clone())?;
        let follower = Follower::new(reader, watch, self.from)?;
        Ok(ContentFollower::new(follower, self.timeout))
    }

    /// Starts the watch before it opens the file, so that no change is missed.
    fn open(&self, path: &Path) -> Result<(FileWatch, FollowedFile)> {
        let watch = FileWatch::new(path, self.stop.clone()).reading()?;
        let file = FollowedFile::open(path.to_owned()).map_err(Error::from);
        Ok((watch, file.reading()?))
    }
}
