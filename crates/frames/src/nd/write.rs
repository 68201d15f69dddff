//! Boxes of elements, set.

use super::NdArray;
use super::grid::{Grid, box_len, common, lens, relative};
use super::read::offset;
use crate::coders::Coders;
use crate::wire::{ChunkPlace, FrameHeader};
use blosc1::Fault;
use bloscpack_dtype::{
    boxes::to_usize,
    strided::{self, Strided, strides},
};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;
use std::ops::Range;

/// Where new elements come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// All of a box, in C order.
    Data(&'a [u8]),
    /// One element for all.
    Element(&'a [u8]),
}

/// A chunk that is changed.
struct Job {
    number: u64,
    part: Vec<Range<u64>>,
    origin: Vec<u64>,
    /// Whether nothing remains of what it had.
    is_whole: bool,
}

/// What came of it.
enum Made {
    Dirty(Vec<u8>),
    Compressed(Vec<u8>),
}

impl NdArray {
    /// Sets a box of elements to these bytes, in C order.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) if it does not lie in the array, for another number of bytes, and if the array was
    /// opened for reading only; whatever is wrong with chunks that keep a part of what they have.
    pub fn write_slice(&mut self, slice: &[Range<u64>], data: &[u8]) -> Result<()> {
        self.grid.check(slice)?;
        if box_len(slice, self.grid.itemsize) != Some(data.len()) {
            let found = data.len();
            return Err(Error::usage(format!(
                "{found} bytes for the slice {slice:?}"
            )));
        }
        self.set(slice, Source::Data(data))
    }

    /// Sets all elements of a box to this one.
    ///
    /// # Errors
    /// As [`write_slice`](Self::write_slice).
    pub fn fill_slice(&mut self, slice: &[Range<u64>], element: &[u8]) -> Result<()> {
        self.grid.check(slice)?;
        if element.len() != self.grid.itemsize {
            let (found, expected) = (element.len(), self.grid.itemsize);
            return Err(Error::usage(format!(
                "{found} bytes for an element of {expected}"
            )));
        }
        self.set(slice, Source::Element(element))
    }

    fn set(&mut self, slice: &[Range<u64>], source: Source<'_>) -> Result<()> {
        self.frame.begin()?;
        self.check_chunk_len()?;
        let at_once = self.chunks_at_once();
        let mut positions = self.grid.chunks_of(slice);
        let mut is_first = true;
        loop {
            let some: Vec<Vec<u64>> = positions.by_ref().take(at_once).collect();
            if some.is_empty() {
                return Ok(());
            }
            let done = self.set_in(slice, source, some);
            match is_first {
                true => done?,
                false => self.frame.or_fail(done)?,
            }
            is_first = false;
            if self.dirty.len() > at_once {
                let spilled = self.spill();
                self.frame.or_fail(spilled)?;
            }
        }
    }

    /// Refuses to take memory for a whole chunk that is over the limit: the file may have nothing of it.
    fn check_chunk_len(&self) -> Result<()> {
        let (found, limit) = (self.grid.chunk_len, self.frame.coders.limits.chunk);
        match u32::try_from(found).is_ok_and(|found| found <= limit) {
            true => Ok(()),
            false => Err(crate::error::frame(
                Fault::OverLimit,
                format!("chunks of {found} bytes, over the limit `chunk` of {limit}"),
            )),
        }
    }

    /// Chunks that may be held in memory. However many threads there are: what is written in which order depends on it.
    pub(super) fn chunks_at_once(&self) -> usize {
        let coders = &self.frame.coders;
        let chunks = coders
            .buffer
            .checked_div(self.grid.chunk_len.max(1))
            .unwrap_or(1);
        chunks.max(1)
    }

    /// Sets the part of a box that lies in these chunks.
    fn set_in(
        &mut self,
        slice: &[Range<u64>],
        source: Source<'_>,
        chunks: Vec<Vec<u64>>,
    ) -> Result<()> {
        let jobs: Vec<Job> = chunks.into_iter().map(|at| self.job(slice, &at)).collect();
        // What can fail because of what is there comes before anything is changed.
        self.load_for(&jobs)?;
        let jobs: Vec<(Job, Option<Vec<u8>>)> = jobs
            .into_iter()
            .map(|job| {
                let data = self.dirty.remove(&job.number);
                (job, data)
            })
            .collect();
        self.frame.failed = true;
        let Self {
            frame, grid, dirty, ..
        } = self;
        let (mut slots, coders, header) = frame.parts();
        let jobs = jobs.into_iter();
        let work = |(job, data)| work(grid, (coders, header), (job, data), (slice, source));
        parallel::map_in_order(coders.threads, jobs, work, |(number, made)| match made {
            Made::Compressed(chunk) => slots.put(number, &chunk),
            Made::Dirty(data) => {
                dirty.insert(number, data);
                Ok(())
            }
        })?;
        self.frame.failed = false;
        Ok(())
    }

    fn job(&self, slice: &[Range<u64>], at: &[u64]) -> Job {
        let (number, origin) = (self.grid.number(at), self.grid.origin(at));
        let extent = self.grid.extent(&origin);
        let part = common(slice, &extent);
        Job {
            number,
            is_whole: part == extent,
            part,
            origin,
        }
    }

    /// Gets the chunks of which something remains.
    fn load_for(&mut self, jobs: &[Job]) -> Result<()> {
        let is_needed = |job: &&Job| !job.is_whole && !self.dirty.contains_key(&job.number);
        let needed: Vec<u64> = jobs
            .iter()
            .filter(is_needed)
            .map(|job| job.number)
            .collect();
        let mut loaded = Vec::with_capacity(needed.len());
        let load = |number| Ok::<_, Error>((number, self.load(number)?));
        parallel::map_in_order(self.frame.coders.threads, needed.into_iter(), load, |one| {
            loaded.push(one);
            Ok(())
        })?;
        self.dirty.extend(loaded);
        Ok(())
    }

    /// All of a chunk as it is stored.
    pub(super) fn load(&self, number: u64) -> Result<Vec<u8>> {
        if let Some(data) = self.dirty.get(&number) {
            return Ok(data.clone());
        }
        let place = self.frame.place(number)?;
        if let ChunkPlace::At(at) = place {
            let stored = self.frame.home.chunk(at)?;
            let header = self.frame.header_of(number, &stored)?;
            self.check_blocks(number, &header)?;
        }
        let mut data = vec![0; self.grid.chunk_len];
        self.frame.read_chunk(number, &mut data)?;
        Ok(data)
    }

    /// Compresses all chunks that were changed.
    pub(super) fn spill(&mut self) -> Result<()> {
        // What failed before stays so.
        self.frame.check_state()?;
        if self.dirty.is_empty() {
            return Ok(());
        }
        let dirty = std::mem::take(&mut self.dirty);
        self.frame.failed = true;
        let (mut slots, coders, header) = self.frame.parts();
        let work = |(number, data): (u64, Vec<u8>)| Ok((number, coders.encode(header, &data)?));
        let jobs: Vec<_> = dirty.into_iter().collect();
        parallel::map_in_order(coders.threads, jobs.into_iter(), work, |(number, chunk)| {
            slots.put(number, &chunk)
        })?;
        self.frame.failed = false;
        Ok(())
    }
}

/// Puts what is new into a chunk. One that is all new is compressed.
fn work(
    grid: &Grid,
    (coders, header): (&Coders, &FrameHeader),
    (job, data): (Job, Option<Vec<u8>>),
    (slice, source): (&[Range<u64>], Source<'_>),
) -> Result<(u64, Made)> {
    let put = |data: &mut [u8]| put_part(grid, (data, &job.origin), &job.part, slice, source);
    if let Some(mut data) = data.filter(|_| !job.is_whole) {
        put(&mut data)?;
        return Ok((job.number, Made::Dirty(data)));
    }
    coders.with_bytes(|data| {
        data.resize(grid.chunk_len, 0);
        let lens = job
            .part
            .iter()
            .map(|range| range.end.saturating_sub(range.start));
        if !lens.eq(grid.stored.iter().copied()) {
            data.fill(0);
        }
        put(data)?;
        Ok((job.number, Made::Compressed(coders.encode(header, data)?)))
    })
}

/// Puts elements into the bytes of a chunk, block by block.
fn put_part(
    grid: &Grid,
    (data, origin): (&mut [u8], &[u64]),
    part: &[Range<u64>],
    slice: &[Range<u64>],
    source: Source<'_>,
) -> Result<()> {
    let inside = relative(part, origin);
    let slice_origin: Vec<u64> = slice.iter().map(|range| range.start).collect();
    let part_start = relative(part, &slice_origin);
    let from_strides = strides(&lens(slice), grid.itemsize);
    let begin: Vec<u64> = inside.iter().map(|range| range.start).collect();
    for at in grid.blocks_of(&inside) {
        let in_block = grid.in_block(&at, &inside);
        let block = to_usize(u64::from(grid.block_number(&at))).saturating_mul(grid.block_len);
        let start = block.saturating_add(grid.block_start(&at, &in_block));
        let to = Strided {
            bytes: &mut *data,
            start,
            strides: &grid.block_strides,
        };
        let sizes = lens(&in_block);
        match source {
            Source::Element(element) => strided::fill(&sizes, element, to)?,
            Source::Data(bytes) => {
                let start = offset(&part_start, &from_strides);
                let start =
                    start.saturating_add(offset(&relative(&in_block, &begin), &from_strides));
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
