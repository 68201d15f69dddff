//! [`Decoder`]: the uncompressed bytes of a Bloscpack input, as a reader.

pub use super::engine::Warning;
use super::engine::{Engine, Piece, Settings, Wanted};
use crate::Options;
use bloscpack_error::checked::{slice, to_u64};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{ReadAt, SourceReader};
use bloscpack_wire::{Header, Metadata, MetadataHeader, ParseError};
use bytes::Bytes;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;

/// Reads the uncompressed bytes of a Bloscpack file or stream, of any layout and any number of concatenated members
/// (Bloscpack files, one after the other).
///
/// It delivers chunks in order, each after its digest has been checked: everything read before an error is sound. With more
/// than one [thread](Options::threads), chunks are decompressed ahead of the reader. Decoding stops after the last
/// [member](Options::members) or byte ([range](Options::range)) that the options ask for, and otherwise at the end of the
/// input.
///
/// | need | call |
/// |---|---|
/// | bytes in a buffer | [`Read`], [`BufRead`] |
/// | all bytes to a writer | [`copy_to`](Self::copy_to) |
/// | each chunk without a copy | [`next_bytes`](Self::next_bytes) |
/// | header and metadata before the data | [`read_header`](Self::read_header), [`read_metadata`](Self::read_metadata) |
/// | the bytes after the last member | [`into_parts`](Self::into_parts) |
///
/// A decoder on one thread needs about `6 × chunk` of memory, plus 256 KiB of input buffer and the scratch space of a block.
/// Before it waits for more input between two chunks, it delivers all complete chunks, so it suits a socket whose writer
/// flushes.
///
/// ```
/// use bloscpack::Decoder;
/// use std::io::Read;
/// let file = bloscpack::compress(b"what was written is read")?;
/// let mut text = String::new();
/// Decoder::new(file.as_slice()).read_to_string(&mut text)?;
/// assert_eq!(text, "what was written is read");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As a [`Read`], returns an [`io::Error`] that contains an [`Error`](bloscpack_error::Error); `Error::from` extracts it, with
/// chunk, byte and section. An I/O error of the reader is returned unchanged, without its [side](bloscpack_error::Side),
/// which is always the source; the call may be repeated. The other errors are permanent: each further call returns one.
///
/// | category | when |
/// |---|---|
/// | [`Damaged`](bloscpack_error::Category::Damaged) | a digest, a header, an offset or a chunk is wrong |
/// | [`CutShort`](bloscpack_error::Category::CutShort) | the input is empty, or ends before the last chunk or the end mark |
/// | [`Unsupported`](bloscpack_error::Category::Unsupported) | not a Bloscpack file, packed records, or a missing compressor |
/// | [`OverLimit`](bloscpack_error::Category::OverLimit) | the [limits](Options::limits) are exceeded |
///
/// ```
/// use bloscpack::{Decoder, error::Error};
/// use std::io::Read;
/// let mut file = bloscpack::compress(b"what was written is read")?;
/// file[50] ^= 1;
/// let error = Decoder::new(file.as_slice()).read_to_end(&mut Vec::new()).unwrap_err();
/// let error = Error::from(error);
/// let position = error.position().ok_or("no position")?;
/// assert_eq!((position.chunk, position.byte), (Some(0), 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decoder<R> {
    pub(super) engine: Engine<R>,
    piece: Option<Piece>,
    /// Bytes of the piece that were delivered.
    at: usize,
    /// The error of a chunk that could not be decoded. It is final.
    damage: Option<ParseError>,
    total_out: u64,
}

