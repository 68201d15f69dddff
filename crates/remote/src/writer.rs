//! [`RemoteWriter`]: an object that is written from its first byte to its last.

use crate::error::Failure;
use crate::source::Place;
use crate::upload::{Upload, exists};
use bytes::Bytes;
use object_store::{PutMode, PutOptions};
use std::io::{self, ErrorKind, Write};
use std::mem;

/// Bytes of a part, unless that would make too many.
const PART: u64 = 8 << 20;
/// Bytes that each part but the last has to have: stores refuse shorter ones.
const LEAST: u64 = 5 << 20;
/// Bytes that a part may have.
const MOST: u64 = 5 << 30;
/// Parts that an upload may have.
const PARTS: u64 = 10_000;
/// After so many parts, the next ones are twice as long: 10,000 of them are then 8 TiB, more than any store takes.
const DOUBLING: u64 = 1000;
/// Parts that are on their way at once.
const AT_ONCE: u64 = 4;

/// How an object is written.
///
/// ```
/// use bloscpack_remote::WriteOptions;
/// let options = WriteOptions::new().create_new(true).part_size(16 << 20).at_once(8);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteOptions {
    part_size: u64,
    at_once: u64,
    expected: Option<u64>,
    is_new: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            part_size: PART,
            at_once: AT_ONCE,
            expected: None,
            is_new: false,
        }
    }
}

impl WriteOptions {
    /// The default options: parts of 8 MiB, four of them on their way at once, and an object that is there is replaced.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of a part; at least 5 MiB. Data of less than a part is sent in a single request. After a thousand parts they
    /// become longer, so that 10,000 of them suffice.
    #[must_use]
    pub fn part_size(mut self, bytes: u64) -> Self {
        self.part_size = bytes.clamp(LEAST, MOST);
        self
    }

    /// How many parts are on their way at once; at least one. As many, and the one that is being filled, are in memory.
    #[must_use]
    pub fn at_once(mut self, parts: usize) -> Self {
        self.at_once = (parts as u64).max(1);
        self
    }

    /// The expected length of the object, by which all parts get one length. It need not be exact.
    #[must_use]
    pub fn expected(mut self, bytes: u64) -> Self {
        self.expected = Some(bytes);
        self
    }

    /// Whether an object that is there is an error, and stays as it is; false by default.
    ///
    /// Data of less than a part is sent with this as a condition. No store has a condition for an upload in parts: there
    /// the object is looked for before the first part and before the last step, and one that somebody else makes between
    /// that and the end is replaced.
    #[must_use]
    pub fn create_new(mut self, is_new: bool) -> Self {
        self.is_new = is_new;
        self
    }

    /// The length of the part with this number, after so many bytes.
    fn part_len(&self, number: u64, written: u64) -> u64 {
        let needed = self.expected.map_or(0, |len| len.div_ceil(PARTS));
        let base = self.part_size.max(needed.next_multiple_of(1 << 20));
        let is_as_expected = self.expected.is_some_and(|expected| written < expected);
        let doublings = if is_as_expected {
            0
        } else {
            (number / DOUBLING).min(PARTS / DOUBLING)
        };
        (base << doublings).min(MOST)
    }
}

/// An object that is being written; [`Remote::create`](crate::Remote::create) begins one.
///
/// Nobody sees anything of it before [`finish`](Self::finish), which makes it appear whole. If it is dropped before, or
/// anything fails, what was sent is taken back, and an object that was there before stays. A process that is killed leaves
/// parts that no listing shows: buckets have rules that remove them after some days.
///
/// Data of less than a part is sent in one request by `finish`; longer data goes in parts, several at once, while it is
/// written.
///
/// ```
/// use bloscpack_remote::{Remote, RemoteOptions, WriteOptions};
/// use std::io::Write as _;
/// let remote = Remote::new(RemoteOptions::new())?;
/// let object = remote.create("memory://bucket/a.blp", &WriteOptions::new())?;
/// let mut encoder = bloscpack::Encoder::new(object)?;
/// encoder.write_all(b"some content")?;
/// encoder.finish()?.finish()?;
/// # let mut file = remote.open("memory://bucket/a.blp", &bloscpack_open::Options::new())?;
/// # let mut out = Vec::new();
/// # file.copy(&bloscpack_open::Selection::default(), &mut out)?;
/// # assert_eq!(out, b"some content");
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "without `finish` there is no object"]
pub struct RemoteWriter {
    place: Place,
    options: WriteOptions,
    /// The part that is being filled.
    part: Vec<u8>,
    parts: u64,
    written: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Everything is in the part.
    Small,
    Parts(Upload),
    /// It was given up.
    Failed(Failure),
}

impl RemoteWriter {
    pub(crate) fn new(place: Place, options: WriteOptions) -> Self {
        Self {
            place,
            options,
            part: Vec::new(),
            parts: 0,
            written: 0,
            state: State::Small,
        }
    }

