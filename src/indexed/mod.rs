//! Random access: any range of the content, any chunk by its number.
//!
//! ```text
//!   open   ReadAt ─► header, metadata, offset table ─► index: position and content of each chunk
//!                    (or one walk over the chunk headers, if no table is sufficient)
//!   read   bytes 4000..4008 ─► chunk 3 ─► read, check its digest ─► decode the touched blocks ─► copy
//! ```
//!
//! | input | opening reads |
//! |---|---|
//! | one member (V3, or sealed V2) with a filled offset table and chunks of one size | the parts before the chunks |
//! | the same in V3 with more than 65,536 chunks | header, metadata, first and last entry of the table |
//! | any other: a stream, several members, chunks of various lengths | the header of each chunk |
//!
//! Memory for the index is 8 bytes for each entry of the table that was read, and 24 bytes for each chunk that was walked.

mod cache;
mod cursor;
mod fetch;
mod index;
mod refresh;
mod table;

pub use cursor::ContentCursor;
pub(super) use fetch::{Fetcher, digest_of};
pub(super) use index::{ChunkExtent, ChunkSpan, Index};

use super::engine::Warning;
use crate::Options;
use blosc1::ChunkHeader;
use bloscpack_error::checked::{in_memory, len_of, slice, slice_mut, to_u64};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{ReadAhead, ReadAt, parallel};
use bloscpack_wire::{Header, Limit, Metadata};
use bytes::Bytes;
use cache::Cache;
use fetch::is_in_place;
use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest part of a chunk that is copied at once.
const PIECE: u64 = 64 << 20;

/// Reads any part of a Bloscpack file, of any layout and any number of members (concatenated Bloscpack files).
///
/// All methods take `&self`, and several threads may read at once; each call works on the caller's thread. A read fetches the
/// chunks that the range touches, checks their digests ([`check_digests`](Options::check_digests)), and decompresses only the
/// touched blocks. The second of two partial reads in a row from one chunk decodes the whole chunk and keeps it in a
/// [cache](Options::cache) of 16 MiB.
///
/// | need | call |
/// |---|---|
/// | bytes at a position | [`read_at`](Self::read_at), [`read_exact_at`](Self::read_exact_at) |
/// | a long range to a writer | [`copy_range`](Self::copy_range) |
/// | [`Read`](std::io::Read) and [`Seek`](std::io::Seek) | [`cursor`](Self::cursor) |
/// | a chunk by number | [`read_chunk`](Self::read_chunk), [`read_stored_chunk`](Self::read_stored_chunk) |
/// | content that was appended | [`refresh`](Self::refresh) |
///
/// **The source must not change.** Open a file that others may change as a
/// [`Snapshot`](bloscpack_storage::Snapshot), which keeps its content while an [`Editor`](crate::edit::Editor) changes the
/// file. A plain `File` may return a mixture of old and new bytes, without checksums even without an error. While an editor
/// commits, a plain `File` cannot be opened ([`FormatError::Interrupted`](bloscpack_wire::FormatError::Interrupted)): try
/// again.
///
/// An offset table of up to 65,536 entries (512 KiB) is read and checked on opening. Entries of a longer table are read as
/// needed, checked against their neighbours and the chunks next to them, and kept up to 16 MiB. No change of one entry, or of
/// two adjacent ones, makes the reader return another chunk. `docs/format.md`, "Offsets", describes which forgeries remain
/// possible.
///
/// ```
/// use bloscpack::indexed::IndexedReader;
/// let data: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
/// let file = bloscpack::compress(&data)?;
///
/// let reader = IndexedReader::open(file)?;
/// assert_eq!(reader.content_len(), 1_200_000);
/// let mut number = [0; 4];
/// reader.read_exact_at(4 * 123_456, &mut number)?;
/// assert_eq!(u32::from_le_bytes(number), 123_456);
/// # Ok::<(), bloscpack::Error>(())
/// ```
pub struct IndexedReader<S> {
    pub(super) source: S,
    index: Arc<Index>,
    fetcher: Fetcher,
    cache: Mutex<Cache>,
    options: Options,
}

/// The least length of the parts of a buffer that several threads fill.
const PART: u64 = 1 << 20;
/// Bytes of decoded chunks that are kept by default.
const CACHE: usize = 16 << 20;

/// The index of a source, which must contain content.
fn content_index<S: ReadAt>(source: &S, options: &Options, known: Option<&Index>) -> Result<Index> {
    let index = Index::of(
        source,
        &options.limits,
        &options.hashers,
        options.allow_unterminated,
        known,
    )
    .reading()?;
    index.check_content()?;
    Error::check_limit(Limit::Total, index.content_len(), options.limits.total)?;
    Ok(index)
}

