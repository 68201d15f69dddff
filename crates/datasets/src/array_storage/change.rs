//! Changes elements, cuts rows off, and appends default rows.

use super::ArrayStorage;
use crate::superchunk::{SuperchunkIndex, fitted};
use bloscpack_array::{Part, bytes_of, copy};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Bytes of default rows that are appended at once.
const BATCH: u64 = 16 << 20;

impl ArrayStorage {
    /// Sets a box of elements to `data`: exactly their bytes, in C order.
    pub(crate) fn set_box(&mut self, selection: &[Range<u64>], data: &[u8]) -> Result<()> {
        self.check_plain()?;
        self.grid().check(selection)?;
        let expected = bytes_of(selection, self.grid().itemsize());
        if to_u64(data.len()) != expected {
            return Err(Error::usage(format!(
                "{} bytes of data, but the slice has {expected}",
                data.len()
            )));
        }
        self.stage()?;
        // The tail may change. The next append reads it again.
        self.put_tail(None);
        let parts: Vec<Part> = self.grid().parts(selection).collect();
        let by_file =
            parts.chunk_by(|one, next| self.file_of(one.number).0 == self.file_of(next.number).0);
        let by_file: Vec<&[Part]> = by_file.collect();
        let growth = Mutex::new(0i64);
        let this = &*self;
        parallel::for_each(self.resources().threads, by_file.into_iter(), |parts| {
            let grown = this.set_in_file(parts, (selection, data))?;
            let mut growth = growth.lock().unwrap_or_else(PoisonError::into_inner);
            // The count is informative, and saturates.
            *growth = growth.saturating_add(grown);
            Ok::<_, Error>(())
        })?;
        let growth = growth.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The count is informative, and saturates.
        self.set_cbytes(self.spec.cbytes.saturating_add(growth));
        Ok(())
    }

    /// Sets the parts of a box that are in one superchunk. Returns by how many bytes the chunks of its full bands have grown.
    fn set_in_file(&self, parts: &[Part], data: (&[Range<u64>], &[u8])) -> Result<i64> {
        let Some(first) = parts.first() else {
            return Ok(0);
        };
        let (number, _) = self.file_of(first.number);
        let file = self.open(number, first.number)?;
        let index = self.in_file(number, || self.index(number, file.as_ref()))?;
        let full_chunks = self.grid().full_chunks();
        let (mut growth, mut changed) = (0i64, Vec::new());
        for part in parts {
            let old = self.stored(part.number)?.header.ctbytes;
            let chunk = self.compress(&self.with_part(part, data)?)?;
            if part.number < full_chunks {
                // The count is informative, and saturates.
                growth = growth
                    .saturating_add_unsigned(to_u64(chunk.len()))
                    .saturating_sub(old.into());
            }
            changed.push((part.number, chunk));
        }
        if !self.patch(number, &index, &changed)? {
            self.rewrite(number, &index, changed)?;
        }
        Ok(growth)
    }

    /// The data of a chunk after its part of the new data was copied into it.
    fn with_part(&self, part: &Part, data: (&[Range<u64>], &[u8])) -> Result<Vec<u8>> {
        let grid = self.grid();
        let nbytes = grid.bytes_of(part.number);
        let mut all = vec![0; in_memory(nbytes)?];
        if part.region.bytes(grid.itemsize()) < nbytes {
            self.read_chunk(part.number, &mut all)?;
        }
        let stored = grid.stored(part);
        copy(&part.region, data, (&stored, &mut all), grid.itemsize())?;
        Ok(all)
    }

