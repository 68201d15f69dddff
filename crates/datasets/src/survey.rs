//! [`ArraySurvey`]: facts about the superchunks of an array, from names, lengths and headers.

use crate::array_storage::ArrayStorage;
use crate::carray::CArray;
use crate::wire::IndexEntry;
use blosc1::{ChunkHeader, CompressorFormat, Filter};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Category, Error, Result};
use bloscpack_storage::{EntryKind, StoreFile};
use bloscpack_wire::Checksum;
use std::collections::BTreeSet;

/// Facts about the superchunks of an array; see [`CArray::survey`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ArraySurvey {
    /// The number of superchunks that the rows need.
    pub superchunks: u64,
    /// The number of these that are missing.
    pub missing: u64,
    /// Bytes of those that are present, headers and everything else included; `None` in a store that cannot list them, such as a plain
    /// web server, where no superchunk is looked at.
    pub bytes: Option<u64>,
    /// The number of files with names of superchunks after the last one that the rows need. They are not read.
    pub stale: u64,
    /// The number of other files in the folder. They are not read either.
    pub foreign: u64,
    /// The number of chunks whose headers were read.
    pub chunks: u64,
    /// The compressors of these chunks, each once. A chunk that is a copy of its data has none.
    pub compressors: Vec<CompressorFormat>,
    /// The filters of these chunks, each once. Chunks of Blosc 2, which have up to six filters, are left out.
    pub filters: Vec<Filter>,
    /// The number of superchunks that have the length that the index has; `None` if there is no index that can be used.
    /// [`CArray::check_index`] also compares digests.
    pub indexed: Option<u64>,
    /// The first error of any superchunk.
    pub trouble: Option<Error>,
}

impl CArray {
    /// Looks at all superchunks of the array, and at the headers of at most `chunks` chunks. It decompresses nothing, and
    /// compares no digest.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// # use bloscpack_datasets::CArray;
    /// # use blosc1::CompressorFormat;
    /// let array = CArray::open("testdata/datasets/bcolz/codec_zlib_bitshuffle_cl5")?;
    /// let survey = array.survey(1000)?;
    /// assert_eq!(survey.missing, 0);
    /// assert_eq!(survey.compressors, [CompressorFormat::Zlib]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any I/O error. Damage of the superchunks is reported as [`trouble`](ArraySurvey::trouble).
    pub fn survey(&self, chunks: u64) -> Result<ArraySurvey> {
        let storage = self.storage();
        let mut survey = ArraySurvey {
            superchunks: storage.file_count(),
            ..ArraySurvey::default()
        };
        let index = self.index()?;
        survey.indexed = index.is_some().then_some(0);
        // Only names that are present are visited, however many the shape promises.
        for number in survey.list(storage)? {
            let entry = index.as_ref().and_then(|index| index.entry(number));
            survey.look(storage, number, chunks, entry)?;
        }
        Ok(survey)
    }

    /// The header of a chunk, by its number in C order. The chunk itself is not read.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// # use bloscpack_datasets::CArray;
    /// let array = CArray::open("testdata/datasets/bcolz/py2_int64")?;
    /// let header = array.chunk_header(0)?;
    /// assert_eq!(u64::from(header.ctbytes), array.stored_chunk(0)?.len() as u64);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any I/O error, and damage of the superchunk and of the header.
    pub fn chunk_header(&self, chunk: u64) -> Result<ChunkHeader> {
        let storage = self.storage();
        storage.stage()?;
        storage.header(chunk)
    }

    /// The checksum of each chunk, in the layouts that have one.
    #[must_use]
    pub fn checksum(&self) -> Checksum {
        let options = self.storage().spec().container.options();
        options.map_or(Checksum::None, |options| options.checksum)
    }

    /// Bytes of an element, as the headers of chunks contain it.
    #[must_use]
    pub fn typesize(&self) -> u8 {
        self.storage().spec().typesize()
    }

    /// The settings of its new chunks.
    #[must_use]
    pub fn chunk_settings(&self) -> blosc1::ChunkSettings {
        self.storage().spec().chunk_settings()
    }