impl<S> IndexedReader<S> {
    /// A reader of a source whose index is known.
    pub(crate) fn with_index(source: S, options: Options, index: Arc<Index>) -> Self {
        Self {
            source,
            index,
            fetcher: Fetcher::new(
                options.hashers.clone(),
                options.limits,
                options.check_digests,
            ),
            cache: Mutex::new(Cache::new(options.cache.unwrap_or(CACHE))),
            options,
        }
    }
}

impl<S: ReadAt> IndexedReader<S> {
    /// Opens a source with all defaults. A source is a `File`, a [`Snapshot`](bloscpack_storage::Snapshot) of a file that
    /// others may change, a slice, a `Vec`, or a [`Seekable`](bloscpack_storage::Seekable) around any seekable reader.
    ///
    /// # Errors
    /// Returns the same errors as [`with_options`](Self::with_options).
    pub fn open(source: S) -> Result<Self> {
        Self::with_options(source, Options::new())
    }

    /// Opens a source: reads its header, and finds its chunks by the offset table or, if no table is sufficient, by one pass
    /// over the headers of all chunks.
    ///
    /// ```
    /// use bloscpack::{Options, indexed::IndexedReader};
    /// let file = bloscpack::compress(b"one two three")?;
    /// // A larger cache, for many small reads from large chunks.
    /// let reader = IndexedReader::with_options(file, Options::new().cache(64 << 20))?;
    /// let mut word = [0; 3];
    /// reader.read_exact_at(4, &mut word)?;
    /// assert_eq!(&word, b"two");
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the source; an error in the structure of the input, also if its writer did not finish it, unless
    /// [`allow_unterminated`](Options::allow_unterminated) is set; [`OverLimit`](bloscpack_error::Category::OverLimit) for
    /// more content than [`Limits::total`](bloscpack_wire::Limits::total); and
    /// [`Unsupported`](bloscpack_error::Category::Unsupported) for packed records. Records that are chunks of their own are
    /// read as one content.
    pub fn with_options(source: S, options: Options) -> Result<Self> {
        let index = content_index(&source, &options, None)?;
        Ok(Self::with_index(source, options, index.into()))
    }

    /// Uncompressed bytes of all members, which form one content.
    pub fn content_len(&self) -> u64 {
        self.index.content_len()
    }

    /// Number of chunks of all members, including empty ones.
    pub fn chunks(&self) -> u64 {
        self.index.chunks()
    }

    /// Number of members.
    pub fn members(&self) -> usize {
        self.index.members()
    }

    /// The header of the first member; `None` only after a [`refresh`](Self::refresh) that failed.
    pub fn header(&self) -> Option<&Header> {
        self.index.header()
    }

