//! [`RemoteWriter`]: writes an object from its first byte to its last.
//!
//! ```text
//!  written            requests                                       the object is visible
//!  less than a part   one, by finish                                 after it
//!  more               begin │ parts, four at once │ complete, check  after complete
//!  parts              1,000 of 8 MiB, 1,000 of 16 MiB, 1,000 of 32 MiB, ... up to 10,000 parts
//! ```

use crate::error::Failure;
use crate::source::Place;
use crate::upload::{Upload, exists};
use bytes::Bytes;
use object_store::{PutMode, PutOptions};
use std::io::{self, ErrorKind, Write};
use std::mem;

/// Length of a part, unless that would make too many.
const PART: u64 = 8 << 20;
/// Minimum length of each part but the last; stores refuse shorter ones.
const LEAST: u64 = 5 << 20;
/// Maximum length of a part.
const MOST: u64 = 5 << 30;
/// Maximum number of parts of an upload.
const PARTS: u64 = 10_000;
/// After this many parts, the next ones are twice as long: 10,000 of them are then 8 TiB, more than any store
/// accepts.
const DOUBLING: u64 = 1000;
/// Parts sent at once.
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
    /// The defaults: parts of 8 MiB, four sent at once, and an existing object is replaced.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Length of a part in bytes: 8 MiB by default, clamped to 5 MiB to 5 GiB. Data shorter than one part is
    /// sent in a single request. After every thousand parts the length doubles, so that 10,000 parts suffice.
    #[must_use]
    pub fn part_size(mut self, bytes: u64) -> Self {
        self.part_size = bytes.clamp(LEAST, MOST);
        self
    }

    /// How many parts are sent at once: 4 by default, at least one. These and the part being filled are in
    /// memory.
    #[must_use]
    pub fn at_once(mut self, parts: usize) -> Self {
        self.at_once = (parts as u64).max(1);
        self
    }

    /// The expected length of the object, so that all parts can have the same length. It need not be exact.
    #[must_use]
    pub fn expected(mut self, bytes: u64) -> Self {
        self.expected = Some(bytes);
        self
    }

    /// Whether an existing object is an error and stays unchanged: false by default.
    ///
    /// Data shorter than one part is sent with this condition. No store has a condition for an upload in parts:
    /// the object is looked for before the first part and before the last step, and an object that another
    /// writer creates after that is replaced.
    #[must_use]
    pub fn create_new(mut self, is_new: bool) -> Self {
        self.is_new = is_new;
        self
    }

    /// The length of the part with this number, after `written` bytes.
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
/// [`finish`](Self::finish) makes the object visible, whole. If the writer is dropped before, or anything
/// fails, the upload is aborted and an existing object stays. A killed process leaves invisible parts behind:
/// give the bucket a rule that removes them after some days.
///
/// Data shorter than one part is sent in one request by `finish`. Longer data is sent in parts while it is
/// written; [`write`](Write::write) blocks while [`at_once`](WriteOptions::at_once) parts are being sent.
/// [`flush`](Write::flush) sends nothing.
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
    /// The part being filled.
    part: Vec<u8>,
    parts: u64,
    written: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// All data is in the part.
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

    /// The URL, without secrets.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.place.name
    }

    /// Bytes written so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Sets the expected length during writing: see [`WriteOptions::expected`].
    pub fn expect(&mut self, bytes: u64) {
        self.options.expected = Some(bytes);
    }

    /// Makes the object visible, and returns its length in bytes. After an upload in parts, the object's length
    /// is checked; an object of another length is removed and reported.
    ///
    /// # Errors
    /// Returns [`AlreadyExists`](ErrorKind::AlreadyExists) with [`WriteOptions::create_new`] if the object
    /// exists, and any error of the store. There is then no new object, unless the answer to the last request
    /// was lost.
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

    /// Refuses to replace an object if a new one was wanted.
    fn check_new(&self) -> Result<(), Failure> {
        if self.options.is_new && exists(&self.place)? {
            Err(Failure::exists(&self.place.name))
        } else {
            Ok(())
        }
    }

    /// Sends the full part.
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
            // Dropping the upload aborts it at once.
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

    /// Sends nothing: a part is sent when it is full.
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
            // The store has no such condition.
            Err(E::NotImplemented { .. } | E::NotSupported { .. }) if is_new => Ok(false),
            Err(error) => Err(at.not_written(&error)),
        }
    })?;
    if is_put {
        return Ok(());
    }
    // Without a condition, a check is all that can be done.
    if exists(place)? {
        return Err(Failure::exists(&place.name));
    }
    put_whole(place, bytes, false)
}

/// Refuses URLs that cannot be written to.
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
