//! [`Leaf`]: the chunks of one array, wherever they lie.

mod append;
mod cache;
mod change;
mod pool;
mod read;

use super::grid::Grid;
use super::superchunk::{Container, Contents, Stored};
use append::Tail;
use blosc1::{ChunkSettings, Compressor, Fault, Filter};
use bloscpack_dtype::{DType, Kind, boxes::to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{EntryKind, JournaledStore, Key, Object};
use bloscpack_wire::Limits;
use cache::Cache;
use pool::{Decoders, Encoders};
pub(crate) use read::box_bytes;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};

/// How new chunks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Press {
    pub compressor: Compressor,
    pub level: u8,
    pub filter: Filter,
}

/// What the layout of a dataset says of one array.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub dtype: DType,
    pub grid: Grid,
    /// The folder of its superchunks.
    pub folder: Key,
    pub naming: Naming,
    pub container: Container,
    /// Chunks of every superchunk but the last.
    pub per_file: NonZeroU64,
    pub press: Press,
    /// What new elements are, an element or a row of them; nothing stands for zeros.
    pub default: Option<Vec<u8>>,
    /// How many rows there were to be.
    pub expected_rows: u64,
    /// Compressed bytes, as the dataset has it; it may be wrong.
    pub cbytes: i64,
    /// What the layout adds to the count of compressed bytes for each chunk.
    pub chunk_overhead: i64,
}

/// The names of superchunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// `__0.blp`, `__1.blp`, ...
    FromZero,
    /// `__1__.bin`, `__2__.bin`, ...
    FromOne,
}

/// What a reader of datasets may spend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means {
    pub threads: usize,
    /// Bytes of chunks that are kept.
    pub cache: usize,
    pub limits: Limits,
    /// Whether what compresses and decompresses is kept for the next time.
    pub keeps_idle: bool,
}

/// The chunks of an array: any box of elements out, and rows in.
#[derive(Debug)]
pub(crate) struct Leaf {
    root: Arc<JournaledStore>,
    spec: Spec,
    means: Means,
    cache: Cache,
    decoders: Decoders,
    encoders: Encoders,
    /// What superchunks of several chunks say of these.
    contents: Mutex<HashMap<u64, Arc<Contents>>>,
    /// Rows behind the last full band, while there are some that no file has.
    tail: Mutex<Option<Tail>>,
}

/// Superchunks whose tables are kept.
const MOST_CONTENTS: usize = 256;

impl Naming {
    /// The name of superchunk `number`, counted from 0.
    pub(crate) fn name(self, number: u64) -> String {
        match self {
            Self::FromZero => format!("__{number}.blp"),
            Self::FromOne => format!("__{}__.bin", number.saturating_add(1)),
        }
    }

    /// The number of the superchunk with this name, if it is one as it is written here.
    pub(crate) fn number(self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix("__")?;
        let number: u64 = match self {
            Self::FromZero => digits.strip_suffix(".blp")?.parse().ok()?,
            Self::FromOne => digits
                .strip_suffix("__.bin")?
                .parse::<u64>()
                .ok()?
                .checked_sub(1)?,
        };
        // Not `__01.blp` or `__+1.blp`.
        (self.name(number) == name).then_some(number)
    }
}

impl Leaf {
    pub(crate) fn new(root: Arc<JournaledStore>, spec: Spec, means: Means) -> Self {
        Self {
            root,
            encoders: Encoders::new(spec.chunk_settings(), means.keeps_idle),
            spec,
            cache: Cache::new(means.cache),
            decoders: Decoders::new(means.limits, means.keeps_idle),
            means,
            contents: Mutex::default(),
            tail: Mutex::default(),
        }
    }

    pub(crate) fn spec(&self) -> &Spec {
        &self.spec
    }

    pub(crate) fn grid(&self) -> &Grid {
        &self.spec.grid
    }

    pub(crate) fn means(&self) -> &Means {
        &self.means
    }

    /// Where superchunk `number` lies.
    pub(crate) fn key(&self, number: u64) -> Result<Key> {
        Ok(self.spec.folder.join(&self.spec.naming.name(number))?)
    }

