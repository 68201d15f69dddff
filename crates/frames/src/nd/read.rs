//! Boxes of elements, read.

use super::NdArray;
use super::grid::{Grid, box_len, common, lens, relative};
use crate::wire::ChunkPlace;
use crate::{fetch, read::located};
use bloscpack_dtype::{
    boxes::to_usize,
    strided::{self, Strided, strides},
};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;
use std::ops::Range;

/// Fewer bytes of blocks are not worth a second thread.
const SHARED_FROM: usize = 256 << 10;

/// A stretch along one axis, and the part of the output that it fills: the axes before that one have but one element.
struct Band<'a> {
    wanted: Vec<Range<u64>>,
    out: &'a mut [u8],
}

impl NdArray {
    /// The bytes of a box of elements, in C order.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) if it does not lie in the array; whatever is wrong with its chunks.
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.grid.check(slice)?;
        let len = box_len(slice, self.grid.itemsize);
        let len = len.ok_or_else(|| Error::usage("the slice has more bytes than memory"))?;
        let mut out = Vec::new();
        let room = out.try_reserve_exact(len);
        room.map_err(|_| Error::usage(format!("no memory for {len} bytes: read less at a time")))?;
        out.resize(len, 0);
        self.read_slice_into(slice, &mut out)?;
        Ok(out)
    }

    /// Reads a box of elements into `out`, in C order; it has as many bytes as the box.
    ///
    /// Of each chunk no more is read than the blocks that the box touches (and, where the chunks are filtered by differences,
    /// the first).
    ///
    /// # Errors
    /// As [`read_slice`](Self::read_slice), and [`Usage`](bloscpack_error::Category::Usage) for another length.
    pub fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.frame.check_state()?;
        self.grid.check(slice)?;
        if box_len(slice, self.grid.itemsize) != Some(out.len()) {
            let found = out.len();
            return Err(Error::usage(format!(
                "room for {found} bytes for the slice {slice:?}"
            )));
        }
        if out.is_empty() {
            return Ok(());
        }
        let threads = match self.grid.work(slice) < SHARED_FROM {
            true => 1,
            false => self.frame.coders.threads,
        };
        let bands = self.bands(slice, out, threads);
        parallel::for_each(threads, bands.into_iter(), |band| self.read_band(band))
    }

    /// Cuts a box into stretches that threads can fill on their own.
    fn bands<'a>(&self, slice: &[Range<u64>], out: &'a mut [u8], threads: usize) -> Vec<Band<'a>> {
        let sizes = lens(slice);
        let axis = sizes.iter().position(|len| *len > 1).unwrap_or(0);
        let Some(along) = slice.get(axis).cloned().filter(|_| threads > 1) else {
            return vec![Band {
                wanted: slice.to_vec(),
                out,
            }];
        };
        let rest = sizes.iter().skip(axis.saturating_add(1));
        let step = rest.fold(self.grid.itemsize, |step, len| step.saturating_mul(*len));
        let mut bands = Vec::new();
        let mut rest = out;
        for range in stretches(&self.grid, axis, &along, threads) {
            let len = to_usize(range.end.saturating_sub(range.start)).saturating_mul(step);
            let (part, later) = rest.split_at_mut(len.min(rest.len()));
            let mut wanted = slice.to_vec();
            if let Some(place) = wanted.get_mut(axis) {
                *place = range;
            }
            bands.push(Band { wanted, out: part });
            rest = later;
        }
        bands
    }

    fn read_band(&self, band: Band<'_>) -> Result<()> {
        let Band { wanted, out } = band;
        let out_strides = strides(&lens(&wanted), self.grid.itemsize);
        let origin: Vec<u64> = wanted.iter().map(|range| range.start).collect();
        for at in self.grid.chunks_of(&wanted) {
            let part = common(&wanted, &self.grid.extent(&self.grid.origin(&at)));
            let start = offset(&relative(&part, &origin), &out_strides);
            let to = Strided {
                bytes: &mut *out,
                start,
                strides: &out_strides,
            };
            self.read_part(&at, &part, to)?;
        }
        Ok(())
    }

    /// Reads the part of a box that lies in one chunk.
    pub(super) fn read_part(
        &self,
        at: &[u64],
        part: &[Range<u64>],
        to: Strided<'_, &mut [u8]>,
    ) -> Result<()> {
        let (grid, number) = (&self.grid, self.grid.number(at));
        let inside = relative(part, &grid.origin(at));
        if let Some(data) = self.dirty.get(&number) {
            return each_block(grid, &inside, to, |block, at, out| {
                let begin = to_usize(u64::from(block)).saturating_mul(grid.block_len);
                let bytes = data.get(begin..begin.saturating_add(grid.block_len));
                out(bytes.unwrap_or_default(), at)
            });
        }
        let place = self.frame.place(number)?;
        let ChunkPlace::At(stored_at) = place else {
            let mut element = vec![0; grid.itemsize];
            self.frame.fill_from(place, 0, &mut element)?;
            strided::fill(&lens(&inside), &element, to)?;
            return Ok(());
        };
        let stored = self.frame.home.chunk(stored_at)?;
        let header = self.frame.header_of(number, &stored)?;
        self.check_blocks(number, &header)?;
        let blocks: Vec<u32> = grid
            .blocks_of(&inside)
            .map(|at| grid.block_number(&at))
            .collect();
        let coders = &self.frame.coders;
        coders.with_bytes(|bytes| {
            let fetched = fetch::blocks(&stored, &header, &blocks, bytes);
            fetched.map_err(|error| located(error, number, &stored))?;
            coders.with_bytes(|block_bytes| {
                block_bytes.resize(grid.block_len, 0);
                coders.decode(|decoder| {
                    each_block(grid, &inside, to, |block, at, out| {
                        let decoded = decoder.decode_block(bytes, block, block_bytes);
                        decoded.map_err(|error| fetch::failed(number, stored.byte(), error))?;
                        out(block_bytes, at)
                    })
                })
            })
        })
    }

    /// Refuses a chunk whose blocks are not those of the array.
    pub(super) fn check_blocks(&self, number: u64, header: &blosc1::ChunkHeader) -> Result<()> {
        let found = usize::try_from(header.blocksize).unwrap_or(usize::MAX);
        if found == self.grid.block_len {
            // Before there is a buffer of this size: a chunk of nothing may claim anything.
            let limit = self.frame.coders.limits.block;
            return match header.blocksize <= limit {
                true => Ok(()),
                false => Err(crate::error::frame(
                    blosc1::Fault::OverLimit,
                    format!(
                        "chunk {number}: blocks of {found} bytes, over the limit `block` of {limit}"
                    ),
                )),
            };
        }
        let what = format!(
            "chunk {number}: blocks of {found} bytes, expected {}",
            self.grid.block_len
        );
        Err(crate::error::frame(blosc1::Fault::Damaged, what))
    }
}

