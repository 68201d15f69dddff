//! [`Follower`]: a position in a file that grows.

use super::source::FollowedFile;
use crate::indexed::IndexedReader;
use crate::records::{IndexedRecordReader, Rotation};
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Code, Error, IoSide, Result};
use bloscpack_storage::{FileWatch, Refreshed};
use std::io;
use std::time::{Duration, Instant};

/// Bytes before the position, by which a follower recognizes content.
const TAIL: u64 = 4096;
/// Temporary errors: the snapshot is lost, because a program changed the file without keeping its old content, or another
/// process has locked the file.
const PASSING: [io::ErrorKind; 2] = [
    io::ErrorKind::StaleNetworkFileHandle,
    io::ErrorKind::ResourceBusy,
];
/// The most temporary errors in a row.
const MAX_FAILURES: u32 = 100;
/// The pause after a temporary error.
const PAUSE: Duration = Duration::from_millis(100);

/// A reader that is refreshed as the file grows.
pub(super) trait Growing {
    /// The unit of positions, for messages.
    const WHAT: &'static str;

    /// Opens the current state of the file.
    fn refresh(&mut self) -> Result<Refreshed>;

    /// Closes the file until the next refresh.
    fn release(&mut self);

    /// The end, as a position.
    fn end(&self) -> u64;

    /// A checksum of what precedes a position.
    fn tail(&self, position: u64) -> Result<u32>;

    /// The place of the file in a log that rotates.
    fn rotation(&self) -> Rotation {
        Rotation::default()
    }

    /// Turns to a part of a log that rotates, or with `None` to the newest. The next refresh opens it.
    fn turn_to(&mut self, _: Option<Rotation>) {}
}

impl Growing for IndexedRecordReader<FollowedFile> {
    const WHAT: &'static str = "record";

    fn refresh(&mut self) -> Result<Refreshed> {
        Self::refresh(self)
    }

    fn release(&mut self) {
        self.source.release();
    }

    fn end(&self) -> u64 {
        self.len()
    }

    fn tail(&self, position: u64) -> Result<u32> {
        match position.checked_sub(1) {
            Some(last) => Ok(crc32fast::hash(&self.get(last)?)),
            None => Ok(0),
        }
    }

    fn rotation(&self) -> Rotation {
        Rotation::of(self.metadata())
    }

    fn turn_to(&mut self, part: Option<Rotation>) {
        self.source.turn_to(part);
    }
}

impl Growing for IndexedReader<FollowedFile> {
    const WHAT: &'static str = "byte";

    fn refresh(&mut self) -> Result<Refreshed> {
        Self::refresh(self)
    }

    fn release(&mut self) {
        self.source.release();
    }

    fn end(&self) -> u64 {
        self.content_len()
    }

    fn tail(&self, position: u64) -> Result<u32> {
        let len = position.min(TAIL);
        let mut tail = vec![0; in_memory(len)?];
        self.read_exact_at(position - len, &mut tail)?;
        Ok(crc32fast::hash(&tail))
    }
}

/// A position in a file that grows, and in the parts of a log that rotates.
pub(super) struct Follower<R> {
    pub reader: R,
    /// The position in the file that is read.
    pub position: u64,
    /// The place of that file in its log.
    pub rotation: Rotation,
    /// Whether the file is a part that is complete.
    is_part: bool,
    watch: FileWatch,
    /// An earlier position, and the checksum of what precedes it.
    known: (u64, u32),
    /// Whether the source was released, or its snapshot is lost.
    is_idle: bool,
    /// Whether it may be another file, whose content need not be the same before the position.
    is_other: bool,
    /// The number of temporary errors in a row.
    failures: u32,
}

impl<R: Growing> Follower<R> {
    pub(super) fn new(reader: R, watch: FileWatch, position: u64) -> Result<Self> {
        let mut follower = Self {
            reader,
            position: 0,
            rotation: Rotation::default(),
            is_part: false,
            watch,
            known: (0, 0),
            is_idle: false,
            is_other: false,
            failures: 0,
        };
        follower.go_to(position)?;
        Ok(follower)
    }

    /// Moves to a position in the file that has the path now.
    pub(super) fn seek(&mut self, position: u64) -> Result<()> {
        self.is_idle = true;
        self.turn_to(None);
        self.reader.refresh()?;
        self.is_idle = false;
        self.go_to(position)
    }

    /// Sets the position, counted from the beginning of the log, and stores the checksum of what precedes it.
    fn go_to(&mut self, position: u64) -> Result<()> {
        let what = R::WHAT;
        let mut rotation = self.reader.rotation();
        while position < rotation.first && rotation.part > 1 {
            let before = Rotation {
                part: rotation.part - 1,
                first: 0,
            };
            if !self.open(Some(before))? {
                let first = rotation.first;
                return Err(Error::usage(format!(
                    "cannot follow from {what} {position}: the part of the log before {what} {first} is missing"
                )));
            }
            rotation = self.reader.rotation();
        }
        let (first, end) = (rotation.first, self.reader.end());
        if position < first || position - first > end {
            let end = first.saturating_add(end);
            return Err(Error::usage(format!(
                "cannot follow from {what} {position}: the file has {end}, counted from 0"
            )));
        }
        self.rotation = rotation;
        self.is_idle = false;
        self.position = position - first;
        self.known = (self.position, self.reader.tail(self.position)?);
        self.is_other = false;
        Ok(())
    }

