//! [`ArraySurvey`]: facts about the superchunks of an array, from file names, lengths and headers.

use crate::array_storage::ArrayStorage;
use crate::carray::CArray;
use crate::wire::IndexEntry;
use blosc1::{ChunkHeader, CompressorFormat, Filter};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Category, Error, Result};
use bloscpack_storage::{EntryKind, ReadAt};
use bloscpack_wire::Checksum;
use std::collections::BTreeSet;

/// Facts about the superchunks of an array, the files in its `data/` folder; see [`CArray::survey`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ArraySurvey {
    /// Superchunks that the rows need.
    pub superchunks: u64,
    /// Needed superchunks that are missing. 0 if the store cannot list them.
    pub missing: u64,
    /// Total length in bytes of the needed superchunks that exist. `None` if the store cannot list them, such as a plain web
    /// server; then no superchunk is examined.
    pub bytes: Option<u64>,
    /// Superchunks after the last needed one. They are not read.
    pub stale: u64,
    /// Other files in the folder. They are not read.
    pub foreign: u64,
    /// Chunks whose headers were read.
    pub chunks: u64,
    /// The compressors of these chunks, each once. Chunks that store their data uncompressed have none.
    pub compressors: Vec<CompressorFormat>,
    /// The filters of these chunks, each once. Blosc 2 chunks, which have up to six filters, are left out.
    pub filters: Vec<Filter>,
    /// Superchunks whose length agrees with the index; `None` without a usable index. [`CArray::check_index`] also compares
    /// digests.
    pub indexed: Option<u64>,
    /// The first damage found in a superchunk.
    pub trouble: Option<Error>,
}

impl CArray {
    /// Lists and measures all superchunks, and reads the headers of at most `chunks` chunks. Nothing is decompressed, and no
    /// digest is compared. The work depends on the files that exist, not on the shape.
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
    /// Returns any I/O error. Damage of a superchunk is not an error here, but goes into [`trouble`](ArraySurvey::trouble).
    pub fn survey(&self, chunks: u64) -> Result<ArraySurvey> {
        let storage = self.storage();
        let mut survey = ArraySurvey {
            superchunks: storage.file_count(),
            ..ArraySurvey::default()
        };
        let index = self.index()?;
        survey.indexed = index.is_some().then_some(0);
        // A hostile shape may require any number of superchunks. Only those that exist are visited.
        for number in survey.list(storage)? {
            let entry = index.as_ref().and_then(|index| index.entry(number));
            survey.look(storage, number, chunks, entry)?;
        }
        Ok(survey)
    }

    /// Reads the header of a chunk, by the chunk's number in C order, counted from 0. The chunk itself is not read.
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
    /// Returns any I/O error, and damage of the superchunk and of the header. A number past the last chunk is a missing
    /// superchunk or a wrong count.
    pub fn chunk_header(&self, chunk: u64) -> Result<ChunkHeader> {
        let storage = self.storage();
        storage.stage()?;
        Ok(storage.place(chunk)?.header)
    }

    /// The checksum of each chunk; [`Checksum::None`] in the layouts `bcolz` and `blz`.
    #[must_use]
    pub fn checksum(&self) -> Checksum {
        let options = self.storage().spec().container.options();
        options.map_or(Checksum::None, |options| options.checksum)
    }

    /// The typesize of new chunks: the item size, except 1 for `S`, objects and elements of more than 255 bytes, and 4 for `U`.
    #[must_use]
    pub fn typesize(&self) -> u8 {
        self.storage().spec().typesize()
    }

    /// The compression settings of new chunks. Existing chunks may have others.
    #[must_use]
    pub fn chunk_settings(&self) -> blosc1::ChunkSettings {
        self.storage().spec().chunk_settings()
    }

    /// Reads a compressed chunk, by its number in C order, counted from 0. Its lengths and its digest, if there is one, are
    /// checked; it is not decompressed.
    ///
    /// It is a Blosc chunk of all elements of the chunk in C order, in the byte order of the dtype. In the layout `carray-doc`,
    /// chunks at the edges are padded to the full shape.
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

    /// Chunks per superchunk; the last superchunk may have fewer. 1 in the layouts `bcolz` and `blz`.
    #[must_use]
    pub fn superchunk(&self) -> u64 {
        self.storage().spec().chunks_per_file.get()
    }

    /// The number of superchunks that the rows need.
    #[must_use]
    pub fn superchunks(&self) -> u64 {
        self.storage().file_count()
    }

    /// The number of rows that the creator of the array expected, which determines the default chunk length.
    #[must_use]
    pub fn expected_rows(&self) -> u64 {
        self.storage().spec().expected_rows
    }
}

impl ArraySurvey {
    /// Counts the entries of the folder. Returns the numbers of the needed superchunks that exist.
    fn list(&mut self, storage: &ArrayStorage) -> Result<BTreeSet<u64>> {
        let mut present = BTreeSet::new();
        let Some(entries) = storage.list()? else {
            return Ok(present);
        };
        self.bytes = Some(0);
        for entry in entries {
            let name = entry.name.to_str();
            match name.and_then(|name| storage.spec().naming.number(name)) {
                // A folder or link with this name is reported when it is opened.
                Some(number) if number < self.superchunks => {
                    present.insert(number);
                }
                Some(_) if entry.kind == EntryKind::File => self.stale += 1,
                _ if entry.kind == EntryKind::Folder => {}
                _ => self.foreign += 1,
            }
        }
        // Cannot underflow: every number in the set is less than `superchunks`.
        self.missing = self.superchunks - to_u64(present.len());
        Ok(present)
    }

    /// Examines a superchunk.
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
        // The lengths of sparse files may overflow the sum.
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
        file: &dyn ReadAt,
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
        // In an extended header of Blosc 2, the filters are in the second half, which is not read.
        if !header.is_extended() && !self.filters.contains(&header.filter()) {
            self.filters.push(header.filter());
        }
    }
}