/// Goes through the blocks of a chunk that a box touches. `read` is given a block's number and what takes its bytes.
fn each_block(
    grid: &Grid,
    inside: &[Range<u64>],
    to: Strided<'_, &mut [u8]>,
    mut read: impl FnMut(u32, &[u64], &mut dyn FnMut(&[u8], &[u64]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let Strided {
        bytes,
        start,
        strides,
    } = to;
    let origin: Vec<u64> = inside.iter().map(|range| range.start).collect();
    for at in grid.blocks_of(inside) {
        read(grid.block_number(&at), &at, &mut |block, at| {
            let part = grid.in_block(at, inside);
            let from = Strided {
                bytes: block,
                start: grid.block_start(at, &part),
                strides: &grid.block_strides,
            };
            let start = start.saturating_add(offset(&relative(&part, &origin), strides));
            let to = Strided {
                bytes: &mut *bytes,
                start,
                strides,
            };
            Ok(strided::copy(&lens(&part), grid.itemsize, from, to)?)
        })?;
    }
    Ok(())
}

/// How far a box begins behind the beginning of what it lies in.
pub(super) fn offset(inside: &[Range<u64>], strides: &[usize]) -> usize {
    inside
        .iter()
        .zip(strides)
        .fold(0, |offset, (range, stride)| {
            offset.saturating_add(to_usize(range.start).saturating_mul(*stride))
        })
}

/// Stretches of an axis: chunks where there are enough for all threads, and else blocks, which no two stretches share.
fn stretches(grid: &Grid, axis: usize, along: &Range<u64>, threads: usize) -> Vec<Range<u64>> {
    let chunk = grid.chunk.get(axis).copied().unwrap_or(1).max(1);
    let block = grid.block.get(axis).copied().unwrap_or(1).max(1);
    let chunks = along
        .end
        .div_ceil(chunk)
        .saturating_sub(along.start / chunk);
    let by_chunks = to_usize(chunks) >= threads.saturating_mul(2);
    // A block row or two more for each thread are enough, and the heads of chunks are not read for nothing.
    let blocks = along.end.saturating_sub(along.start).div_ceil(block);
    let group = match by_chunks {
        true => 1,
        false => blocks
            .checked_div(u64::try_from(threads.saturating_mul(4)).unwrap_or(1))
            .unwrap_or(1)
            .max(1),
    };
    let mut ranges = Vec::new();
    let mut begin = along.start;
    while begin < along.end {
        let of_chunk = begin.checked_div(chunk).unwrap_or(0).saturating_mul(chunk);
        let chunk_end = of_chunk.saturating_add(chunk);
        let end = match by_chunks {
            true => chunk_end,
            false => {
                let row = begin
                    .saturating_sub(of_chunk)
                    .checked_div(block)
                    .unwrap_or(0);
                let row_end = row.saturating_add(group).saturating_mul(block);
                of_chunk.saturating_add(row_end).min(chunk_end)
            }
        };
        let end = end.min(along.end);
        ranges.push(begin..end);
        begin = end;
    }
    ranges
}
