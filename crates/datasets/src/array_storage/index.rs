//! Statistics of superchunks: those that were written, and whether those of an index still hold.

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

/// Bytes that may follow a chunk in its file, which readers ignore.
const TRAILING: u64 = 1 << 16;

/// The superchunks that were written since the last flush, by number, with their statistics where they are known.
pub(crate) type Entries = BTreeMap<u64, Option<IndexEntry>>;

/// The superchunks that were written since the last flush.
#[derive(Debug)]
pub(super) struct Written {
    elements: Elements,
    /// Whether there is no index yet.
    is_new: bool,
    entries: Mutex<Entries>,
}

impl ArrayStorage {
    /// Notes from now on which superchunks are written, for an index that exists, or for a new one.
    pub(crate) fn note_writes(&mut self, is_new: bool) {
        let elements = Elements::of(&self.spec.dtype);
        self.written = elements.ok().map(|elements| Written {
            elements,
            is_new,
            entries: Mutex::default(),
        });
    }

    /// Notes nothing from now on.
    pub(crate) fn note_no_writes(&mut self) {
        self.written = None;
    }

    /// Notes that a superchunk was written: its data and the bytes of its file, where they are at hand.
    pub(super) fn note_written(&self, number: u64, content: Option<(&[u8], &[u8])>) {
        let Some(written) = &self.written else { return };
        let entry = content.map(|(data, file)| IndexEntry::of(&written.elements, data, file));
        let mut entries = written.entries.lock();
        let entries = entries.as_mut().unwrap_or_else(PoisonError::get_mut);
        entries.insert(number, entry);
    }

    /// Takes what was noted, and whether it is for a new index; `None` if nothing is noted. Statistics that were not at hand
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
                // An index is worth no failure to write the rows: the superchunk remains without statistics.
                *entry = self
                    .measured(*number, &elements, None)
                    .ok()
                    .and_then(|(entry, _)| entry);
                Ok::<_, Error>(())
            },
        )?;
        Ok(Some((entries, is_new)))
    }

    /// The statistics of a superchunk, computed unless those that are `known` hold, and whether they do. There are none of a
    /// file that is too long for a superchunk.
    pub(crate) fn measured(
        &self,
        number: u64,
        elements: &Elements,
        known: Option<&IndexEntry>,
    ) -> Result<(Option<IndexEntry>, bool)> {
        // A superchunk is a chunk.
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

    /// Whether statistics are of a superchunk as it is now. Nothing is decompressed.
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
            // Something else may be in its place.
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

    /// Bytes of the longest file that is described. The longest that a writer makes has a copy of a full chunk.
    fn longest_file(&self) -> u64 {
        u64::from(self.grid().chunk_bytes()) + SINGLE_HEAD_LEN + TRAILING
    }

    /// Refuses an array whose superchunks have no statistics.
    pub(crate) fn elements(&self) -> Result<Elements> {
        Elements::of(&self.spec.dtype).map_err(no_index)
    }
}

impl IndexEntry {
    /// Whether its superchunk is in a file of these bytes.
    fn is_of(&self, file: &[u8]) -> bool {
        self.file_len == to_u64(file.len()) && self.digest == index_digest(file)
    }
}