    /// The superchunk of a chunk, and its number there.
    fn file_of(&self, chunk: u64) -> (u64, u64) {
        let per_file = self.spec.per_file.get();
        (chunk / per_file, chunk % per_file)
    }

    /// What lies in the folder of its superchunks; nothing if that is missing.
    pub(crate) fn list(&self) -> Result<Vec<bloscpack_storage::Entry>> {
        match self.root.list(&self.spec.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            entries => entries.map_err(|error| Error::from(error).in_file(&self.spec.folder)),
        }
    }

    /// How many superchunks there are.
    pub(crate) fn files(&self) -> u64 {
        self.spec.grid.chunks().div_ceil(self.spec.per_file.get())
    }

    /// What a superchunk says of its chunks.
    pub(crate) fn contents(&self, number: u64, file: &dyn Object) -> Result<Arc<Contents>> {
        let locked = || self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = locked().get(&number) {
            return Ok(Arc::clone(known));
        }
        let contents = Arc::new(self.spec.container.read(file)?);
        self.check_count(number, &contents)?;
        if self.spec.per_file.get() > 1 {
            let mut known = locked();
            if known.len() >= MOST_CONTENTS {
                known.clear();
            }
            known.insert(number, Arc::clone(&contents));
        }
        Ok(contents)
    }

    /// A superchunk has all of its chunks, and no more.
    fn check_count(&self, number: u64, contents: &Contents) -> Result<()> {
        let begun = number.saturating_mul(self.spec.per_file.get());
        let expected = self
            .spec
            .grid
            .chunks()
            .saturating_sub(begun)
            .min(self.spec.per_file.get());
        let found = u64::try_from(contents.places.len()).unwrap_or(u64::MAX);
        // A crash of other programs may leave a longer last one.
        if found < expected
            || found > self.spec.per_file.get()
            || (found > expected
                && self.spec.naming == Naming::FromOne
                && begun.saturating_add(expected) < self.spec.grid.chunks())
        {
            let what = format!("{found} chunks, where {expected} should be");
            return Err(crate::error::dataset(Fault::Damaged, what));
        }
        Ok(())
    }

    /// A chunk as it is stored, checked as far as that goes without decompressing it.
    pub(crate) fn stored(&self, chunk: u64) -> Result<Stored> {
        let (number, index) = self.file_of(chunk);
        let key = self.key(number)?;
        self.stored_in(number, to_usize(index), chunk)
            .map_err(|error| error.in_file(&key))
    }

    fn stored_in(&self, number: u64, index: usize, chunk: u64) -> Result<Stored> {
        let file = self.open(number, chunk)?;
        let stored = self.contents(number, file.as_ref())?.chunk(
            file.as_ref(),
            index,
            chunk,
            self.most(),
        )?;
        self.check_nbytes(&stored, chunk)?;
        Ok(stored)
    }

    pub(crate) fn open(&self, number: u64, chunk: u64) -> Result<Box<dyn Object>> {
        let key = self.key(number)?;
        match self.root.read(&key) {
            // Of the dataset, too: what lies there is not what belongs there.
            Err(error)
                if error.kind() == std::io::ErrorKind::InvalidInput
                    && self.root.kind(&key)? != Some(EntryKind::File) =>
            {
                let what = "this superchunk is no regular file: links are not followed";
                Err(crate::error::dataset(Fault::Damaged, what))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let rows = self.spec.grid.rows();
                let what = format!(
                    "this superchunk is missing, which should hold chunk {chunk} of the {} that {rows} rows have",
                    self.spec.grid.chunks()
                );
                Err(crate::error::dataset(Fault::Damaged, what))
            }
            file => Ok(file?),
        }
    }

    /// Bytes of data that a chunk has at most; pickles are of any length.
    fn most(&self) -> u64 {
        match self.spec.dtype.has_object() {
            true => self.means.limits.chunk.into(),
            false => self.spec.grid.chunk_bytes(),
        }
    }