impl<S> Decoder<SourceReader<Arc<S>>>
where
    S: ReadAt + 'static,
{
    /// Creates a decoder of a source that can be read at any position, such as a file. The first member begins at the byte
    /// `from`, and positions in errors count from there.
    ///
    /// The threads that decompress also read the source, in parallel, which is faster than
    /// [`with_options`](Decoder::with_options) for a file.
    ///
    /// A read error on one of these threads is permanent, unlike that of a reader. A source that grows while it is read is
    /// read to its new end; one that becomes shorter is an I/O error.
    ///
    /// ```
    /// use bloscpack::{Decoder, Options};
    /// use std::io::Read;
    /// use std::sync::Arc;
    /// let file = Arc::new(bloscpack::compress(b"some text")?);
    /// let mut text = String::new();
    /// Decoder::from_source(file, 0, Options::new().threads(2))?.read_to_string(&mut text)?;
    /// assert_eq!(text, "some text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the error of the source if its size cannot be determined.
    pub fn from_source(source: Arc<S>, from: u64, options: Options) -> Result<Self> {
        let settings = Settings::new(Wanted::Content, options);
        Ok(Self::with_engine(Engine::at(source, from, settings)?))
    }
}

impl<R: Read> Decoder<R> {
    /// Creates a decoder on the caller's thread, with the default [`Limits`](bloscpack_wire::Limits). Nothing is read yet. The
    /// reader needs no buffer: the decoder reads 256 KiB at once.
    pub fn new(reader: R) -> Self {
        Self::with_options(reader, Options::new())
    }

    /// Creates a decoder with these options. Nothing is read yet.
    ///
    /// ```
    /// use bloscpack::{Decoder, Options};
    /// use std::io::Read;
    /// let file = bloscpack::compress(b"some text")?;
    /// let mut text = String::new();
    /// Decoder::with_options(file.as_slice(), Options::new().threads(2)).read_to_string(&mut text)?;
    /// assert_eq!(text, "some text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_options(reader: R, options: Options) -> Self {
        let settings = Settings::new(Wanted::Content, options);
        Self::with_engine(Engine::new(reader, settings))
    }

    /// Reads up to the first chunk, and returns the header of the first member. Later calls, also after other members have
    /// begun, return the same header.
    ///
    /// ```
    /// use bloscpack::{Checksum, Decoder, FormatVersion};
    /// let file = bloscpack::compress(&[0; 5000])?;
    /// let mut decoder = Decoder::new(file.as_slice());
    /// let header = decoder.read_header()?;
    /// assert_eq!((header.version, header.checksum), (FormatVersion::V3, Checksum::Crc32));
    /// assert_eq!((header.nchunks, header.last_chunk), (Some(1), Some(5000)));
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as reading.
    pub fn read_header(&mut self) -> Result<&Header> {
        Ok(&self.engine.read_first()?.header)
    }

    /// Reads up to the first chunk, and returns the metadata of the first member, or `None` if it has none. The metadata of
    /// further members is read and checked, but not returned.
    ///
    /// # Errors
    /// Returns the same errors as reading.
    pub fn read_metadata(&mut self) -> Result<Option<&Metadata>> {
        let first = self.engine.read_first()?;
        Ok(first.metadata.as_ref().map(|(metadata, _)| metadata))
    }

    /// Reads up to the first chunk, and returns the header of the first member's metadata section: the codec, checksum and
    /// room of the metadata. Only V3 has such a section.
    ///
    /// # Errors
    /// Returns the same errors as reading.
    pub fn read_metadata_header(&mut self) -> Result<Option<&MetadataHeader>> {
        let first = self.engine.read_first()?;
        Ok(first
            .metadata
            .as_ref()
            .and_then(|(_, header)| header.as_ref()))
    }

    /// Writes the rest of the content, and returns its length in bytes. The writer is not flushed.
    ///
    /// ```
    /// use bloscpack::{Decoder, compress};
    /// let both = [compress(b"one, ")?, compress(b"two")?].concat();
    /// let mut content = Vec::new();
    /// assert_eq!(Decoder::new(both.as_slice()).copy_to(&mut content)?, 8);
    /// assert_eq!(content, b"one, two");
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as reading, and any error of the writer, on
    /// [`Side::Target`](bloscpack_error::Side::Target). The bytes before the error have been written.
    pub fn copy_to<W: Write + ?Sized>(&mut self, writer: &mut W) -> Result<u64> {
        let before = self.total_out;
        while self.have_piece()? {
            let unread = self.unread()?;
            let len = unread.len();
            writer.write_all(unread).writing()?;
            self.advance(len);
        }
        Ok(self.total_out - before)
    }

    /// The next bytes of the content, without a copy: the rest of a chunk or, in a chunk of more than 64 MiB, of a piece of
    /// it. `None` is the end. Empty chunks are skipped.
    ///
    /// The bytes own their memory, which the decoder then allocates again for later chunks; [`BufRead::fill_buf`] lends the
    /// decoder's buffer instead.
    ///
    /// ```
    /// use bloscpack::{Decoder, Encoder};
    /// use std::io::Write;
    /// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
    /// encoder.write_all(&[7; 2500])?;
    /// let file = encoder.finish()?;
    /// let mut decoder = Decoder::new(file.as_slice());
    /// let mut lens = Vec::new();
    /// while let Some(bytes) = decoder.next_bytes()? {
    ///     lens.push(bytes.len());
    /// }
    /// assert_eq!(lens, [1000, 1000, 500]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as reading.
    pub fn next_bytes(&mut self) -> Result<Option<Bytes>> {
        if !self.have_piece()? {
            return Ok(None);
        }
        self.take_bytes().map(Some)
    }

    /// Reads on until a piece has undelivered bytes. Returns false at the end.
    fn have_piece(&mut self) -> Result<bool> {
        while !self.is_ready()? {
            let Some(piece) = self.engine.next()? else {
                return Ok(false);
            };
            self.put(piece)?;
        }
        Ok(true)
    }
}

