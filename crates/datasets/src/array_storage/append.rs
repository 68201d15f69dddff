//! Appends rows after the last one.
//!
//! ```text
//!    full superchunks, in files │ open superchunk: compressed chunks of full bands │ uncompressed rows of the last band
//!                               └───────────────── the tail, in memory ──────────────────────────────────────────────┘
//! ```
//!
//! A band is all chunks of the same rows; see [`BandedGrid`](crate::grid::BandedGrid).

use super::ArrayStorage;
use bloscpack_array::{Grid, copy};
use bloscpack_error::checked::{in_memory, to_u64, zeros};
use bloscpack_error::{Category, Code, Error, Result};
use bloscpack_storage::parallel;
use std::borrow::Cow;
use std::sync::{MutexGuard, PoisonError};

/// Uncompressed bytes that are compressed before the result is written.
const BATCH: u64 = 32 << 20;

/// Everything after the last full superchunk.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// The rows after the last full band.
    pub(super) rows: Vec<u8>,
    /// The compressed chunks of full bands in the open superchunk.
    pub(super) chunks: Vec<Vec<u8>>,
    /// The metadata section of the open superchunk.
    metadata: Vec<u8>,
    /// Whether the whole tail was also written into files.
    pub(super) staged: bool,
}

impl ArrayStorage {
    /// Appends whole rows.
    pub(crate) fn append(&mut self, rows: &[u8]) -> Result<()> {
        self.append_on(self.resources().threads, rows)
    }

    /// Appends whole rows on up to `threads` threads.
    pub(crate) fn append_on(&mut self, threads: usize, rows: &[u8]) -> Result<()> {
        self.check_plain()?;
        let row_bytes = self.grid().row_bytes();
        if !rows.len().is_multiple_of(row_bytes) {
            return Err(Error::usage(format!(
                "{} bytes are not whole rows of {row_bytes} bytes",
                rows.len()
            )));
        }
        let count = to_u64(rows.len() / row_bytes);
        // If the number of rows saturates, it is refused as too large.
        let grown = self.resized_grid(self.grid().rows().saturating_add(count))?;
        let mut tail = match self.take_tail() {
            Some(tail) => tail,
            None => self.load_tail(self.grid().rows())?,
        };
        // If anything fails below, the tail is lost. Errors that promise that nothing was changed get another code.
        self.append_to(&mut tail, rows, threads)
            .map_err(|error| match error.category() {
                Category::Usage | Category::Unsupported => {
                    let message = format!("the change failed: {error}");
                    Error::because(Code::Damaged, message, error)
                        .with_hint("open the dataset again; it is unchanged since the last flush")
                }
                _ => error,
            })?;
        self.set_grid(grown)?;
        self.put_tail(Some(tail));
        Ok(())
    }

    fn append_to(&mut self, tail: &mut Tail, mut rows: &[u8], threads: usize) -> Result<()> {
        let band_len = in_memory(self.grid().band_bytes())?;
        let mut band = self.grid().full_bands();
        if !rows.is_empty() {
            tail.staged = false;
        }
        if !tail.rows.is_empty() {
            let missing = band_len
                .checked_sub(tail.rows.len())
                .ok_or_else(|| Error::bug(format!("a tail of {} bytes", tail.rows.len())))?;
            let (first, rest) = rows.split_at(missing.min(rows.len()));
            tail.rows.extend_from_slice(first);
            rows = rest;
            if tail.rows.len() == band_len {
                let full = std::mem::take(&mut tail.rows);
                self.put_bands(tail, band, &full, threads)?;
                band += 1;
            }
        }
        let per_batch = in_memory(BATCH / to_u64(band_len))?.max(threads);
        let (bands, rest) = rows.split_at(rows.len() - rows.len() % band_len);
        // If it saturates, one batch takes all bands.
        for batch in bands.chunks(band_len.saturating_mul(per_batch)) {
            self.put_bands(tail, band, batch, threads)?;
            band += to_u64(batch.len() / band_len);
        }
        tail.rows.extend_from_slice(rest);
        Ok(())
    }

