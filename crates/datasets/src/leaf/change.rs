//! Elements that are set, and rows that go or come.

use super::Leaf;
use crate::grid::{Grid, Part};
use crate::superchunk::{Contents, fitted};
use bloscpack_dtype::boxes::{Window, runs, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Bytes of default rows that are made at once.
const BATCH: u64 = 16 << 20;

impl Leaf {
    /// Sets a box of elements to these, which lie in C order.
    pub(crate) fn set_box(&mut self, wanted: &[Range<u64>], data: &[u8]) -> Result<()> {
        self.check_plain()?;
        self.spec.grid.check(wanted)?;
        let expected = super::read::box_bytes(wanted, self.spec.grid.itemsize());
        if u64::try_from(data.len()) != Ok(expected) {
            return Err(Error::usage(format!(
                "{} bytes, where the slice has {expected}",
                data.len()
            )));
        }
        self.stage()?;
        // What comes behind is read anew when rows are appended.
        self.put_tail(None);
        let parts: Vec<Part> = self.spec.grid.parts(wanted).collect();
        let by_file =
            parts.chunk_by(|one, next| self.file_of(one.chunk).0 == self.file_of(next.chunk).0);
        let by_file: Vec<&[Part]> = by_file.collect();
        let change = Mutex::new(0i64);
        let this = &*self;
        parallel::for_each(self.means.threads, by_file.into_iter(), |parts| {
            let new = this.set_in_file(parts, wanted, data)?;
            let mut change = change.lock().unwrap_or_else(PoisonError::into_inner);
            *change = change.saturating_add(new);
            Ok::<_, Error>(())
        })?;
        let change = change.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.spec.cbytes = self.spec.cbytes.saturating_add(change);
        Ok(())
    }

    /// Sets what of a box lies in one superchunk; returns by how much its full chunks have grown.
    fn set_in_file(&self, parts: &[Part], wanted: &[Range<u64>], data: &[u8]) -> Result<i64> {
        let Some(first) = parts.first() else {
            return Ok(0);
        };
        let (number, _) = self.file_of(first.chunk);
        let file = self.open(number, first.chunk)?;
        let contents = self.contents(number, file.as_ref())?;
        let (mut change, mut renewed) = (0i64, Vec::new());
        for part in parts {
            let old = self.stored(part.chunk)?.header.ctbytes;
            let chunk = self.compress(&self.with_part(part, wanted, data)?)?;
            if part.chunk
                < self
                    .spec
                    .grid
                    .full_bands()
                    .saturating_mul(self.spec.grid.chunks_per_band())
            {
                let new = i64::try_from(chunk.len()).unwrap_or(0);
                change = change.saturating_add(new).saturating_sub(old.into());
            }
            renewed.push((part.chunk, chunk));
        }
        if !self.patch(number, &contents, &renewed)? {
            self.rewrite(number, &contents, renewed)?;
        }
        Ok(change)
    }

    /// The data of a chunk with what of the box lies in it.
    fn with_part(&self, part: &Part, wanted: &[Range<u64>], data: &[u8]) -> Result<Vec<u8>> {
        let grid = &self.spec.grid;
        let stored_shape = grid.stored_shape(part);
        let mut all = vec![0; to_usize(grid.bytes_of(part.chunk))];
        if super::read::box_bytes(&part.wanted, grid.itemsize()) < grid.bytes_of(part.chunk) {
            self.read_chunk(part.chunk, &mut all)?;
        }
        let origin: Vec<u64> = wanted.iter().map(|range| range.start).collect();
        let shape: Vec<u64> = wanted
            .iter()
            .map(|range| range.end.saturating_sub(range.start))
            .collect();
        let from = Window {
            shape: &shape,
            origin: &origin,
        };
        let to = Window {
            shape: &stored_shape,
            origin: &part.origin,
        };
        runs(&part.wanted, (from, to), grid.itemsize(), |run| {
            super::read::copy(data, run.from, &mut all, run.to, run.len);
            Ok::<_, Error>(())
        })?;
        Ok(all)
    }

    /// Puts chunks into the places of the old ones, if they all fit; false if they do not.
    fn patch(&self, number: u64, contents: &Contents, renewed: &[(u64, Vec<u8>)]) -> Result<bool> {
        let mut patches = Vec::new();
        if self.spec.per_file.get() == 1 && !contents.spare {
            return Ok(false);
        }
        for (chunk, bytes) in renewed {
            let (_, index) = self.file_of(*chunk);
            let Some(place) = contents.places.get(to_usize(index)) else {
                return Ok(false);
            };
            // Without a table the next chunk begins where this one ends.
            let len = bytes.len().saturating_add(contents.checksum.digest_len());
            if !contents.spare && len != to_usize(place.room) {
                return Ok(false);
            }
            match fitted(bytes, contents.checksum, place.room) {
                Some(bytes) => patches.push((place.at, bytes)),
                None => return Ok(false),
            }
        }
        let key = self.key(number)?;
        for (at, bytes) in patches {
            match self.root.patch(&key, at, &bytes) {
                // Where only whole files can be put, this one is.
                Err(error) if is_refused(&error) => return Ok(false),
                done => done.map_err(|error| Error::from(error).in_file(&key))?,
            }
        }
        self.forget(number);
        Ok(true)
    }

    /// Writes a superchunk anew, with these of its chunks in place of the old ones.
    fn rewrite(
        &self,
        number: u64,
        contents: &Contents,
        renewed: Vec<(u64, Vec<u8>)>,
    ) -> Result<()> {
        let first = number.saturating_mul(self.spec.per_file.get());
        let count = self
            .spec
            .grid
            .chunks()
            .saturating_sub(first)
            .min(self.spec.per_file.get());
        let mut renewed = renewed.into_iter().peekable();
        let mut chunks = Vec::new();
        for chunk in first..first.saturating_add(count) {
            let new = renewed.next_if(|(number, _)| *number == chunk);
            chunks.push(match new {
                Some((_, bytes)) => bytes,
                None => self.stored(chunk)?.bytes,
            });
        }
        self.put_file(number, &contents.metadata, &chunks)
    }

    /// Cuts off all rows from this one on.
    pub(crate) fn trim(&mut self, rows: u64) -> Result<()> {
        self.check_plain()?;
        if rows > self.spec.grid.rows() {
            let there = self.spec.grid.rows();
            return Err(Error::usage(format!(
                "trimming to {rows} rows an array that has {there}"
            )));
        }
        self.stage()?;
        let shorter = self.spec.grid.with_rows(rows)?;
        let tail = self.load_tail(rows)?;
        let gone = self.numbers()?;
        let (files, full) = (self.files(), |grid: &Grid| {
            grid.full_bands().saturating_mul(grid.chunks_per_band())
        });
        let per_file = self.spec.per_file.get();
        let counted = full(&shorter)..full(&self.spec.grid);
        // Only what is there is gone through, whatever the counts say.
        for number in gone.iter().filter(|number| **number < files) {
            let first = number.saturating_mul(per_file);
            let end = first.saturating_add(self.chunks_in(*number));
            for chunk in first.max(counted.start)..end.min(counted.end) {
                // What is damaged can go, too.
                if let Ok(gone) = self.stored(chunk) {
                    self.count(gone.bytes.len(), -1);
                }
            }
        }
        self.set_rows(rows)?;
        self.write_tail(&tail)?;
        self.put_tail(Some(tail));
        let left = self.files();
        for number in gone
            .into_iter()
            .filter(|number| (left..files).contains(number))
        {
            self.remove_file(number)?;
        }
        Ok(())
    }

    /// How many chunks a superchunk has: none where it cannot be read, or has not those that it should have.
    fn chunks_in(&self, number: u64) -> u64 {
        let first = number.saturating_mul(self.spec.per_file.get());
        let contents = self
            .open(number, first)
            .and_then(|file| self.contents(number, file.as_ref()));
        contents.map_or(0, |contents| {
            u64::try_from(contents.places.len()).unwrap_or(u64::MAX)
        })
    }

    /// Appends rows of default values until there are so many.
    pub(crate) fn grow(&mut self, rows: u64) -> Result<()> {
        let row_bytes = self.spec.grid.row_bytes();
        // Refused now rather than after all the disk is full.
        self.grown_to(rows)?;
        let at_once = (BATCH / row_bytes.max(1))
            .max(1)
            .next_multiple_of(self.spec.grid.band_rows());
        let mut blank = Vec::new();
        while self.spec.grid.rows() < rows {
            let missing = rows.saturating_sub(self.spec.grid.rows()).min(at_once);
            let len = to_usize(missing.saturating_mul(row_bytes));
            if blank.len() < len {
                blank = self.blank(len);
            }
            self.append(blank.get(..len).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// Whether a file cannot be changed in its place: where only whole ones can be put, or it has other names.
fn is_refused(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::Unsupported | std::io::ErrorKind::InvalidInput
    )
}
