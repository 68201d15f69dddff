//! [`ChunkFiles`]: the chunks of an array in superchunks.

use super::{ArraySpec, Naming};
use crate::error::{missing_superchunk, wrong_count, wrong_length};
use crate::files::{Files, join};
use crate::grid::BandedGrid;
use crate::superchunk::{FIRST_READ, StoredChunk, SuperchunkIndex};
use bloscpack_array::{Buffer, ChunkStore, Loaded, Place, Want};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{Entry, EntryKind, Key, ReadAhead, ReadAt};
use bloscpack_wire::{Limit, Limits, Position, Section};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that are read at once from a superchunk with several chunks: usually its whole index.
const INDEX_READ: u64 = 16 << 10;

/// The maximum number of superchunk indexes in memory.
const MAX_INDEXES: usize = 256;

/// The superchunks of an array, and the chunks in them.
#[derive(Debug)]
pub(crate) struct ChunkFiles {
    pub(super) files: Arc<Files>,
    pub(super) spec: ArraySpec,
    limits: Limits,
    /// The indexes of superchunks with several chunks, by superchunk number.
    indexes: Mutex<HashMap<u64, Arc<SuperchunkIndex>>>,
}

impl ChunkFiles {
    pub(super) fn new(files: Arc<Files>, spec: ArraySpec, limits: Limits) -> Self {
        Self {
            files,
            spec,
            limits,
            indexes: Mutex::default(),
        }
    }

    pub(crate) fn grid(&self) -> &BandedGrid {
        &self.spec.grid
    }

    /// The key of superchunk `number`.
    pub(crate) fn key(&self, number: u64) -> Result<Key> {
        join(&self.spec.folder, &self.spec.naming.name(number))
    }

    pub(super) fn chunks_per_file(&self) -> u64 {
        self.spec.chunks_per_file.get()
    }

    /// The number of the superchunk that contains a chunk, and the index of the chunk in it.
    pub(super) fn file_of(&self, chunk: u64) -> (u64, u64) {
        (
            chunk / self.chunks_per_file(),
            chunk % self.chunks_per_file(),
        )
    }

    /// The number of the first chunk of a superchunk. Saturates for impossible file names.
    pub(super) fn first_chunk(&self, number: u64) -> u64 {
        number.saturating_mul(self.chunks_per_file())
    }

    /// The number of chunks that a superchunk should have; 0 after the last chunk.
    pub(super) fn expected_chunks(&self, number: u64) -> u64 {
        let rest = self
            .grid()
            .chunks()
            .saturating_sub(self.first_chunk(number));
        rest.min(self.chunks_per_file())
    }

    /// The entries of the folder of superchunks; empty if it is missing, `None` if the store cannot list it.
    pub(crate) fn list(&self) -> Result<Option<Vec<Entry>>> {
        match self.files.list(&self.spec.folder) {
            Err(error) if error.is_beyond_store() => Ok(None),
            listed => listed.map(Some),
        }
    }

    /// The number of superchunks that the rows need.
    pub(crate) fn file_count(&self) -> u64 {
        self.grid().chunks().div_ceil(self.chunks_per_file())
    }

    pub(super) fn indexes(&self) -> MutexGuard<'_, HashMap<u64, Arc<SuperchunkIndex>>> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The positions of the chunks in a superchunk. They are cached if there are several.
    pub(crate) fn index(&self, number: u64, file: &dyn ReadAt) -> Result<Arc<SuperchunkIndex>> {
        if let Some(known) = self.indexes().get(&number) {
            return Ok(Arc::clone(known));
        }
        let index = Arc::new(self.spec.container.read(file)?);
        self.check_count(number, &index)?;
        if self.chunks_per_file() > 1 {
            let mut known = self.indexes();
            if known.len() >= MAX_INDEXES {
                known.clear();
            }
            known.insert(number, Arc::clone(&index));
        }
        Ok(index)
    }

