//! [`RecordFollower`]: the records of a file, and further records as they are appended.

use super::core::Follower;
use super::source::FollowedFile;
use crate::records::IndexedRecordReader;
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::Duration;

/// The most records that are read at once, and the number of bytes after which reading stops.
const BATCH: u64 = 1024;
const BATCH_BYTES: usize = 4 << 20;

/// Returns the records of a file, and waits for records that are appended; created by
/// [`FollowOptions::records`](super::FollowOptions::records).
///
/// As an [`Iterator`], it blocks until a record arrives. It returns `None` if none arrives within the
/// [timeout](super::FollowOptions::timeout), or if it was [stopped](super::FollowOptions::stop); it may be asked again. After
/// an error, the iterator returns `None` until [`seek`](Self::seek).
///
/// It reads up to 1024 records, or about 4 MiB, ahead. When the file [rotates](crate::edit::RecordEditor::rotate), it reads the rest
/// of the part that is complete, and goes on in the next.
///
/// ```
/// use bloscpack::{follow::FollowOptions, records::RecordWriter};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("log.blp");
/// let mut writer = RecordWriter::new(std::fs::File::create_new(&path)?)?;
/// writer.push("zero")?;
/// writer.push("one")?;
/// writer.finish()?;
///
/// // Goes on where an earlier one has ended.
/// let mut follower = FollowOptions::new().from(1).records(&path)?;
/// assert_eq!(follower.try_next()?.as_deref(), Some(b"one".as_slice()));
/// assert_eq!(follower.try_next()?, None);
/// assert_eq!(follower.number(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordFollower {
    follower: Follower<IndexedRecordReader<FollowedFile>>,
    timeout: Option<Duration>,
    batch: VecDeque<Bytes>,
    has_failed: bool,
}

impl RecordFollower {
    pub(super) fn new(
        follower: Follower<IndexedRecordReader<FollowedFile>>,
        timeout: Option<Duration>,
    ) -> Self {
        Self {
            follower,
            timeout,
            batch: VecDeque::new(),
            has_failed: false,
        }
    }

    /// The number of the next record, counted from the first part of a log that rotates. A follower that begins
    /// [from](super::FollowOptions::from) there misses nothing and repeats nothing.
    pub fn number(&self) -> u64 {
        let position = self.follower.position - to_u64(self.batch.len());
        self.follower.rotation.first.saturating_add(position)
    }

    /// Moves to another record of the file that has the path now, which may be another file than before.
    ///
    /// # Errors
    /// Returns the errors of [`FollowOptions::records`](super::FollowOptions::records), such as a
    /// [`Usage`](bloscpack_error::Category::Usage) error past the last record.
    pub fn seek(&mut self, record: u64) -> Result<()> {
        self.batch.clear();
        self.has_failed = false;
        self.follower.seek(record)
    }

    /// The next record, or `None` if none is available. It does not block, and sees records that were appended later only
    /// after [`wait`](Self::wait).
    ///
    /// # Errors
    /// Returns the error of a damaged chunk, and any error of the file system. The number does not change.
    pub fn try_next(&mut self) -> Result<Option<Bytes>> {
        if self.batch.is_empty() {
            let batch = self.follower.read(read_batch)?.unwrap_or_default();
            self.follower.position += to_u64(batch.len());
            self.batch = batch;
        }
        Ok(self.batch.pop_front())
    }

    /// Blocks until [`try_next`](Self::try_next) can return a record. Returns false after `timeout`, or when it was stopped;
    /// without a timeout it waits without limit.
    ///
    /// # Errors
    /// Returns any error of the file system, the error of a file that has become damaged, and
    /// [`Code::Replaced`](bloscpack_error::Code::Replaced) if a file with other records has taken its place:
    /// [`seek`](Self::seek) to 0 begins with the new file.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<bool> {
        Ok(!self.batch.is_empty() || self.follower.wait(timeout)?)
    }

    fn next_in_time(&mut self) -> Result<Option<Bytes>> {
        loop {
            if let Some(record) = self.try_next()? {
                return Ok(Some(record));
            }
            if !self.wait(self.timeout)? {
                return Ok(None);
            }
        }
    }
}

/// Some records, beginning at `position`, which is before the end.
fn read_batch(
    reader: &IndexedRecordReader<FollowedFile>,
    position: u64,
    end: u64,
) -> Result<VecDeque<Bytes>> {
    let (mut batch, mut bytes) = (VecDeque::new(), 0);
    let count = (end - position).min(BATCH);
    for record in reader.range(position..position + count) {
        match record {
            Err(error) if batch.is_empty() => return Err(error),
            // The error is returned when this record is the first of a batch.
            Err(_) => break,
            Ok(record) => {
                bytes += record.len();
                batch.push_back(record);
            }
        }
        if bytes >= BATCH_BYTES {
            break;
        }
    }
    Ok(batch)
}

impl Iterator for RecordFollower {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Result<Bytes>> {
        if self.has_failed {
            return None;
        }
        let next = self.next_in_time().transpose();
        self.has_failed = matches!(next, Some(Err(_)));
        next
    }
}

impl std::fmt::Debug for RecordFollower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordFollower")
            .field("number", &self.number())
            .finish_non_exhaustive()
    }
}
