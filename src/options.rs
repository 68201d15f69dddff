//! [`Options`]: how an input is opened.

use bloscpack_dtype::DType;
use bloscpack_storage::{LockTimeout, parallel::processors};
use bloscpack_wire::{Hashers, Limits};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

/// How an input is opened: threads, limits, caches, and how strictly it is read. All readers of this crate and of the crates
/// above it (datasets, frames, stores, Zarr, `bloscpack-open`) take these options, and ignore those that do not concern them.
/// [`verify`](mod@crate::verify) and [`recover`](mod@crate::recover) use threads, limits and hashers.
///
/// | option | default | used by |
/// |---|---|---|
/// | [`threads`](Self::threads()) | 1; all processors for arrays | [`Decoder`], [`RecordReader`], [`IndexedReader`], editors, arrays |
/// | [`limits`](Self::limits()) | [`Limits::new`] | all |
/// | [`hashers`](Self::hashers()) | built in | readers and editors of Bloscpack files |
/// | [`cache`](Self::cache()) | 16 to 256 MiB | readers by position, arrays, writers of frames |
/// | [`check_digests`](Self::check_digests()) | true | [`IndexedReader`] |
/// | [`allow_unterminated`](Self::allow_unterminated()) | false | [`Decoder`], [`RecordReader`], readers by position |
/// | [`range`](Self::range()) | all bytes | [`Decoder`] |
/// | [`members`](Self::members()) | all | [`Decoder`], [`RecordReader`] |
/// | [`fill`](Self::fill()) | false | [`recover`](mod@crate::recover) |
/// | [`lenient`](Self::lenient()) | false | datasets |
/// | [`dtype`](Self::dtype()) | none | frames in `bloscpack-open` |
/// | [`lock_timeout`](Self::lock_timeout()), [`while_waiting`](Self::while_waiting()) | 10 s | editors, datasets, frames |
/// | [`watch`](Self::watch()) | none | `bloscpack-open` |
///
/// [`Decoder`]: crate::Decoder
/// [`IndexedReader`]: crate::indexed::IndexedReader
/// [`RecordReader`]: crate::records::RecordReader
///
/// ```
/// use bloscpack::{Checksum, Encoder, Options, survey::Survey, verify::verify};
/// use bloscpack::wire::{Digest, Hasher, Hashers, Metadata};
///
/// /// A digest with a key, in place of crc32.
/// struct Keyed(u32, u32);
///
/// impl Hasher for Keyed {
///     fn update(&mut self, bytes: &[u8]) {
///         self.1 = bytes.iter().fold(self.1, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte));
///     }
///
///     fn finish(&mut self) -> Digest {
///         Digest::from_u32(std::mem::replace(&mut self.1, self.0))
///     }
/// }
///
/// let hashers = Hashers::default().with(Checksum::Crc32, || Box::new(Keyed(99, 99)));
/// let metadata = Metadata::from_json("{}")?;
/// let builder = Encoder::builder().metadata(metadata).hashers(hashers.clone());
/// let stream = builder.write_to(Vec::new())?.finish()?;
///
/// let options = Options::new().hashers(hashers);
/// assert!(verify(stream.as_slice(), &options, |_| Ok(()))?.is_sound());
/// assert!(Survey::of(stream.as_slice(), &options).is_ok());
/// assert!(!verify(stream.as_slice(), &Options::new(), |_| Ok(()))?.is_sound());
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct Options {
    /// The number of threads, if it was set.
    pub threads: Option<usize>,
    /// The limits on the memory and work that the input may demand.
    pub limits: Limits,
    /// The implementations that compute digests.
    pub hashers: Hashers,
    /// Bytes of chunks that are kept in memory, if set.
    pub cache: Option<usize>,
    /// Whether the digest of a chunk is checked before any part of the chunk is decoded.
    pub check_digests: bool,
    /// Whether a stream without its end mark is accepted.
    pub allow_unterminated: bool,
    /// The range of the content to deliver; `None` for all of it.
    pub range: Option<Range<u64>>,
    /// The number of members to read; `None` for all.
    pub members: Option<u64>,
    /// Whether zeros replace lost content.
    pub fill: bool,
    /// Whether the headers of superchunks are ignored.
    pub lenient: bool,
    /// The dtype of a frame that does not store one.
    pub dtype: Option<DType>,
    /// How long to wait for a lock.
    pub lock_timeout: LockTimeout,
    /// The progress function.
    pub watch: Watch,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: None,
            limits: Limits::default(),
            hashers: Hashers::default(),
            cache: None,
            check_digests: true,
            allow_unterminated: false,
            range: None,
            members: None,
            fill: false,
            lenient: false,
            dtype: None,
            lock_timeout: LockTimeout::default(),
            watch: Watch::default(),
        }
    }
}