    /// Compresses full bands, numbered from `band`, and writes the superchunks that they fill.
    fn put_bands(&mut self, tail: &mut Tail, band: u64, rows: &[u8], threads: usize) -> Result<()> {
        let pieces = self.cut(rows)?;
        let first = band * self.grid().chunks_per_band();
        if self.chunks_per_file() == 1 {
            return self.put_singles(first, &pieces, threads);
        }
        let mut chunks = vec![Vec::new(); pieces.len()];
        let jobs = pieces.iter().zip(chunks.iter_mut());
        parallel::for_each(threads, jobs, |(piece, chunk)| {
            *chunk = self.compress(piece)?;
            Ok::<_, Error>(())
        })?;
        for chunk in &chunks {
            self.count(chunk.len(), 1);
        }
        tail.chunks.append(&mut chunks);
        self.put_full(tail, first + to_u64(pieces.len()))
    }

    /// Writes superchunks of one chunk each, numbered from `first`, in the threads that compress them.
    fn put_singles(&mut self, first: u64, pieces: &[Cow<'_, [u8]>], threads: usize) -> Result<()> {
        let mut lens = vec![0; pieces.len()];
        let jobs: Vec<_> = (first..).zip(pieces.iter().zip(lens.iter_mut())).collect();
        parallel::for_each(threads, jobs.into_iter(), |(number, (piece, len))| {
            *len = self.put_single(number, piece)?;
            Ok::<_, Error>(())
        })?;
        for len in lens {
            self.count(len, 1);
        }
        Ok(())
    }

    /// Compresses the only chunk of a superchunk behind its header and writes both at once. Returns the length of the chunk.
    fn put_single(&self, number: u64, data: &[u8]) -> Result<usize> {
        let Some(header) = self.spec.container.single_header()? else {
            let chunk = self.compress(data)?;
            self.put_file(number, &[], &[&chunk])?;
            return Ok(chunk.len());
        };
        let key = self.key(number)?;
        let mut len = 0;
        self.encoders.with(|encoder, bytes| {
            bytes.clear();
            bytes.extend_from_slice(&header);
            encoder.encode(data, bytes)?;
            // The encoder appends to the header.
            len = bytes.len() - header.len();
            let put = self.files.put(&key, bytes);
            self.note_written(number, Some((data, bytes)));
            Ok(put)
        })??;
        self.forget(number);
        Ok(len)
    }

    /// Writes the superchunks that the chunks of the tail fill. `end` is the number after the last of these chunks.
    fn put_full(&self, tail: &mut Tail, end: u64) -> Result<()> {
        let per_file = in_memory(self.chunks_per_file())?;
        let begun = end.checked_sub(to_u64(tail.chunks.len())).ok_or_else(|| {
            Error::bug(format!("{} chunks before chunk {end}", tail.chunks.len()))
        })?;
        let mut number = begun / self.chunks_per_file();
        while tail.chunks.len() >= per_file {
            let rest = tail.chunks.split_off(per_file);
            let full = std::mem::replace(&mut tail.chunks, rest);
            self.put_file(number, &std::mem::take(&mut tail.metadata), &full)?;
            number += 1;
        }
        Ok(())
    }

    /// Writes the tail into files, which only this process sees until the commit. Reads by this process need them, too.
    pub(crate) fn stage(&self) -> Result<()> {
        match self.tail().as_mut() {
            Some(tail) if !tail.staged => {
                self.write_tail(tail)?;
                tail.staged = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Writes the superchunks that contain the tail.
    pub(super) fn write_tail(&self, tail: &Tail) -> Result<()> {
        let mut chunks = tail.chunks.clone();
        if !tail.rows.is_empty() {
            for piece in self.cut(&tail.rows)? {
                chunks.push(self.compress(&piece)?);
            }
        }
        let number = self.grid().full_chunks() / self.chunks_per_file();
        let files = chunks.chunks(in_memory(self.chunks_per_file())?);
        for (number, chunks) in (number..).zip(files) {
            self.put_file(number, &tail.metadata, chunks)?;
        }
        Ok(())
    }

    /// Reads the tail of the array as if it ended after `rows` rows.
    pub(super) fn load_tail(&self, rows: u64) -> Result<Tail> {
        let grid = self.grid().with_rows(rows)?;
        let full_rows = grid.full_rows();
        let mut tail = Tail {
            staged: true,
            ..Tail::default()
        };
        let selection = grid.whole_rows(full_rows..rows);
        self.check_first(&selection)?;
        tail.rows = zeros(grid.bytes_of_rows(rows - full_rows))?;
        self.read_box(&selection, &mut tail.rows)?;
        let (end, per_file) = (grid.full_chunks(), self.chunks_per_file());
        for chunk in (end - end % per_file)..end {
            tail.chunks.push(self.stored(chunk)?.bytes.into());
        }
        if !tail.chunks.is_empty() {
            let number = end / per_file;
            let file = self.open(number, end)?;
            let index = self.in_file(number, || self.index(number, file.as_ref()))?;
            tail.metadata = index.metadata.clone();
        }
        Ok(tail)
    }

    fn tail(&self) -> MutexGuard<'_, Option<Tail>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take_tail(&self) -> Option<Tail> {
        self.tail().take()
    }

    pub(super) fn put_tail(&self, tail: Option<Tail>) {
        *self.tail() = tail;
    }

    /// Cuts rows that begin at a band into the data of chunks.
    fn cut<'a>(&self, rows: &'a [u8]) -> Result<Vec<Cow<'a, [u8]>>> {
        let mut pieces = Vec::new();
        for band in rows.chunks(in_memory(self.grid().band_bytes())?) {
            self.cut_band(band, &mut pieces)?;
        }
        Ok(pieces)
    }

    fn cut_band<'a>(&self, band: &'a [u8], pieces: &mut Vec<Cow<'a, [u8]>>) -> Result<()> {
        let grid = self.grid();
        if grid.is_rows() && (band.len() == grid.chunk_len() || !grid.is_padded()) {
            pieces.push(band.into());
            return Ok(());
        }
        let rows = grid.whole_rows(0..to_u64(band.len() / grid.row_bytes()));
        let within = Grid::new(rows.shape(), grid.chunk_shape().to_vec());
        for part in within.parts(&rows) {
            let mut chunk = self.blank(grid.chunk_len())?;
            let (from, to) = ((&*rows, band), (&*grid.stored(&part), &mut *chunk));
            copy(&part.region, from, to, grid.itemsize())?;
            pieces.push(chunk.into());
        }
        Ok(())
    }

