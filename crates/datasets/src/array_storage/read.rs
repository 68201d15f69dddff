//! Reads boxes of elements from the chunks that contain them.

use super::ArrayStorage;
use super::cache::CachedChunk;
use crate::superchunk::StoredChunk;
use bloscpack_array::{Part, bytes_of, copy, runs};
use bloscpack_error::checked::slice_mut;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;
use bloscpack_wire::{Position, Section};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The least number of bytes that several threads read.
const PARALLEL_FROM: usize = 512 << 10;

/// The least number of bytes for which the first chunk is read before memory is allocated.
const CHECKED_FROM: u64 = 16 << 20;

/// The number of chunks that are planned at once. A hostile dataset may have one for each byte.
const PLANNED_CHUNKS: usize = 1 << 13;

/// A part of the data of a chunk, and the buffer for it.
struct RowRun<'a> {
    chunk: u64,
    /// The position of the part in the data of the chunk.
    from: usize,
    out: &'a mut [u8],
}

impl ArrayStorage {
    /// Reads a box of elements into `out`, which has exactly their bytes, in C order.
    pub(crate) fn read_box(&self, selection: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.check_plain()?;
        self.grid().check(selection)?;
        let expected = bytes_of(selection, self.grid().itemsize());
        if to_u64(out.len()) != expected {
            return Err(Error::usage(format!(
                "buffer of {} bytes, but the slice has {expected}",
                out.len()
            )));
        }
        self.stage()?;
        match selection.first() {
            Some(rows) if self.has_whole_rows(selection) => self.read_rows(rows.clone(), out),
            _ => self.read_parts(selection, out),
        }
    }

    /// Reads the first chunk of a large box, so that no memory is allocated for one of which no chunk exists.
    pub(crate) fn check_first(&self, selection: &[Range<u64>]) -> Result<()> {
        if bytes_of(selection, self.grid().itemsize()) <= CHECKED_FROM {
            return Ok(());
        }
        self.stage()?;
        match self.grid().parts(selection).next() {
            Some(part) => self.stored(part.number).map(drop),
            None => Ok(()),
        }
    }

    /// Whether a box consists of rows whose bytes are contiguous in each chunk.
    fn has_whole_rows(&self, selection: &[Range<u64>]) -> bool {
        let mut rest = selection.iter().zip(self.grid().shape()).skip(1);
        self.grid().is_rows() && rest.all(|(range, len)| *range == (0..*len))
    }

    /// Reads whole rows.
    fn read_rows(&self, rows: Range<u64>, mut out: &mut [u8]) -> Result<()> {
        let band_rows = self.grid().band_rows();
        let threads = self.threads_for(out.len());
        let mut row = rows.start;
        while row < rows.end {
            let mut runs = Vec::new();
            while row < rows.end && runs.len() < PLANNED_CHUNKS {
                let (chunk, skipped) = (row / band_rows, row % band_rows);
                let count = (band_rows - skipped).min(rows.end - row);
                let len = in_memory(self.grid().bytes_of_rows(count))?;
                let rest = out.len();
                let (part, later) = out.split_at_mut_checked(len).ok_or_else(|| {
                    Error::bug(format!("{rest} bytes left for {count} rows of {len} bytes"))
                })?;
                let from = in_memory(self.grid().bytes_of_rows(skipped))?;
                runs.push(RowRun {
                    chunk,
                    from,
                    out: part,
                });
                out = later;
                row += count;
            }
            self.announce(runs.iter().map(|run| run.chunk))?;
            parallel::for_each(threads, runs.into_iter(), |run| self.read_run(run))?;
        }
        Ok(())
    }

    fn threads_for(&self, bytes: usize) -> usize {
        if bytes < PARALLEL_FROM {
            1
        } else {
            self.resources.threads
        }
    }

    fn read_parts(&self, selection: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        let threads = self.threads_for(out.len());
        let out = Mutex::new(out);
        let read = |part: Part| {
            let dense = self.read_part(&part)?;
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            let (from, to) = ((&*part.region, &*dense), (selection, &mut **out));
            copy(&part.region, from, to, self.grid().itemsize())
        };
        let mut parts = self.grid().parts(selection);
        loop {
            let some: Vec<Part> = parts.by_ref().take(PLANNED_CHUNKS).collect();
            if some.is_empty() {
                return Ok(());
            }
            self.announce(some.iter().map(|part| part.number))?;
            parallel::for_each(threads, some.into_iter(), read)?;
        }
    }

