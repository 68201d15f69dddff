//! [`IndexedReader`]: any range of the content, any chunk by number.

mod builder;
mod cache;
mod cursor;
mod fetch;
mod head;
mod index;
mod table;

pub use builder::IndexedReaderBuilder;
pub use cursor::ContentCursor;
pub(super) use fetch::Fetcher;
pub(super) use head::{Head, head};
pub(super) use index::{Extent, Index, Spot};

use super::engine::Warning;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Header, Metadata};
use cache::Cache;
use fetch::{is_in_place, len_of};
use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The longest part of a chunk that is copied at once.
const PIECE: usize = 64 << 20;

/// Reads any part of a Bloscpack file, of any layout and any number of members.
///
/// It is shared by reference: several threads may read at once. Of the chunks that a range
/// touches, the bytes are read and their digests checked, and only the blocks that it touches are
/// decompressed. A part of a chunk that is asked for twice in a row decodes it whole, and keeps it
/// in a small cache.
///
/// The source must not change meanwhile. Open a file that others may change at the same time as a
/// [`Snapshot`](bloscpack_storage::Snapshot), which keeps an [`Editor`](crate::Editor) from it: read
/// from a plain `File`, old bytes and new ones may come together, and where there are no checksums
/// that may give wrong data without an error.
///
/// ```
/// use bloscpack::IndexedReader;
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
    source: S,
    index: Arc<Index>,
    fetcher: Fetcher,
    cache: Mutex<Cache>,
}

impl IndexedReader<Vec<u8>> {
    /// Options for a reader.
    #[must_use]
    pub fn builder() -> IndexedReaderBuilder {
        IndexedReaderBuilder::default()
    }
}

impl<S: ReadAt> IndexedReader<S> {
    /// Opens a source with all defaults: a `File`, a [`Snapshot`](bloscpack_storage::Snapshot) of one
    /// that others may change, a slice, a `Vec`, or anything that seeks in a
    /// [`Seekable`](bloscpack_storage::Seekable).
    ///
    /// # Errors
    /// As [`IndexedReaderBuilder::open`].
    pub fn open(source: S) -> Result<Self> {
        IndexedReaderBuilder::default().open(source)
    }

    /// Uncompressed bytes of all members.
    pub fn content_len(&self) -> u64 {
        self.index.content_len()
    }

    /// Number of chunks of all members.
    pub fn chunks(&self) -> u64 {
        self.index.chunks()
    }

    /// Number of members.
    pub fn members(&self) -> usize {
        self.index.members()
    }

    /// The header of the first member.
    pub fn header(&self) -> Option<&Header> {
        self.index.header()
    }