impl Options {
    /// All defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Threads that check, decompress and compress. By default, readers of Bloscpack files work on the caller's own thread, and
    /// arrays, frames, Zarr and `bloscpack-open` on all processors. 0 counts as 1. Recovery uses one thread for its scan.
    /// More than one thread makes records faster only if their chunks have 4 KiB or more, as packed chunks do.
    ///
    /// The peak memory of a decoder is about `(threads + 2) × 2 × chunk`, plus 256 KiB of input and the scratch space of a block
    /// for each thread. An async reader works on the crew, the threads that all async codecs of a process share; the number is
    /// then how many chunks of this reader may be decoded at once.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The number of threads of an array, a frame or `bloscpack-open`: as set, at least 1, or by default one for each
    /// processor.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.threads
            .map_or_else(processors, |threads| threads.max(1))
    }

    /// The number of threads of a reader of Bloscpack files.
    pub(crate) fn codec_threads(&self) -> usize {
        self.threads.map_or(1, |threads| threads.max(1))
    }

    /// How much memory and work the input may demand. More is an error of the category
    /// [`OverLimit`](bloscpack_error::Category::OverLimit), whose hint names the limit.
    ///
    /// A [`Decoder`](crate::Decoder) returns all chunks before the one that exceeds a limit. An
    /// [`IndexedReader`](crate::indexed::IndexedReader) checks [`total`](Limits::total) when it is opened. Recovery treats a
    /// chunk over a limit as lost, and ignores `total`. Datasets, frames and Zarr check `total` when they are opened, and the
    /// limits on chunks when a chunk is read.
    ///
    /// ```
    /// use bloscpack::{Decoder, Options, error::Category, wire::Limits};
    /// let file = bloscpack::compress(&[0; 1 << 20])?;
    /// let options = Options::new().limits(Limits::new().total(1000));
    ///
    /// let mut decoder = Decoder::with_options(file.as_slice(), options);
    /// let error = decoder.copy_to(&mut std::io::sink()).unwrap_err();
    /// assert_eq!(error.category(), Category::OverLimit);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The implementations that compute the digests of Bloscpack files: for a faster one, or one with a key. Writer and reader
    /// need the same; to any other reader, all digests are wrong. A hasher whose digests have another length than its checksum
    /// is refused ([`FormatError::Hasher`](bloscpack_wire::FormatError::Hasher)) when it is first used.
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// The maximum number of bytes of chunks that are kept in memory. 0 keeps none.
    ///
    /// | used by | keeps | default |
    /// |---|---|--:|
    /// | an indexed reader of content | decoded chunks; a larger one is decoded again for every read | 16 MiB |
    /// | an indexed reader of records | unpacked chunks; a record that is a chunk of its own is not kept | 64 MiB |
    /// | an array in chunks | the chunks used last; the columns of a table share the bytes equally | 256 MiB |
    /// | a writer of a frame | changed chunks not yet compressed: at least one, and one per thread | 64 MiB |
    pub fn cache(mut self, bytes: usize) -> Self {
        self.cache = Some(bytes);
        self
    }

    /// Whether an [`IndexedReader`](crate::indexed::IndexedReader) checks the digest of a chunk before it decodes any part of
    /// it; true by default. With false, it still reads the whole compressed chunk, but damage that decodes goes undetected. All
    /// other readers of Bloscpack files always check.
    pub fn check_digests(mut self, check: bool) -> Self {
        self.check_digests = check;
        self
    }

    /// Accepts a stream without its end mark, or a file whose writer did not finish, as complete after its last whole
    /// chunk, with a [warning](crate::Decoder::warnings). Off by default. If another member follows the unfinished one, it is
    /// still an error, because the reader would miss that member. [`verify`](mod@crate::verify) ignores this option.
    ///
    /// ```
    /// use bloscpack::{Decoder, Encoder, Options};
    /// use std::io::Write;
    /// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
    /// encoder.write_all(&[7; 2500])?;
    /// let mut stream = encoder.finish()?;
    /// stream.truncate(stream.len() - 30); // without the end mark, and with a torn last chunk
    ///
    /// let options = Options::new().allow_unterminated(true);
    /// let mut decoder = Decoder::with_options(stream.as_slice(), options);
    /// assert_eq!(decoder.copy_to(&mut std::io::sink())?, 2000);
    /// assert_eq!(decoder.warnings().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allow_unterminated(mut self, allow: bool) -> Self {
        self.allow_unterminated = allow;
        self
    }

    /// A [`Decoder`](crate::Decoder) delivers only this range of the uncompressed bytes, counted over all members.
    ///
    /// Chunks outside the range are read (or skipped, in a source that is read by position) but neither checked nor
    /// decompressed. Decoding stops after the chunk with the last byte, so damage after it is not found. A range past the end
    /// delivers the bytes that exist, and an empty range none. For several ranges of a file, use an
    /// [`IndexedReader`](crate::indexed::IndexedReader).
    ///
    /// ```
    /// use bloscpack::{Decoder, Options};
    /// use std::io::Read;
    /// let file = bloscpack::compress(b"only the last word")?;
    /// let mut word = String::new();
    /// let mut decoder = Decoder::with_options(file.as_slice(), Options::new().range(14..18));
    /// decoder.read_to_string(&mut word)?;
    /// assert_eq!(word, "word");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn range(mut self, range: Range<u64>) -> Self {
        self.range = Some(range);
        self
    }

    /// A [`Decoder`](crate::Decoder) or a [`RecordReader`](crate::records::RecordReader) stops after this many members, and
    /// does not wait for input that the last of them does not need; all members by default. `into_parts` then returns the
    /// source and the bytes that were read beyond the last member: something else may follow a stream. 0 reads nothing.
    ///
    /// ```
    /// use bloscpack::{Decoder, Options};
    /// use std::io::Read;
    /// let mut input = bloscpack::compress(b"a stream")?;
    /// input.extend_from_slice(b", and then text");
    ///
    /// let mut decoder = Decoder::with_options(input.as_slice(), Options::new().members(1));
    /// let mut content = String::new();
    /// decoder.read_to_string(&mut content)?;
    /// let (source, read_ahead) = decoder.into_parts();
    /// read_ahead.as_slice().chain(source).read_to_string(&mut content)?;
    /// assert_eq!(content, "a stream, and then text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn members(mut self, most: u64) -> Self {
        self.members = Some(most);
        self
    }

    /// Whether [`recover`](crate::recover::recover()) writes zeros in place of lost content, which keeps the positions of the
    /// rest; false by default. Records keep their numbers in any case. A loss of unknown length is not filled. In total, at
    /// most 64 KiB of zeros are written for each byte of the source.
    ///
    /// ```
    /// use bloscpack::{Encoder, Options, decompress, recover::{Finding, recover}};
    /// use std::io::{Cursor, Write};
    /// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
    /// encoder.write_all(&[7; 3000])?;
    /// let mut file = encoder.finish()?;
    /// file[50] ^= 1; // in the first chunk
    ///
    /// let (mut saved, mut lost) = (Cursor::new(Vec::new()), Vec::new());
    /// recover(&file, &mut saved, &Options::new().fill(true), |found| {
    ///     if let Finding::Lost(part) = found {
    ///         lost.extend(part.content);
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(lost, [0..1000]);
    /// assert_eq!(decompress(saved.get_ref())?, [[0; 1000], [7; 1000], [7; 1000]].concat());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fill(mut self, fill: bool) -> Self {
        self.fill = fill;
        self
    }

    /// Whether a dataset ignores the first 16 bytes of its superchunks (the files in its `data/` folder), as bcolz does; false
    /// by default.
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// The dtype of the elements of a frame that does not store one, for `bloscpack-open`. With this option, opening any other
    /// input is a [`Usage`](bloscpack_error::Category::Usage) error.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// How long opening a dataset, a frame or an [`Editor`](crate::edit::Editor) waits for other writers, and a change for
    /// readers of earlier versions, which lock the file; ten seconds by default. After that time, the call fails with
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy).
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout.set_limit(timeout);
        self
    }

    /// Calls `goes_on` many times a second while a call waits for a lock, with the time waited so far. Waiting ends when it
    /// returns false, or when the [`lock_timeout`](Self::lock_timeout()) is over.
    pub fn while_waiting(
        mut self,
        goes_on: impl Fn(Duration) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.lock_timeout.keep_waiting_while(goes_on);
        self
    }

    /// Reports progress: `bloscpack-open` calls this function, possibly from several threads, with the bytes processed since
    /// the last call and, where it is known, the total. It counts bytes of the file for Bloscpack files, and bytes of the
    /// uncompressed content for all other formats. An error from the function ends the work, except in the verification of
    /// datasets and frames. The readers of this crate ignore it.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_open::{Selection, open_source};
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// let done = Arc::new(AtomicU64::new(0));
    /// let count = Arc::clone(&done);
    /// let options = Options::new().watch(move |bytes, _total| {
    ///     count.fetch_add(bytes, Ordering::Relaxed);
    ///     Ok(())
    /// });
    /// let mut container = open_source(bloscpack::compress(&[7; 5000])?, &options)?;
    /// container.copy(&Selection::default(), &mut std::io::sink())?;
    /// assert!(done.load(Ordering::Relaxed) > 0);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    pub fn watch(
        mut self,
        callback: impl Fn(u64, Option<u64>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.watch = Watch(Some(Arc::new(callback)));
        self
    }
}

/// The progress function of [`Options::watch`], if one is set.
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<Callback>>);

/// Called with the bytes processed since the last call, and the total where it is known.
type Callback = dyn Fn(u64, Option<u64>) -> io::Result<()> + Send + Sync;

impl Watch {
    /// Whether a function is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Calls the function with the bytes processed since the last call, and the total where it is known. Does nothing without
    /// a function.
    ///
    /// # Errors
    /// Returns the error of the function.
    pub fn count(&self, bytes: u64, total: Option<u64>) -> io::Result<()> {
        match &self.0 {
            Some(callback) => callback(bytes, total),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
