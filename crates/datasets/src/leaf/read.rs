//! Boxes of elements, out of the chunks that hold them.

use super::Leaf;
use super::cache::Cached;
use crate::grid::Part;
use crate::superchunk::Stored;
use blosc1::ChunkError;
use bloscpack_dtype::boxes::{Window, runs, to_usize};
use bloscpack_error::{Error, ErrorKind, Result};
use bloscpack_storage::parallel;
use bloscpack_wire::{Position, Section};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Fewer bytes are not worth a second thread.
const SHARED_FROM: usize = 512 << 10;

/// Memory for fewer bytes may be taken for nothing.
const CHECKED_FROM: u64 = 16 << 20;

/// Chunks that are listed at once.
const AT_ONCE: usize = 1 << 13;

/// A stretch of a chunk's data, and where it goes.
struct Stretch<'a> {
    chunk: u64,
    from: usize,
    out: &'a mut [u8],
}

/// Bytes of a box.
pub(crate) fn box_bytes(wanted: &[Range<u64>], itemsize: u64) -> u64 {
    let lens = wanted
        .iter()
        .map(|range| range.end.saturating_sub(range.start));
    lens.fold(itemsize, u64::saturating_mul)
}

impl Leaf {
    /// Reads a box of elements into `out`, in C order; it has the bytes that the box has.
    pub(crate) fn read_box(&self, wanted: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.check_plain()?;
        self.spec.grid.check(wanted)?;
        let expected = box_bytes(wanted, self.spec.grid.itemsize());
        if u64::try_from(out.len()) != Ok(expected) {
            return Err(Error::usage(format!(
                "room for {} bytes, where the slice has {expected}",
                out.len()
            )));
        }
        self.stage()?;
        if self.has_whole_rows(wanted) {
            self.read_rows(wanted.first().cloned().unwrap_or_default(), out)
        } else {
            self.read_parts(wanted, out)
        }
    }

    /// Reads the first chunk of a large box, so that no memory is taken for one of which nothing is there.
    pub(crate) fn check_first(&self, wanted: &[Range<u64>]) -> Result<()> {
        if box_bytes(wanted, self.spec.grid.itemsize()) <= CHECKED_FROM {
            return Ok(());
        }
        self.stage()?;
        match self.spec.grid.parts(wanted).next() {
            Some(part) => self.stored(part.chunk).map(drop),
            None => Ok(()),
        }
    }

    /// Whether a box is rows whose bytes lie side by side in each chunk.
    fn has_whole_rows(&self, wanted: &[Range<u64>]) -> bool {
        let grid = &self.spec.grid;
        let mut rest = wanted.iter().zip(grid.shape()).skip(1);
        grid.is_rows() && rest.all(|(range, len)| *range == (0..*len))
    }

    /// Reads whole rows, some thousand chunks at a time: a hostile dataset may have one for each byte.
    fn read_rows(&self, rows: Range<u64>, mut out: &mut [u8]) -> Result<()> {
        let (band_rows, row_bytes) = (self.spec.grid.band_rows(), self.spec.grid.row_bytes());
        let threads = self.threads_for(out.len());
        let mut row = rows.start;
        while row < rows.end {
            let mut stretches = Vec::new();
            while row < rows.end && stretches.len() < AT_ONCE {
                let chunk = row.checked_div(band_rows).unwrap_or(0);
                let skipped = row.saturating_sub(chunk.saturating_mul(band_rows));
                let count = band_rows
                    .saturating_sub(skipped)
                    .min(rows.end.saturating_sub(row));
                let len = to_usize(count.saturating_mul(row_bytes)).min(out.len());
                let (part, rest) = out.split_at_mut(len);
                let from = to_usize(skipped.saturating_mul(row_bytes));
                stretches.push(Stretch {
                    chunk,
                    from,
                    out: part,
                });
                out = rest;
                row = row.saturating_add(count.max(1));
            }
            parallel::for_each(threads, stretches.into_iter(), |stretch| {
                self.read_stretch(stretch)
            })?;
        }
        Ok(())
    }

    fn threads_for(&self, bytes: usize) -> usize {
        if bytes < SHARED_FROM {
            1
        } else {
            self.means.threads
        }
    }

