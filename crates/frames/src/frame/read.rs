//! Reads and decompresses the chunks of a frame.

use super::Frame;
use crate::error::{check_len, no_chunk};
use crate::part::FramePart;
use crate::storage::{SMALL, StoredChunk, check_chunk_len, check_header};
use crate::wire::ChunkPlace;
use blosc1::{ChunkDecoder, ChunkError, ChunkHeader, SpecialValue, special_chunk};
use bloscpack_error::checked::{to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAhead, ReadAt};

impl Frame {
    /// The data of a chunk: [`chunk_len`](Self::chunk_len) bytes.
    ///
    /// Allocates only after the header of the stored chunk was checked to give the same length. Uninitialized chunks are zeros.
    /// Works on the caller's thread.
    ///
    /// ```
    /// use bloscpack_error::Code;
    /// use bloscpack_frames::Frame;
    /// let mut frame = Frame::builder(4, 4000).in_memory()?;
    /// frame.append(&[7; 1000])?;
    /// assert_eq!(frame.chunk(0)?, [7; 1000]);
    /// let error = frame.chunk(1).unwrap_err();
    /// assert_eq!(error.code(), Code::OutOfBounds);
    /// assert_eq!(error.to_string(), "no chunk 1: the frame has 1");
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a chunk that does not exist,
    /// [`Code::NotStored`](bloscpack_error::Code::NotStored) for one that is not completely in a [virtual](Self::virtual_data)
    /// frame, [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for a chunk over a limit,
    /// [`Code::MissingFile`](bloscpack_error::Code::MissingFile) if its file is missing in a sparse frame, any I/O error, and
    /// any damage to the chunk.
    pub fn chunk(&self, number: u64) -> Result<Vec<u8>> {
        let len = self.chunk_len(number)?;
        self.place(number)?;
        check_chunk_len(FramePart::Chunk(number), len.into(), &self.coder.limits)?;
        self.chunk_and_header(number).map(|(data, _)| data)
    }

    /// The data of a chunk whose length was checked against the limit, and its header if it is stored. In a virtual frame,
    /// blocks that were not fetched are zeros.
    pub(super) fn chunk_and_header(&self, number: u64) -> Result<(Vec<u8>, Option<ChunkHeader>)> {
        self.check_state()?;
        let (part, len) = (FramePart::Chunk(number), self.chunk_len(number)?);
        let place = self.stored_place(number)?;
        let ChunkPlace::At(at) = place else {
            let mut data = part.zeros(len.into())?;
            self.fill_from(place, 0, &mut data)?;
            return Ok((data, None));
        };
        self.coder.with_bytes(|bytes| {
            // Do not allocate on the frame header alone; check the chunk header first.
            let (stored, header) = self.load(number, at, bytes)?;
            let mut data = part.zeros(len.into())?;
            self.decode(&stored, |decoder| {
                decoder.decode(bytes, &mut data).map(drop)
            })?;
            Ok((data, Some(header)))
        })
    }

    /// Decompresses a chunk into `out`, which must be exactly [`chunk_len`](Self::chunk_len) bytes long.
    ///
    /// # Errors
    /// Returns the errors of [`chunk`](Self::chunk), and [`Code::Usage`](bloscpack_error::Code::Usage) for another length of
    /// `out`. After an error, the content of `out` is unspecified.
    pub fn read_chunk(&self, number: u64, out: &mut [u8]) -> Result<()> {
        self.check_state()?;
        let len = self.chunk_len(number)?;
        check_len("room for a chunk", out.len(), to_usize(len))?;
        let place = self.place(number)?;
        let ChunkPlace::At(at) = place else {
            return self.fill_from(place, 0, out);
        };
        self.coder.with_bytes(|bytes| {
            let (stored, _) = self.load(number, at, bytes)?;
            self.decode(&stored, |decoder| decoder.decode(bytes, out).map(|_| ()))
        })
    }

