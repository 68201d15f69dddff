//! Rows that come behind the last.
//!
//! ```text
//!    superchunks that are full │ open superchunk: chunks held, as they are stored │ rows of a band that is not full
//! ```

use super::Leaf;
use crate::grid::Grid;
use blosc1::Fault;
use bloscpack_dtype::boxes::{Window, runs, to_usize};
use bloscpack_error::{Category, Error, Result};
use bloscpack_storage::parallel;
use std::borrow::Cow;
use std::sync::PoisonError;

/// Bytes that are compressed before what comes of them is written.
const BATCH: u64 = 32 << 20;

/// What stands behind the last full superchunk.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// Rows behind the last full band.
    pub(super) rows: Vec<u8>,
    /// Chunks of full bands in the superchunk that is not full.
    pub(super) held: Vec<Vec<u8>>,
    /// What the open superchunk says beside its chunks.
    metadata: Vec<u8>,
    /// Whether files hold all of it.
    pub(super) staged: bool,
}

impl Leaf {
    /// Appends whole rows.
    pub(crate) fn append(&mut self, rows: &[u8]) -> Result<()> {
        self.check_plain()?;
        let row_bytes = to_usize(self.spec.grid.row_bytes());
        if !rows.len().is_multiple_of(row_bytes) {
            return Err(Error::usage(format!(
                "{} bytes are not whole rows of {row_bytes} bytes",
                rows.len()
            )));
        }
        let count = u64::try_from(rows.len() / row_bytes).unwrap_or(u64::MAX);
        let grown = self.grown_to(self.spec.grid.rows().saturating_add(count))?;
        let mut tail = match self.take_tail() {
            Some(tail) => tail,
            None => self.load_tail(self.spec.grid.rows())?,
        };
        // Whatever it is that fails from here on, rows of before may be gone with it.
        let done = self
            .append_to(&mut tail, rows)
            .map_err(|error| match error.category() {
                Category::Usage | Category::Unsupported => {
                    crate::error::dataset(Fault::Damaged, error.to_string())
                }
                _ => error,
            });
        done?;
        self.spec.grid = grown;
        self.put_tail(Some(tail));
        Ok(())
    }

    fn append_to(&mut self, tail: &mut Tail, mut rows: &[u8]) -> Result<()> {
        let band_bytes = to_usize(
            self.spec
                .grid
                .band_rows()
                .saturating_mul(self.spec.grid.row_bytes()),
        );
        let mut band = self.spec.grid.full_bands();
        if !rows.is_empty() {
            tail.staged = false;
        }
        if !tail.rows.is_empty() {
            let missing = band_bytes.saturating_sub(tail.rows.len()).min(rows.len());
            let (first, rest) = rows.split_at(missing);
            tail.rows.extend_from_slice(first);
            rows = rest;
            if tail.rows.len() == band_bytes {
                let full = std::mem::take(&mut tail.rows);
                self.put_bands(tail, band, &full)?;
                band = band.saturating_add(1);
            }
        }
        let at_once = to_usize((BATCH / u64::try_from(band_bytes).unwrap_or(1).max(1)).max(1))
            .max(self.means.threads);
        let whole = rows.len() - rows.len() % band_bytes;
        let (bands, rest) = rows.split_at(whole);
        for batch in bands.chunks(band_bytes.saturating_mul(at_once)) {
            self.put_bands(tail, band, batch)?;
            band = band.saturating_add(u64::try_from(batch.len() / band_bytes).unwrap_or(0));
        }
        tail.rows.extend_from_slice(rest);
        Ok(())
    }

    /// Compresses full bands, the first of which has this number, and writes the superchunks that are full then.
    fn put_bands(&mut self, tail: &mut Tail, band: u64, rows: &[u8]) -> Result<()> {
        let pieces = self.cut(rows)?;
        let first = band.saturating_mul(self.spec.grid.chunks_per_band());
        if self.spec.per_file.get() == 1 {
            return self.put_singles(first, &pieces);
        }
        let mut chunks = vec![Vec::new(); pieces.len()];
        let jobs = pieces.iter().zip(chunks.iter_mut());
        parallel::for_each(self.means.threads, jobs, |(piece, chunk)| {
            *chunk = self.compress(piece)?;
            Ok::<_, Error>(())
        })?;
        for chunk in &chunks {
            self.count(chunk.len(), 1);
        }
        tail.held.append(&mut chunks);
        let end = first.saturating_add(u64::try_from(pieces.len()).unwrap_or(0));
        self.put_full(tail, end)
    }