    fn read_parts(&self, wanted: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        let origin: Vec<u64> = wanted.iter().map(|range| range.start).collect();
        let shape: Vec<u64> = wanted
            .iter()
            .map(|range| range.end.saturating_sub(range.start))
            .collect();
        let threads = self.threads_for(out.len());
        let out = Mutex::new(out);
        let whole = Window {
            shape: &shape,
            origin: &origin,
        };
        let read = |part: Part| {
            let dense = self.read_part(&part)?;
            let part_origin: Vec<u64> = part.wanted.iter().map(|range| range.start).collect();
            let part_shape: Vec<u64> = part
                .wanted
                .iter()
                .map(|range| range.end.saturating_sub(range.start))
                .collect();
            let from = Window {
                shape: &part_shape,
                origin: &part_origin,
            };
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            runs(
                &part.wanted,
                (from, whole),
                self.spec.grid.itemsize(),
                |run| {
                    copy(&dense, run.from, &mut out, run.to, run.len);
                    Ok::<_, Error>(())
                },
            )
        };
        let mut parts = self.spec.grid.parts(wanted);
        loop {
            let some: Vec<Part> = parts.by_ref().take(AT_ONCE).collect();
            if some.is_empty() {
                return Ok(());
            }
            parallel::for_each(threads, some.into_iter(), read)?;
        }
    }

    /// The wanted part of a chunk, its elements side by side.
    fn read_part(&self, part: &Part) -> Result<Vec<u8>> {
        let itemsize = self.spec.grid.itemsize();
        let mut dense = vec![0; to_usize(box_bytes(&part.wanted, itemsize))];
        let stored_shape = self.spec.grid.stored_shape(part);
        let from = Window {
            shape: &stored_shape,
            origin: &part.origin,
        };
        let origin: Vec<u64> = part.wanted.iter().map(|range| range.start).collect();
        let shape: Vec<u64> = part
            .wanted
            .iter()
            .map(|range| range.end.saturating_sub(range.start))
            .collect();
        let to = Window {
            shape: &shape,
            origin: &origin,
        };
        let cached = self.cached(part.chunk)?;
        let mut decoded = 0usize;
        runs(&part.wanted, (from, to), itemsize, |run| {
            let out = dense
                .get_mut(run.to..run.to.saturating_add(run.len))
                .unwrap_or_default();
            let read = cached.read(run.from, out, &self.decoders);
            decoded = decoded.saturating_add(read.map_err(|error| self.failed(part.chunk, error))?);
            Ok::<_, Error>(())
        })?;
        self.cache.grown(part.chunk, decoded);
        Ok(dense)
    }

    fn read_stretch(&self, stretch: Stretch<'_>) -> Result<()> {
        let Stretch { chunk, from, out } = stretch;
        let is_whole = from == 0 && u64::try_from(out.len()) == Ok(self.spec.grid.bytes_of(chunk));
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

    /// All data of a chunk that is wanted of it, decompressed where it is to be.
    pub(super) fn read_chunk(&self, chunk: u64, out: &mut [u8]) -> Result<()> {
        let stored = self.stored(chunk)?;
        self.decompress(chunk, &stored, out)
    }

    /// The beginning of a chunk's data, as much as `out` holds.
    pub(crate) fn decompress(&self, chunk: u64, stored: &Stored, out: &mut [u8]) -> Result<()> {
        let is_whole = u64::try_from(out.len()) == Ok(stored.header.nbytes.into());
        let decoded = self.decoders.with(|decoder| match is_whole {
            true => decoder.decode(&stored.bytes, out),
            // What a dead writer has left may be longer.
            false => decoder.decode_range(&stored.bytes, 0, out),
        });
        decoded
            .map(|_| ())
            .map_err(|error| self.failed(chunk, error))
    }

    fn cached(&self, chunk: u64) -> Result<Arc<Cached>> {
        if let Some(cached) = self.cache.get(chunk) {
            return Ok(cached);
        }
        let cached = Arc::new(Cached::new(self.stored(chunk)?));
        self.cache.put(chunk, &cached);
        Ok(cached)
    }

    /// An error of a chunk, with its superchunk.
    fn failed(&self, chunk: u64, error: ChunkError) -> Error {
        let position = Position {
            byte: 0,
            member: 0,
            chunk: Some(chunk),
            section: Section::Chunk,
        };
        let (number, index) = self.file_of(chunk);
        let known = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known
            .get(&number)
            .and_then(|contents| contents.places.get(to_usize(index)));
        // A superchunk of a single chunk has it behind 16 bytes.
        let byte = place.map_or(16, |place| place.at);
        let error = Error::new(
            ErrorKind::Format(error.into()),
            Some(Position { byte, ..position }),
        );
        match self.key(number) {
            Ok(key) => error.in_file(&key),
            Err(_) => error,
        }
    }
}

/// Copies where both have the bytes.
pub(super) fn copy(from: &[u8], at: usize, to: &mut [u8], to_at: usize, len: usize) {
    if let (Some(from), Some(to)) = (
        from.get(at..at.saturating_add(len)),
        to.get_mut(to_at..to_at.saturating_add(len)),
    ) {
        to.copy_from_slice(from);
    }
}