    /// Reads a part of a chunk's data into `out`: the bytes that begin at byte `start` of the chunk, as many as `out` is long.
    ///
    /// Reads and decompresses only the blocks that contain them.
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// let mut frame = Frame::builder(1, 100).in_memory()?;
    /// frame.append(&(0..100).collect::<Vec<u8>>())?;
    /// let mut out = [0; 3];
    /// frame.read_range(0, 97, &mut out)?;
    /// assert_eq!(out, [97, 98, 99]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`chunk`](Self::chunk), and [`Code::Usage`](bloscpack_error::Code::Usage) for bytes past the end
    /// of the chunk. After an error, the content of `out` is unspecified.
    pub fn read_range(&self, number: u64, start: u32, out: &mut [u8]) -> Result<()> {
        self.check_state()?;
        let len = self.chunk_len(number)?;
        let end = u32::try_from(out.len())
            .ok()
            .and_then(|wanted| start.checked_add(wanted));
        let Some(end) = end.filter(|end| *end <= len) else {
            return Err(Error::usage(format!(
                "{} bytes from byte {start} on extend past the end of chunk {number} ({len} bytes)",
                out.len()
            )));
        };
        let place = self.stored_place(number)?;
        let wanted = self.header().blocksize.max(1);
        let wanted = u64::from(start / wanted)..u64::from(end.div_ceil(wanted));
        self.check_blocks_present(number, place, wanted)?;
        let ChunkPlace::At(at) = place else {
            return self.fill_from(place, start, out);
        };
        let ahead = self.ahead();
        let stored = self.storage.chunk(number, at)?.through(ahead.as_ref());
        let header = self.header_of(number, &stored)?;
        // Only chunks without data have a block size of 0.
        let blocksize = header.blocksize.max(1);
        let blocks: Vec<u32> = (start / blocksize..end.div_ceil(blocksize)).collect();
        self.coder.with_bytes(|bytes| {
            stored.read_blocks(&header, &blocks, bytes)?;
            self.decode(&stored, |decoder| {
                decoder.decode_range(bytes, start, out).map(|_| ())
            })
        })
    }

    /// A chunk in compressed form, byte for byte. Its header is checked; the rest is not.
    ///
    /// For a chunk that is not stored because the index describes it, returns a chunk of that value.
    ///
    /// # Errors
    /// Returns the errors of [`chunk`](Self::chunk).
    pub fn compressed_chunk(&self, number: u64) -> Result<Vec<u8>> {
        self.check_state()?;
        let len = self.chunk_len(number)?;
        let value = match self.place(number)? {
            ChunkPlace::At(at) => {
                let mut bytes = Vec::new();
                self.load(number, at, &mut bytes)?;
                return Ok(bytes);
            }
            ChunkPlace::Zeros => SpecialValue::Zeros,
            ChunkPlace::Nan => SpecialValue::Nan,
            ChunkPlace::Uninit => SpecialValue::Uninit,
        };
        let typesize = u8::try_from(self.typesize()).ok();
        let typesize = match value {
            SpecialValue::Nan => typesize,
            // Data of one value can be stored as bytes.
            _ => typesize.filter(|size| len.is_multiple_of((*size).into())),
        };
        let blocksize = self.meta.header.blocksize;
        let chunk = special_chunk(value, len, typesize.unwrap_or(1), blocksize);
        chunk.map_err(|error| FramePart::Chunk(number).bad_chunk(error))
    }

