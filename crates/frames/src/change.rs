//! Chunks of a frame, appended, replaced, inserted and removed.

use super::coders::Coders;
use super::home::{self, Home};
use super::{Frame, fetch};
use crate::wire::{ChunkPlace, FrameHeader, FrameKind};
use blosc1::{self, ChunkHeader, Fault};
use bloscpack_error::{Error, Result};
use bloscpack_storage::Memory;
use std::collections::HashMap;

impl Frame {
    /// Appends a chunk with this data: as much as all others have, or less, and then it is the last.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) for another length, behind a short chunk, and if the frame was opened for reading
    /// only; those of where it lies.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.insert(self.chunks(), data)
    }

    /// Replaces the data of a chunk.
    ///
    /// # Errors
    /// As [`append`](Self::append), and [`Usage`](bloscpack_error::Category::Usage) if there is no such chunk.
    pub fn replace(&mut self, number: u64, data: &[u8]) -> Result<()> {
        self.begin()?;
        let expected = self.chunk_len(number)?;
        if u32::try_from(data.len()) != Ok(expected) {
            let found = data.len();
            return Err(Error::usage(format!(
                "{found} bytes for a chunk of {expected}"
            )));
        }
        let place = self.keep(data)?;
        self.put_place(number, place)
    }

    /// Inserts a chunk before another one, or behind the last.
    ///
    /// # Errors
    /// As [`append`](Self::append), and [`Usage`](bloscpack_error::Category::Usage) if there are not as many chunks.
    pub fn insert(&mut self, number: u64, data: &[u8]) -> Result<()> {
        self.begin()?;
        self.check_insert(number, data.len())?;
        let place = self.keep(data)?;
        self.insert_place(number, place, data.len())
    }

    /// Appends a chunk that is compressed already, by whatever writes Blosc chunks.
    ///
    /// # Errors
    /// As [`append`](Self::append); whatever is wrong with the chunk, which is decompressed once to know.
    pub fn append_compressed(&mut self, chunk: &[u8]) -> Result<()> {
        self.begin()?;
        let first = chunk
            .first_chunk()
            .ok_or_else(|| Error::usage("no chunk"))?;
        let header = ChunkHeader::parse(first)?;
        fetch::check(&header, &self.coders.limits)?;
        let len = usize::try_from(header.nbytes).unwrap_or(usize::MAX);
        self.check_insert(self.chunks(), len)?;
        let mut data = vec![0; len];
        self.coders
            .decode(|decoder| Ok(decoder.decode(chunk, &mut data)?))?;
        let place = ChunkPlace::At(self.home.put(chunk)?);
        self.insert_place(self.chunks(), place, len)
    }

    /// Removes a chunk; those behind it move up.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) if there is no such chunk, or the frame was opened for reading only.
    pub fn remove(&mut self, number: u64) -> Result<()> {
        self.begin()?;
        let len = self.chunk_len(number)?;
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let place = self.place(number)?;
        self.outline.places.remove(at);
        let left = self.content_len().saturating_sub(len.into());
        self.outline.header.content_len = left;
        self.discard(place)
    }

    /// Makes all changes since the last flush permanent, as a whole or not at all.
    ///
    /// # Errors
    /// Those of where it lies; the frame has then to be opened again, and is the old or the new one.
    pub fn flush(&mut self) -> Result<()> {
        self.check_state()?;
        if !self.changed {
            return Ok(());
        }
        if !self.outline.places.is_empty() {
            self.outline.header.flags = FrameHeader::FLAGS;
        }
        self.failed = true;
        self.home.commit(&mut self.outline)?;
        self.failed = false;
        self.changed = false;
        Ok(())
    }

    /// The frame as bytes of a contiguous one, with all changes.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check_state()?;
        let memory = Memory::new();
        let mut copy = self.empty_copy(FrameKind::Contiguous, &memory)?;
        // Where many entries lead to one chunk, a few bytes would become gigabytes.
        let (mut copied, mut used) = (HashMap::new(), 0u64);
        for number in 0..self.chunks() {
            let len = self.chunk_len(number)?;
            let place = match self.place(number)? {
                ChunkPlace::At(at) => ChunkPlace::At(match copied.get(&(at, len)) {
                    Some(at) => *at,
                    None => {
                        let chunk = self.compressed_chunk(number)?;
                        used = used.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
                        self.check_used(at, used)?;
                        let new = copy.home.put(&chunk)?;
                        copied.insert((at, len), new);
                        new
                    }
                }),
                special => special,
            };
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            copy.insert_place(number, place, len)?;
        }
        copy.changed = true;
        copy.flush()?;
        drop(copy);
        memory
            .bytes(super::create::IN_MEMORY)
            .ok_or_else(|| crate::error::frame(Fault::Damaged, "the copy in memory is gone"))
    }

    /// Refuses chunks that come to more bytes than there are, as those do that lie in one another.
    fn check_used(&self, at: u64, used: u64) -> Result<()> {
        if self.kind() == FrameKind::Sparse {
            return Ok(());
        }
        let room = self.home.chunk(at)?.room.saturating_add(at);
        home::check_apart(used, room)
    }

    /// What every change begins with.
    pub(super) fn begin(&mut self) -> Result<()> {
        self.check_state()?;
        if !self.home.is_writable() {
            return Err(Error::usage(
                "this frame was opened for reading only: open it with `edit` to change it",
            ));
        }
        self.changed = true;
        Ok(())
    }

    /// Compresses data and keeps the chunk.
    pub(super) fn keep(&mut self, data: &[u8]) -> Result<ChunkPlace> {
        let chunk = self.coders.encode(&self.outline.header, data)?;
        self.keep_compressed(&chunk)
    }

    /// Keeps a chunk, unless the index alone can tell it.
    pub(super) fn keep_compressed(&mut self, chunk: &[u8]) -> Result<ChunkPlace> {
        self.parts().0.keep(chunk)
    }

    /// Gives a chunk another place.
    pub(super) fn put_place(&mut self, number: u64, place: ChunkPlace) -> Result<()> {
        let put = self.parts().0.put_place(number, place);
        self.or_fail(put)
    }

    /// A chunk's place is not needed any more.
    pub(super) fn discard(&mut self, place: ChunkPlace) -> Result<()> {
        let discarded = self.parts().0.discard(place);
        self.or_fail(discarded)
    }

    /// What chunks are put into, and what makes them, apart from one another.
    pub(super) fn parts(&mut self) -> (Slots<'_>, &Coders, &FrameHeader) {
        let slots = Slots {
            home: &mut *self.home,
            places: &mut self.outline.places,
        };
        (slots, &self.coders, &self.outline.header)
    }

    fn check_insert(&self, number: u64, len: usize) -> Result<()> {
        let (chunks, size) = (self.chunks(), self.chunk_size());
        if number > chunks {
            return Err(Error::usage(format!("chunk {number} of {chunks}")));
        }
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        if len == 0 || len > size || (number < chunks && len < size) {
            return Err(Error::usage(format!("{len} bytes for a chunk of {size}")));
        }
        let is_full = self.content_len().is_multiple_of(u64::from(size).max(1));
        if number == chunks && !is_full {
            return Err(Error::usage(
                "the last chunk is short, and nothing can stand behind it: remove it, and append a whole one",
            ));
        }
        Ok(())
    }

    fn insert_place(&mut self, number: u64, place: ChunkPlace, len: usize) -> Result<()> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if at > self.outline.places.len() {
            return Err(Error::usage(format!("chunk {number} of {}", self.chunks())));
        }
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        let content_len = self.content_len().checked_add(len);
        let content_len = content_len.filter(|len| i64::try_from(*len).is_ok());
        self.outline.header.content_len =
            content_len.ok_or_else(|| Error::usage("a frame has at most 2^63 bytes of data"))?;
        self.outline.places.insert(at, place);
        Ok(())
    }
}

