//! Slices, read.

use super::NdArray;
use super::grid::{NdGrid, along, block_number, lens, offset, with_range};
use crate::error::check_len;
use crate::part::FramePart;
use crate::wire::ChunkPlace;
use blosc1::ChunkHeader;
use bloscpack_array::strided::{self, Strided, strides};
use bloscpack_array::{Part, Region, relative, starts};
use bloscpack_error::checked::{to_u64, to_usize, zeros};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAhead, StoreFile, parallel};
use bloscpack_wire::Limit;
use std::ops::Range;

/// Fewer bytes of blocks are not worth a second thread.
const SHARED_FROM: usize = 256 << 10;

/// A part of a slice that one thread reads, and the part of the output for it. Along the axes before the one that is cut, the
/// slice has only one element.
struct Band<'a> {
    wanted: Region,
    out: &'a mut [u8],
}

impl NdArray {
    /// The bytes of a slice, in C order. A slice is a range of elements along each axis.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::of_type::<u16>(&[100, 100]).full(&[1, 2]).in_memory()?;
    /// assert_eq!(array.read_slice(&[50..52, 0..1])?, [1, 2, 1, 2]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns wrong usage for a slice that is not within the array, any I/O error, and any damage to the
    /// chunks that it touches.
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.grid.chunks.check(slice)?;
        let len = self.grid.slice_len(slice)?;
        let mut out = zeros(to_u64(len))?;
        self.read_slice_into(slice, &mut out)?;
        Ok(out)
    }

    /// Reads a slice into `out`, in C order; `out` has to have exactly its length.
    ///
    /// Reads only the blocks that the slice touches (and the first block of a chunk, if the chunks are filtered by
    /// differences).
    ///
    /// # Errors
    /// Returns the errors of [`read_slice`](Self::read_slice), and [`Code::Usage`](bloscpack_error::Code::Usage) for another
    /// length of `out`.
    pub fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.frame.check_state()?;
        self.grid.chunks.check(slice)?;
        let expected = self.grid.slice_len(slice)?;
        check_len("room for a slice", out.len(), expected)?;
        if out.is_empty() {
            return Ok(());
        }
        let threads = if self.grid.work(slice) < SHARED_FROM {
            1
        } else {
            self.frame.coder.threads
        };
        self.announce(slice)?;
        let bands = self.bands(slice, out, threads)?;
        parallel::for_each(threads, bands.into_iter(), |band| self.read_band(band))
    }

    /// Announces the chunks of a slice to the storage.
    fn announce(&self, slice: &[Range<u64>]) -> Result<()> {
        let chunks = self.grid.chunks.parts(slice).map(|part| {
            let extent = self.grid.chunks.extent(&part.at);
            // As many elements as half of its blocks have.
            let is_most = part.region.bytes(1) >= extent.bytes(1).div_ceil(2);
            (part.number, is_most)
        });
        self.frame.announce(chunks)
    }

    /// Cuts a slice into parts that threads can read independently.
    fn bands<'a>(
        &self,
        slice: &[Range<u64>],
        out: &'a mut [u8],
        threads: usize,
    ) -> Result<Vec<Band<'a>>> {
        let sizes = lens(slice)?;
        let axis = sizes.iter().position(|len| *len > 1);
        let Some(axis) = axis.filter(|_| threads > 1) else {
            return Ok(vec![Band {
                wanted: slice.to_vec().into(),
                out,
            }]);
        };
        let (_, after) = sizes.split_at(axis + 1);
        // At most the length of the output.
        let step: usize = self.grid.itemsize * after.iter().product::<usize>();
        let mut bands = Vec::new();
        let mut rest = out;
        for range in self.grid.stretches(axis, slice, threads)? {
            let len = to_u64(step) * (range.end - range.start);
            let split = usize::try_from(len)
                .ok()
                .and_then(|len| std::mem::take(&mut rest).split_at_mut_checked(len));
            let (out, later) =
                split.ok_or_else(|| Error::bug(format!("no {len} bytes for {range:?}")))?;
            let wanted = with_range(slice, axis, range)?;
            bands.push(Band { wanted, out });
            rest = later;
        }
        match rest.len() {
            0 => Ok(bands),
            len => Err(Error::bug(format!("{len} bytes of a slice in no part"))),
        }
    }

    fn read_band(&self, band: Band<'_>) -> Result<()> {
        let Band { wanted, out } = band;
        let out_strides = strides(&lens(&wanted)?, self.grid.itemsize);
        let origin = starts(&wanted);
        let ahead = self.frame.ahead();
        for part in self.grid.chunks.parts(&wanted) {
            let to = Strided {
                bytes: &mut *out,
                start: offset(&part.region, &origin, &out_strides)?,
                strides: &out_strides,
            };
            self.read_part(&part, to, ahead.as_ref())?;
        }
        Ok(())
    }

    /// Reads the part of a slice that one chunk contains.
    fn read_part(
        &self,
        part: &Part,
        to: Strided<'_, &mut [u8]>,
        ahead: Option<&ReadAhead<&dyn StoreFile>>,
    ) -> Result<()> {
        let (grid, number) = (&self.grid, part.number);
        let inside = relative(&part.region, &part.origin);
        if let Some(data) = self.dirty.get(&number) {
            return each_block(grid, &inside, to, |block, part, out| {
                let begin = to_usize(block) * grid.block_len;
                let bytes = data.get(begin..begin + grid.block_len);
                let bytes = bytes.ok_or_else(|| {
                    let len = data.len();
                    Error::bug(format!("no block {block} in a chunk of {len} bytes"))
                })?;
                out(bytes, part)
            });
        }
        let place = self.frame.stored_place(number)?;
        let blocks = grid.blocks.positions(&inside);
        let blocks = blocks.map(|at| block_number(grid.blocks.number(&at)));
        let blocks = blocks.collect::<Result<Vec<u32>>>()?;
        let wanted = blocks.iter().copied().map(u64::from);
        self.frame.check_blocks_present(number, place, wanted)?;
        let ChunkPlace::At(stored_at) = place else {
            let mut element = vec![0; grid.itemsize];
            self.frame.fill_from(place, 0, &mut element)?;
            return strided::fill(&lens(&inside)?, &element, to);
        };
        let stored = self.frame.storage.chunk(number, stored_at)?;
        let stored = stored.through(ahead);
        let header = self.frame.header_of(number, &stored)?;
        self.check_blocks(number, &header)?;
        let coder = &self.frame.coder;
        coder.with_bytes(|bytes| {
            stored.read_blocks(&header, &blocks, bytes)?;
            coder.with_bytes(|block_bytes| {
                block_bytes.resize(grid.block_len, 0);
                coder.decode(|decoder| {
                    each_block(grid, &inside, to, |block, part, out| {
                        let decoded = decoder.decode_block(bytes, block, block_bytes);
                        decoded.map_err(|error| stored.error(error))?;
                        out(block_bytes, part)
                    })
                })
            })
        })
    }

    /// Refuses a chunk whose blocks are not those of the array.
    pub(super) fn check_blocks(&self, number: u64, header: &ChunkHeader) -> Result<()> {
        let (found, allowed) = (header.blocksize, self.frame.coder.limits.block);
        let part = FramePart::Chunk(number);
        if to_usize(found) != self.grid.block_len {
            let expected = self.grid.block_len;
            return Err(part.damaged(None, "bytes of a block", found, expected));
        }
        // Checked before there is a buffer of this size: a chunk that is not stored may claim anything.
        let (found, allowed) = (found.into(), allowed.into());
        part.check_limit(Limit::Block, found, allowed)
    }
}