impl<R> Decoder<R> {
    pub(crate) fn with_engine(engine: Engine<R>) -> Self {
        Self {
            engine,
            piece: None,
            at: 0,
            damage: None,
            total_out: 0,
        }
    }

    /// The reader underneath.
    pub fn get_ref(&self) -> &R {
        self.engine.get_ref()
    }

    /// The reader underneath. The decoder misses bytes that the caller reads from it.
    pub fn get_mut(&mut self) -> &mut R {
        self.engine.get_mut()
    }

    /// Returns the reader. Bytes that were read ahead are lost; [`into_parts`](Self::into_parts) returns them as well.
    pub fn into_inner(self) -> R {
        self.engine.into_inner()
    }

    /// Returns the reader and the bytes that were read from it and not parsed. After the last of the requested
    /// [members](Options::members), these are the bytes that follow it; earlier, they may begin anywhere.
    pub fn into_parts(self) -> (R, Vec<u8>) {
        self.engine.into_parts()
    }

    /// Members begun so far, including those read ahead.
    pub fn members(&self) -> u64 {
        self.engine.members()
    }

    /// Compressed bytes read so far, including those read ahead.
    pub fn total_in(&self) -> u64 {
        self.engine.total_in()
    }

    /// Uncompressed bytes delivered so far.
    pub fn total_out(&self) -> u64 {
        self.total_out
    }

    /// Uncompressed bytes of all chunks begun so far: delivered, read ahead, or skipped before a [range](Options::range).
    pub fn passed(&self) -> u64 {
        self.engine.content()
    }

    /// Whether undelivered bytes are ready. If not, the caller gets the next piece from the engine.
    ///
    /// # Errors
    /// Returns the error of a chunk that could not be decoded. It is final.
    pub(super) fn is_ready(&mut self) -> Result<bool> {
        if !self.unread()?.is_empty() {
            return Ok(true);
        }
        if let Some(used) = self.piece.take() {
            self.engine.recycle(used.buffer);
        }
        match &self.damage {
            Some(damage) => Err(damage.clone().into()),
            None => Ok(false),
        }
    }

    /// Takes the next piece from the engine.
    pub(super) fn put(&mut self, piece: Piece) -> Result<()> {
        if let Err(error) = piece.result {
            let damage = ParseError {
                error,
                position: piece.info.position,
            };
            self.damage = Some(damage.clone());
            return Err(damage.into());
        }
        (self.piece, self.at) = (Some(piece), 0);
        Ok(())
    }

