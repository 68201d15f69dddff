//! Writes slices.
//!
//! ```text
//!                  all elements are new:  compress ───────────────────────────────┐
//!  slice ─> chunks                                                                ├─> storage ─> flush: index
//!                  some are kept:  load ─> change in memory ─> spill: compress ───┘
//! ```

use super::NdArray;
use super::store::FrameChunks;
use crate::coder::{ChunkCoder, settings};
use crate::error::check_len;
use crate::part::FramePart;
use crate::storage::check_chunk_len;
use crate::wire::ChunkPlace;
use crate::wire::header::FrameHeader;
use blosc1::{Blosc2Encoder, FilterPipeline, FilterStep};
use bloscpack_array::strided::{self, Strided, strides};
use bloscpack_array::{Geometry, Part, block_number, offset, relative, sizes as lens, starts};
use bloscpack_error::checked::{to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;
use bytes::Bytes;
use std::ops::Range;

/// The least and the most bytes that are compressed to choose the filters. Fewer bytes say little; more delay small arrays.
const LEAST_OF_SAMPLE: usize = 4 << 10;
const MOST_OF_SAMPLE: usize = 512 << 10;
/// Bytedelta is used if it leaves at most this many hundredths of the size.
const MOST_OF_PLAIN: usize = 97;
/// python-blosc2 opens no frame with a larger parameter of a filter.
const MOST_STREAMS: u8 = 127;

/// The source of new elements.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// The bytes of the whole slice, in C order.
    Data(&'a [u8]),
    /// One element, repeated.
    Element(&'a [u8]),
}

/// A chunk that will be changed.
struct Job {
    part: Part,
    /// Whether all of its elements are replaced.
    is_whole: bool,
}

/// A changed chunk.
enum Changed {
    /// Changed in part: its uncompressed data, which may change again.
    Data(Vec<u8>),
    /// Replaced completely: the compressed chunk.
    Compressed(Vec<u8>),
}

impl NdArray {
    /// Replaces the elements of a slice with these bytes, in C order and in the byte order of the dtype.
    ///
    /// Chunks that the slice covers completely are compressed at once, on all threads. Others are read, changed, and stay
    /// uncompressed in memory until they exceed [`Options::cache`](bloscpack::Options::cache()) (64 MiB by default) or are
    /// flushed. To compress each chunk once, write slices of whole chunks: see [`boxes`](Self::boxes).
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::builder(&[2, 3], 2).in_memory()?; // elements of 2 bytes
    /// array.write_slice(&[1..2, 1..3], &[1, 2, 3, 4])?;
    /// assert_eq!(array.read_slice(&[0..2, 1..2])?, [0, 0, 1, 2]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a slice that is not within the array,
    /// [`Code::Usage`](bloscpack_error::Code::Usage) for another number of bytes,
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the array was opened for reading, any I/O error, and any damage
    /// to chunks that keep some of their elements. Damage in the first chunks that the slice touches is found before anything
    /// changes; after other errors, the array must be reopened.
    pub fn write_slice(&mut self, slice: &[Range<u64>], data: &[u8]) -> Result<()> {
        self.grid().chunks.check(slice)?;
        let expected = self.grid().slice_len(slice)?;
        check_len("data of a slice", data.len(), expected)?;
        if self.filters_by_data {
            self.choose_filters(data)?;
        }
        self.set(slice, Source::Data(data))
    }

    /// Adds bytedelta to the filters if it makes a sample of this data smaller. Decides nothing for little data, or for data of
    /// one value.
    fn choose_filters(&mut self, data: &[u8]) -> Result<()> {
        let sample = data.split_at(data.len().min(MOST_OF_SAMPLE)).0;
        let is_constant = sample
            .first()
            .is_none_or(|first| sample.iter().all(|byte| byte == first));
        if sample.len() < LEAST_OF_SAMPLE || is_constant {
            return Ok(());
        }
        self.filters_by_data = false;
        let header = self.frame().header();
        let streams = u8::try_from(header.typesize).ok();
        let Some(streams) = streams.filter(|streams| *streams <= MOST_STREAMS) else {
            return Ok(());
        };
        let plain = settings(header)?;
        let bytedelta = FilterStep::Bytedelta { streams };
        let steps = plain
            .filters
            .steps()
            .filter(|step| *step != FilterStep::None);
        let steps: Vec<_> = steps.chain([bytedelta]).collect();
        let filters = FilterPipeline::new(&steps)?;
        let len = |filters| {
            let mut chunk = Vec::new();
            Blosc2Encoder::new(plain.filters(filters))?.encode(sample, &mut chunk)?;
            Ok::<_, Error>(chunk.len())
        };
        if len(filters)? * 100 <= len(plain.filters)? * MOST_OF_PLAIN {
            self.frame_mut().set_filters(filters)?;
        }
        Ok(())
    }

    /// Sets all elements of a slice to one value. `element` is one element, in the byte order of the dtype.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::of_type::<u8>(&[2, 3]).in_memory()?;
    /// array.fill_slice(&[0..2, 1..2], &[7])?;
    /// assert_eq!(array.read_slice(&[0..2, 0..3])?, [0, 7, 0, 0, 7, 0]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`write_slice`](Self::write_slice).
    pub fn fill_slice(&mut self, slice: &[Range<u64>], element: &[u8]) -> Result<()> {
        self.grid().chunks.check(slice)?;
        check_len("data of an element", element.len(), self.grid().itemsize)?;
        self.set(slice, Source::Element(element))
    }

    /// Changes a slice, as many chunks at a time as fit the cache. After the first of them, an error makes the frame unusable.
    fn set(&mut self, slice: &[Range<u64>], source: Source<'_>) -> Result<()> {
        self.frame_mut().begin()?;
        // Checked first: the file may store nothing of a chunk whose data would not fit memory.
        let len = to_u64(self.grid().chunk_len);
        check_chunk_len(FramePart::Chunks, len, &self.frame().coder.limits)?;
        let at_once = self.chunks_at_once();
        let mut positions = self.grid().chunks.positions(slice);
        let mut is_first = true;
        loop {
            let some: Vec<Vec<u64>> = positions.by_ref().take(at_once).collect();
            if some.is_empty() {
                return Ok(());
            }
            let done = self.set_in(slice, source, some);
            if is_first {
                done?
            } else {
                self.frame_mut().or_poison(done)?
            }
            is_first = false;
            if self.chunks.store().dirty.len() > at_once {
                let spilled = self.spill();
                self.frame_mut().or_poison(spilled)?;
            }
        }
    }

    /// The number of uncompressed chunks that may be in memory. It does not depend on the number of threads: the order in which
    /// chunks are written, and with it the file, depends on it.
    fn chunks_at_once(&self) -> usize {
        (self.frame().coder.buffer / self.grid().chunk_len.max(1)).max(1)
    }

    /// Changes the part of a slice that lies in these chunks.
    fn set_in(
        &mut self,
        slice: &[Range<u64>],
        source: Source<'_>,
        chunks: Vec<Vec<u64>>,
    ) -> Result<()> {
        let jobs: Vec<Job> = chunks.into_iter().map(|at| self.job(slice, at)).collect();
        // Damage to existing chunks is reported before anything changes.
        self.load_for(&jobs)?;
        let jobs: Vec<(Job, Option<Vec<u8>>)> = jobs
            .into_iter()
            .map(|job| {
                let data = self.chunks.store_mut().dirty.remove(&job.part.number);
                (job, data.map(Vec::from))
            })
            .collect();
        self.frame_mut().poisoned = true;
        let numbers = jobs.iter().map(|(job, _)| job.part.number);
        let (first, last) = (numbers.clone().min(), numbers.max());
        if let (Some(first), Some(last)) = (first, last) {
            self.chunks.forget(first..last.saturating_add(1));
        }
        let (FrameChunks { frame, dirty, .. }, grid) = self.chunks.parts();
        let (mut slots, coder, header) = frame.parts();
        let jobs = jobs.into_iter();
        let work = |(job, data)| change(grid, (coder, header), (job, data), (slice, source));
        parallel::map_in_order(
            coder.threads,
            jobs,
            work,
            |(number, changed)| match changed {
                Changed::Compressed(chunk) => slots.put(number, &chunk),
                Changed::Data(data) => {
                    dirty.insert(number, data.into());
                    Ok(())
                }
            },
        )?;
        self.frame_mut().poisoned = false;
        Ok(())
    }

    /// The part of a slice that lies in the chunk at this position.
    fn job(&self, slice: &[Range<u64>], at: Vec<u64>) -> Job {
        let part = self.grid().chunks.part(at, slice);
        Job {
            is_whole: part.region == self.grid().chunks.extent(&part.at),
            part,
        }
    }

    /// Loads the chunks that keep some of their elements.
    fn load_for(&mut self, jobs: &[Job]) -> Result<()> {
        let dirty = &self.chunks.store().dirty;
        let is_needed = |job: &&Job| !job.is_whole && !dirty.contains_key(&job.part.number);
        let needed: Vec<u64> = jobs
            .iter()
            .filter(is_needed)
            .map(|job| job.part.number)
            .collect();
        let mut loaded = Vec::with_capacity(needed.len());
        let load = |number| Ok::<_, Error>((number, Bytes::from(self.load(number)?)));
        parallel::map_in_order(
            self.frame().coder.threads,
            needed.into_iter(),
            load,
            |one| {
                loaded.push(one);
                Ok(())
            },
        )?;
        self.chunks.store_mut().dirty.extend(loaded);
        Ok(())
    }

    /// The uncompressed data of a chunk, with its padding.
    fn load(&self, number: u64) -> Result<Vec<u8>> {
        let place = self.frame().place(number)?;
        if let ChunkPlace::At(at) = place {
            let stored = self.frame().storage.chunk(number, at)?;
            let header = self.frame().header_of(number, &stored)?;
            self.chunks.store().check_blocks(number, &header)?;
        }
        let mut data = FramePart::Chunk(number).zeros(to_u64(self.grid().chunk_len))?;
        self.frame().read_chunk(number, &mut data)?;
        Ok(data)
    }

    /// Compresses all chunks that were changed in part, and stores them.
    pub(super) fn spill(&mut self) -> Result<()> {
        self.frame().check_state()?;
        if self.chunks.store().dirty.is_empty() {
            return Ok(());
        }
        let dirty = std::mem::take(&mut self.chunks.store_mut().dirty);
        self.frame_mut().poisoned = true;
        let (mut slots, coder, header) = self.frame_mut().parts();
        let work = |(number, data): (u64, Bytes)| Ok((number, coder.encode(header, &data)?));
        let jobs: Vec<_> = dirty.into_iter().collect();
        parallel::map_in_order(coder.threads, jobs.into_iter(), work, |(number, chunk)| {
            slots.put(number, &chunk)
        })?;
        self.frame_mut().poisoned = false;
        Ok(())
    }
}

/// Puts new elements into a chunk. A chunk whose elements are all new is compressed.
fn change(
    grid: &Geometry,
    (coder, header): (&ChunkCoder, &FrameHeader),
    (job, data): (Job, Option<Vec<u8>>),
    (slice, source): (&[Range<u64>], Source<'_>),
) -> Result<(u64, Changed)> {
    let put = |data: &mut [u8]| put_part(grid, data, &job.part, slice, source);
    let number = job.part.number;
    if !job.is_whole {
        let mut data = data.ok_or_else(|| Error::bug(format!("chunk {number} was not loaded")))?;
        put(&mut data)?;
        return Ok((number, Changed::Data(data)));
    }
    coder.with_bytes(|data| {
        data.resize(grid.chunk_len, 0);
        if job.part.region.shape() != grid.blocks.shape() {
            // Padding that no element overwrites.
            data.fill(0);
        }
        put(data)?;
        Ok((number, Changed::Compressed(coder.encode(header, data)?)))
    })
}

/// Puts elements into the uncompressed data of a chunk, block by block.
fn put_part(
    grid: &Geometry,
    data: &mut [u8],
    part: &Part,
    slice: &[Range<u64>],
    source: Source<'_>,
) -> Result<()> {
    let inside = relative(&part.region, &part.origin);
    let (first, begin) = (starts(slice), starts(&inside));
    let from_strides = match source {
        Source::Data(_) => strides(&lens(slice)?, grid.itemsize),
        Source::Element(_) => Vec::new(),
    };
    for block in grid.blocks.parts(&inside) {
        let at = to_usize(block_number(block.number)?) * grid.block_len;
        let to = Strided {
            bytes: &mut *data,
            start: at + offset(&block.region, &block.origin, &grid.block_strides)?,
            strides: &grid.block_strides,
        };
        let sizes = lens(&block.region)?;
        match source {
            Source::Element(element) => strided::fill(&sizes, element, to)?,
            Source::Data(bytes) => {
                let start = offset(&part.region, &first, &from_strides)?
                    + offset(&block.region, &begin, &from_strides)?;
                let from = Strided {
                    bytes,
                    start,
                    strides: &from_strides,
                };
                strided::copy(&sizes, grid.itemsize, from, to)?;
            }
        }
    }
    Ok(())
}
