//! [`IndexedRecordReader`]: any record, by its number.

use super::cache::{Cache, Unpacked};
use super::find::Finder;
use super::typed::{FromRecord, value_of_record};
use crate::Options;
use crate::engine::Warning;
use crate::indexed::{ChunkExtent, Fetcher, Index};
use blosc1::{ChunkHeader, internal::has_blocks};
use bloscpack_error::checked::{slice_mut, to_usize};
use bloscpack_error::{Category, Error, IoSide, Result};
use bloscpack_storage::{ReadAhead, ReadAt};
use bloscpack_wire::{
    Form, FormatError, Header, Limit, Metadata, PackHead, Packing, ParseError,
    internal::PACK_HEAD_LEN,
};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A chunk of more uncompressed bytes than this is decoded in pieces.
const LARGE: u32 = 64 << 20;
/// The least length of such a piece, except for the last.
const PIECE: usize = 1 << 20;
/// The most damaged chunks that are remembered: several times as many as are tried for one record.
const MOST_DAMAGED: usize = 1024;

/// Reads any record of a file by its number, without reading other chunks.
///
/// All methods take `&self`, and several threads may read at once; each call works on the caller's thread, except
/// [`get_many`](Self::get_many). Every digest is checked.
///
/// | records | reading one takes |
/// |---|---|
/// | one per chunk | one access to the source, two if the record is longer than 1 MiB |
/// | packed, its chunk in the [cache](Options::cache) (64 MiB) | none |
/// | packed, its chunk not in the cache | mostly one or two chunks, O(log n) chunks at worst |
///
/// In a file of more than 65,536 chunks, one more access reads its part of the offset table, unless that was read before.
///
/// Packed records share the memory of their unpacked chunk as [`Bytes`]: one record keeps the whole chunk as long as it lives.
/// Besides the cache, the reader keeps 8 bytes per packed chunk, and up to 16 MiB of the offset table.
///
/// A stream without an offset table, or several members of unpacked records, can be read as well: opening then walks over the
/// headers of all chunks. The source must not change while it is read; see
/// [`IndexedReader`](crate::indexed::IndexedReader).
///
/// ```
/// use bloscpack::records::{IndexedRecordReader, RecordWriter};
/// use std::io::Cursor;
/// let mut writer = RecordWriter::builder().quick().write_to_file(Cursor::new(Vec::new()))?;
/// for number in 0..100_000 {
///     writer.push(format!("record {number}"))?;
/// }
/// let file = writer.finish()?.into_inner();
///
/// let records = IndexedRecordReader::open(file)?;
/// assert_eq!(records.len(), 100_000);
/// assert_eq!(records.get(77_777)?, "record 77777");
/// let texts: Result<Vec<String>, _> = records.range_as(5..7).collect();
/// assert_eq!(texts?, ["record 5", "record 6"]);
/// # Ok::<(), bloscpack::Error>(())
/// ```
pub struct IndexedRecordReader<S> {
    pub(crate) source: S,
    pub(super) index: Arc<Index>,
    fetcher: Fetcher,
    pub(super) options: Options,
    pub(super) len: u64,
    pub(super) packed: Option<Packed>,
}

/// The state for reading packed chunks.
pub(super) struct Packed {
    packing: Packing,
    finder: Finder,
    cache: Mutex<Cache>,
    /// Chunks that were found damaged. Without them, each request for one of their records would read them, and the chunks
    /// next to them, again.
    damaged: Mutex<BTreeMap<u64, ParseError>>,
}

impl<S: ReadAt> IndexedRecordReader<S> {
    /// Opens a source with all defaults: a `File`, a [`Snapshot`](bloscpack_storage::Snapshot) of a file that others may
    /// change, a slice, or a `Vec`.
    ///
    /// # Errors
    /// Returns the same errors as [`with_options`](Self::with_options).
    pub fn open(source: S) -> Result<Self> {
        Self::with_options(source, Options::new())
    }

