//! Chunks of a frame, appended, replaced, inserted and removed.

use super::Frame;
use crate::coder::ChunkCoder;
use crate::error::{check_len, no_chunk, read_only};
use crate::meta::ENTRY_LEN;
use crate::part::FramePart;
use crate::storage::{FrameStorage, check_header};
use crate::wire::ChunkPlace;
use crate::wire::header::FrameHeader;
use blosc1::ChunkHeader;
use bloscpack_error::checked::{to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_wire::Limit;

impl Frame {
    /// Appends a chunk with this data: [`chunk_size`](Self::chunk_size) bytes. A shorter one has to be the last.
    ///
    /// # Errors
    /// Returns [`Usage`](bloscpack_error::Category::Usage) for another length, if the last chunk is short already, and if the
    /// frame was opened for reading only; any I/O error.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.insert(self.chunks(), data)
    }

    /// Replaces the data of a chunk with as many bytes.
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append), and [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a
    /// number that is too large.
    pub fn replace(&mut self, number: u64, data: &[u8]) -> Result<()> {
        self.begin()?;
        let expected = self.chunk_len(number)?;
        check_len("data of a chunk", data.len(), to_usize(expected))?;
        let place = self.keep(data)?;
        self.put_place(number, place)
    }

    /// Inserts a chunk, which gets this number; that chunk and all after it move up by one.
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append), and [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a
    /// number that is too large.
    pub fn insert(&mut self, number: u64, data: &[u8]) -> Result<()> {
        self.begin()?;
        self.check_insert(number, data.len())?;
        let place = self.keep(data)?;
        self.insert_place(number, place, to_u64(data.len()))
    }

    /// Appends a chunk that is already compressed, by any program that writes Blosc chunks.
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append), and any damage to the chunk, which is decompressed once as a check.
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

    /// Removes a chunk; all after it move down by one.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a number that is too large, and
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the frame was opened for reading only.
    pub fn remove(&mut self, number: u64) -> Result<()> {
        self.begin()?;
        let slot = self.slot(number)?;
        let len = u64::from(self.chunk_len(number)?);
        let place = self.meta.places.remove(slot);
        // No chunk is longer than the rest of the content.
        self.meta.header.content_len -= len;
        self.discard(place)
    }

    /// Makes all changes since the last flush permanent, atomically.
    ///
    /// # Errors
    /// Returns any I/O error. The frame then has either all of the changes or none, and has to be reopened.
    pub fn flush(&mut self) -> Result<()> {
        self.check_state()?;
        if !self.changed {
            return Ok(());
        }
        if !self.meta.places.is_empty() {
            self.meta.header.flags = FrameHeader::FLAGS;
        }
        self.poisoned = true;
        self.storage.commit(&mut self.meta)?;
        self.poisoned = false;
        self.changed = false;
        Ok(())
    }

    /// The beginning of every change.
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

    /// Compresses data and keeps the chunk.
    fn keep(&mut self, data: &[u8]) -> Result<ChunkPlace> {
        let chunk = self.coder.encode(&self.meta.header, data)?;
        self.parts().0.keep(&chunk)
    }

    /// Gives a chunk another place.
    fn put_place(&mut self, number: u64, place: ChunkPlace) -> Result<()> {
        let put = self.parts().0.put_place(number, place);
        self.or_poison(put)
    }

    /// Discards the chunk at a place that is not used any more.
    pub(crate) fn discard(&mut self, place: ChunkPlace) -> Result<()> {
        let discarded = self.parts().0.discard(place);
        self.or_poison(discarded)
    }

    /// Where chunks go, and what is necessary to make them, separately.
    pub(crate) fn parts(&mut self) -> (ChunkSlots<'_>, &ChunkCoder, &FrameHeader) {
        let slots = ChunkSlots {
            storage: &mut *self.storage,
            places: &mut self.meta.places,
        };
        (slots, &self.coder, &self.meta.header)
    }

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

    /// Inserts the place of a chunk with so many bytes of data.
    pub(super) fn insert_place(&mut self, number: u64, place: ChunkPlace, len: u64) -> Result<()> {
        let chunks = self.chunks();
        let slot = usize::try_from(number).ok().filter(|_| number <= chunks);
        let slot = slot.ok_or_else(|| no_chunk(number, chunks))?;
        // Less than the address space, as all places are in memory.
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

/// The places of all chunks, and the storage where they are.
pub(crate) struct ChunkSlots<'a> {
    storage: &'a mut dyn FrameStorage,
    places: &'a mut Vec<ChunkPlace>,
}

impl ChunkSlots<'_> {
    /// Replaces a chunk with this one.
    pub(crate) fn put(&mut self, number: u64, chunk: &[u8]) -> Result<()> {
        let place = self.keep(chunk)?;
        self.put_place(number, place)
    }

    /// Stores a chunk, unless the index alone can describe it.
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
            // A chunk that cannot be read any more is discarded all the same; its number would only be part of the error.
            let header = self.storage.chunk(0, at).and_then(|stored| stored.header());
            let len = header.map_or(0, |header| header.ctbytes);
            self.storage.discard(at, len.into())?;
        }
        Ok(())
    }
}