    /// A chunk as it is stored, by its number in C order. Its header and its digest, if it has one, were compared; it is not
    /// decompressed.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// # use bloscpack_datasets::CArray;
    /// let array = CArray::open("testdata/datasets/bcolz/py2_int64")?;
    /// let data = blosc1::decompress(&array.stored_chunk(0)?)?;
    /// assert_eq!(data[..16], array.read_rows(0..2)?);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for an array of Python objects, any I/O error,
    /// and damage.
    pub fn stored_chunk(&self, chunk: u64) -> Result<Vec<u8>> {
        let storage = self.storage();
        storage.check_plain()?;
        storage.stage()?;
        Ok(storage.stored(chunk)?.bytes.to_vec())
    }

    /// The number of chunks of a superchunk; the last one may have fewer.
    #[must_use]
    pub fn superchunk(&self) -> u64 {
        self.storage().spec().chunks_per_file.get()
    }

    /// The number of superchunks.
    #[must_use]
    pub fn superchunks(&self) -> u64 {
        self.storage().file_count()
    }

    /// The number of rows that the writer expected, from which it chose the length of chunks.
    #[must_use]
    pub fn expected_rows(&self) -> u64 {
        self.storage().spec().expected_rows
    }
}

impl ArraySurvey {
    /// The numbers of the superchunks that are present, in order.
    fn list(&mut self, storage: &ArrayStorage) -> Result<BTreeSet<u64>> {
        let mut present = BTreeSet::new();
        let Some(entries) = storage.list()? else {
            return Ok(present);
        };
        self.bytes = Some(0);
        for entry in entries {
            let name = entry.name.to_str();
            match name.and_then(|name| storage.spec().naming.number(name)) {
                // Something other than a file is reported when it is looked at.
                Some(number) if number < self.superchunks => {
                    present.insert(number);
                }
                Some(_) if entry.kind == EntryKind::File => self.stale += 1,
                _ if entry.kind == EntryKind::Folder => {}
                _ => self.foreign += 1,
            }
        }
        // Every number in the set is less than this.
        self.missing = self.superchunks - to_u64(present.len());
        Ok(present)
    }

    /// Looks at a superchunk.
    fn look(
        &mut self,
        storage: &ArrayStorage,
        number: u64,
        max_chunks: u64,
        entry: Option<&IndexEntry>,
    ) -> Result<()> {
        let first = number.saturating_mul(storage.spec().chunks_per_file.get());
        let file = match storage.open(number, first) {
            Err(error) if error.category() == Category::Damaged => {
                self.trouble.get_or_insert(error);
                return Ok(());
            }
            file => file?,
        };
        let len = storage.len_of(number, file.as_ref())?;
        // Saturating, since the lengths of sparse files may add up to anything.
        self.bytes = self.bytes.map(|bytes| bytes.saturating_add(len));
        if entry.is_some_and(|entry| entry.file_len == len) {
            self.indexed = self.indexed.map(|count| count + 1);
        }
        if self.chunks >= max_chunks {
            return Ok(());
        }
        if let Err(error) = self.look_into(storage, number, file.as_ref(), max_chunks) {
            self.trouble
                .get_or_insert(storage.in_superchunk(number, error));
        }
        Ok(())
    }

    fn look_into(
        &mut self,
        storage: &ArrayStorage,
        number: u64,
        file: &dyn StoreFile,
        max_chunks: u64,
    ) -> Result<()> {
        for slot in &storage.index(number, file)?.slots {
            if self.chunks >= max_chunks {
                break;
            }
            let header = slot.header(file)?;
            self.chunks += 1;
            self.count(&header);
        }
        Ok(())
    }

    fn count(&mut self, header: &ChunkHeader) {
        if let Some(format) = header.compressor_format()
            && header.may_have_streams()
            && !self.compressors.contains(&format)
        {
            self.compressors.push(format);
        }
        // An extended header of Blosc 2 has its filters in the half that is not read.
        if !header.is_extended() && !self.filters.contains(&header.filter()) {
            self.filters.push(header.filter());
        }
    }
}