    /// All bytes that are ready, without a copy.
    pub(super) fn take_bytes(&mut self) -> Result<Bytes> {
        let piece = self.piece.take();
        let piece = piece.ok_or_else(|| Error::bug("bytes of a piece that is not there"))?;
        let (from, to) = (self.at, piece.len);
        // Both are within the buffer: the caller has looked at the bytes between them.
        self.advance(to - from);
        Ok(Bytes::from(piece.buffer).slice(from..to))
    }

    /// Marks this many of the ready bytes as delivered, or all if there are fewer.
    pub(super) fn take(&mut self, amount: usize) {
        let there = self.piece.as_ref().map_or(0, |piece| piece.len - self.at);
        self.advance(amount.min(there));
    }

    /// Decoded bytes that were not delivered.
    pub(super) fn unread(&self) -> Result<&[u8]> {
        match &self.piece {
            Some(piece) => slice(piece.bytes()?, self.at..piece.len),
            None => Ok(&[]),
        }
    }

    /// Marks this many of the bytes as delivered.
    fn advance(&mut self, len: usize) {
        self.at += len;
        self.total_out += to_u64(len);
    }

    /// Things in the input so far that are unusual but not wrong, such as bytes after the last chunk. The list is complete at
    /// the end of the input.
    pub fn warnings(&self) -> &[Warning] {
        &self.engine.warnings
    }
}

/// Lends the decoded bytes of a chunk, or of a piece of a chunk above 64 MiB. Empty bytes are the end.
impl<R: Read> BufRead for Decoder<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.have_piece()?;
        Ok(self.unread()?)
    }

    fn consume(&mut self, amount: usize) {
        // `take` stops at the end of the bytes that were lent.
        self.take(amount);
    }
}

/// A call returns bytes of one chunk, so it may return fewer than `buf` has room for.
impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        let len = self.fill_buf()?.read(buf)?;
        self.consume(len);
        Ok(len)
    }
}

impl<R> std::fmt::Debug for Decoder<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder")
            .field("members", &self.members())
            .field("total_in", &self.total_in())
            .field("total_out", &self.total_out)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Decoder;
    use crate::{Encoder, Options};
    use bloscpack_error::{Category, Code};
    use bloscpack_wire::{Checksum, Digest, Hasher, Hashers, Limits};
    use std::io::{self, Write};

    /// Hashes nothing, and panics at chunks of the length of the last one.
    struct Panicking;

    impl Hasher for Panicking {
        fn update(&mut self, bytes: &[u8]) {
            assert_ne!(bytes.len(), 16 + 7, "planted");
        }

        fn finish(&mut self) -> Digest {
            Digest::EMPTY
        }
    }

    #[test]
    fn a_worker_that_panics_over_the_last_chunk_is_not_the_end_of_the_input() {
        let options = Encoder::builder().level(0).chunk_size(100);
        let options = options.checksum(Checksum::None);
        let target = io::Cursor::new(Vec::new());
        let mut encoder = options.write_to_file(target).unwrap();
        encoder.write_all(&[1; 207]).unwrap();
        let file = encoder.finish().unwrap().into_inner();
        let hashers = Hashers::default().with(Checksum::None, || Box::new(Panicking));
        for threads in [1, 2] {
            let options = Options::new().hashers(hashers.clone()).threads(threads);
            let mut decoder = Decoder::with_options(file.as_slice(), options);
            for _ in 0..2 {
                let error = decoder.copy_to(&mut Vec::new()).unwrap_err();
                assert_eq!(error.code(), Code::Panicked, "{error}");
            }
        }
    }

    #[test]
    fn every_limit_is_named() {
        let file = crate::compress(&[7; 100_000]).unwrap();
        let limits = Limits::default();
        for (limits, name) in [(limits.chunk(9), "`chunk`"), (limits.block(9), "`block`")] {
            let mut decoder = Decoder::with_options(&file[..], Options::new().limits(limits));
            let error = decoder.copy_to(&mut io::sink()).unwrap_err();
            assert_eq!(error.category(), Category::OverLimit);
            assert!(error.hint().is_some_and(|hint| hint.contains(name)));
        }
    }
}
