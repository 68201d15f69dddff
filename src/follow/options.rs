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

/// Options of a follower.
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
    /// Begins at 0, and waits for ever.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of the first record, or of the first byte of the content; 0 by default. A follower that was interrupted
    /// goes on here.
    #[must_use]
    pub fn from(mut self, first: u64) -> Self {
        self.from = first;
        self
    }

    /// How long to wait for something new: for ever by default, not at all with zero.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Ends the wait when [`StopSignal::stop`] is called.
    #[must_use]
    pub fn stop(mut self, stop: &StopSignal) -> Self {
        self.stop = stop.clone();
        self
    }

    /// How the file is read. Chunks are decoded on the caller's thread, whatever the number of threads.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Follows the records of the file at this path.
    ///
    /// # Errors
    /// Returns any error of the file system, also if there is no such file; the errors of
    /// [`IndexedRecordReader::with_options`]; and a
    /// [`Usage`](bloscpack_error::Category::Usage) error if the file has fewer records than precede the first one.
    pub fn records(&self, path: &Path) -> Result<RecordFollower> {
        let (watch, file) = self.open(path)?;
        let reader = IndexedRecordReader::with_options(file, self.options.clone())?;
        let follower = Follower::new(reader, watch, self.from)?;
        Ok(RecordFollower::new(follower, self.timeout))
    }

    /// Follows the content of the file at this path.
    ///
    /// # Errors
    /// Returns any error of the file system, also if there is no such file; the errors of
    /// [`IndexedReader::with_options`]; and a
    /// [`Usage`](bloscpack_error::Category::Usage) error if the content is shorter than what precedes the first byte.
    pub fn content(&self, path: &Path) -> Result<ContentFollower> {
        let (watch, file) = self.open(path)?;
        let reader = IndexedReader::with_options(file, self.options.clone())?;
        let follower = Follower::new(reader, watch, self.from)?;
        Ok(ContentFollower::new(follower, self.timeout))
    }

    /// The watch is older, so that no change is missed.
    fn open(&self, path: &Path) -> Result<(FileWatch, FollowedFile)> {
        let watch = FileWatch::new(path, self.stop.clone()).reading()?;
        let file = FollowedFile::open(path.to_owned()).map_err(Error::from);
        Ok((watch, file.reading()?))
    }
}