    /// Refuses a superchunk with the wrong number of chunks. The last one may have more: a crash of another program leaves
    /// uncounted chunks.
    pub(super) fn check_count(&self, number: u64, index: &SuperchunkIndex) -> Result<()> {
        let expected = self.expected_chunks(number);
        let found = to_u64(index.slots.len());
        let is_last = self.first_chunk(number).saturating_add(expected) >= self.grid().chunks();
        let may_be_longer = is_last || self.spec.naming == Naming::FromZero;
        if found < expected
            || found > self.chunks_per_file()
            || (found > expected && !may_be_longer)
        {
            return Err(wrong_count(found, expected));
        }
        Ok(())
    }

    /// Reads a compressed chunk, and checks its lengths and its digest.
    pub(crate) fn stored(&self, chunk: u64) -> Result<StoredChunk> {
        let (number, index) = self.file_of(chunk);
        self.in_file(number, || {
            let file = self.open(number, chunk)?;
            let stored = self.index(number, file.as_ref())?.chunk(
                file.as_ref(),
                in_memory(index)?,
                chunk,
                self.max_nbytes(),
            )?;
            self.check_nbytes(&stored, chunk)?;
            Ok(stored)
        })
    }

    /// Reads the header of a chunk, and finds its place.
    pub(crate) fn place(&self, chunk: u64) -> Result<Place> {
        let (number, index) = self.file_of(chunk);
        self.in_file(number, || {
            let file = self.open(number, chunk)?;
            let slots = &self.index(number, file.as_ref())?.slots;
            let expected = index + 1;
            let found = to_u64(slots.len());
            let slot = slots.get(in_memory(index)?);
            let slot = slot.ok_or_else(|| wrong_count(found, expected))?;
            let header = slot.header(file.as_ref())?;
            Ok(Place {
                file: self.key(number)?.as_str().to_owned(),
                // The header bounds what readers fetch; a slot may be longer.
                bytes: slot.at..slot.at.saturating_add(header.ctbytes.into()),
                header,
            })
        })
    }

    /// Refuses superchunks that other programs do not find.
    pub(crate) fn check_own_files(&self) -> Result<()> {
        self.files.check_own()
    }

    /// Adds the name of a superchunk to the errors of an operation on it.
    pub(super) fn in_file<T>(
        &self,
        number: u64,
        operation: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        operation().map_err(|error| self.in_superchunk(number, error))
    }

    /// Adds the name of a superchunk to an error.
    pub(crate) fn in_superchunk(&self, number: u64, error: Error) -> Error {
        match self.key(number) {
            Ok(key) => self.files.locate(&key, error),
            Err(_) => error,
        }
    }

    /// The length of an open superchunk in bytes.
    pub(crate) fn len_of(&self, number: u64, file: &dyn ReadAt) -> Result<u64> {
        file.size()
            .map_err(|error| self.in_superchunk(number, error.into()))
    }

    /// Opens a superchunk. `chunk` is the first chunk that will be read, for the error if the file is missing.
    pub(crate) fn open(&self, number: u64, chunk: u64) -> Result<Box<dyn ReadAt>> {
        let key = self.key(number)?;
        let file = self.files.read(&key)?.ok_or_else(|| {
            let error = missing_superchunk(chunk, self.grid().chunks());
            self.files.locate(&key, error)
        })?;
        let size = self.len_of(number, file.as_ref())?;
        let least = if self.spec.container.is_single() {
            FIRST_READ
        } else {
            INDEX_READ
        };
        Ok(Box::new(ReadAhead::new(file, in_memory(size.min(least))?)))
    }

    /// The maximum number of uncompressed bytes of a chunk. Pickles have any length up to the limit.
    pub(super) fn max_nbytes(&self) -> u64 {
        if self.spec.dtype.has_object() {
            self.limits.chunk.into()
        } else {
            self.grid().chunk_bytes().into()
        }
    }

