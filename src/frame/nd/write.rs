//! Boxes of elements, set.

use super::NdArray;
use super::grid::{Grid, box_len, common, lens, relative};
use super::read::offset;
use crate::array::boxes::to_usize;
use crate::array::crew;
use crate::array::strided::{self, Place, strides};
use crate::blosc::Fault;
use crate::error::{Error, Result};
use crate::wire::frame::ChunkPlace;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

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
    Dirty(u64, Vec<u8>),
    Compressed(u64, Vec<u8>),
}

impl NdArray {
    /// Sets a box of elements to these bytes, in C order.
    ///
    /// # Errors
    /// [`Usage`](crate::Category::Usage) if it does not lie in the array, for another number of bytes, and if the array was
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
        let limit = self.frame.coders.limits.chunk;
        if self.grid.chunk_len > to_usize(limit.into()) {
            let found = self.grid.chunk_len;
            let what = format!("chunks of {found} bytes, over the limit `chunk` of {limit}");
            return Err(Error::frame(Fault::OverLimit, what));
        }
        let at_once = self.chunks_at_once();
        let mut positions = self.grid.chunks_of(slice).peekable();
        let mut is_begun = false;
        loop {
            let some: Vec<Vec<u64>> = positions.by_ref().take(at_once).collect();
            if some.is_empty() {
                return Ok(());
            }
            // No flush makes a part of it permanent.
            let done = self.set_in(slice, source, some);
            self.frame.failed |= is_begun && done.is_err();
            done?;
            is_begun = true;
            if self.dirty.len() > at_once {
                let done = self.spill();
                self.frame.failed |= positions.peek().is_some() && done.is_err();
                done?;
            }
        }
    }

    /// Chunks that may be held in memory.
    pub(super) fn chunks_at_once(&self) -> usize {
        let coders = &self.frame.coders;
        let chunks = coders
            .buffer
            .checked_div(self.grid.chunk_len.max(1))
            .unwrap_or(1);
        chunks.max(coders.threads)
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
        let this = &*self;
        let mut made = collect(this.frame.coders.threads, jobs, |(job, data)| {
            this.work(&job, data, slice, source)
        })?;
        // The same bytes whatever the threads did.
        made.sort_by_key(|made| match made {
            Made::Dirty(number, _) | Made::Compressed(number, _) => *number,
        });
        for one in made {
            match one {
                Made::Dirty(number, data) => drop(self.dirty.insert(number, data)),
                Made::Compressed(number, chunk) => self.put(number, &chunk)?,
            }
        }
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
        let this = &*self;
        let loaded = collect(this.frame.coders.threads, needed, |number| {
            Ok((number, this.load(number)?))
        })?;
        self.dirty.extend(loaded);
        Ok(())
    }

    fn work(
        &self,
        job: &Job,
        data: Option<Vec<u8>>,
        slice: &[Range<u64>],
        source: Source<'_>,
    ) -> Result<Made> {
        let (grid, number) = (&self.grid, job.number);
        let mut data = data.unwrap_or_else(|| vec![0; grid.chunk_len]);
        put_part(grid, (&mut data, &job.origin), &job.part, slice, source);
        match job.is_whole {
            true => {
                let header = self.frame.header();
                Ok(Made::Compressed(
                    number,
                    self.frame.coders.encode(header, &data)?,
                ))
            }
            false => Ok(Made::Dirty(number, data)),
        }
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

    /// Gives a chunk new bytes.
    fn put(&mut self, number: u64, chunk: &[u8]) -> Result<()> {
        let place = self.frame.keep_compressed(chunk)?;
        self.frame.put_place(number, place)
    }

    /// Compresses all chunks that were changed.
    pub(super) fn spill(&mut self) -> Result<()> {
        if self.dirty.is_empty() {
            return Ok(());
        }
        let this = &*self;
        let jobs: Vec<(&u64, &Vec<u8>)> = this.dirty.iter().collect();
        let mut made = collect(this.frame.coders.threads, jobs, |(number, data)| {
            Ok((
                *number,
                this.frame.coders.encode(this.frame.header(), data)?,
            ))
        })?;
        made.sort_by_key(|(number, _)| *number);
        for (number, chunk) in made {
            self.put(number, &chunk)?;
            self.dirty.remove(&number);
        }
        Ok(())
    }
}

/// Does all jobs on several threads, and gathers what comes of them in any order.
fn collect<J: Send, T: Send>(
    threads: usize,
    jobs: Vec<J>,
    act: impl Fn(J) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let made = Mutex::new(Vec::with_capacity(jobs.len()));
    crew::each(threads, jobs.into_iter(), |job| {
        let one = act(job)?;
        made.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(one);
        Ok(())
    })?;
    Ok(made.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Puts elements into the bytes of a chunk, block by block.
fn put_part(
    grid: &Grid,
    (data, origin): (&mut [u8], &[u64]),
    part: &[Range<u64>],
    slice: &[Range<u64>],
    source: Source<'_>,
) {
    let inside = relative(part, origin);
    let slice_origin: Vec<u64> = slice.iter().map(|range| range.start).collect();
    let part_start = relative(part, &slice_origin);
    let from_strides = strides(&lens(slice), grid.itemsize);
    let begin: Vec<u64> = inside.iter().map(|range| range.start).collect();
    for at in grid.blocks_of(&inside) {
        let in_block = grid.in_block(&at, &inside);
        let block = to_usize(u64::from(grid.block_number(&at))).saturating_mul(grid.block_len);
        let start = block.saturating_add(grid.block_start(&at, &in_block));
        let to = Place {
            bytes: &mut *data,
            start,
            strides: &grid.block_strides,
        };
        let sizes = lens(&in_block);
        match source {
            Source::Element(element) => strided::fill(&sizes, element, to),
            Source::Data(bytes) => {
                let start = offset(&part_start, &from_strides);
                let start =
                    start.saturating_add(offset(&relative(&in_block, &begin), &from_strides));
                let from = Place {
                    bytes,
                    start,
                    strides: &from_strides,
                };
                strided::copy(&sizes, grid.itemsize, from, to);
            }
        }
    }
}