    fn check_nbytes(&self, stored: &Stored, chunk: u64) -> Result<()> {
        if self.spec.dtype.has_object() {
            // Pickles are of any length.
            return Ok(());
        }
        let (found, limit) = (stored.header.nbytes, self.means.limits.chunk);
        if found > limit {
            let what = format!(
                "chunk {chunk} has {found} bytes of data, more than the limit `chunk` of {limit}"
            );
            return Err(crate::error::dataset(Fault::OverLimit, what));
        }
        let expected = self.spec.grid.bytes_of(chunk);
        let found = u64::from(found);
        // A writer that died before its last flush has left a longer one.
        let may_be_longer = chunk.saturating_add(1) == self.spec.grid.chunks()
            && !matches!(self.spec.container, Container::Proposal(_));
        if found == expected
            || (may_be_longer && expected < found && found <= self.spec.grid.chunk_bytes())
        {
            return Ok(());
        }
        let what = format!("chunk {chunk} has {found} bytes of data, where {expected} should be");
        Err(crate::error::dataset(Fault::Damaged, what))
    }

    /// The first chunk of a superchunk, whatever the array should have there.
    pub(crate) fn alone(&self, number: u64) -> Result<Stored> {
        let key = self.key(number)?;
        let read = || -> Result<Stored> {
            let file = self.open(number, number)?;
            self.spec
                .container
                .read(file.as_ref())?
                .chunk(file.as_ref(), 0, number, self.most())
        };
        read().map_err(|error| error.in_file(&key))
    }

    /// Counts other rows, which the superchunks hold.
    pub(crate) fn set_rows(&mut self, rows: u64) -> Result<()> {
        self.spec.grid = self.spec.grid.with_rows(rows)?;
        self.put_tail(None);
        self.contents
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        self.cache.forget(0..u64::MAX);
        Ok(())
    }

    /// Counts other compressed bytes.
    pub(crate) fn set_cbytes(&mut self, cbytes: i64) {
        self.spec.cbytes = cbytes;
    }

    /// Removes a superchunk, if it is there.
    pub(crate) fn remove_file(&self, number: u64) -> Result<()> {
        let key = self.key(number)?;
        match self.root.remove(&key) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::from(error).in_file(&key))
            }
            _ => Ok(()),
        }
    }

    /// The numbers of all superchunks that are there, ascending.
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

    /// Removes all superchunks that are there, counted or not.
    pub(crate) fn clear(&self) -> Result<()> {
        self.numbers()?
            .into_iter()
            .try_for_each(|number| self.remove_file(number))
    }

    /// Forgets what was read of a superchunk that has changed.
    fn forget(&self, number: u64) {
        self.contents
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&number);
        let per_file = self.spec.per_file.get();
        let first = number.saturating_mul(per_file);
        self.cache.forget(first..first.saturating_add(per_file));
    }

    /// The grid with more rows, which cannot be any number of them.
    pub(crate) fn grown_to(&self, rows: u64) -> Result<Grid> {
        let grown = self.spec.grid.with_rows(rows);
        grown.map_err(|error| Error::usage(error.to_string()))
    }

    /// Refuses what cannot be read or written as plain bytes.
    pub(crate) fn check_plain(&self) -> Result<()> {
        if self.spec.dtype.has_object() {
            let what = "the elements are Python objects, stored as pickles, which are never opened here: export them with the Python that wrote them";
            return Err(crate::error::dataset(Fault::Unsupported, what));
        }
        Ok(())
    }
}

impl Spec {
    /// How chunks are compressed. bcolz counts in elements of the dtype what Blosc counts in those of the chunk's typesize, so
    /// that both have to agree.
    fn chunk_settings(&self) -> ChunkSettings {
        let Press {
            compressor,
            level,
            filter,
        } = self.press;
        ChunkSettings::default()
            .compressor(compressor)
            .level(level)
            .filter(filter)
            .typesize(self.typesize())
    }

    /// The typesize of its chunks.
    pub(crate) fn typesize(&self) -> u8 {
        typesize(&self.dtype)
    }
}

/// The typesize of chunks of this dtype, as bcolz has it for each kind.
pub(crate) fn typesize(dtype: &DType) -> u8 {
    match dtype.kind() {
        Kind::Bytes | Kind::Object => 1,
        Kind::Text => 4,
        _ => u8::try_from(dtype.itemsize()).unwrap_or(1).max(1),
    }
}