    /// Opens a source: reads its header, metadata, offset table and, of packed records, the last chunk. Without an offset
    /// table, it passes once over the headers of all chunks. The seal of V2 is checked, which reads the whole table.
    ///
    /// ```
    /// use bloscpack::{Options, records::{IndexedRecordReader, RecordWriter}};
    /// let mut writer = RecordWriter::builder().quick().write_to(Vec::new())?;
    /// for number in 0..1000_u32 {
    ///     writer.push(number.to_le_bytes())?;
    /// }
    /// // Without a cache, every call unpacks the chunk of its record again.
    /// let records = IndexedRecordReader::with_options(writer.finish()?, Options::new().cache(0))?;
    /// assert_eq!(records.get(999)?, 999_u32.to_le_bytes().as_slice());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the source; an error in the structure of the input; the error of a damaged last chunk of packed
    /// records if the metadata does not contain their number; and [`Unsupported`](bloscpack_error::Category::Unsupported) for
    /// content, for records packed in an unknown way, and for concatenations with packed members.
    pub fn with_options(source: S, options: Options) -> Result<Self> {
        let index = record_index(&source, &options, None).reading()?;
        Self::with_index(source, options, index.into()).reading()
    }

    /// A reader of a source whose index is known.
    pub(crate) fn with_index(source: S, options: Options, index: Arc<Index>) -> Result<Self> {
        let mut reader = Self {
            source,
            fetcher: Fetcher::new(options.hashers.clone(), options.limits, true),
            options,
            len: 0,
            packed: None,
            index: Arc::default(),
        };
        reader.begin(index)?;
        Ok(reader)
    }

