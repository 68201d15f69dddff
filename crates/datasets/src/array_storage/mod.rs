//! [`ArrayStorage`]: the superchunks of one array.

mod append;
mod cache;
mod change;
mod index;
mod pool;
mod read;
mod spec;

use crate::error::{missing_superchunk, wrong_count, wrong_length};
use crate::files::{Files, join};
use crate::grid::BandedGrid;
use crate::superchunk::{FIRST_READ, StoredChunk, SuperchunkIndex};
use append::Tail;
use blosc1::ChunkHeader;
use bloscpack::Options;
use bloscpack_error::checked::{in_memory, to_u64, to_usize};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{Entry, EntryKind, Key, ReadAhead, StoreFile};
use bloscpack_wire::{Limit, Limits};
use cache::ChunkCache;
use index::Written;
use pool::{Decoders, Encoders};
#[cfg(feature = "documents")]
pub(crate) use spec::typesize;
pub(crate) use spec::{ArraySpec, Naming};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The superchunks of an array, from which any box of elements is read, and to which rows are appended.
#[derive(Debug)]
pub(crate) struct ArrayStorage {
    files: Arc<Files>,
    spec: ArraySpec,
    resources: Resources,
    cache: ChunkCache,
    decoders: Decoders,
    encoders: Encoders,
    /// The indexes of superchunks with several chunks, by number.
    indexes: Mutex<HashMap<u64, Arc<SuperchunkIndex>>>,
    /// The rows after the last full band, while some of them are in no file.
    tail: Mutex<Option<Tail>>,
    /// The superchunks that were written since the last flush, if the array has an index.
    written: Option<Written>,
}

/// The resources that an array may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resources {
    pub threads: usize,
    /// Bytes of chunks that are kept.
    pub cache: usize,
    pub limits: Limits,
    /// Whether encoders and decoders are kept for their next use.
    pub keeps_idle: bool,
}

/// Bytes of chunks that are kept by default.
const DEFAULT_CACHE: usize = 256 << 20;

/// The number of columns from which on none of them keeps encoders and decoders, which take half a megabyte each.
const WIDE_TABLE: usize = 256;

impl Resources {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            threads: options.workers(),
            cache: options.cache.unwrap_or(DEFAULT_CACHE),
            limits: options.limits,
            keeps_idle: true,
        }
    }

    /// The share of one of this many columns.
    pub(crate) fn for_columns(self, columns: usize) -> Self {
        Self {
            cache: self.cache / columns.max(1),
            keeps_idle: columns < WIDE_TABLE,
            ..self
        }
    }
}

/// How much is read at once of a superchunk with several chunks, for the sake of its index.
const INDEX_READ: u64 = 16 << 10;

/// The greatest number of indexes that are kept.
const MAX_INDEXES: usize = 256;

impl ArrayStorage {
    pub(crate) fn new(files: Arc<Files>, spec: ArraySpec, resources: Resources) -> Self {
        Self {
            files,
            encoders: Encoders::new(spec.chunk_settings(), resources.keeps_idle),
            spec,
            cache: ChunkCache::new(resources.cache),
            decoders: Decoders::new(resources.limits, resources.keeps_idle),
            resources,
            indexes: Mutex::default(),
            tail: Mutex::default(),
            written: None,
        }
    }