    /// Turns to a part of the log, or with `None` to the newest. The next refresh opens it.
    fn turn_to(&mut self, part: Option<Rotation>) {
        self.reader.turn_to(part);
        self.is_part = part.is_some();
    }

    /// Opens a part of the log, or with `None` the newest. Returns false if the file is missing.
    fn open(&mut self, part: Option<Rotation>) -> Result<bool> {
        self.turn_to(part);
        match self.reader.refresh() {
            Err(error) if is_kind(&error, &[io::ErrorKind::NotFound]) => Ok(false),
            done => done.map(|_| true),
        }
    }

    /// Goes on in the part that follows the one that is read.
    fn next_part(&mut self) -> Result<()> {
        let next = self.rotation.next(self.reader.end());
        self.is_idle = true;
        if self.open(None)? && self.reader.rotation().part > next.part {
            self.open(Some(next))?;
        }
        if self.reader.rotation() != next {
            return Err(self.replaced());
        }
        (self.rotation, self.position, self.known) = (next, 0, (0, 0));
        self.is_idle = false;
        Ok(())
    }

    /// Whether something follows the position.
    fn has_more(&self) -> bool {
        !self.is_idle && self.position < self.reader.end()
    }

    /// Reads what follows the position: `read` receives the reader, the position and the end. Returns `None` if nothing follows
    /// yet.
    pub(super) fn read<T>(
        &mut self,
        read: impl FnOnce(&R, u64, u64) -> Result<T>,
    ) -> Result<Option<T>> {
        if !self.has_more() {
            return Ok(None);
        }
        let done = read(&self.reader, self.position, self.reader.end());
        self.unless_lost(done)
    }

    /// The result, or `None` after a temporary error: the next wait then opens the file again.
    fn unless_lost<T>(&mut self, done: Result<T>) -> Result<Option<T>> {
        match done {
            Err(error) if is_kind(&error, &PASSING) && self.failures < MAX_FAILURES => {
                self.failures += 1;
                self.is_idle = true;
                Ok(None)
            }
            done => {
                self.failures = 0;
                done.map(Some)
            }
        }
    }

    /// Waits for something new. Returns false if the time is over, or if the wait was stopped.
    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> Result<bool> {
        // A deadline beyond the clock's range is never reached.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        while !self.has_more() {
            if self.is_part && !self.is_idle {
                let done = self.next_part();
                self.unless_lost(done)?;
                continue;
            }
            self.release()?;
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let is_over = left.is_some_and(|left| left.is_zero());
            // Try a failed refresh again, even if the file does not change.
            let (is_due, time) = match self.failures {
                0 => (false, left),
                _ => (true, Some(left.unwrap_or(PAUSE).min(PAUSE))),
            };
            let is_reported = self.watch.wait(time).reading()?;
            if self.watch.is_stopped() || !(is_reported || is_due) {
                return Ok(false);
            }
            let done = self.refresh();
            if self.unless_lost(done)?.is_none() && is_over {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    /// Closes the file until it changes.
    fn release(&mut self) -> Result<()> {
        if !self.is_idle {
            let tail = self.reader.tail(self.position);
            if let Some(tail) = self.unless_lost(tail)? {
                self.known = (self.position, tail);
            }
            self.is_idle = true;
        }
        self.reader.release();
        Ok(())
    }

    /// Opens the current state of the file. Another file must have the same content before the position, or be a later part of
    /// the same log: the rest of the earlier one is then read first.
    fn refresh(&mut self) -> Result<()> {
        self.turn_to(None);
        let found = match self.reader.refresh() {
            // The file was removed. Another one may get its name.
            Err(error) if is_kind(&error, &[io::ErrorKind::NotFound]) => return Ok(()),
            found => found?,
        };
        self.is_other |= found == Refreshed::Replaced || self.reader.end() < self.position;
        if self.reader.rotation().part > self.rotation.part {
            self.is_other = true;
            if !self.open(Some(self.rotation))? {
                return Err(self.replaced());
            }
        }
        let (position, tail) = self.known;
        let goes_on = |reader: &R| Ok::<_, Error>(reader.tail(position)? == tail);
        let is_same = self.reader.rotation() == self.rotation;
        if self.is_other
            && (!is_same || self.reader.end() < self.position || !goes_on(&self.reader)?)
        {
            return Err(self.replaced());
        }
        (self.is_idle, self.is_other) = (false, false);
        Ok(())
    }

    fn replaced(&self) -> Error {
        let what = R::WHAT;
        let text = format!(
            "another file has taken its place and does not go on from {what} {}: follow it from its beginning",
            self.position
        );
        Error::new(Code::Replaced, text)
    }
}

fn is_kind(error: &Error, kinds: &[io::ErrorKind]) -> bool {
    error
        .io_error()
        .is_some_and(|error| kinds.contains(&error.kind()))
}