    /// The metadata of the first member.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.index.metadata.as_ref()
    }

    /// What was odd on opening without being wrong.
    pub fn warnings(&self) -> &[Warning] {
        &self.index.warnings
    }

    /// Which bytes of the content a chunk holds; nothing behind the last chunk.
    ///
    /// # Errors
    /// Those of the source, and an offset that cannot be.
    pub fn chunk_range(&self, chunk: u64) -> Result<Option<Range<u64>>> {
        let spot = self.index.spot(&self.source, chunk).reading()?;
        Ok(spot.map(|spot| spot.content))
    }

    /// The uncompressed bytes of a chunk, by its number over all members.
    ///
    /// # Errors
    /// A [`Usage`](bloscpack_error::Category::Usage) error behind the last chunk; those of the source;
    /// whatever is wrong with the chunk.
    pub fn read_chunk(&self, chunk: u64) -> Result<Vec<u8>> {
        let (_, data) = self.chunk_with_bytes(chunk).reading()?;
        Ok(data)
    }

    /// Reads up to as many bytes of the content as `buf` holds, from `at` on, and returns how many
    /// it were: fewer only at the end of the content.
    ///
    /// # Errors
    /// Those of the source, and whatever is wrong with the chunks touched.
    pub fn read_at(&self, at: u64, buf: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let here = at.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
            let len = self.read_in_chunk(here, rest).reading()?;
            if len == 0 {
                break;
            }
            done = done.saturating_add(len);
        }
        Ok(done)
    }

    /// As [`read_at`](Self::read_at), but no further than to the end of the chunk.
    fn read_in_chunk(&self, at: u64, buf: &mut [u8]) -> Result<usize> {
        let Some(chunk) = self.index.chunk_at(at).filter(|_| !buf.is_empty()) else {
            return Ok(0);
        };
        let spot = self.spot(chunk)?;
        let len = len_of(&(at..spot.content.end)).min(buf.len());
        let part = buf.get_mut(..len).unwrap_or_default();
        self.read_part(chunk, &spot, at, part)?;
        Ok(len)
    }

    /// Fills `buf` with the content from `at` on.
    ///
    /// # Errors
    /// A [`Usage`](bloscpack_error::Category::Usage) error if the content ends before, and those of
    /// [`read_at`](Self::read_at).
    pub fn read_exact_at(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        let len = self.read_at(at, buf)?;
        if len < buf.len() {
            let message = format!(
                "{} bytes at {at} of the content, which has {}",
                buf.len(),
                self.content_len()
            );
            return Err(Error::usage(message));
        }
        Ok(())
    }

    /// Writes a range of the content, chunk by chunk, and returns how many bytes there were of it:
    /// fewer only where it reaches past the end.
    ///
    /// # Errors
    /// As for [`read_at`](Self::read_at), and those of the writer.
    pub fn copy_range<W: Write + ?Sized>(&self, range: Range<u64>, writer: &mut W) -> Result<u64> {
        let (mut at, mut buf) = (range.start, Vec::new());
        while at < range.end
            && let Some(chunk) = self.index.chunk_at(at)
        {
            let spot = self.spot(chunk).reading()?;
            let end = spot.content.end.min(range.end);
            let len = len_of(&(at..end)).min(PIECE);
            if buf.len() < len {
                buf = vec![0; len];
            }
            if len == len_of(&(at..end)) {
                let part = buf.get_mut(..len).unwrap_or_default();
                self.read_part(chunk, &spot, at, part).reading()?;
                writer.write_all(part).writing()?;
            } else {
                self.copy_giant(&spot, at..end, &mut buf, writer)?;
            }
            at = end;
        }
        Ok(at.saturating_sub(range.start))
    }

    /// Writes more of a chunk than is decoded at once; the chunk is read and checked once.
    fn copy_giant<W: Write + ?Sized>(
        &self,
        spot: &Spot,
        range: Range<u64>,
        buf: &mut [u8],
        writer: &mut W,
    ) -> Result<()> {
        let bytes = self.fetcher.fetch(&self.source, spot).reading()?;
        let mut at = range.start;
        while at < range.end {
            let len = len_of(&(at..range.end)).min(buf.len());
            let part = buf.get_mut(..len).unwrap_or_default();
            self.fetcher
                .decode(spot, &bytes, len_of(&(spot.content.start..at)), part)?;
            writer.write_all(part).writing()?;
            at = at.saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        }
        Ok(())
    }

    /// The content as something that reads and seeks.
    pub fn cursor(&self) -> ContentCursor<'_, S> {
        ContentCursor::new(self)
    }

    /// Where a chunk lies, and its bytes, checked against its digest.
    pub(super) fn compressed_chunk(&self, chunk: u64) -> Result<(Spot, Vec<u8>)> {
        let spot = self.spot(chunk)?;
        let bytes = self.fetcher.fetch(&self.source, &spot)?;
        Ok((spot, bytes))
    }

    /// How many bytes of the input a chunk has at the most; none where nothing tells.
    pub(super) fn compressed_len(&self, chunk: u64) -> u64 {
        let extent = self.index.extent(&self.source, chunk).ok().flatten();
        extent.map_or(0, |extent| extent.end.saturating_sub(extent.position.byte))
    }

    /// The content of a chunk that was read.
    pub(super) fn decoded(&self, spot: &Spot, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut data = vec![0; len_of(&spot.content)];
        self.fetcher.decode(spot, bytes, 0, &mut data)?;
        Ok(data)
    }

    /// A chunk's bytes and its content.
    pub(super) fn chunk_with_bytes(&self, chunk: u64) -> Result<(Vec<u8>, Vec<u8>)> {
        let (spot, bytes) = self.compressed_chunk(chunk)?;
        let data = self.decoded(&spot, &bytes)?;
        Ok((bytes, data))
    }

    /// Whether the place of a chunk is sure, however damaged the chunk is: by its own header, or by the chunks at both sides.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn is_placed(&self, chunk: u64) -> Result<bool> {
        let in_place = |chunk: u64| match self.index.spot(&self.source, chunk) {
            Ok(Some(spot)) => is_in_place(&self.source, &spot),
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
        let behind = chunk.saturating_add(1);
        Ok(begins && (behind >= self.chunks() || in_place(behind)?))
    }

    fn spot(&self, chunk: u64) -> Result<Spot> {
        let spot = self.index.spot(&self.source, chunk)?;
        let chunks = self.chunks();
        spot.ok_or_else(|| {
            Error::usage(format!(
                "there is no chunk {chunk}: there are {chunks}, from 0"
            ))
        })
    }

    /// Reads a part of one chunk: from the cache, or else by decoding no more than is worth it.
    fn read_part(&self, chunk: u64, spot: &Spot, at: u64, part: &mut [u8]) -> Result<()> {
        let skip = len_of(&(spot.content.start..at));
        let whole = len_of(&spot.content);
        let (kept, worth) = {
            let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = cache.get(chunk);
            let partial = kept.is_none() && part.len() < whole;
            (kept, partial && cache.is_worth(chunk, whole))
        };
        if let Some(data) = kept {
            return copy_part(&data, skip, part);
        }
        let bytes = self.fetcher.fetch(&self.source, spot)?;
        if !worth {
            return self.fetcher.decode(spot, &bytes, skip, part);
        }
        let mut data = vec![0; whole];
        self.fetcher.decode(spot, &bytes, 0, &mut data)?;
        copy_part(&data, skip, part)?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.put(chunk, Arc::from(data));
        Ok(())
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
    let from = data.get(skip..).and_then(|data| data.get(..part.len()));
    part.copy_from_slice(from.ok_or_else(|| Error::usage("a part outside of its chunk"))?);
    Ok(())
}
