//! [`ContentFollower`]: the content of a file, and further content as it is appended.

use super::core::Follower;
use super::source::FollowedFile;
use crate::indexed::IndexedReader;
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;
use std::io::{self, Read};
use std::time::Duration;

/// Reads the content of a file, and waits for content that is appended; created by
/// [`FollowOptions::content`](super::FollowOptions::content).
///
/// As a [`Read`], it blocks until bytes arrive. If none arrive within the [timeout](super::FollowOptions::timeout), it returns
/// an error of the kind [`WouldBlock`](io::ErrorKind::WouldBlock), after which reading may continue. It returns 0 bytes, the
/// end, only after it was [stopped](super::FollowOptions::stop).
///
/// ```
/// use bloscpack::follow::FollowOptions;
/// use std::io::{ErrorKind, Read};
/// use std::time::Duration;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.blp");
/// std::fs::write(&path, bloscpack::compress(b"one two")?)?;
///
/// let mut follower = FollowOptions::new().from(4).timeout(Duration::ZERO).content(&path)?;
/// let mut content = Vec::new();
/// let error = follower.read_to_end(&mut content).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::WouldBlock);
/// assert_eq!(content, b"two");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContentFollower {
    follower: Follower<IndexedReader<FollowedFile>>,
    timeout: Option<Duration>,
}

impl ContentFollower {
    pub(super) fn new(
        follower: Follower<IndexedReader<FollowedFile>>,
        timeout: Option<Duration>,
    ) -> Self {
        Self { follower, timeout }
    }

    /// The position of the next byte in the content. A follower that begins [from](super::FollowOptions::from) there misses
    /// nothing and repeats nothing.
    pub fn position(&self) -> u64 {
        self.follower.position
    }

    /// Moves to another byte of the file that has the path now, which may be another file than before.
    ///
    /// # Errors
    /// Returns the errors of [`FollowOptions::content`](super::FollowOptions::content), such as a
    /// [`Usage`](bloscpack_error::Category::Usage) error past the end.
    pub fn seek(&mut self, byte: u64) -> Result<()> {
        self.follower.seek(byte)
    }

    /// Reads available bytes, at most as many as `buf` has room for, and returns how many were read: 0 if none are available
    /// or `buf` is empty. It does not block, and sees bytes that were appended later only after [`wait`](Self::wait).
    ///
    /// # Errors
    /// Returns the error of a damaged chunk, and any error of the file system. The position does not change.
    pub fn try_read(&mut self, buf: &mut [u8]) -> Result<usize> {
        let read = |reader: &IndexedReader<_>, position, _| reader.read_at(position, buf);
        let len = self.follower.read(read)?.unwrap_or(0);
        self.follower.position += to_u64(len);
        Ok(len)
    }

    /// Blocks until [`try_read`](Self::try_read) can return bytes. Returns false after `timeout`, or when it was stopped;
    /// without a timeout it waits without limit.
    ///
    /// # Errors
    /// Returns any error of the file system, the error of a file that has become damaged, and
    /// [`Code::Replaced`](bloscpack_error::Code::Replaced) if a file with other content has taken its place:
    /// [`seek`](Self::seek) to 0 begins with the new file.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<bool> {
        self.follower.wait(timeout)
    }
}

impl Read for ContentFollower {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while !buf.is_empty() {
            let len = self.try_read(buf)?;
            if len > 0 {
                return Ok(len);
            }
            if !self.wait(self.timeout)? {
                return if self.follower.is_stopped() {
                    Ok(0)
                } else {
                    Err(io::ErrorKind::WouldBlock.into())
                };
            }
        }
        Ok(0)
    }
}

impl std::fmt::Debug for ContentFollower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentFollower")
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}
