//! Chunks of a frame, read.

use super::home::Stored;
use super::{Frame, fetch};
use crate::wire::ChunkPlace;
use blosc1::{ChunkDecoder, ChunkError, ChunkHeader, Fault, SpecialValue, special_chunk};
use bloscpack_error::{Error, Result};

impl Frame {
    /// The data of a chunk.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) if there is no such chunk; [`OverLimit`](bloscpack_error::Category::OverLimit); whatever is
    /// wrong with the chunk.
    pub fn chunk(&self, number: u64) -> Result<Vec<u8>> {
        let len = self.chunk_len(number)?;
        if len > self.coders.limits.chunk {
            let limit = self.coders.limits.chunk;
            let what = format!("a chunk of {len} bytes, over the limit `chunk` of {limit}");
            return Err(crate::error::frame(Fault::OverLimit, what));
        }
        self.check_backed(number)?;
        let mut data = vec![0; to_usize(len)];
        self.read_chunk(number, &mut data)?;
        Ok(data)
    }

    /// Reads the data of a chunk into `out`, which has as many bytes.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk), and [`Usage`](bloscpack_error::Category::Usage) for another length.
    pub fn read_chunk(&self, number: u64, out: &mut [u8]) -> Result<()> {
        self.check_state()?;
        let len = self.chunk_len(number)?;
        if out.len() != to_usize(len) {
            return Err(Error::usage(format!(
                "room for {} bytes, where the chunk has {len}",
                out.len()
            )));
        }
        let place = self.place(number)?;
        let ChunkPlace::At(at) = place else {
            return self.fill(place, out);
        };
        let stored = self.home.chunk(at)?;
        let header = self.header_of(number, &stored)?;
        self.coders.with_bytes(|bytes| {
            fetch::whole(&stored, &header, bytes)?;
            self.decode(number, &stored, |decoder| {
                decoder.decode(bytes, out).map(|_| ())
            })
        })
    }

    /// Reads some of a chunk's data, from byte `start` on, into `out`; no more of the chunk is decompressed than the blocks
    /// that hold it.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk), and [`Usage`](bloscpack_error::Category::Usage) for what the chunk does not have.
    pub fn read_range(&self, number: u64, start: u32, out: &mut [u8]) -> Result<()> {
        self.check_state()?;
        let len = self.chunk_len(number)?;
        let end = to_usize(start).checked_add(out.len());
        if end.is_none_or(|end| end > to_usize(len)) {
            return Err(Error::usage(format!(
                "{} bytes from byte {start} on, where the chunk has {len}",
                out.len()
            )));
        }
        let place = self.place(number)?;
        let ChunkPlace::At(at) = place else {
            // The pattern of special values begins anew with every element.
            return self.fill_from(place, start, out);
        };
        let stored = self.home.chunk(at)?;
        let header = self.header_of(number, &stored)?;
        let blocks = touched(&header, start, out.len());
        self.coders.with_bytes(|bytes| {
            let fetched = fetch::blocks(&stored, &header, &blocks, bytes);
            fetched.map_err(|error| located(error, number, &stored))?;
            self.decode(number, &stored, |decoder| {
                decoder.decode_range(bytes, start, out).map(|_| ())
            })
        })
    }