/// Receives the bytes of a block.
type TakeBlock<'a> = &'a mut dyn FnMut(&[u8], &Part) -> Result<()>;

/// Visits the blocks of a chunk that a slice touches. `read` gets the number of a block and its part of the slice, and has to pass
/// its bytes on.
fn each_block(
    grid: &NdGrid,
    inside: &[Range<u64>],
    to: Strided<'_, &mut [u8]>,
    mut read: impl FnMut(u32, &Part, TakeBlock<'_>) -> Result<()>,
) -> Result<()> {
    let Strided {
        bytes,
        start,
        strides,
    } = to;
    let first = starts(inside);
    for part in grid.blocks.parts(inside) {
        read(block_number(part.number)?, &part, &mut |block, part| {
            let Part { origin, region, .. } = part;
            let from = Strided {
                bytes: block,
                start: offset(region, origin, &grid.block_strides)?,
                strides: &grid.block_strides,
            };
            let to = Strided {
                bytes: &mut *bytes,
                start: start + offset(region, &first, strides)?,
                strides,
            };
            strided::copy(&lens(region)?, grid.itemsize, from, to)
        })?;
    }
    Ok(())
}

impl NdGrid {
    /// Cuts one axis of a slice into stretches: chunks where there are enough for all threads, and otherwise groups of blocks,
    /// so that no two stretches share a block.
    fn stretches(
        &self,
        axis: usize,
        slice: &[Range<u64>],
        threads: usize,
    ) -> Result<Vec<Range<u64>>> {
        let whole = slice.get(axis).ok_or_else(|| Error::bug("no such axis"))?;
        // The slice has elements, and so have chunks and blocks.
        let chunk = along(self.chunks.chunk_shape(), axis)?.max(1);
        let block = along(self.blocks.chunk_shape(), axis)?.max(1);
        let chunks = whole.end.div_ceil(chunk) - whole.start / chunk;
        let threads = to_u64(threads);
        let by_chunks = chunks / 2 >= threads;
        // A few rows of blocks for each thread are enough, so that the heads of chunks are not read too often.
        let blocks = (whole.end - whole.start).div_ceil(block);
        let group = (blocks / 4 / threads.max(1)).max(1);
        let mut stretches = Vec::new();
        let mut begin = whole.start;
        while begin < whole.end {
            let of_chunk = begin / chunk * chunk;
            let chunk_end = of_chunk + chunk;
            let end = if by_chunks {
                chunk_end
            } else {
                let row = (begin - of_chunk) / block;
                (of_chunk + (row + group) * block).min(chunk_end)
            };
            let end = end.min(whole.end);
            stretches.push(begin..end);
            begin = end;
        }
        Ok(stretches)
    }
}