    /// Writes superchunks of one chunk each, from this number on, by the threads that have compressed them.
    fn put_singles(&mut self, first: u64, pieces: &[Cow<'_, [u8]>]) -> Result<()> {
        let mut lens = vec![0; pieces.len()];
        let jobs: Vec<_> = (first..).zip(pieces.iter().zip(lens.iter_mut())).collect();
        parallel::for_each(
            self.means.threads,
            jobs.into_iter(),
            |(number, (piece, len))| {
                *len = self.put_single(number, piece)?;
                Ok::<_, Error>(())
            },
        )?;
        for len in lens {
            self.count(len, 1);
        }
        Ok(())
    }

    /// Compresses the only chunk of a superchunk where it is written from; returns its length.
    fn put_single(&self, number: u64, data: &[u8]) -> Result<usize> {
        let Some(front) = self.spec.container.front()? else {
            let chunk = self.compress(data)?;
            self.put_file(number, &[], &[&chunk])?;
            return Ok(chunk.len());
        };
        let key = self.key(number)?;
        let mut len = 0;
        self.encoders
            .with(|encoder, bytes| {
                bytes.clear();
                bytes.extend_from_slice(&front);
                encoder.encode(data, bytes)?;
                len = bytes.len().saturating_sub(front.len());
                Ok(self.root.put(&key, bytes))
            })?
            .map_err(|error| Error::from(error).in_file(&key))?;
        self.forget(number);
        Ok(len)
    }

    /// Writes the superchunks that the held chunks fill, of which the last is that before `end`.
    fn put_full(&self, tail: &mut Tail, end: u64) -> Result<()> {
        let per_file = to_usize(self.spec.per_file.get());
        let begun = end.saturating_sub(u64::try_from(tail.held.len()).unwrap_or(0));
        let mut number = begun / self.spec.per_file.get();
        while tail.held.len() >= per_file {
            let rest = tail.held.split_off(per_file);
            let full = std::mem::replace(&mut tail.held, rest);
            self.put_file(number, &std::mem::take(&mut tail.metadata), &full)?;
            number = number.saturating_add(1);
        }
        Ok(())
    }

    /// Puts what no file has yet into files, which only this process sees until the dataset is committed.
    pub(crate) fn stage(&self) -> Result<()> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        match tail.as_mut() {
            Some(tail) if !tail.staged => {
                self.write_tail(tail)?;
                tail.staged = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Writes the superchunks behind the last full one.
    pub(super) fn write_tail(&self, tail: &Tail) -> Result<()> {
        let grid = &self.spec.grid;
        let first = grid.full_bands().saturating_mul(grid.chunks_per_band());
        let mut chunks = tail.held.clone();
        if !tail.rows.is_empty() {
            let pieces = self.cut(&tail.rows)?;
            let pieces = pieces.iter().map(|piece| self.compress(piece));
            chunks.extend(pieces.collect::<Result<Vec<_>>>()?);
        }
        let number = first / self.spec.per_file.get();
        let files = chunks.chunks(to_usize(self.spec.per_file.get()));
        for (number, chunks) in (number..).zip(files) {
            self.put_file(number, &tail.metadata, chunks)?;
        }
        Ok(())
    }

    /// What stands behind the last full superchunk if the array has so many rows.
    pub(super) fn load_tail(&self, rows: u64) -> Result<Tail> {
        let grid = self.spec.grid.with_rows(rows)?;
        let full_rows = grid.full_bands().saturating_mul(grid.band_rows());
        let mut tail = Tail {
            staged: true,
            ..Tail::default()
        };
        let len = rows
            .saturating_sub(full_rows)
            .saturating_mul(grid.row_bytes());
        let wanted = grid.of_whole_rows(full_rows..rows);
        self.check_first(&wanted)?;
        tail.rows = zeros(len)?;
        self.read_box(&wanted, &mut tail.rows)?;
        let (end, per_file) = (
            grid.full_bands().saturating_mul(grid.chunks_per_band()),
            self.spec.per_file.get(),
        );
        for chunk in (end - end % per_file)..end {
            tail.held.push(self.stored(chunk)?.bytes);
        }
        if !tail.held.is_empty() {
            let number = end / per_file;
            let file = self.open(number, end)?;
            tail.metadata = self.contents(number, file.as_ref())?.metadata.clone();
        }
        Ok(tail)
    }

    pub(super) fn take_tail(&self) -> Option<Tail> {
        self.tail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    pub(super) fn put_tail(&self, tail: Option<Tail>) {
        *self.tail.lock().unwrap_or_else(PoisonError::into_inner) = tail;
    }

    /// Cuts rows that begin with a band into what its chunks hold.
    fn cut<'a>(&self, rows: &'a [u8]) -> Result<Vec<Cow<'a, [u8]>>> {
        let grid = &self.spec.grid;
        let band_bytes = to_usize(grid.band_rows().saturating_mul(grid.row_bytes()));
        let bands = rows.chunks(band_bytes);
        let mut pieces = Vec::new();
        for band in bands {
            pieces.extend(self.cut_band(grid, band)?);
        }
        Ok(pieces)
    }

    fn cut_band<'a>(&self, grid: &Grid, band: &'a [u8]) -> Result<Vec<Cow<'a, [u8]>>> {
        let chunk_bytes = to_usize(grid.chunk_bytes());
        if grid.is_rows() && (band.len() == chunk_bytes || !grid.is_padded()) {
            return Ok(vec![band.into()]);
        }
        let count = u64::try_from(band.len())
            .unwrap_or(0)
            .checked_div(grid.row_bytes())
            .unwrap_or(0);
        let wanted = grid.of_whole_rows(0..count);
        let shape: Vec<u64> = wanted.iter().map(|range| range.end).collect();
        let origin = vec![0; shape.len()];
        let parts = grid.parts(&wanted);
        parts
            .map(|part| {
                let mut chunk = self.blank(chunk_bytes);
                let from = Window {
                    shape: &shape,
                    origin: &origin,
                };
                let to = Window {
                    shape: grid.chunk_shape(),
                    origin: &part.origin,
                };
                runs(&part.wanted, (from, to), grid.itemsize(), |run| {
                    super::read::copy(band, run.from, &mut chunk, run.to, run.len);
                    Ok::<_, Error>(())
                })?;
                Ok(chunk.into())
            })
            .collect()
    }