    /// A chunk as it is compressed; one that the index only tells of is made.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn compressed_chunk(&self, number: u64) -> Result<Vec<u8>> {
        self.check_state()?;
        let len = self.chunk_len(number)?;
        let value = match self.place(number)? {
            ChunkPlace::At(at) => {
                let stored = self.home.chunk(at)?;
                let header = self.header_of(number, &stored)?;
                let mut bytes = Vec::new();
                fetch::whole(&stored, &header, &mut bytes)?;
                return Ok(bytes);
            }
            ChunkPlace::Zeros => SpecialValue::Zeros,
            ChunkPlace::Nan => SpecialValue::Nan,
            ChunkPlace::Uninit => SpecialValue::Uninit,
        };
        let typesize = u8::try_from(self.typesize()).ok();
        let typesize = match value {
            SpecialValue::Nan => typesize,
            // What is all the same can be cut anywhere.
            _ => typesize.filter(|size| len.is_multiple_of((*size).into())),
        };
        let blocksize = self.outline.header.blocksize;
        special_chunk(value, len, typesize.unwrap_or(1), blocksize).map_err(|error| {
            let what = format!("chunk {number}, which only the index tells of: {error}");
            crate::error::frame(Fault::Damaged, what)
        })
    }

    /// The header of a chunk; nothing for a chunk that the index alone tells of. No more is read than that.
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
    /// As [`chunk`](Self::chunk).
    pub fn chunk_header(&self, number: u64) -> Result<Option<ChunkHeader>> {
        self.check_state()?;
        self.chunk_len(number)?;
        match self.place(number)? {
            ChunkPlace::At(at) => {
                let stored = self.home.chunk(at)?;
                self.header_of(number, &stored).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Bytes of a chunk's data.
    pub(super) fn chunk_len(&self, number: u64) -> Result<u32> {
        let size = u64::from(self.chunk_size());
        let begin = number.saturating_mul(size);
        if number >= self.chunks() {
            let what = format!(
                "chunk {number} asked for, but the frame has {}",
                self.chunks()
            );
            return Err(Error::usage(what));
        }
        let rest = self.content_len().saturating_sub(begin);
        Ok(u32::try_from(rest.min(size)).unwrap_or(u32::MAX))
    }

    pub(super) fn place(&self, number: u64) -> Result<ChunkPlace> {
        let place = usize::try_from(number)
            .ok()
            .and_then(|at| self.outline.places.get(at));
        place
            .copied()
            .ok_or_else(|| Error::usage(format!("no chunk {number}")))
    }

    /// Compares a stored chunk's header with what the frame says.
    pub(super) fn header_of(&self, number: u64, stored: &Stored<'_>) -> Result<ChunkHeader> {
        let header = fetch::header(stored).map_err(|error| located(error, number, stored))?;
        fetch::check(&header, &self.coders.limits)?;
        let expected = self.chunk_len(number)?;
        if header.nbytes != expected {
            let what = format!(
                "chunk {number} (byte {}): {} bytes of data, expected {expected}",
                stored.byte(),
                header.nbytes
            );
            return Err(crate::error::frame(Fault::Damaged, what));
        }
        Ok(header)
    }

    /// Whether memory for a chunk's data may be set aside: its header has been seen, or it is made of nothing.
    fn check_backed(&self, number: u64) -> Result<()> {
        if let ChunkPlace::At(at) = self.place(number)? {
            let stored = self.home.chunk(at)?;
            self.header_of(number, &stored)?;
        }
        Ok(())
    }

    pub(super) fn decode(
        &self,
        number: u64,
        stored: &Stored<'_>,
        act: impl FnOnce(&mut ChunkDecoder) -> std::result::Result<(), ChunkError>,
    ) -> Result<()> {
        let failed = |error: ChunkError| fetch::failed(number, stored.byte(), error);
        self.coders.decode(|decoder| act(decoder).map_err(failed))
    }

    /// Data that is not stored.
    fn fill(&self, place: ChunkPlace, out: &mut [u8]) -> Result<()> {
        self.fill_from(place, 0, out)
    }

    /// Data that is not stored, from byte `start` of a chunk on.
    pub(super) fn fill_from(&self, place: ChunkPlace, start: u32, out: &mut [u8]) -> Result<()> {
        match place {
            ChunkPlace::Nan => {
                let nan: &[u8] = match self.typesize() {
                    4 => &NAN_F32,
                    8 => &NAN_F64,
                    other => {
                        let what = format!("a chunk of NaNs with elements of {other} bytes");
                        return Err(crate::error::frame(Fault::Damaged, what));
                    }
                };
                let bytes = nan.iter().cycle().skip(to_usize(start) % nan.len());
                out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            }
            // What was never written may be anything; zeros tell nobody anything.
            _ => out.fill(0),
        }
        Ok(())
    }
}

const NAN_F32: [u8; 4] = f32::NAN.to_le_bytes();
const NAN_F64: [u8; 8] = f64::NAN.to_le_bytes();

/// The blocks that hold these bytes of a chunk's data.
fn touched(header: &ChunkHeader, start: u32, len: usize) -> Vec<u32> {
    let blocksize = header.blocksize.max(1);
    let end = start.saturating_add(u32::try_from(len).unwrap_or(u32::MAX));
    let first = start.checked_div(blocksize).unwrap_or(0);
    (first..end.div_ceil(blocksize)).collect()
}

/// An error with the chunk that it is about.
pub(super) fn located(error: Error, number: u64, stored: &Stored<'_>) -> Error {
    match error.kind() {
        bloscpack_error::ErrorKind::Format(bloscpack_wire::FormatError::Chunk(chunk)) => {
            fetch::failed(number, stored.byte(), chunk.clone())
        }
        _ => error,
    }
}

fn to_usize(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
