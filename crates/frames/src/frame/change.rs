//! Appends, replaces, inserts and removes the chunks of a frame, and flushes the changes.

use super::Frame;
use crate::coder::{ChunkCoder, settings};
use crate::error::{check_len, no_chunk, read_only};
use crate::meta::ENTRY_LEN;
use crate::part::FramePart;
use crate::storage::{FrameStorage, check_header};
use crate::wire::ChunkPlace;
use crate::wire::header::FrameHeader;
use blosc1::{Blosc2Encoder, ChunkHeader, FilterPipeline};
use bloscpack_error::checked::{to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_wire::Limit;

impl Frame {
    /// Compresses this data and appends it as a chunk.
    ///
    /// `data` is [`chunk_size`](Self::chunk_size) bytes long. A shorter chunk, of at least one byte, can be appended once: no
    /// chunk can follow it. The compressed chunk is written to the storage at once, and becomes part of the frame with the next
    /// [`flush`](Self::flush). A chunk of zeros is not stored: the index describes it.
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for another length, and if the last chunk is already short;
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the frame was opened for reading;
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for a [virtual](Self::virtual_data) frame;
    /// [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for more chunks than the limit `offsets` allows; and any I/O
    /// error. The frame then has no new chunk.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.insert(self.chunks(), data)
    }

    /// Replaces the data of a chunk. `data` is as long as the data it replaces.
    ///
    /// The old chunk leaves dead bytes in a contiguous frame. A flush rewrites the file if more than half of its chunk bytes
    /// are dead.
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append), and [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a
    /// chunk that does not exist.
    pub fn replace(&mut self, number: u64, data: &[u8]) -> Result<()> {
        self.begin()?;
        let expected = self.chunk_len(number)?;
        check_len("data of a chunk", data.len(), to_usize(expected))?;
        let place = self.keep(data)?;
        self.put_place(number, place)
    }

    /// Inserts a chunk with the number `number`. The chunk that had this number and all after it move up by one; only the index
    /// changes for them.
    ///
    /// `number` may be the number of chunks: the chunk is then appended. Chunks before the last must be full.
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// let mut frame = Frame::builder(1, 100).in_memory()?;
    /// frame.append(&[1; 100])?;
    /// frame.append(&[2; 40])?; // only the last chunk may be shorter
    /// frame.replace(0, &[3; 100])?;
    /// frame.insert(1, &[4; 100])?;
    /// frame.remove(0)?;
    /// assert_eq!((frame.chunks(), frame.content_len()), (2, 140));
    /// assert_eq!(frame.chunk(0)?, [4; 100]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append), and [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a
    /// larger number.
    pub fn insert(&mut self, number: u64, data: &[u8]) -> Result<()> {
        self.begin()?;
        self.check_insert(number, data.len())?;
        let place = self.keep(data)?;
        self.insert_place(number, place, to_u64(data.len()))
    }

    /// Appends a chunk that is already compressed, by any program that writes Blosc chunks. Its data has the length that
    /// [`append`](Self::append) requires.
    ///
    /// The chunk is stored byte for byte. It is decompressed once, as a check.
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// let mut source = Frame::builder(4, 4000).in_memory()?;
    /// source.append(&[7; 4000])?;
    /// let mut copy = Frame::builder(4, 4000).in_memory()?;
    /// copy.append_compressed(&source.compressed_chunk(0)?)?;
    /// assert_eq!(copy.chunk(0)?, [7; 4000]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append), [`Code::Usage`](bloscpack_error::Code::Usage) for fewer than 16 bytes,
    /// and any damage to the chunk.
    pub fn append_compressed(&mut self, chunk: &[u8]) -> Result<()> {
        self.begin()?;
        let number = self.chunks();
        let first = chunk.first_chunk().ok_or_else(|| {
            let len = chunk.len();
            Error::usage(format!("{len} bytes are too short for a compressed chunk"))
        })?;
        let header = ChunkHeader::parse(first)?;
        check_header(number, &header, &self.coder.limits)?;
        self.check_insert(number, to_usize(header.nbytes))?;
        let mut data = FramePart::Chunk(number).zeros(header.nbytes.into())?;
        self.coder
            .decode(|decoder| decoder.decode(chunk, &mut data))?;
        let place = ChunkPlace::At(self.storage.put(chunk)?);
        self.insert_place(number, place, header.nbytes.into())
    }

    /// Removes a chunk. All chunks after it move down by one.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a chunk that does not exist,
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the frame was opened for reading, and
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for a [virtual](Self::virtual_data) frame.
    pub fn remove(&mut self, number: u64) -> Result<()> {
        self.begin()?;
        let slot = self.slot(number)?;
        let len = u64::from(self.chunk_len(number)?);
        let place = self.meta.places.remove(slot);
        // No chunk is longer than the rest of the content.
        self.meta.header.content_len -= len;
        self.discard(place)
    }

    /// Makes all changes since the last flush permanent, atomically. Without changes it does nothing.
    ///
    /// Blocks until the changes are on the disk. It may wait for readers on systems where a writer cannot keep their version,
    /// up to the lock timeout in the options.
    ///
    /// # Errors
    /// Returns any I/O error. The file then has either all of the changes or none, and the frame must be reopened: all further
    /// changes are refused with [`Code::Reopen`](bloscpack_error::Code::Reopen).
    /// [`Code::Committed`](bloscpack_error::Code::Committed) means that the changes are permanent, and that the next writer
    /// completes them.
    pub fn flush(&mut self) -> Result<()> {
        self.check_state()?;
        if !self.changed {
            return Ok(());
        }
        if !self.meta.places.is_empty() && self.meta.header.chunk_size.is_some() {
            self.meta.header.flags = FrameHeader::FLAGS;
        }
        self.poisoned = true;
        self.storage.commit(&mut self.meta)?;
        self.poisoned = false;
        self.changed = false;
        Ok(())
    }

    /// Sets the filters of chunks that are written from now on. Other chunks keep theirs.
    ///
    /// ```
    /// use blosc1::{FilterPipeline, FilterStep};
    /// use bloscpack_frames::Frame;
    /// let mut frame = Frame::builder(4, 4000).in_memory()?;
    /// let steps = [FilterStep::Shuffle, FilterStep::Bytedelta { streams: 4 }];
    /// frame.set_filters(FilterPipeline::new(&steps)?)?;
    /// frame.append(&(0..1000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>())?;
    /// assert_eq!(frame.header().filters[4..], [1, 35]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for filters that do not fit the elements or the blocks,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for filters that are only read, and the errors of
    /// [`append`](Self::append).
    pub fn set_filters(&mut self, filters: impl Into<FilterPipeline>) -> Result<()> {
        self.begin()?;
        let filters = filters.into();
        let mut header = self.meta.header.clone();
        (header.filters, header.filters_meta) = (filters.ids(), filters.metas());
        Blosc2Encoder::new(settings(&header)?)?;
        self.meta.header = header;
        self.coder.drop_encoders();
        Ok(())
    }

    /// Starts a change: refuses it if the frame cannot be changed, and drops the fingerprint.
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.check_state()?;
        if !self.storage.is_writable() {
            return Err(read_only());
        }
        self.check_changeable()?;
        self.changed = true;
        self.meta.trailer.fingerprint = None;
        Ok(())
    }

    /// Compresses data and stores the chunk.
    fn keep(&mut self, data: &[u8]) -> Result<ChunkPlace> {
        let chunk = self.coder.encode(&self.meta.header, data)?;
        self.parts().0.keep(&chunk)
    }

    /// Sets the place of an existing chunk, and discards the old place.
    fn put_place(&mut self, number: u64, place: ChunkPlace) -> Result<()> {
        let put = self.parts().0.put_place(number, place);
        self.or_poison(put)
    }

    /// Discards the chunk at a place that no index entry refers to any more.
    pub(crate) fn discard(&mut self, place: ChunkPlace) -> Result<()> {
        let discarded = self.parts().0.discard(place);
        self.or_poison(discarded)
    }

    /// Borrows separately: the index with the storage, the coder, and the header.
    pub(crate) fn parts(&mut self) -> (ChunkSlots<'_>, &ChunkCoder, &FrameHeader) {
        let slots = ChunkSlots {
            storage: &mut *self.storage,
            places: &mut self.meta.places,
        };
        (slots, &self.coder, &self.meta.header)
    }

    /// Refuses a chunk of `len` bytes that would not leave the frame with full chunks and at most one short last one.
    fn check_insert(&self, number: u64, len: usize) -> Result<()> {
        let (chunks, size) = (self.chunks(), self.chunk_size());
        if number > chunks {
            return Err(no_chunk(number, chunks));
        }
        // Only the last chunk may be short.
        if len == 0 || len > to_usize(size) || number < chunks {
            check_len("data of a chunk", len, to_usize(size))?;
        }
        let is_full = size > 0 && self.content_len().is_multiple_of(size.into());
        if number == chunks && !is_full {
            return Err(Error::usage(
                "the last chunk is short, so no other can follow it; remove it and append a full one",
            ));
        }
        Ok(())
    }

    /// Inserts an index entry for a chunk with `len` bytes of data.
    pub(super) fn insert_place(&mut self, number: u64, place: ChunkPlace, len: u64) -> Result<()> {
        let chunks = self.chunks();
        let slot = usize::try_from(number).ok().filter(|_| number <= chunks);
        let slot = slot.ok_or_else(|| no_chunk(number, chunks))?;
        // All places are in memory: the product does not overflow.
        let (index, allowed) = ((chunks + 1) * ENTRY_LEN, self.coder.limits.offsets);
        FramePart::Index.check_limit(Limit::Offsets, index, allowed)?;
        let content_len = self.content_len().checked_add(len);
        let content_len = content_len.filter(|len| i64::try_from(*len).is_ok());
        self.meta.header.content_len = content_len
            .ok_or_else(|| Error::usage("a frame can contain at most 2^63-1 bytes of data"))?;
        self.meta.places.insert(slot, place);
        Ok(())
    }
}