    /// Its URL, without secrets.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.place.name
    }

    /// Bytes that were written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Sets the expected length, if that is known only now: see [`WriteOptions::expected`].
    pub fn expect(&mut self, bytes: u64) {
        self.options.expected = Some(bytes);
    }

    /// Makes the object appear, and returns its length.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](ErrorKind::AlreadyExists) if it was to be a new one; any error of the store, after which
    /// there is no new object, unless the answer to the last request was lost.
    pub fn finish(mut self) -> io::Result<u64> {
        let (written, last) = (self.written, Bytes::from(mem::take(&mut self.part)));
        match mem::replace(&mut self.state, State::Small) {
            State::Small => put_whole(&self.place, last, self.options.is_new)?,
            State::Parts(mut upload) => {
                if !last.is_empty() {
                    upload.put(last)?;
                }
                upload.settle()?;
                self.check_new()?;
                upload.complete(written)?;
            }
            State::Failed(failure) => return Err(failure.into()),
        }
        Ok(written)
    }

    /// Refuses to replace an object where a new one was wanted.
    fn check_new(&self) -> Result<(), Failure> {
        if self.options.is_new && exists(&self.place)? {
            Err(Failure::exists(&self.place.name))
        } else {
            Ok(())
        }
    }

    /// Sends the part, which is full.
    fn send(&mut self) -> Result<(), Failure> {
        if let State::Failed(failure) = &self.state {
            return Err(failure.clone());
        }
        if let State::Small = self.state {
            self.check_new()?;
            let most = self.options.part_size.saturating_mul(self.options.at_once);
            self.state = State::Parts(Upload::begin(&self.place, most)?);
        }
        let State::Parts(upload) = &mut self.state else {
            return Err(Failure::ended());
        };
        upload.put(mem::take(&mut self.part).into())?;
        self.parts += 1;
        Ok(())
    }
}

impl Write for RemoteWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.options.part_len(self.parts, self.written);
        if self.part.len() as u64 >= len
            && let Err(failure) = self.send()
        {
            // The parts that were sent are taken back at once.
            self.state = State::Failed(failure.clone());
            return Err(failure.into());
        }
        let len = self.options.part_len(self.parts, self.written);
        let room = len.saturating_sub(self.part.len() as u64);
        let count = usize::try_from(room.min(bytes.len() as u64)).map_err(io::Error::other)?;
        let (taken, _) = bytes.split_at(count);
        self.part.extend_from_slice(taken);
        self.written += taken.len() as u64;
        Ok(taken.len())
    }

    /// Does nothing: a part is sent when it is full.
    fn flush(&mut self) -> io::Result<()> {
        match &self.state {
            State::Failed(failure) => Err(failure.clone().into()),
            _ => Ok(()),
        }
    }
}

/// Puts an object in one request.
fn put_whole(place: &Place, bytes: Bytes, is_new: bool) -> Result<(), Failure> {
    let (at, payload) = (place.clone(), bytes.clone());
    let mode = if is_new {
        PutMode::Create
    } else {
        PutMode::Overwrite
    };
    let is_put = place.wait(async move {
        use object_store::Error as E;
        let options = PutOptions::from(mode);
        match at.store.put_opts(&at.path, payload.into(), options).await {
            Ok(_) => Ok(true),
            // It has no such condition.
            Err(E::NotImplemented { .. } | E::NotSupported { .. }) if is_new => Ok(false),
            Err(error) => Err(at.not_written(&error)),
        }
    })?;
    if is_put {
        return Ok(());
    }
    // As good as it gets.
    if exists(place)? {
        return Err(Failure::exists(&place.name));
    }
    put_whole(place, bytes, false)
}

/// Refuses URLs that nothing can be written to.
pub(crate) fn check_place(place: &Place, is_web: bool, is_folder: bool) -> Result<(), Failure> {
    let refused = |kind, what: &str| Err(Failure::new(kind, format!("{}: {what}", place.name)));
    match (is_web, is_folder) {
        (true, _) => refused(
            ErrorKind::Unsupported,
            "a web server takes no objects (write to a bucket, or to a file, and upload that)",
        ),
        (false, true) => refused(
            ErrorKind::InvalidInput,
            "this is the URL of a folder (add the name of the object)",
        ),
        (false, false) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_parts_suffice() {
        let options = WriteOptions::new();
        let mut written = 0;
        for number in 0..PARTS {
            written += options.part_len(number, written);
        }
        assert!(written >= 5 << 40, "{written}");
        assert_eq!(options.part_len(999, 1), 8 << 20);
        assert_eq!(options.part_len(1000, 1), 16 << 20);
        // One length for all parts where the length is known.
        let known = WriteOptions::new().expected(1 << 40);
        let len = known.part_len(0, 0);
        assert!(len * PARTS >= 1 << 40, "{len}");
        assert_eq!(known.part_len(9000, 9000 * len), len);
        assert_eq!(WriteOptions::new().part_size(1).part_len(0, 0), LEAST);
    }
}