    /// Number of records, over all members.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file has no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.index.chunks()
    }

    /// How the records are packed; `None` if each record is a chunk.
    pub fn packing(&self) -> Option<Packing> {
        self.packed.as_ref().map(|packed| packed.packing)
    }

    /// The header of the first member; `None` only after a [`refresh`](Self::refresh) that failed.
    pub fn header(&self) -> Option<&Header> {
        self.index.header()
    }

    /// The metadata of the first member.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.index.metadata.as_ref()
    }

    /// Things in the structure that are unusual but not wrong, as of opening or the last refresh.
    pub fn warnings(&self) -> &[Warning] {
        &self.index.warnings
    }

    /// A record, by its number from 0. A damaged chunk affects only its own records.
    ///
    /// ```
    /// use bloscpack::{error::Category, records::{IndexedRecordReader, RecordWriter}};
    /// let mut writer = RecordWriter::new(Vec::new())?;
    /// writer.push("the only one")?;
    /// let records = IndexedRecordReader::open(writer.finish()?)?;
    /// assert_eq!(records.get(0)?, "the only one");
    /// assert_eq!(records.get(1).unwrap_err().category(), Category::Usage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error past the last record, any error of the source, and the
    /// error of a damaged chunk.
    pub fn get(&self, record: u64) -> Result<Bytes> {
        self.check_number(record)?;
        let Some(packed) = &self.packed else {
            return self.read_plain(&self.source, record);
        };
        let unpacked = self.chunk_with(&self.source, packed, record)?;
        record_of(&unpacked, record)
    }

    pub(super) fn check_number(&self, record: u64) -> Result<()> {
        if record < self.len {
            return Ok(());
        }
        let len = self.len;
        let title = format!("there is no record {record}: the file has {len}, counted from 0");
        Err(Error::usage(title))
    }

    /// A record that is a chunk of its own.
    fn read_plain<T: ReadAt>(&self, source: &T, record: u64) -> Result<Bytes> {
        let (extent, header, bytes) = self.fetch(source, record).reading()?;
        Ok(self.decode(&extent, &header, &bytes)?.into())
    }

    /// The packed chunk that contains a record.
    fn chunk_with<T: ReadAt>(
        &self,
        source: &T,
        packed: &Packed,
        record: u64,
    ) -> Result<Arc<Unpacked>> {
        let chunk = self.find(source, packed, record).reading()?;
        self.unpacked(source, packed, chunk).reading()
    }

    /// A record as a value.
    ///
    /// # Errors
    /// Returns the same errors as [`get`](Self::get), and [`Code::RecordValue`](bloscpack_error::Code::RecordValue) if it is
    /// not a value of this type.
    pub fn get_as<T: FromRecord>(&self, record: u64) -> Result<T> {
        value_of_record(self.get(record)?, record)
    }

    /// All records, in order, or from the last to the first with [`rev`](Iterator::rev). Each item is read when it is
    /// requested; an error does not end the iteration.
    ///
    /// ```
    /// use bloscpack::records::{IndexedRecordReader, RecordWriter};
    /// let mut writer = RecordWriter::new(Vec::new())?;
    /// for record in ["one", "two", "three"] {
    ///     writer.push(record)?;
    /// }
    /// let records = IndexedRecordReader::open(writer.finish()?)?;
    /// let last = records.iter().rev().take(2).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(last, ["three", "two"]);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Result<Bytes>> + '_ {
        self.range(0..self.len)
    }

    /// The records of a range, in order; numbers past the end are left out. An error does not end the iteration: the next
    /// record follows. The current chunk stays unpacked between items, even without a cache.
    pub fn range(
        &self,
        records: Range<u64>,
    ) -> impl DoubleEndedIterator<Item = Result<Bytes>> + '_ {
        (records.start..records.end.min(self.len)).map(self.one_by_one())
    }

    /// Reads record after record, and keeps the unpacked chunk for the next one.
    pub(super) fn one_by_one(&self) -> impl FnMut(u64) -> Result<Bytes> + '_ {
        let mut unpacked: Option<Arc<Unpacked>> = None;
        let source = ReadAhead::new(&self.source, 0);
        move |record| {
            let Some(packed) = &self.packed else {
                return self.read_plain(&source, record);
            };
            if let Some(found) = unpacked.as_ref().and_then(|chunk| chunk.record(record)) {
                return Ok(found);
            }
            let chunk = self.chunk_with(&source, packed, record)?;
            record_of(unpacked.insert(chunk), record)
        }
    }

    /// The records of a range as values; see [`range`](Self::range).
    pub fn range_as<T: FromRecord>(
        &self,
        records: Range<u64>,
    ) -> impl DoubleEndedIterator<Item = Result<T>> + '_ {
        let mut read = self.one_by_one();
        let records = records.start..records.end.min(self.len);
        records.map(move |record| value_of_record(read(record)?, record))
    }

    /// The numbers of the records in a chunk, by the number of the chunk from 0; `None` after the last chunk. Of packed
    /// records, the chunk is read and decoded unless it is in the cache.
    ///
    /// ```
    /// use bloscpack::records::{IndexedRecordReader, RecordWriter};
    /// let mut writer = RecordWriter::builder().packed(100).write_to(Vec::new())?;
    /// for _ in 0..20 {
    ///     writer.push("ten bytes.")?;
    /// }
    /// let records = IndexedRecordReader::open(writer.finish()?)?;
    /// assert_eq!(records.chunk_range(0)?, Some(0..7));
    /// assert_eq!(records.chunk_range(2)?, Some(14..20));
    /// assert_eq!(records.chunk_range(3)?, None);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the source, and for packed records the error of a damaged chunk.
    pub fn chunk_range(&self, chunk: u64) -> Result<Option<Range<u64>>> {
        if chunk >= self.chunks() {
            return Ok(None);
        }
        let Some(packed) = &self.packed else {
            return Ok(Some(chunk..chunk + 1));
        };
        let unpacked = self.unpacked(&self.source, packed, chunk).reading()?;
        Ok(Some(unpacked.head.first..unpacked.head.end()))
    }

    /// Adopts an index, and determines the number of records, which the last chunk of packed ones shows. Knowledge about packed
    /// chunks is kept: the file is the same.
    pub(super) fn begin(&mut self, index: Arc<Index>) -> Result<()> {
        let form = common_form(&index)?;
        let known = self.index.chunks();
        self.index = index;
        let Form::Packed { packing, count } = form else {
            (self.packed, self.len) = (None, self.chunks());
            return Ok(());
        };
        let (len, last) = self.find_end(packing, count)?;
        check_count(&self.index, count, len)?;
        let kept = self.packed.take().filter(|kept| kept.packing == packing);
        let mut packed =
            kept.unwrap_or_else(|| Packed::new(packing, self.options.cache.unwrap_or(CACHE)));
        packed.grow(known, self.chunks(), len)?;
        if let Some((number, unpacked)) = last {
            self.keep(&packed, number, unpacked)?;
        }
        (self.packed, self.len) = (Some(packed), len);
        Ok(())
    }

    /// The number of packed records, and the last chunk.
    fn find_end(
        &self,
        packing: Packing,
        count: Option<u64>,
    ) -> Result<(u64, Option<(u64, Unpacked)>)> {
        let chunks = self.chunks();
        let Some(number) = chunks.checked_sub(1) else {
            return Ok((0, None));
        };
        match (self.read_unpacked(&self.source, packing, number), count) {
            (Ok(unpacked), _) => Ok((unpacked.head.end(), Some((number, unpacked)))),
            // The metadata contains the number as well. It is used unless the chunks have no room for this many records.
            (Err(error), Some(count))
                if error.category() == Category::Damaged
                    && count.div_ceil(packing.most_records().into()) <= chunks =>
            {
                Ok((count, None))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// The number of the packed chunk that contains a record.
    fn find<T: ReadAt>(&self, source: &T, packed: &Packed, record: u64) -> Result<u64> {
        let open = |chunk| Ok(self.unpacked(source, packed, chunk)?.head);
        packed.finder.find(record, open)
    }

    /// A packed chunk, from the cache or by reading and keeping it.
    fn unpacked<T: ReadAt>(
        &self,
        source: &T,
        packed: &Packed,
        chunk: u64,
    ) -> Result<Arc<Unpacked>> {
        if let Some(kept) = packed.cache().get(chunk) {
            return Ok(Arc::clone(kept));
        }
        if let Some(damage) = packed.damaged().get(&chunk) {
            return Err(damage.clone().into());
        }
        let unpacked = self.read_unpacked(source, packed.packing, chunk);
        let unpacked = unpacked.and_then(|unpacked| self.keep(packed, chunk, unpacked));
        if let Err(error) = &unpacked
            && let (Some(what), Some(position)) = (error.format_error(), error.position())
        {
            let (error, position) = (what.clone(), *position);
            let mut damaged = packed.damaged();
            if damaged.len() >= MOST_DAMAGED {
                damaged.clear();
            }
            damaged.insert(chunk, ParseError { error, position });
        }
        unpacked
    }

    /// Stores a decoded chunk in the cache and its numbers in the finder, which compares them with other chunks.
    fn keep(&self, packed: &Packed, chunk: u64, unpacked: Unpacked) -> Result<Arc<Unpacked>> {
        let learned = packed.finder.learn(chunk, &unpacked.head);
        if let Err(error) = learned {
            let extent = self.extent(&self.source, chunk)?;
            return Err(damaged(&extent, error));
        }
        let unpacked = Arc::new(unpacked);
        packed.cache().put(chunk, Arc::clone(&unpacked));
        Ok(unpacked)
    }

    /// A packed chunk and its position, if it has room left.
    pub(crate) fn open_chunk(
        &self,
        chunk: u64,
        packing: Packing,
    ) -> Result<Option<(Unpacked, u64)>> {
        let unpacked = self.read_unpacked(&self.source, packing, chunk)?;
        let at = self.extent(&self.source, chunk)?.position.byte;
        Ok(unpacked.has_room(packing).then_some((unpacked, at)))
    }

    /// Reads and decodes a packed chunk, and checks its head and lengths.
    fn read_unpacked<T: ReadAt>(
        &self,
        source: &T,
        packing: Packing,
        chunk: u64,
    ) -> Result<Unpacked> {
        let (extent, header, bytes) = self.fetch(source, chunk)?;
        let nbytes = header.nbytes;
        if nbytes > packing.chunk_size() {
            // Only a chunk of a single record may be that long.
            let mut head = [0; PACK_HEAD_LEN];
            self.fetcher
                .decode_part(&extent, &bytes, Some(0), &mut head)?;
            PackHead::decode(&head, nbytes, packing).map_err(|error| damaged(&extent, error))?;
        }
        let content = self.decode(&extent, &header, &bytes)?;
        let head = PackHead::decode(&content, nbytes, packing);
        head.and_then(|head| Unpacked::new(head, content))
            .map_err(|error| damaged(&extent, error))
    }

    fn extent<T: ReadAt>(&self, source: &T, chunk: u64) -> Result<ChunkExtent> {
        let (extent, chunks) = (self.index.extent(source, chunk)?, self.chunks());
        extent.ok_or_else(|| Error::bug(format!("chunk {chunk} of {chunks}")))
    }

    /// The place of a chunk, its header and its bytes, which have been checked.
    fn fetch<T: ReadAt>(
        &self,
        source: &T,
        chunk: u64,
    ) -> Result<(ChunkExtent, ChunkHeader, Bytes)> {
        let extent = self.extent(source, chunk)?;
        let (header, bytes) = self.fetcher.fetch_extent(source, &extent, None)?;
        if header.nbytes > self.options.limits.chunk {
            let exceeded = FormatError::Limit {
                limit: Limit::Chunk,
                found: header.nbytes.into(),
                allowed: self.options.limits.chunk.into(),
            };
            return Err(damaged(&extent, exceeded));
        }
        Ok((extent, header, bytes))
    }

    /// The content of a chunk that was read and checked.
    fn decode(&self, extent: &ChunkExtent, header: &ChunkHeader, bytes: &[u8]) -> Result<Vec<u8>> {
        if header.nbytes > LARGE {
            return self.decode_large(extent, header, bytes);
        }
        let mut content = vec![0; to_usize(header.nbytes)];
        self.fetcher
            .decode_part(extent, bytes, None, &mut content)?;
        Ok(content)
    }

    /// Allocates memory piece by piece, as blocks are decoded: a few bytes can claim to be 2 GiB.
    fn decode_large(
        &self,
        extent: &ChunkExtent,
        header: &ChunkHeader,
        bytes: &[u8],
    ) -> Result<Vec<u8>> {
        let nbytes = to_usize(header.nbytes);
        let block = match to_usize(header.blocksize) {
            block @ 1.. if has_blocks(bytes) => block.min(nbytes),
            _ => PIECE,
        };
        let step = block * PIECE.div_ceil(block);
        let mut content = Vec::new();
        while content.len() < nbytes {
            let from = content.len();
            let to = from + step.min(nbytes - from);
            content.resize(to, 0);
            let part = slice_mut(&mut content, from..to)?;
            self.fetcher.decode_part(extent, bytes, Some(from), part)?;
        }
        Ok(content)
    }
}

impl Packed {
    fn new(packing: Packing, cache: usize) -> Self {
        Self {
            packing,
            finder: Finder::new(packing),
            cache: Mutex::new(Cache::new(cache)),
            damaged: Mutex::default(),
        }
    }

    /// Adds chunks and records. Of the known chunks, only the last may have changed.
    fn grow(&mut self, known: u64, chunks: u64, records: u64) -> Result<()> {
        if let Some(last) = known.checked_sub(1) {
            self.cache().remove(last);
        }
        self.damaged().clear();
        self.finder.grow(chunks, records)
    }

    fn damaged(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, ParseError>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn record_of(unpacked: &Unpacked, record: u64) -> Result<Bytes> {
    let found = unpacked.record(record);
    found.ok_or_else(|| {
        let (first, end) = (unpacked.head.first, unpacked.head.end());
        let why = format!("record {record} is not among its records {first} to {end}");
        FormatError::Packing { why }.into()
    })
}

fn damaged(extent: &ChunkExtent, error: FormatError) -> Error {
    let position = extent.position;
    ParseError { error, position }.into()
}

impl<S> std::fmt::Debug for IndexedRecordReader<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexedRecordReader")
            .field("records", &self.len)
            .field("chunks", &self.index.chunks())
            .finish_non_exhaustive()
    }
}

/// Bytes of unpacked chunks that are kept by default.
const CACHE: usize = 64 << 20;

/// The index of a source, for records.
pub(super) fn record_index<S: ReadAt>(
    source: &S,
    options: &Options,
    known: Option<&Index>,
) -> Result<Index> {
    let (limits, hashers) = (&options.limits, &options.hashers);
    Index::of_records(source, limits, hashers, options.allow_unterminated, known)
}

/// The form of all chunks.
fn common_form(index: &Index) -> Result<Form> {
    let (mut common, mut before) = (None, 0);
    for (chunks_end, form) in index.forms() {
        let form = form.clone()?;
        form.check_records()?;
        if let Form::Records { count } = form {
            check_count(index, count, chunks_end - before)?;
        }
        before = chunks_end;
        let is_first = common.is_none();
        let found = *common.get_or_insert(form);
        let is_packed = |form: Form| matches!(form, Form::Packed { .. });
        if !is_first && (is_packed(found) || is_packed(form)) {
            let what = "packed records of several members can only be read in order; unpack and pack them into one member";
            let what = what.to_owned();
            return Err(FormatError::Unsupported { what }.into());
        }
    }
    common.ok_or_else(|| FormatError::Empty.into())
}

/// Compares a number of records with the metadata, unless the input was allowed to be unfinished.
fn check_count(index: &Index, count: Option<u64>, found: u64) -> Result<()> {
    let is_cut = |warning: &Warning| matches!(warning, Warning::Unended(_));
    match count {
        Some(count) if count != found && !index.warnings.iter().any(is_cut) => {
            Err(FormatError::record_count(count, found).into())
        }
        _ => Ok(()),
    }
}