    /// `len` bytes of default elements.
    pub(super) fn blank(&self, len: usize) -> Result<Vec<u8>> {
        match &self.spec.default {
            None => Ok(vec![0; len]),
            Some(default) => {
                let count = len
                    .checked_next_multiple_of(default.len())
                    .map(|len| len / default.len())
                    .ok_or_else(|| Error::bug(format!("{len} bytes of a default of none")))?;
                let mut blank = default.repeat(count);
                blank.truncate(len);
                Ok(blank)
            }
        }
    }

    pub(super) fn compress(&self, data: &[u8]) -> Result<Vec<u8>> {
        let chunk = self.encoders.with(|encoder, bytes| {
            bytes.clear();
            encoder.encode(data, bytes)?;
            // Copied, because the buffer has the capacity of the longest chunk.
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
        let bytes = self.spec.container.write(metadata, chunks)?;
        self.files.put(&self.key(number)?, &bytes)?;
        self.note_written(number, None);
        self.forget(number);
        Ok(())
    }

    /// Adds a chunk of `len` bytes to the count of compressed bytes, or subtracts it (`sign` -1). The count saturates: it is
    /// informative only, and often wrong in real datasets.
    pub(super) fn count(&mut self, len: usize, sign: i64) {
        let change = 0i64
            .saturating_add_unsigned(to_u64(len))
            .saturating_add(self.spec.chunk_overhead.into());
        let cbytes = self.spec.cbytes.saturating_add(change.saturating_mul(sign));
        self.set_cbytes(cbytes);
    }
}