/// The index of a frame, and the storage that contains its chunks.
pub(crate) struct ChunkSlots<'a> {
    storage: &'a mut dyn FrameStorage,
    places: &'a mut Vec<ChunkPlace>,
}

impl ChunkSlots<'_> {
    /// Replaces a chunk with this compressed one.
    pub(crate) fn put(&mut self, number: u64, chunk: &[u8]) -> Result<()> {
        let place = self.keep(chunk)?;
        self.put_place(number, place)
    }

    /// Stores a chunk. One of zeros is not stored: its index entry describes it.
    fn keep(&mut self, chunk: &[u8]) -> Result<ChunkPlace> {
        if blosc1::internal::is_zeros(chunk) {
            Ok(ChunkPlace::Zeros)
        } else {
            Ok(ChunkPlace::At(self.storage.put(chunk)?))
        }
    }

    fn put_place(&mut self, number: u64, place: ChunkPlace) -> Result<()> {
        let chunks = to_u64(self.places.len());
        let slot = usize::try_from(number).ok();
        let slot = slot.and_then(|slot| self.places.get_mut(slot));
        let slot = slot.ok_or_else(|| no_chunk(number, chunks))?;
        let old = std::mem::replace(slot, place);
        self.discard(old)
    }

    fn discard(&mut self, place: ChunkPlace) -> Result<()> {
        if let ChunkPlace::At(at) = place {
            // A chunk whose header cannot be read is discarded as well. Its number would only appear in the error, which is not
            // returned.
            let header = self.storage.chunk(0, at).and_then(|stored| stored.header());
            let len = header.map_or(0, |header| header.ctbytes);
            self.storage.discard(at, len.into())?;
        }
        Ok(())
    }
}
