//! Statistics of superchunks for the index: computed when superchunks are written, and compared with the files later.

use super::ArrayStorage;
use crate::error::no_index;
use crate::superchunk::SINGLE_HEAD_LEN;
use crate::wire::{Elements, IndexEntry, index_digest};
use bloscpack_error::checked::{in_memory, to_u64, zeros};
use bloscpack_error::{Category, Error, Result};
use bloscpack_storage::parallel;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use twox_hash::xxhash3_128::Hasher;

/// Bytes of a superchunk that are hashed at once.
const STEP: u64 = 1 << 20;

/// Bytes after a chunk in its file, which readers ignore, up to which a superchunk is indexed.
const TRAILING: u64 = 1 << 16;

/// The superchunks that were written since the last flush, by number. `None` if the statistics were not computed yet.
pub(crate) type Entries = BTreeMap<u64, Option<IndexEntry>>;

/// The superchunks that were written since the last flush.
#[derive(Debug)]
pub(super) struct Written {
    elements: Elements,
    /// Whether the index has to be created.
    is_new: bool,
    entries: Mutex<Entries>,
}

impl ArrayStorage {
    /// Begins to record which superchunks are written, for an existing index or for a new one.
    pub(crate) fn note_writes(&mut self, is_new: bool) {
        let elements = Elements::of(&self.spec.dtype);
        self.written = elements.ok().map(|elements| Written {
            elements,
            is_new,
            entries: Mutex::default(),
        });
    }

    /// Stops recording which superchunks are written.
    pub(crate) fn note_no_writes(&mut self) {
        self.written = None;
    }

    /// Records that a superchunk was written. `content` is its data and the bytes of its file, if both are in memory.
    pub(super) fn note_written(&self, number: u64, content: Option<(&[u8], &[u8])>) {
        let Some(written) = &self.written else { return };
        let entry = content.map(|(data, file)| IndexEntry::of(&written.elements, data, file));
        let mut entries = written.entries.lock();
        let entries = entries.as_mut().unwrap_or_else(PoisonError::get_mut);
        entries.insert(number, entry);
    }

    /// Takes the recorded superchunks, and whether they are for a new index; `None` if nothing is recorded. Missing statistics
    /// are computed from the files.
    pub(crate) fn take_written(&mut self) -> Result<Option<(Entries, bool)>> {
        let Some(written) = &mut self.written else {
            return Ok(None);
        };
        let entries = written.entries.get_mut();
        let mut entries = std::mem::take(entries.unwrap_or_else(PoisonError::into_inner));
        let is_new = std::mem::take(&mut written.is_new);
        let elements = written.elements;
        let files = self.file_count();
        entries.retain(|number, _| *number < files);
        let missing: Vec<_> = entries
            .iter_mut()
            .filter(|(_, entry)| entry.is_none())
            .collect();
        parallel::for_each(
            self.resources().threads,
            missing.into_iter(),
            |(number, entry)| {
                // A failure must not prevent the flush. The superchunk stays without statistics.
                *entry = self
                    .measured(*number, &elements, None)
                    .ok()
                    .and_then(|(entry, _)| entry);
                Ok::<_, Error>(())
            },
        )?;
        Ok(Some((entries, is_new)))
    }

    /// The statistics of a superchunk, and whether the `known` ones still match. If not, they are computed. `None` for a file
    /// that is too long for a superchunk.
    pub(crate) fn measured(
        &self,
        number: u64,
        elements: &Elements,
        known: Option<&IndexEntry>,
    ) -> Result<(Option<IndexEntry>, bool)> {
        // In the layouts with an index, a superchunk contains one chunk, with the same number.
        let file = self.open(number, number)?;
        let len = self.len_of(number, file.as_ref())?;
        if len > self.longest_file() {
            return Ok((None, false));
        }
        let mut bytes = zeros(len)?;
        let read = file.read_exact_at(0, &mut bytes);
        read.map_err(|error| self.in_superchunk(number, error.into()))?;
        let rows = self.grid().rows_of_band(number);
        let known = known.filter(|entry| entry.rows == rows && entry.is_of(&bytes));
        if let Some(entry) = known {
            return Ok((Some(entry.clone()), true));
        }
        let stored = self.in_file(number, || {
            let index = self.spec.container.read(&bytes)?;
            let stored = index.chunk(&bytes, 0, number, self.max_nbytes())?;
            self.check_nbytes(&stored, number)?;
            Ok(stored)
        })?;
        let mut data = zeros(self.grid().bytes_of(number))?;
        self.decompress(number, &stored, &mut data)?;
        Ok((Some(IndexEntry::of(elements, &data, &bytes)), false))
    }

    /// Whether statistics match the current file of a superchunk: number of rows, length and digest. Nothing is decompressed.
    pub(crate) fn holds(&self, number: u64, entry: &IndexEntry) -> Result<bool> {
        self.stage()?;
        let rows = self.grid().rows_of_band(number);
        if rows == 0 || entry.rows != rows || entry.file_len > self.longest_file() {
            return Ok(false);
        }
        let key = self.key(number)?;
        self.files.will_read(std::slice::from_ref(&key));
        let file = match self.files.read(&key) {
            Ok(Some(file)) => file,
            // A folder or link in the place of the file is no match.
            Err(error) if error.category() != Category::Damaged => return Err(error),
            Ok(None) | Err(_) => return Ok(false),
        };
        let len = self.len_of(number, file.as_ref())?;
        if len != entry.file_len {
            return Ok(false);
        }
        let (mut hasher, mut at) = (Hasher::new(), 0);
        let mut buffer = vec![0; in_memory(len.min(STEP))?];
        while at < len {
            buffer.truncate(in_memory((len - at).min(STEP))?);
            let part = &mut buffer[..];
            let read = file.read_exact_at(at, part);
            read.map_err(|error| self.in_superchunk(number, error.into()))?;
            hasher.write(part);
            at += to_u64(part.len());
        }
        Ok(hasher.finish_128() == entry.digest)
    }

    /// Bytes of the longest file that is indexed: an uncompressed full chunk, and some bytes after it.
    fn longest_file(&self) -> u64 {
        u64::from(self.grid().chunk_bytes()) + SINGLE_HEAD_LEN + TRAILING
    }

    /// The order of the elements; an error if they have none.
    pub(crate) fn elements(&self) -> Result<Elements> {
        Elements::of(&self.spec.dtype).map_err(no_index)
    }
}

impl IndexEntry {
    /// Whether length and digest match a file with these bytes.
    fn is_of(&self, file: &[u8]) -> bool {
        self.file_len == to_u64(file.len()) && self.digest == index_digest(file)
    }
}
