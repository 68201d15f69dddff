//! [`ContentFollower`]: the content of a file, and what is appended to it.

use super::core::Follower;
use super::source::FollowedFile;
use crate::indexed::IndexedReader;
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;
use std::io::{self, Read};
use std::time::Duration;

/// Reads the content of a file, and waits for more that is appended to it; created by
/// [`FollowOptions::content`](super::FollowOptions::content).
///
/// Reading waits for the next bytes. If none have come in the time that it was given, that is an error of the kind
/// [`WouldBlock`](io::ErrorKind::WouldBlock), and reading can go on. The end is reached only when it is stopped.
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

    /// The byte of the content that comes next: a follower that begins [from](super::FollowOptions::from) there misses
    /// nothing and repeats nothing.
    pub fn position(&self) -> u64 {
        self.follower.position
    }

    /// Goes to another byte, perhaps of a file that has taken the place of the one that was followed.
    ///
    /// # Errors
    /// Returns the errors of [`FollowOptions::content`](super::FollowOptions::content).
    pub fn seek(&mut self, byte: u64) -> Result<()> {
        self.follower.seek(byte)
    }

    /// Reads the bytes that are there, as many as `buf` has room for, and returns how many: 0 if there are none yet. It does
    /// not wait.
    ///
    /// # Errors
    /// Returns the error of a damaged chunk, and any error of the file system. The position stays.
    pub fn try_read(&mut self, buf: &mut [u8]) -> Result<usize> {
        let read = |reader: &IndexedReader<_>, position, _| reader.read_at(position, buf);
        let len = self.follower.read(read)?.unwrap_or(0);
        self.follower.position += to_u64(len);
        Ok(len)
    }

    /// Waits until [`try_read`](Self::try_read) can return something; false after this time, or if it was stopped. Without a
    /// time it waits for ever.
    ///
    /// # Errors
    /// Returns any error of the file system; that of a file that has become damaged; and
    /// [`Code::Replaced`](bloscpack_error::Code::Replaced) if another file has taken its place and does not go on from there:
    /// [`seek`](Self::seek) to 0 then begins with that one.
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