    /// Announces that these chunks, which ascend, are going to be read. One alone is read at once anyway.
    fn announce(&self, chunks: impl Iterator<Item = u64>) -> Result<()> {
        let missing = chunks.filter(|chunk| !self.cache.contains(*chunk));
        let mut files: Vec<u64> = missing.map(|chunk| self.file_of(chunk).0).collect();
        files.dedup();
        if files.len() > 1 {
            let keys = files.into_iter().map(|file| self.key(file));
            self.files.will_read(&keys.collect::<Result<Vec<_>>>()?);
        }
        Ok(())
    }

    /// The selected elements of a chunk, contiguous.
    fn read_part(&self, part: &Part) -> Result<Vec<u8>> {
        let grid = self.grid();
        let mut dense = vec![0; in_memory(part.region.bytes(grid.itemsize()))?];
        let windows = (&*grid.stored(part), &*part.region);
        let cached = self.cached(part.number)?;
        let mut decoded = 0;
        runs(&part.region, windows, grid.itemsize(), |run| {
            let out = slice_mut(&mut dense, run.to..run.to + run.len)?;
            let read = cached.read(run.from, out, &self.decoders);
            decoded += read.map_err(|error| self.failed(part.number, error))?;
            Ok(())
        })?;
        self.cache.grown(part.number, decoded);
        Ok(dense)
    }

    fn read_run(&self, run: RowRun<'_>) -> Result<()> {
        let RowRun { chunk, from, out } = run;
        let is_whole = from == 0 && to_u64(out.len()) == self.grid().bytes_of(chunk);
        if is_whole && self.cache.get(chunk).is_none() {
            return self.read_chunk(chunk, out);
        }
        let read = self.cached(chunk)?.read(from, out, &self.decoders);
        let decoded = read.map_err(|error| self.failed(chunk, error))?;
        if decoded > 0 {
            self.cache.grown(chunk, decoded);
        }
        Ok(())
    }

    /// Decompresses the data of a chunk that the rows need into `out`.
    pub(super) fn read_chunk(&self, chunk: u64, out: &mut [u8]) -> Result<()> {
        let stored = self.stored(chunk)?;
        self.decompress(chunk, &stored, out)
    }

    /// Decompresses the beginning of the data of a chunk, as much as `out` has space for.
    pub(crate) fn decompress(
        &self,
        chunk: u64,
        stored: &StoredChunk,
        out: &mut [u8],
    ) -> Result<()> {
        let is_whole = out.len() == Self::data_len(stored);
        let decoded = self.decoders.with(|decoder| match is_whole {
            true => decoder.decode(&stored.bytes, out),
            // The last chunk may be longer, as a killed writer leaves it.
            false => decoder.decode_range(&stored.bytes, 0, out),
        });
        decoded
            .map(|_| ())
            .map_err(|error| self.failed(chunk, error.into()))
    }

    /// All data of a chunk.
    pub(crate) fn decompressed(&self, chunk: u64, stored: &StoredChunk) -> Result<Vec<u8>> {
        let mut data = vec![0; Self::data_len(stored)];
        self.decompress(chunk, stored, &mut data)?;
        Ok(data)
    }

    fn cached(&self, chunk: u64) -> Result<Arc<CachedChunk>> {
        if let Some(cached) = self.cache.get(chunk) {
            return Ok(cached);
        }
        let cached = Arc::new(CachedChunk::new(self.stored(chunk)?));
        self.cache.put(chunk, &cached);
        Ok(cached)
    }

    /// Adds the position and the superchunk to an error of a chunk.
    fn failed(&self, chunk: u64, error: Error) -> Error {
        let (number, index) = self.file_of(chunk);
        let at = self.indexes().get(&number).and_then(|known| {
            let slot = known.slots.get(usize::try_from(index).ok()?)?;
            Some(slot.at)
        });
        let position = Position {
            // The index of a superchunk with a single chunk is not kept; its chunk follows 16 bytes.
            byte: at.unwrap_or(16),
            member: 0,
            chunk: Some(chunk),
            section: Section::Chunk,
        };
        self.in_superchunk(number, error.at(position))
    }
}