    /// Writes chunks into the slots of the old ones. Returns false if one does not fit, or if the store cannot patch files; the
    /// superchunk must then be rewritten.
    fn patch(
        &self,
        number: u64,
        index: &SuperchunkIndex,
        changed: &[(u64, Vec<u8>)],
    ) -> Result<bool> {
        if self.chunks_per_file() == 1 && !index.spare {
            return Ok(false);
        }
        let mut patches = Vec::new();
        for (chunk, bytes) in changed {
            let (_, position) = self.file_of(*chunk);
            let Some(slot) = index.slots.get(in_memory(position)?) else {
                return Ok(false);
            };
            // Without an offset table, the next chunk must begin where this one ends.
            let len = bytes.len() + index.checksum.digest_len();
            if !index.spare && to_u64(len) != slot.len {
                return Ok(false);
            }
            match fitted(bytes, index.checksum, slot)? {
                Some(bytes) => patches.push((slot.at, bytes)),
                None => return Ok(false),
            }
        }
        let key = self.key(number)?;
        for (at, bytes) in patches {
            // A store that only writes whole files needs the whole superchunk.
            if !self.files.patch(&key, at, &bytes)? {
                return Ok(false);
            }
        }
        self.forget(number);
        Ok(true)
    }

    /// Writes the whole superchunk again, with some of its chunks replaced.
    fn rewrite(
        &self,
        number: u64,
        index: &SuperchunkIndex,
        changed: Vec<(u64, Vec<u8>)>,
    ) -> Result<()> {
        let first = self.first_chunk(number);
        let mut changed = changed.into_iter().peekable();
        let mut chunks = Vec::new();
        for chunk in first..first + self.expected_chunks(number) {
            let new = changed.next_if(|(number, _)| *number == chunk);
            chunks.push(match new {
                Some((_, bytes)) => bytes,
                None => self.stored(chunk)?.bytes.into(),
            });
        }
        if let Some((chunk, _)) = changed.next() {
            let found = format!("chunk {chunk} in superchunk {number}");
            return Err(Error::bug(found));
        }
        self.put_file(number, &index.metadata, &chunks)
    }

    /// Removes all rows after the first `rows` rows.
    pub(crate) fn trim(&mut self, rows: u64) -> Result<()> {
        self.check_plain()?;
        let present = self.grid().rows();
        if rows > present {
            return Err(Error::usage(format!(
                "cannot trim an array of {present} rows to {rows}"
            )));
        }
        self.stage()?;
        let tail = self.load_tail(rows)?;
        let numbers = self.numbers()?;
        let files = self.file_count();
        let removed = self.grid().with_rows(rows)?.full_chunks()..self.grid().full_chunks();
        // A hostile count may require any number of superchunks. Only those that exist are visited.
        for number in numbers.iter().filter(|number| **number < files) {
            let first = self.first_chunk(*number);
            let end = first.saturating_add(self.chunks_in(*number));
            for chunk in first.max(removed.start)..end.min(removed.end) {
                // Damaged chunks can be cut off, too; they are not counted.
                if let Ok(stored) = self.stored(chunk) {
                    self.count(stored.bytes.len(), -1);
                }
            }
        }
        self.set_rows(rows)?;
        self.write_tail(&tail)?;
        self.put_tail(Some(tail));
        let left = self.file_count();
        for number in numbers
            .into_iter()
            .filter(|number| (left..files).contains(number))
        {
            self.remove_file(number)?;
        }
        Ok(())
    }

    /// The number of chunks in a superchunk; 0 if it cannot be read or has the wrong number.
    fn chunks_in(&self, number: u64) -> u64 {
        let index = self
            .open(number, self.first_chunk(number))
            .and_then(|file| self.index(number, file.as_ref()));
        index.map_or(0, |index| to_u64(index.slots.len()))
    }

    /// Appends default rows until there are `rows`.
    pub(crate) fn grow(&mut self, rows: u64) -> Result<()> {
        // Refuse an impossible number now, not when the disk is full.
        self.resized_grid(rows)?;
        let row_bytes = self.grid().row_bytes();
        let per_batch = (BATCH / to_u64(row_bytes))
            .max(1)
            .next_multiple_of(self.grid().band_rows());
        let mut blank = Vec::new();
        while self.grid().rows() < rows {
            let missing = (rows - self.grid().rows()).min(per_batch);
            let len = in_memory(self.grid().bytes_of_rows(missing))?;
            if blank.len() < len {
                blank = self.blank(len)?;
            }
            blank.truncate(len);
            self.append(&blank)?;
        }
        Ok(())
    }
}
