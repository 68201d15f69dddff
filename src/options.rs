//! [`Options`]: how an input is read.

use bloscpack_wire::{Hashers, Limits};
use std::ops::Range;

/// How an input is read: by a [`Decoder`](crate::Decoder), a [`RecordReader`](crate::records::RecordReader), an
/// [`IndexedReader`](crate::indexed::IndexedReader), by [`verify`](mod@crate::verify), [`recover`](mod@crate::recover) and a
/// [`Survey`](crate::survey::Survey). Each method says who uses it; others ignore it.
///
/// ```
/// use bloscpack::{Checksum, Encoder, Options, survey::Survey, verify::verify};
/// use bloscpack::wire::{Digest, Hasher, Hashers, Metadata};
///
/// /// A digest with a key, in the place of that of crc32.
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
pub struct Options {
    pub(crate) threads: usize,
    pub(crate) limits: Limits,
    pub(crate) hashers: Hashers,
    pub(crate) cache: Option<usize>,
    pub(crate) check_digests: bool,
    pub(crate) allow_unterminated: bool,
    pub(crate) range: Option<Range<u64>>,
    pub(crate) members: Option<u64>,
    pub(crate) fill: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            limits: Limits::default(),
            hashers: Hashers::default(),
            cache: None,
            check_digests: true,
            allow_unterminated: false,
            range: None,
            members: None,
            fill: false,
        }
    }
}

impl Options {
    /// All defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Threads that check and decompress chunks; one by default, which is the caller's own. Recovery also compresses on them,
    /// and scans on one. Records need chunks of 4 KiB or more to gain from more than one, as packed ones have.
    ///
    /// Peak memory is about `(threads + 2) × 2 × chunk`, plus 256 KiB of input and the scratch space of a block for each
    /// thread. An async reader works on the threads of this process; the number is then that of the chunks that may be decoded
    /// at once.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// How much memory and work the input may demand. Recovery treats a chunk over a limit as lost.
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

    /// The implementations that compute digests.
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// Bytes of decoded chunks that an indexed reader keeps; 0 keeps none. By default 16 MiB of content, or 64 MiB of unpacked
    /// records. A chunk that is larger is decoded again for every read, and records that are chunks of their own are not kept.
    pub fn cache(mut self, bytes: usize) -> Self {
        self.cache = Some(bytes);
        self
    }

    /// Whether an indexed reader of content checks the digest of a chunk before it decodes any part of the chunk; true by
    /// default.
    pub fn check_digests(mut self, check: bool) -> Self {
        self.check_digests = check;
        self
    }

    /// Accepts a stream without its end mark, or a file whose writer did not finish, as complete after its last whole
    /// chunk, with a [warning](crate::Decoder::warnings). Off by default. If another member follows, it is still an error, so
    /// that the other one is not lost.
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

    /// A decoder delivers only this range of the uncompressed bytes, counted over all members.
    ///
    /// Chunks outside of it are neither checked nor decompressed, and nothing after the range is read. A range that
    /// reaches past the end delivers the bytes that exist.
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

    /// A decoder or a reader of records stops after this many members, and reads nothing from the source that the last of them
    /// does not need; all members by default. `into_parts` then returns the source and what was read beyond the last member,
    /// so that something else may follow a stream.
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

    /// Whether a recovery writes zeros in place of lost content, so that the rest keeps its positions; false by default.
    /// Records keep their numbers in any case. A loss of unknown length is not filled, and neither is one of more than 64 KiB
    /// for each byte of the source.
    ///
    /// ```
    /// use bloscpack::{Encoder, Options, decompress, recover::recover};
    /// use std::io::{Cursor, Write};
    /// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
    /// encoder.write_all(&[7; 3000])?;
    /// let mut file = encoder.finish()?;
    /// file[50] ^= 1; // in the first chunk
    ///
    /// let mut saved = Cursor::new(Vec::new());
    /// let recovery = recover(&file, &mut saved, &Options::new().fill(true))?;
    /// assert_eq!(recovery.lost[0].content, Some(0..1000));
    /// assert_eq!(decompress(saved.get_ref())?, [[0; 1000], [7; 1000], [7; 1000]].concat());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fill(mut self, fill: bool) -> Self {
        self.fill = fill;
        self
    }
}