    /// The first 16 bytes of a chunk, parsed; `None` for a chunk that is not stored because the index describes it. Reads
    /// nothing else.
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// let mut frame = Frame::builder(4, 4000).in_memory()?;
    /// frame.append(&[7; 4000])?;
    /// frame.append(&[0; 4000])?;
    /// assert_eq!(frame.chunk_header(0)?.map(|header| header.nbytes), Some(4000));
    /// assert_eq!(frame.chunk_header(1)?, None);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`chunk`](Self::chunk).
    pub fn chunk_header(&self, number: u64) -> Result<Option<ChunkHeader>> {
        self.check_state()?;
        self.chunk_len(number)?;
        match self.stored_place(number)? {
            ChunkPlace::At(at) => {
                let stored = self.storage.chunk(number, at)?;
                self.header_of(number, &stored).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Uncompressed bytes of a chunk: [`chunk_size`](Self::chunk_size), or fewer for the last chunk. Reads nothing.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a chunk that does not exist.
    pub fn chunk_len(&self, number: u64) -> Result<u32> {
        self.slot(number)?;
        let size = self.chunk_size();
        let rest = number
            .checked_mul(size.into())
            .and_then(|begin| self.content_len().checked_sub(begin));
        let rest = rest.ok_or_else(|| {
            let len = self.content_len();
            Error::bug(format!("chunk {number} of {size} bytes in {len}"))
        })?;
        Ok(u32::try_from(rest).map_or(size, |rest| rest.min(size)))
    }

    /// The position of a chunk in the index, or [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds).
    pub(super) fn slot(&self, number: u64) -> Result<usize> {
        let slot = usize::try_from(number).ok();
        let slot = slot.filter(|slot| *slot < self.meta.places.len());
        slot.ok_or_else(|| no_chunk(number, self.chunks()))
    }

    /// The place of a chunk. In a virtual frame, a chunk that is not completely in the frame is
    /// [`Code::NotStored`](bloscpack_error::Code::NotStored).
    pub(crate) fn place(&self, number: u64) -> Result<ChunkPlace> {
        let place = self.stored_place(number)?;
        self.check_present(number, place)?;
        Ok(place)
    }

    /// The place of a chunk in the index. In a virtual frame, the chunk may lack blocks.
    pub(crate) fn stored_place(&self, number: u64) -> Result<ChunkPlace> {
        let slot = self.slot(number)?;
        let place = self.meta.places.get(slot).copied();
        place.ok_or_else(|| no_chunk(number, self.chunks()))
    }

    /// Reads the header of a chunk, and checks it against the frame and the limits.
    pub(crate) fn header_of(&self, number: u64, stored: &StoredChunk<'_>) -> Result<ChunkHeader> {
        let header = stored.header()?;
        self.check_stored(number, stored, &header)?;
        Ok(header)
    }

    /// Checks the header of a chunk against the limits, and its length against the frame.
    fn check_stored(
        &self,
        number: u64,
        stored: &StoredChunk<'_>,
        header: &ChunkHeader,
    ) -> Result<()> {
        check_header(number, header, &self.coder.limits)?;
        let expected = self.chunk_len(number)?;
        if header.nbytes != expected {
            let (part, at) = (FramePart::Chunk(number), Some(stored.byte()));
            let found = header.nbytes;
            return Err(part.damaged(at, "bytes of data", found, expected));
        }
        Ok(())
    }

    /// Reads the whole stored chunk of this number at index entry `at` into `bytes`.
    fn load(
        &self,
        number: u64,
        at: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<(StoredChunk<'_>, ChunkHeader)> {
        let stored = self.storage.chunk(number, at)?;
        let len = match self.storage.file() {
            Some(_) => self.next_after(number, at)?.unwrap_or(stored.room()),
            None => stored.room(),
        };
        let check = |header: &ChunkHeader| self.check_stored(number, &stored, header);
        let header = stored.load(len, bytes, check)?;
        Ok((stored, header))
    }

    /// The probable length of a stored chunk in a file with other chunks: most chunks are in order, so the next one usually
    /// begins where this one ends. `None` for the last one.
    fn next_after(&self, number: u64, at: u64) -> Result<Option<u64>> {
        Ok(match self.meta.places.get(self.slot(number)? + 1) {
            Some(ChunkPlace::At(next)) => {
                let len = next.checked_sub(at).filter(|len| *len > 0);
                Some(len.unwrap_or(to_u64(SMALL)))
            }
            Some(_) => Some(to_u64(SMALL)),
            None => None,
        })
    }

    /// Announces chunks that will be read soon, as pairs of a number and whether most of the chunk is needed. Small chunks are
    /// announced whole; of large ones only the beginning, which contains the table of blocks.
    pub(crate) fn announce(&self, chunks: impl Iterator<Item = (u64, bool)>) -> Result<()> {
        let mut wanted = Vec::new();
        for (number, is_whole) in chunks.take(MAX_ANNOUNCED) {
            if let ChunkPlace::At(at) = self.stored_place(number)? {
                // The length of the last chunk is unknown.
                let len = self.next_after(number, at)?.unwrap_or(WHOLE);
                let is_whole = is_whole || len <= WHOLE;
                wanted.push((at, if is_whole { len } else { to_u64(SMALL) }));
            }
        }
        self.storage.will_read(&wanted);
        Ok(())
    }

    /// A read-ahead window for several chunks in one file; `None` for a sparse frame.
    pub(crate) fn ahead(&self) -> Option<ReadAhead<&dyn ReadAt>> {
        let file = self.storage.file();
        file.map(|file| ReadAhead::new(file, SMALL))
    }

    /// Calls `act` with a decoder, and adds the position of the chunk to its error.
    fn decode(
        &self,
        stored: &StoredChunk<'_>,
        act: impl FnOnce(&mut ChunkDecoder) -> std::result::Result<(), ChunkError>,
    ) -> Result<()> {
        self.coder
            .decode(|decoder| act(decoder).map_err(|error| stored.error(error)))
    }

    /// Fills `out` with the data of a chunk that is not stored, beginning at byte `start` of the chunk. NaN exists only for
    /// elements of 4 and 8 bytes.
    pub(crate) fn fill_from(&self, place: ChunkPlace, start: u32, out: &mut [u8]) -> Result<()> {
        match place {
            ChunkPlace::Nan => {
                let nan: &[u8] = match self.typesize() {
                    4 => &NAN_F32,
                    8 => &NAN_F64,
                    other => {
                        let (part, field) = (FramePart::Index, "chunk of NaN");
                        let found = format!("elements of {other} bytes");
                        return Err(part.damaged(None, field, found, "4 or 8"));
                    }
                };
                let bytes = nan.iter().cycle().skip(to_usize(start) % nan.len());
                out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            }
            // Uninitialized data may have any value. Zeros reveal nothing.
            _ => out.fill(0),
        }
        Ok(())
    }
}

/// Chunks of up to 8 MiB are announced whole, even if only some of their blocks are needed: a second round trip takes longer.
const WHOLE: u64 = 8 << 20;
/// The maximum number of chunks that are announced at once.
const MAX_ANNOUNCED: usize = 1 << 13;

const NAN_F32: [u8; 4] = f32::NAN.to_le_bytes();
const NAN_F64: [u8; 8] = f64::NAN.to_le_bytes();