/// The places of all chunks.
pub(super) struct Slots<'a> {
    home: &'a mut dyn Home,
    places: &'a mut Vec<ChunkPlace>,
}

impl Slots<'_> {
    /// Gives a chunk new bytes.
    pub(super) fn put(&mut self, number: u64, chunk: &[u8]) -> Result<()> {
        let place = self.keep(chunk)?;
        self.put_place(number, place)
    }

    fn keep(&mut self, chunk: &[u8]) -> Result<ChunkPlace> {
        match blosc1::internal::is_zeros(chunk) {
            true => Ok(ChunkPlace::Zeros),
            false => Ok(ChunkPlace::At(self.home.put(chunk)?)),
        }
    }

    fn put_place(&mut self, number: u64, place: ChunkPlace) -> Result<()> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let slot = self.places.get_mut(at);
        let slot = slot.ok_or_else(|| Error::usage(format!("no chunk {number}")))?;
        let old = std::mem::replace(slot, place);
        self.discard(old)
    }

    fn discard(&mut self, place: ChunkPlace) -> Result<()> {
        if let ChunkPlace::At(at) = place {
            // What cannot be read any more goes all the same.
            let header = self
                .home
                .chunk(at)
                .and_then(|stored| fetch::header(&stored));
            let len = header.map_or(0, |header| header.ctbytes);
            self.home.discard(at, len.into())?;
        }
        Ok(())
    }
}