    pub(crate) fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    pub(crate) fn grid(&self) -> &BandedGrid {
        &self.spec.grid
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    /// The key of superchunk `number`.
    pub(crate) fn key(&self, number: u64) -> Result<Key> {
        join(&self.spec.folder, &self.spec.naming.name(number))
    }

    fn chunks_per_file(&self) -> u64 {
        self.spec.chunks_per_file.get()
    }

    /// The number of the superchunk that contains a chunk, and the index of the chunk in it.
    fn file_of(&self, chunk: u64) -> (u64, u64) {
        (
            chunk / self.chunks_per_file(),
            chunk % self.chunks_per_file(),
        )
    }

    /// The number of the first chunk of a superchunk. It saturates for numbers of files that no array has.
    fn first_chunk(&self, number: u64) -> u64 {
        number.saturating_mul(self.chunks_per_file())
    }

    /// The number of chunks that a superchunk should have.
    fn expected_chunks(&self, number: u64) -> u64 {
        // None after the last chunk.
        let rest = self
            .grid()
            .chunks()
            .saturating_sub(self.first_chunk(number));
        rest.min(self.chunks_per_file())
    }

    /// The entries of the folder of superchunks; none if it is missing.
    pub(crate) fn list(&self) -> Result<Vec<Entry>> {
        self.files.list(&self.spec.folder)
    }

    /// The number of superchunks that the rows need.
    pub(crate) fn file_count(&self) -> u64 {
        self.grid().chunks().div_ceil(self.chunks_per_file())
    }

    fn indexes(&self) -> MutexGuard<'_, HashMap<u64, Arc<SuperchunkIndex>>> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index of a superchunk.
    pub(crate) fn index(&self, number: u64, file: &dyn StoreFile) -> Result<Arc<SuperchunkIndex>> {
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

    /// Refuses a superchunk with another number of chunks than it should have. The last one may have more, as a crash of
    /// another program leaves it.
    fn check_count(&self, number: u64, index: &SuperchunkIndex) -> Result<()> {
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

    /// A chunk as it is stored, checked as far as that is possible without decompressing it.
    pub(crate) fn stored(&self, chunk: u64) -> Result<StoredChunk> {
        let (number, index) = self.file_of(chunk);
        self.located(number, || {
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

    /// The header of a chunk.
    pub(crate) fn header(&self, chunk: u64) -> Result<ChunkHeader> {
        let (number, index) = self.file_of(chunk);
        self.located(number, || {
            let file = self.open(number, chunk)?;
            let slots = &self.index(number, file.as_ref())?.slots;
            let expected = index + 1;
            let found = to_u64(slots.len());
            let slot = slots.get(in_memory(index)?);
            let slot = slot.ok_or_else(|| wrong_count(found, expected))?;
            slot.header(file.as_ref())
        })
    }

    /// Adds the name of a superchunk to the errors of an operation on it.
    fn located<T>(&self, number: u64, operation: impl FnOnce() -> Result<T>) -> Result<T> {
        operation().map_err(|error| self.in_superchunk(number, error))
    }

    /// Adds the name of a superchunk to an error.
    pub(crate) fn in_superchunk(&self, number: u64, error: Error) -> Error {
        match self.key(number) {
            Ok(key) => self.files.locate(&key, error),
            Err(_) => error,
        }
    }

    /// Bytes of a superchunk that was opened.
    pub(crate) fn len_of(&self, number: u64, file: &dyn StoreFile) -> Result<u64> {
        file.size()
            .map_err(|error| self.in_superchunk(number, error.into()))
    }

    /// Opens a superchunk, to read this chunk or the ones after it.
    pub(crate) fn open(&self, number: u64, chunk: u64) -> Result<Box<dyn StoreFile>> {
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

    /// The greatest number of uncompressed bytes of a chunk. Pickles have any length.
    fn max_nbytes(&self) -> u64 {
        if self.spec.dtype.has_object() {
            self.resources.limits.chunk.into()
        } else {
            self.grid().chunk_bytes().into()
        }
    }

    fn check_nbytes(&self, stored: &StoredChunk, chunk: u64) -> Result<()> {
        if self.spec.dtype.has_object() {
            // Pickles have any length.
            return Ok(());
        }
        let found = u64::from(stored.header.nbytes);
        let allowed = u64::from(self.resources.limits.chunk);
        Error::check_limit(Limit::Chunk, found, allowed)?;
        let expected = self.grid().bytes_of(chunk);
        // A writer that was killed before it flushed leaves a longer last chunk.
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

    /// The first chunk of a superchunk that the rows do not need.
    pub(crate) fn uncounted(&self, number: u64) -> Result<StoredChunk> {
        self.located(number, || {
            let file = self.open(number, number)?;
            let index = self.spec.container.read(file.as_ref())?;
            index.chunk(file.as_ref(), 0, number, self.max_nbytes())
        })
    }

    /// Sets the number of rows. The superchunks contain them already.
    pub(crate) fn set_rows(&mut self, rows: u64) -> Result<()> {
        self.spec.grid = self.grid().with_rows(rows)?;
        self.put_tail(None);
        self.indexes().clear();
        self.cache.forget(0..u64::MAX);
        Ok(())
    }

    /// Sets the count of compressed bytes.
    pub(crate) fn set_cbytes(&mut self, cbytes: i64) {
        self.spec.cbytes = cbytes;
    }

    /// Removes a superchunk, if it is present.
    pub(crate) fn remove_file(&self, number: u64) -> Result<()> {
        self.files.remove(&self.key(number)?)
    }

    /// The numbers of all superchunks that are present, ascending.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>> {
        let entries = self
            .list()?
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::File);
        let mut numbers: Vec<u64> = entries
            .filter_map(|entry| self.spec.naming.number(entry.name.to_str()?))
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Removes all superchunks that are present, whether the rows need them or not.
    pub(crate) fn clear(&self) -> Result<()> {
        self.numbers()?
            .into_iter()
            .try_for_each(|number| self.remove_file(number))
    }

    /// Forgets a superchunk that has changed.
    fn forget(&self, number: u64) {
        self.indexes().remove(&number);
        let first = self.first_chunk(number);
        self.cache
            .forget(first..first.saturating_add(self.chunks_per_file()));
    }

    /// The grid with this number of rows, which the caller has chosen.
    pub(crate) fn resized_grid(&self, rows: u64) -> Result<BandedGrid> {
        let grid = self.grid().with_rows(rows);
        grid.map_err(|error| Error::usage(error.to_string()))
    }

    /// Refuses elements that cannot be read or written as plain bytes.
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

    /// Bytes of a stored chunk in memory.
    fn data_len(stored: &StoredChunk) -> usize {
        to_usize(stored.header.nbytes)
    }
}