    pub(super) fn check_nbytes(&self, stored: &StoredChunk, chunk: u64) -> Result<()> {
        if self.spec.dtype.has_object() {
            // Pickles have any length.
            return Ok(());
        }
        let found = u64::from(stored.header.nbytes);
        let allowed = u64::from(self.limits.chunk);
        Error::check_limit(Limit::Chunk, found, allowed)?;
        let expected = self.grid().bytes_of(chunk);
        // A writer that was killed before it flushed leaves a last chunk with uncounted rows.
        let is_last = chunk.checked_add(1) == Some(self.grid().chunks());
        let most = if is_last && !self.spec.container.pads_last_chunk() {
            self.grid().chunk_bytes().into()
        } else {
            expected
        };
        if !(expected..=most).contains(&found) {
            return Err(wrong_length(chunk, found, expected..=expected));
        }
        Ok(())
    }

    /// Reads the first chunk of a superchunk after the counted ones.
    pub(crate) fn uncounted(&self, number: u64) -> Result<StoredChunk> {
        self.in_file(number, || {
            let file = self.open(number, number)?;
            let index = self.spec.container.read(file.as_ref())?;
            index.chunk(file.as_ref(), 0, number, self.max_nbytes())
        })
    }

    /// Removes a superchunk if it exists.
    pub(crate) fn remove_file(&self, number: u64) -> Result<()> {
        self.files.remove(&self.key(number)?)
    }

    /// The numbers of all superchunks that exist, ascending. Empty if the store cannot list them.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>> {
        let entries = self
            .list()?
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::File);
        let mut numbers: Vec<u64> = entries
            .filter_map(|entry| self.spec.naming.number(entry.name.to_str()?))
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Removes all superchunks that exist, needed or not.
    pub(crate) fn clear(&self) -> Result<()> {
        self.numbers()?
            .into_iter()
            .try_for_each(|number| self.remove_file(number))
    }

    /// Refuses Python objects, which cannot be read or written as plain bytes.
    pub(crate) fn check_plain(&self) -> Result<()> {
        if self.spec.dtype.has_object() {
            Err(Error::new(
                Code::Unsupported,
                "the elements are Python objects (pickles), which are not supported: export them with Python",
            ))
        } else {
            Ok(())
        }
    }

    /// The grid with another number of rows. An impossible number is a usage error.
    pub(crate) fn resized_grid(&self, rows: u64) -> Result<BandedGrid> {
        let grid = self.grid().with_rows(rows);
        grid.map_err(|error| Error::usage(error.to_string()))
    }
}

impl ChunkStore for ChunkFiles {
    fn load(&self, chunk: u64, _: Want<'_>, buffer: &mut Buffer<'_>) -> Result<Loaded> {
        let StoredChunk { bytes, header, .. } = self.stored(chunk)?;
        buffer.set(bytes);
        Ok(Loaded::Blosc {
            header,
            is_complete: true,
        })
    }

    /// Adds the position and the superchunk to an error of a chunk.
    fn located(&self, chunk: u64, error: Error) -> Error {
        let (number, index) = self.file_of(chunk);
        let at = self.indexes().get(&number).and_then(|known| {
            let slot = known.slots.get(usize::try_from(index).ok()?)?;
            Some(slot.at)
        });
        let position = Position {
            // The index of a superchunk with one chunk is not kept. Its chunk begins at byte 16.
            byte: at.unwrap_or(16),
            member: 0,
            chunk: Some(chunk),
            section: Section::Chunk,
        };
        self.in_superchunk(number, error.at(position))
    }

    /// Announces the files of chunks. A single file is read at once anyway.
    fn announce(&self, chunks: &mut dyn Iterator<Item = (u64, bool)>) -> Result<()> {
        let mut files: Vec<u64> = chunks.map(|(chunk, _)| self.file_of(chunk).0).collect();
        files.dedup();
        if files.len() > 1 {
            let keys = files.into_iter().map(|file| self.key(file));
            self.files.will_read(&keys.collect::<Result<Vec<_>>>()?);
        }
        Ok(())
    }
}