    /// So many bytes of default elements.
    pub(super) fn blank(&self, len: usize) -> Vec<u8> {
        let Some(default) = &self.spec.default else {
            return vec![0; len];
        };
        let mut blank = Vec::with_capacity(len);
        while blank.len() < len {
            let part = default.len().min(len.saturating_sub(blank.len())).max(1);
            blank.extend_from_slice(default.get(..part).unwrap_or(&[0]));
        }
        blank
    }

    pub(super) fn compress(&self, data: &[u8]) -> Result<Vec<u8>> {
        let chunk = self.encoders.with(|encoder, bytes| {
            bytes.clear();
            encoder.encode(data, bytes)?;
            // As long as it is, where the buffer is as long as the longest.
            Ok(bytes.as_slice().to_vec())
        })?;
        Ok(chunk)
    }

    /// Writes a superchunk of these chunks.
    pub(super) fn put_file(
        &self,
        number: u64,
        metadata: &[u8],
        chunks: &[impl AsRef<[u8]>],
    ) -> Result<()> {
        let key = self.key(number)?;
        let bytes = self.spec.container.write(metadata, chunks)?;
        self.root
            .put(&key, &bytes)
            .map_err(|error| Error::from(error).in_file(&key))?;
        self.forget(number);
        Ok(())
    }

    /// Counts a chunk that came, or one that went.
    pub(super) fn count(&mut self, len: usize, sign: i64) {
        let len = i64::try_from(len).unwrap_or(i64::MAX);
        let change = len
            .saturating_add(self.spec.chunk_overhead)
            .saturating_mul(sign);
        self.spec.cbytes = self.spec.cbytes.saturating_add(change);
    }
}

/// So many zeros, if there is memory for them; none is touched yet.
fn zeros(len: u64) -> Result<Vec<u8>> {
    bytemuck::try_zeroed_vec(to_usize(len)).map_err(|()| {
        Error::usage(format!(
            "a band of chunks has {len} bytes, which do not fit into memory"
        ))
    })
}