    /// The metadata of the first member.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.index.metadata.as_ref()
    }

    /// Things in the structure that are unusual but not wrong, as of opening or the last refresh.
    pub fn warnings(&self) -> &[Warning] {
        &self.index.warnings
    }

    /// The range of the content that is in a chunk, by the number of the chunk over all members; `None` after the last chunk.
    /// No chunk is decoded.
    ///
    /// ```
    /// use bloscpack::{Encoder, indexed::IndexedReader};
    /// use std::io::Write;
    /// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
    /// encoder.write_all(&[7; 2500])?;
    /// let reader = IndexedReader::open(encoder.finish()?)?;
    /// assert_eq!(reader.chunk_range(2)?, Some(2000..2500));
    /// assert_eq!(reader.chunk_range(3)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the source, and [`Code::Offsets`](bloscpack_error::Code::Offsets) for an impossible offset.
    pub fn chunk_range(&self, chunk: u64) -> Result<Option<Range<u64>>> {
        let span = self.index.span(&self.source, chunk).reading()?;
        Ok(span.map(|span| span.content))
    }

    /// Where the compressed bytes of a chunk lie in the input, without the digest, by its number over all members; and the
    /// chunk's header, which is all that is read of it.
    ///
    /// ```
    /// use bloscpack::indexed::IndexedReader;
    /// let file = bloscpack::compress(b"content")?;
    /// let reader = IndexedReader::open(&file)?;
    /// let (bytes, header) = reader.chunk_place(0)?;
    /// assert_eq!(header.nbytes, 7);
    /// assert_eq!(file[bytes.start as usize..bytes.end as usize], reader.read_stored_chunk(0)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error past the last chunk, any error of the source, and the
    /// error of a damaged header.
    pub fn chunk_place(&self, chunk: u64) -> Result<(Range<u64>, ChunkHeader)> {
        let span = self.span(&self.source, chunk).reading()?;
        let header = self.fetcher.header(&self.source, &span).reading()?;
        let begin = span.extent.position.byte;
        Ok((begin..begin + u64::from(header.ctbytes), header))
    }

    /// The uncompressed bytes of a chunk, by its number over all members. It allocates as many bytes as the chunk has, and
    /// leaves the cache unchanged.
    ///
    /// ```
    /// use bloscpack::{Category, Encoder, indexed::IndexedReader};
    /// use std::io::Write;
    /// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
    /// encoder.write_all(&[7; 2500])?;
    /// let reader = IndexedReader::open(encoder.finish()?)?;
    /// assert_eq!(reader.read_chunk(2)?, [7; 500]);
    /// assert_eq!(reader.read_chunk(3).unwrap_err().category(), Category::Usage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error past the last chunk, any error of the source, and the
    /// error of a damaged chunk.
    pub fn read_chunk(&self, chunk: u64) -> Result<Vec<u8>> {
        let (_, data) = self.chunk_with_bytes(chunk).reading()?;
        Ok(data)
    }

    /// The compressed bytes of a chunk, without the digest, by its number over all members. The chunk is checked and decoded
    /// in the same way as by [`read_chunk`](Self::read_chunk).
    ///
    /// ```
    /// use bloscpack::indexed::IndexedReader;
    /// let reader = IndexedReader::open(bloscpack::compress(b"content")?)?;
    /// assert_eq!(bloscpack::blosc::decompress(&reader.read_stored_chunk(0)?)?, b"content");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_chunk`](Self::read_chunk).
    pub fn read_stored_chunk(&self, chunk: u64) -> Result<Vec<u8>> {
        let (bytes, _) = self.chunk_with_bytes(chunk).reading()?;
        let header = bloscpack_wire::internal::to_usize(blosc1::read_header(&bytes)?.ctbytes);
        Ok(bytes.get(..header).unwrap_or(&bytes).to_vec())
    }

    /// Fills `buf` with content that begins at byte `at`, and returns how many bytes were read: fewer than `buf` has room for
    /// only at the end of the content, and 0 past the end.
    ///
    /// ```
    /// use bloscpack::indexed::IndexedReader;
    /// let reader = IndexedReader::open(bloscpack::compress(b"thirteen byte")?)?;
    /// let mut buf = [0; 8];
    /// assert_eq!(reader.read_at(9, &mut buf)?, 4);
    /// assert_eq!(&buf[..4], b"byte");
    /// assert_eq!(reader.read_at(13, &mut buf)?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the source, and the error of the first damaged chunk that is read. Bytes before and after it may
    /// have been written to `buf`.
    pub fn read_at(&self, at: u64, buf: &mut [u8]) -> Result<usize> {
        let left = self.content_len().saturating_sub(at);
        let len = in_memory(left.min(to_u64(buf.len())))?;
        let buf = slice_mut(buf, 0..len)?;
        self.announce(&self.source, at..at.saturating_add(to_u64(len)));
        let parts = match self.options.codec_threads() {
            1 => vec![(at, buf)],
            _ => self.parts(at, buf),
        };
        let fill = |(at, part): (u64, &mut [u8])| self.fill(at, part);
        parallel::for_each(self.options.codec_threads(), parts.into_iter(), fill)?;
        Ok(len)
    }

    /// Divides a buffer for content from `at` on into parts of 1 MiB or more, which end where chunks end.
    fn parts<'a>(&self, mut at: u64, mut buf: &'a mut [u8]) -> Vec<(u64, &'a mut [u8])> {
        let mut parts = Vec::new();
        // Whoever reads a chunk reports why it has no place.
        while let Some(chunk) = self.index.chunk_at(at.saturating_add(PART))
            && let Ok(Some(content)) = self.chunk_range(chunk)
            && let Ok(len) = in_memory(len_of(&(at..content.end)))
            && len < buf.len()
        {
            let (part, rest) = std::mem::take(&mut buf).split_at_mut(len);
            parts.push((at, part));
            (at, buf) = (content.end, rest);
        }
        parts.push((at, buf));
        parts
    }

    /// Fills all of a buffer with content from `at` on.
    fn fill(&self, mut at: u64, buf: &mut [u8]) -> Result<()> {
        let (source, mut done) = (ReadAhead::new(&self.source, 0), 0);
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let len = self.read_in_chunk(&source, at, rest, false).reading()?;
            if len == 0 {
                return Err(Error::bug(format!("content ends at byte {at}")));
            }
            done += len;
            at += to_u64(len);
        }
        Ok(())
    }

    /// Announces the chunks of a range of the content to the source, if there are several. They are adjacent in the source.
    fn announce<T: ReadAt>(&self, source: &T, content: Range<u64>) {
        let last = content.end.min(self.content_len()).checked_sub(1);
        let Some((first, last)) = self
            .index
            .chunk_at(content.start)
            .zip(last.and_then(|last| self.index.chunk_at(last)))
            .filter(|(first, last)| first < last)
        else {
            return;
        };
        // A chunk that cannot be found is reported where it is read.
        if let (Ok(Some(first)), Ok(Some(last))) = (
            self.index.extent(source, first),
            self.index.extent(source, last),
        ) {
            let range = first.position.byte..last.end;
            source.will_read(std::slice::from_ref(&range));
        }
    }

    /// As [`read_at`](Self::read_at), but only up to the end of the chunk. With `goes_on`, the caller reads sequentially.
    fn read_in_chunk<T: ReadAt>(
        &self,
        source: &T,
        at: u64,
        buf: &mut [u8],
        goes_on: bool,
    ) -> Result<usize> {
        let Some(chunk) = self.index.chunk_at(at).filter(|_| !buf.is_empty()) else {
            return Ok(0);
        };
        let span = self.span(source, chunk)?;
        let len = in_memory(len_of(&(at..span.content.end)).min(to_u64(buf.len())))?;
        let part = slice_mut(buf, 0..len)?;
        self.read_part(source, (chunk, &span), at, part, goes_on)?;
        Ok(len)
    }

    /// Fills all of `buf` with content that begins at byte `at`.
    ///
    /// # Errors
    /// Returns the same errors as [`read_at`](Self::read_at), and a [`Usage`](bloscpack_error::Category::Usage) error if the
    /// content has fewer bytes after `at`.
    pub fn read_exact_at(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        let len = self.read_at(at, buf)?;
        if len < buf.len() {
            let (wanted, there) = (buf.len(), self.content_len());
            return Err(Error::usage(format!(
                "cannot read {wanted} bytes at {at}: the content ends at byte {there}"
            )));
        }
        Ok(())
    }

    /// Writes a range of the content, chunk by chunk, and returns how many bytes were written: fewer than the range only if it
    /// ends past the content. It takes memory for one compressed chunk, and for its content or 64 MiB of it. The writer is not
    /// flushed.
    ///
    /// ```
    /// use bloscpack::indexed::IndexedReader;
    /// let reader = IndexedReader::open(bloscpack::compress(b"one two three")?)?;
    /// let mut tail = Vec::new();
    /// assert_eq!(reader.copy_range(8..u64::MAX, &mut tail)?, 5);
    /// assert_eq!(tail, b"three");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`read_at`](Self::read_at), and any error of the writer, on
    /// [`Side::Target`](bloscpack_error::Side::Target).
    pub fn copy_range<W: Write + ?Sized>(&self, range: Range<u64>, writer: &mut W) -> Result<u64> {
        let (mut at, mut buf) = (range.start, Vec::new());
        let source = ReadAhead::new(&self.source, 0);
        self.announce(&source, range.clone());
        while at < range.end
            && let Some(chunk) = self.index.chunk_at(at)
        {
            let span = self.span(&source, chunk).reading()?;
            let end = span.content.end.min(range.end);
            let len = in_memory(len_of(&(at..end)).min(PIECE))?;
            if buf.len() < len {
                buf = vec![0; len];
            }
            if to_u64(len) == len_of(&(at..end)) {
                let part = slice_mut(&mut buf, 0..len)?;
                self.read_part(&source, (chunk, &span), at, part, false)
                    .reading()?;
                writer.write_all(part).writing()?;
            } else {
                self.copy_large(&span, at..end, &mut buf, writer)?;
            }
            at = end;
        }
        Ok(len_of(&(range.start..at)))
    }

    /// Writes more of a chunk than is decoded at once. The chunk is read and checked only once.
    fn copy_large<W: Write + ?Sized>(
        &self,
        span: &ChunkSpan,
        range: Range<u64>,
        buf: &mut [u8],
        writer: &mut W,
    ) -> Result<()> {
        let bytes = self.fetcher.fetch(&self.source, span).reading()?;
        let mut at = range.start;
        while at < range.end {
            let len = in_memory(len_of(&(at..range.end)).min(to_u64(buf.len())))?;
            let part = slice_mut(buf, 0..len)?;
            let skip = in_memory(len_of(&(span.content.start..at)))?;
            self.fetcher.decode(span, &bytes, skip, part)?;
            writer.write_all(part).writing()?;
            at += to_u64(len);
        }
        Ok(())
    }

    /// The content as a [`Read`](std::io::Read) and [`Seek`](std::io::Seek), at its first byte.
    pub fn cursor(&self) -> ContentCursor<'_, S> {
        ContentCursor::new(self)
    }

    /// The place of a chunk, and its compressed bytes, checked against the digest.
    pub(super) fn compressed_chunk(&self, chunk: u64) -> Result<(ChunkSpan, Bytes)> {
        let span = self.span(&self.source, chunk)?;
        let bytes = self.fetcher.fetch(&self.source, &span)?;
        Ok((span, bytes))
    }

    /// The most bytes that a chunk may have in the input; 0 if its offset is damaged.
    ///
    /// # Errors
    /// Returns any error of the source.
    pub(super) fn compressed_len(&self, chunk: u64) -> Result<u64> {
        match self.index.extent(&self.source, chunk) {
            Ok(Some(extent)) => Ok(len_of(&(extent.position.byte..extent.end))),
            Ok(None) => Ok(0),
            Err(error) if error.is_format() => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// The content of a chunk that was read.
    pub(super) fn decoded(&self, span: &ChunkSpan, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut data = vec![0; in_memory(len_of(&span.content))?];
        self.fetcher.decode(span, bytes, 0, &mut data)?;
        Ok(data)
    }

    /// A chunk's bytes and its content.
    pub(super) fn chunk_with_bytes(&self, chunk: u64) -> Result<(Bytes, Vec<u8>)> {
        let (span, bytes) = self.compressed_chunk(chunk)?;
        let data = self.decoded(&span, &bytes)?;
        Ok((bytes, data))
    }

    /// Whether the position of a chunk is certain even if the chunk is damaged: by its own header, or by the chunks on both
    /// sides.
    ///
    /// # Errors
    /// Returns any error of the source.
    pub(super) fn is_placed(&self, chunk: u64) -> Result<bool> {
        let in_place = |chunk: u64| match self.index.span(&self.source, chunk) {
            Ok(Some(span)) => is_in_place(&self.source, &span),
            Err(error) if !error.is_format() => Err(error),
            _ => Ok(false),
        };
        if in_place(chunk)? {
            return Ok(true);
        }
        let begins = match chunk.checked_sub(1) {
            Some(before) => in_place(before)?,
            None => true,
        };
        let next = chunk + 1;
        Ok(begins && (next >= self.chunks() || in_place(next)?))
    }

    /// The place of a chunk. A number past the last chunk is wrong usage.
    fn span<T: ReadAt>(&self, source: &T, chunk: u64) -> Result<ChunkSpan> {
        let span = self.index.span(source, chunk)?;
        let chunks = self.chunks();
        span.ok_or_else(|| {
            Error::usage(format!(
                "there is no chunk {chunk}: the file has {chunks}, counted from 0"
            ))
        })
    }

    /// Reads a part of one chunk: from the cache, or by decoding this part or, if the cache expects more reads, all of it.
    fn read_part<T: ReadAt>(
        &self,
        source: &T,
        (chunk, span): (u64, &ChunkSpan),
        at: u64,
        part: &mut [u8],
        goes_on: bool,
    ) -> Result<()> {
        let skip = in_memory(len_of(&(span.content.start..at)))?;
        let whole = in_memory(len_of(&span.content))?;
        let (kept, is_worth) = {
            let mut cache = self.cache();
            let kept = cache.get(chunk);
            let is_partial = kept.is_none() && part.len() < whole;
            (kept, is_partial && cache.is_worth(chunk, whole, goes_on))
        };
        if let Some(data) = kept {
            return copy_part(&data, skip, part);
        }
        let bytes = self.fetcher.fetch(source, span)?;
        if !is_worth {
            return self.fetcher.decode(span, &bytes, skip, part);
        }
        let mut data = vec![0; whole];
        self.fetcher.decode(span, &bytes, 0, &mut data)?;
        copy_part(&data, skip, part)?;
        self.cache().put(chunk, Arc::from(data));
        Ok(())
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> std::fmt::Debug for IndexedReader<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexedReader")
            .field("chunks", &self.index.chunks())
            .field("content_len", &self.index.content_len())
            .finish_non_exhaustive()
    }
}

fn copy_part(data: &[u8], skip: usize, part: &mut [u8]) -> Result<()> {
    let end = skip.checked_add(part.len());
    let end = end.ok_or_else(|| Error::bug("a part that ends past all memory"))?;
    part.copy_from_slice(slice(data, skip..end)?);
    Ok(())
}
